"""Reads YAML into a located tree: no tags, no objects, no second meaning of a word.

Values follow YAML 1.2's core schema: only `true` and `false` are booleans, so a column called `no` or `on` stays text,
a date stays text, and `12:30` is no number. Keys are always text. A key given twice is an error: the last does not win.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from seamark.config.tree import ListNode, MapNode, Node, Place, Plain, ScalarNode, empty_map
from seamark.errors import ConfigError

MAX_BYTES = 1_048_576
MAX_NODES = 100_000
"""Counted with what aliases repeat, so that a few lines can't unfold into gigabytes."""
MAX_DEPTH = 50
MAX_ALIASES = 200

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Plain] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), math.inf),
    "-.inf": -math.inf,
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}


def read_file(path: Path, shown: str) -> MapNode:
    """The mapping that a file holds; `shown` is what errors call the file. An empty file is an empty mapping."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"can't read {shown}: {error.strerror}", "check the path and its permissions") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(
            f"larger than {MAX_BYTES} bytes", "a configuration file is a page, not a data file", f"{shown}:1"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8 text", "save the file as UTF-8", f"{shown}:{line}") from None
    return read_text(text, shown)


def read_text(text: str, shown: str) -> MapNode:
    """The mapping that `text` holds, as `read_file`."""
    try:
        node = _Composer(shown).document(yaml.parse(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigError(
            f"not valid YAML: {error.problem or error.context}", "", f"{shown}:{mark.line + 1 if mark else 1}"
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError("a character that YAML does not allow", "remove it", f"{shown}:{line}") from None
    if node is None or (isinstance(node, ScalarNode) and node.value is None):
        return empty_map(Place(shown, 1))
    if not isinstance(node, MapNode):
        raise ConfigError("expected `key: value` lines", "see docs/reference/config.md", str(node.place))
    return node


class _Composer:
    """Builds the tree from the parser's events, counting as it goes."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._aliases = 0
        self._nodes = 0

    def document(self, events: Iterator[Any]) -> Node | None:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._error(event, "a second document", "one file holds one document: remove the `---`")
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event, events, 1)
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.tag is not None:
            raise self._error(event, f"the tag {event.tag} is not allowed", "write the plain value")
        if depth > MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")
        before = self._nodes
        self._count(event, 1)
        if isinstance(event, yaml.ScalarEvent):
            node: Node = ScalarNode(self._place(event), _value(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = ListNode(self._place(event), tuple(self._items(events, depth)))
        else:
            node = self._map(event, events, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, self._nodes - before)
        return node

    def _items(self, events: Iterator[Any], depth: int) -> Iterator[Node]:
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._node(event, events, depth + 1)

    def _map(self, start: Any, events: Iterator[Any], depth: int) -> MapNode:
        entries: dict[str, Node] = {}
        places: dict[str, Place] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event)
            if key in entries:
                raise self._error(
                    event, f"the key {key!r} is given twice (first at line {places[key].line})", "remove one"
                )
            places[key] = self._place(event)
            node = self._node(next(events), events, depth + 1)
            # What a mapping lacks is missed where its own key stands, not at the first of its entries.
            entries[key] = replace(node, place=places[key]) if isinstance(node, MapNode) else node
        return MapNode(self._place(start), entries, places)

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
            raise self._error(event, "a key has to be plain text")
        if event.value == "<<" and not event.style:
            raise self._error(
                event, "merge keys (`<<`) are not supported", "repeat the keys, or use a pattern's `defaults`"
            )
        return str(event.value)

    def _alias(self, event: Any) -> Node:
        known = self._anchors.get(event.anchor)
        if known is None:
            raise self._error(event, f"no anchor &{event.anchor} before this", "an alias can't hold itself")
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._error(event, f"more than {MAX_ALIASES} aliases")
        node, size = known
        self._count(event, size)
        return node

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise self._error(event, f"more than {MAX_NODES} values (aliases unfolded)")

    def _place(self, event: Any) -> Place:
        return Place(self._shown, event.start_mark.line + 1)

    def _error(self, event: Any, message: str, hint: str = "") -> ConfigError:
        return ConfigError(message, hint, str(self._place(event)))


def _value(event: Any) -> Plain:
    text = str(event.value)
    if event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    if _INTEGER.fullmatch(text) and len(text) <= 40:
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
