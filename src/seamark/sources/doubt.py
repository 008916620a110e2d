"""A reason to doubt a stream's marks, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Doubt:
    """Why a mark may not be safe. `fatal`: it is not, so only a lookback or the user's word lets a run go on."""

    message: str
    fix: str
    fatal: bool = False


OUT_OF_ORDER = "says nothing about when rows were written: a row that sorts below the bookmark is never found"
VIEW = Doubt(
    "a view: a row may come to meet its conditions long after its cursor was set",
    "make sure that rows enter it only with a new cursor value, or read its table",
)
NOT_NUMBERED = "whoever does must give out growing numbers inside the writing transaction"


def of_a_date(field: str) -> Doubt:
    return Doubt(
        f"{field!r} is a date: the rows of a day are read when the day is over", "use a timestamp for fresher rows"
    )


def of_a_key(key: tuple[str, ...]) -> Doubt:
    return Doubt(
        f"nothing in the database keeps the key ({', '.join(key)}) unique and not NULL",
        "a primary key, or a unique index over NOT NULL columns",
    )
