"""From a located tree to a pydantic model; what does not fit becomes errors at file and line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from seamark.config.annotations import is_secret
from seamark.config.mistakes import Path, mistake
from seamark.config.problems import Problem, raise_problems
from seamark.config.references import References
from seamark.config.secret import HIDDEN, SecretUrl
from seamark.config.tree import ListNode, MapNode, Node, plain

Model = TypeVar("Model", bound=BaseModel)


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
        missing = details["loc"][-1:] if details["type"] == "missing" else ()
        # Each branch of a union complains in turn; the first is enough.
        if strayed and (*steps, *missing) in seen:
            continue
        seen.add((*steps, *missing))
        problem = mistake(model, node, details, steps, path)
        message, hint = problem.message, problem.hint
        for text in hidden:
            message, hint = message.replace(text, HIDDEN), hint.replace(text, HIDDEN)
        yield Problem(problem.place, message, hint)


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
