"""What was measured, as a table for people or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """What a figure, or its ratio to another one, should be."""

    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


@dataclass(frozen=True)
class Figure:
    """A measured value; its ratio to another when it has one, and what that should be."""

    part: str
    what: str
    value: float
    unit: str = "s"
    ratio: float | None = None
    of: str = ""
    target: Target | None = None
    """Of the ratio where there is one, else of the value."""
    tries: tuple[float, ...] = ()
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.target.met(self.value if self.ratio is None else self.ratio)


def as_json(facts: dict[str, Any], figures: Iterable[Figure]) -> dict[str, Any]:
    return facts | {
        "figures": [
            asdict(figure) | {"target": str(figure.target) if figure.target else None, "met": figure.met}
            for figure in figures
        ]
    }


def as_table(facts: dict[str, Any], figures: Sequence[Figure]) -> str:
    """Plain text, a line per figure, grouped by part."""
    rows = [("", "", "ratio", "target", "")]
    for number, figure in enumerate(figures):
        if not number or figures[number - 1].part != figure.part:
            rows += [("", "", "", "", ""), (figure.part, "", "", "", "")]
        rows.append(_row(figure))
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    lines += ["", *(f"{name}: {value}" for name, value in facts.items())]
    notes = [f"{figure.what}: {figure.note}" for figure in figures if figure.note]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _row(figure: Figure) -> tuple[str, str, str, str, str]:
    digits = 0 if figure.unit == "MB" else 2
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f} x {figure.of}"
    met = {None: "", True: "met", False: "MISSED"}[figure.met]
    target = str(figure.target) if figure.target else ""
    return f"  {figure.what}", f"{figure.value:.{digits}f} {figure.unit}", ratio, target, met
