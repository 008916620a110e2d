"""What pydantic says is wrong, in words for the person who wrote the file."""

from __future__ import annotations

import re

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from seamark.config.annotations import is_secret, keys_of, models_at
from seamark.config.problems import Problem, suggestion
from seamark.config.tree import MapNode, Node, ScalarNode, describe, place_of

Path = tuple[str | int, ...]

_EXPECTED = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "dict": "a mapping",
    "mapping": "a mapping",
    "model": "a mapping",
}
"""By the first word of pydantic's error types, such as `int_parsing`."""


def mistake(model: type[BaseModel], node: Node, details: ErrorDetails, steps: Path, path: Path) -> Problem:
    """The problem behind one of pydantic's errors; `steps` lead to its place in `node`, `path` leads to `node`."""
    place, key = place_of(node, *steps), str(details["loc"][-1]) if details["loc"] else ""
    if details["type"] == "missing":
        return Problem(place, _said(path + steps, f"{key!r} is required"), _description(model, steps, key))
    if details["type"] == "extra_forbidden":
        parent = steps[:-1]
        known = [name for found in models_at(model, parent) for name in keys_of(found)]
        return Problem(place, _said(path + parent, f"unknown key {key!r}"), suggestion(key, known))
    value = _at(node, steps)
    message, hint = _about_value(details, value, _shown(value, is_secret(model, steps)))
    return Problem(place, _said(path + steps, message), hint)


def _about_value(details: ErrorDetails, value: Node, shown: str) -> tuple[str, str]:
    kind, context = details["type"], details.get("ctx", {})
    if kind in ("literal_error", "enum"):
        choices = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        given = value.value if isinstance(value, ScalarNode) and not value.reference else ""
        return f"{shown} is none of the choices", suggestion(str(given), choices)
    if kind == "string_type" and isinstance(value, ScalarNode) and value.value is not None:
        return f"expected text, found {describe(value)}", "put the value in quotes"
    if kind == "too_short":
        return f"expected at least {context['min_length']}, found {context['actual_length'] or 'none'}", ""
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", details["msg"])), ""
    word = re.match(r"([a-z]+)_(type|parsing|from)", kind)
    if word is not None and word[1] in _EXPECTED:
        return f"expected {_EXPECTED[word[1]]}, found {shown}", ""
    return details["msg"][:1].lower() + details["msg"][1:], ""


def _said(path: Path, message: str) -> str:
    """The message with the keys that lead to what it is about: `streams[0].cursor.lookback`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f"{text and '.'}{step}"
    return f"{text}: {message}" if text else message


def _at(node: Node, steps: Path) -> Node:
    for step in steps:
        node = node.entries[str(step)] if isinstance(node, MapNode) else node.items[int(step)]  # type: ignore[union-attr]
    return node


def _shown(node: Node, secret: bool) -> str:
    if not isinstance(node, ScalarNode) or node.value is None:
        return describe(node)
    if node.reference:
        return f"what {node.reference} gave"
    return "this value" if secret else repr(node.value)


def _description(model: type[BaseModel], steps: Path, key: str) -> str:
    fields = (keys_of(found).get(key) for found in models_at(model, steps))
    return next((info.description for info in fields if info is not None and info.description), "")
