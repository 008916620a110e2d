"""What is wrong with a file, gathered so that one look shows all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seamark.config.tree import Place
from seamark.errors import ConfigError
from seamark.model.nearest import nearest


@dataclass(frozen=True)
class Problem:
    place: Place
    message: str
    hint: str = ""


def raise_problems(problems: Sequence[Problem]) -> None:
    """Raise one ConfigError that holds all of them in order of line; does nothing when there are none."""
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: (problem.place.file, problem.place.line))
    if not ordered:
        return
    first, *others = ordered
    if not others:
        raise ConfigError(first.message, first.hint, str(first.place))
    lines = [_with_hint(first)] + [f"{problem.place}: {_with_hint(problem)}" for problem in others]
    raise ConfigError(";\n".join(lines), f"mend these {len(ordered)} places", str(first.place))


def _with_hint(problem: Problem) -> str:
    return f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def suggestion(word: str, known: Sequence[str], what: str = "known") -> str:
    """A hint: the nearest known word and all of them."""
    if not known:
        return ""
    near = nearest(word, known)
    listed = f"{what}: {', '.join(known[:40])}" + (" …" if len(known) > 40 else "")
    return f"did you mean {near!r}? {listed}" if near is not None else listed
