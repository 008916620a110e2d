"""From a located tree to a pydantic model; what does not fit becomes errors at file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from seamark.config.annotations import is_secret, keys_of, models_at
from seamark.config.problems import Problem, raise_problems, suggestion
from seamark.config.references import References
from seamark.config.secret import HIDDEN, SecretUrl
from seamark.config.tree import ListNode, MapNode, Node, ScalarNode, describe, place_of, plain

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str | int, ...]

_EXPECTED = {
    "bool": "expected true or false",
    "int": "expected a whole number",
    "float": "expected a number",
    "string": "expected text",
    "list": "expected a list",
    "tuple": "expected a list",
    "set": "expected a list",
    "dict": "expected a mapping",
    "model": "expected a mapping",
    "mapping": "expected a mapping",
}


def validate(model: type[Model], node: Node, references: References | None = None, path: Path = ()) -> Model:
    """The model that `node` describes; ConfigError with every mistake, in order of line.

    `references` are expanded first when given; `path` is what leads to `node` in its file, for the messages.
    """
    problems: list[Problem] = []
    checked = check(model, node, problems, references, path)
    raise_problems(problems)
    assert checked is not None
    return checked


def check(
    model: type[Model], node: Node, problems: list[Problem], references: References | None = None, path: Path = ()
) -> Model | None:
    """As `validate`, but adds the mistakes to `problems`. A place that is among them already gets no second one:
    a value whose reference led nowhere is not wrong in itself."""
    if references is not None:
        node = references.expand(node, problems)
    complained = {problem.place for problem in problems}
    try:
        return model.model_validate(plain(node))
    except ValidationError as error:
        problems += [problem for problem in _problems(model, node, error, path) if problem.place not in complained]
        return None


def _problems(model: type[BaseModel], node: Node, error: ValidationError, path: Path) -> Iterator[Problem]:
    hidden = sorted(_hidden_texts(model, node), key=len, reverse=True)
    seen: set[Path] = set()
    for details in error.errors(include_url=False, include_input=False):
        steps, strayed = _steps(node, details["loc"])
        # Each branch of a union complains in turn; the first is enough.
        if strayed and steps in seen:
            continue
        seen.add(steps)
        problem = _problem(model, node, dict(details), steps, path)
        message, hint = problem.message, problem.hint
        for text in hidden:
            message, hint = message.replace(text, HIDDEN), hint.replace(text, HIDDEN)
        yield Problem(problem.place, message, hint)


def _problem(model: type[BaseModel], node: Node, details: dict[str, Any], steps: Path, path: Path) -> Problem:
    kind, context = str(details["type"]), details.get("ctx", {})
    place = place_of(node, *steps)
    where = words(path + steps)
    if kind == "missing":
        key = str(details["loc"][-1])
        return Problem(place, _said(where, f"{key!r} is required"), _description(model, steps, key))
    if kind == "extra_forbidden":
        key, parent = str(steps[-1]), steps[:-1]
        known = [name for found in models_at(model, parent) for name in keys_of(found)]
        return Problem(place, _said(words(path + parent), f"unknown key {key!r}"), suggestion(key, known))
    value = _at(node, steps)
    shown = _shown(value, is_secret(model, steps))
    if kind in ("literal_error", "enum"):
        choices = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        said = value.value if isinstance(value, ScalarNode) and not value.reference else ""
        return Problem(place, _said(where, f"{shown} is none of the choices"), suggestion(str(said), choices))
    if kind == "string_type" and isinstance(value, ScalarNode) and value.value is not None:
        return Problem(place, _said(where, f"expected text, found {describe(value)}"), "put the value in quotes")
    if kind in ("value_error", "assertion_error"):
        return Problem(place, _said(where, str(context.get("error", details["msg"]))))
    expected = (
        _EXPECTED.get(re.split(r"_(?:type|parsing|from)", kind)[0]) if re.search("_(type|parsing|from)", kind) else None
    )
    message = str(details["msg"]) if kind.startswith("secret_") or expected is None else f"{expected}, found {shown}"
    return Problem(place, _said(where, message[:1].lower() + message[1:]))


def words(path: Path) -> str:
    """`streams[0].cursor.lookback`, as messages name what they are about."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f"{text and '.'}{step}"
    return text


def _said(where: str, message: str) -> str:
    return f"{where}: {message}" if where else message


def _steps(node: Node, location: tuple[str | int, ...]) -> tuple[Path, bool]:
    """The part of pydantic's location that the file has too, and whether more (a union's branch) was in it."""
    steps: list[str | int] = []
    strayed = False
    for step in location:
        if isinstance(node, MapNode) and step in node.entries:
            node = node.entries[str(step)]
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            strayed = True
            continue
        steps.append(step)
    return tuple(steps), strayed


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


def _hidden_texts(model: type[BaseModel], node: Node, steps: Path = ()) -> Iterator[str]:
    """What no message may hold, whoever wrote it: secrets, and what references gave (but for a few characters)."""
    if isinstance(node, MapNode):
        for key, value in node.entries.items():
            yield from _hidden_texts(model, value, (*steps, key))
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from _hidden_texts(model, item, (*steps, index))
    elif is_secret(model, steps):
        yield from (text for text in SecretUrl(str(node.value or "")).parts() if text)
        yield from (text for text in node.looked_up if text)
    elif node.reference:
        yield from (text for text in (str(node.value), *node.looked_up) if len(text) > 3)
