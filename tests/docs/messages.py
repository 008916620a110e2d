"""The messages of errors in the code, as they are written: `…` for what is filled in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.docs.pages import REPOSITORY

_ERRORS = re.compile(
    r"(Usage|Config|Source|TypeMapping|Destination|Engine|State|StateCorruption)Error|corrupt|Cancelled|ForeignTable|"
    r"SchemaConflict|LeaseHeld|LeaseLost|AdoptionRequired|StoreBehind|NewerStateStore|\w+Unavailable|StateConflict"
)
_ELSEWHERE = ("testing", "demo")
"""What only authors of plug-ins or the demo's audience meet."""


@cache
def messages() -> tuple[tuple[str, str], ...]:
    """(where, message) of each error that is made with words of its own."""
    return tuple(_messages())


def _messages() -> Iterator[tuple[str, str]]:
    for file in sorted((REPOSITORY / "src" / "seamark").rglob("*.py")):
        where = file.relative_to(REPOSITORY / "src" / "seamark")
        if file.name == "crash.py" or set(where.parts) & set(_ELSEWHERE):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and _ERRORS.fullmatch(_name(node.func)):
                text = " ".join(written(node.args[0]).split())
                if re.search(r"[a-z]{2}", text.removeprefix("stream ")):
                    yield f"{where}:{node.lineno}", text


@cache
def literals() -> tuple[str, ...]:
    """Every text in the code, for messages that are put together elsewhere than where they are raised."""
    found: list[str] = []
    for file in sorted((REPOSITORY / "src" / "seamark").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
                found.append(written(node))
    return tuple(found)


def written(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "…"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(written, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return written(node.left) + written(node.right)
    return "…"


def fits(row: str, message: str) -> bool:
    """Whether the parts of a documented message stand in this order in one of the code. A row without words fits none."""
    parts = [re.escape(part.strip()) for part in row.split("…") if part.strip()]
    anchored = "^" if not row.startswith("…") else ""
    return re.search(r"[a-z]{3}", row) is not None and re.search(anchored + ".*?".join(parts), message) is not None


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
