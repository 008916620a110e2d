"""`${VAR}`, `${VAR:-default}` and `${file:path}` in values; `$${` is a literal `${`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seamark.config.problems import Problem
from seamark.config.tree import ListNode, MapNode, Node, ScalarNode
from seamark.errors import ConfigError

MAX_FILE_BYTES = 65_536

_PIECE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


@dataclass(frozen=True)
class References:
    """Where references lead: the environment, and files relative to the project's root."""

    root: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def expand(self, node: Node, problems: list[Problem]) -> Node:
        """`node` with every reference in its values replaced; what can't be goes to `problems` and stays as it is."""
        if isinstance(node, MapNode):
            entries = {key: self.expand(value, problems) for key, value in node.entries.items()}
            return MapNode(node.place, entries, node.key_places)
        if isinstance(node, ListNode):
            return ListNode(node.place, tuple(self.expand(item, problems) for item in node.items))
        if not isinstance(node.value, str) or "${" not in node.value:
            return node
        try:
            return self._expand_scalar(node, node.value)
        except ConfigError as error:
            problems.append(Problem(node.place, error.message, error.hint))
            return node

    def _expand_scalar(self, node: ScalarNode, text: str) -> ScalarNode:
        names: list[str] = []
        found: list[str] = []

        def replace(match: re.Match[str]) -> str:
            if match[0] == "$${":
                return "${"
            if match[1] is None:
                raise ConfigError("a `${` that is never closed", "close it with `}`, or write `$${` for a literal `${`")
            names.append(match[1].partition(":-")[0])
            found.append(self._look_up(match[1]))
            return found[-1]

        value = _PIECE.sub(replace, text)
        return ScalarNode(node.place, value, ", ".join(f"${{{name}}}" for name in names), tuple(found))

    def _look_up(self, reference: str) -> str:
        if reference.startswith("file:"):
            return self._read(reference.removeprefix("file:"))
        match = _VARIABLE.fullmatch(reference)
        if match is None:
            raise ConfigError(
                f"${{{reference.partition(':')[0]}…}} is no reference",
                "write ${VAR}, ${VAR:-default} or ${file:path}; `$${` is a literal `${`",
            )
        name, default = match[1], match[2]
        value = self.environment.get(name)
        if default is not None:
            return value or default
        if value is None:
            raise ConfigError(
                f"the environment variable {name} is not set",
                f"set it (export {name}=…) or give it a default: ${{{name}:-…}}",
            )
        return value

    def _read(self, name: str) -> str:
        path = self.root / name
        if not name or "\0" in name:
            raise ConfigError("${file:} names no file", "write ${file:path}, relative to the project's root")
        try:
            with path.open("rb") as stream:
                raw = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigError(
                f"can't read the file of ${{file:{name}}}: {error.strerror}", f"it is looked for at {path}"
            ) from None
        if len(raw) > MAX_FILE_BYTES:
            raise ConfigError(
                f"the file of ${{file:{name}}} is larger than {MAX_FILE_BYTES} bytes", "it should hold one value"
            )
        try:
            return re.sub(r"\r?\n\Z", "", raw.decode("utf-8"))
        except UnicodeDecodeError:
            raise ConfigError(f"the file of ${{file:{name}}} is not UTF-8 text", "it should hold one value") from None


def is_reference(text: str) -> bool:
    """Whether any reference stands in `text`, before expansion."""
    return any(match[0] != "$${" for match in _PIECE.finditer(text))
