"""What a pipeline file says of one stream, and what a source found out about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from seamark.model.bookmark import BookmarkType
from seamark.model.schema import DataType, Schema


class Mode(StrEnum):
    MERGE = "merge"
    APPEND = "append"
    REPLACE = "replace"


class NullPolicy(StrEnum):
    """What happens to rows whose cursor is NULL; never silence."""

    FAIL = "fail"
    INCLUDE = "include"
    EXCLUDE = "exclude"


@dataclass(frozen=True)
class Cursor:
    """The rule that orders a stream. `settle` bounds how long planning waits for the safe mark to pass the newest
    row."""

    field: str
    lookback: timedelta | int | None = None
    nulls: NullPolicy = NullPolicy.FAIL
    sorted: bool = False
    settle: timedelta = timedelta(seconds=3)


@dataclass(frozen=True)
class Stream:
    name: str
    table: str
    mode: Mode
    key: tuple[str, ...] = ()
    cursor: Cursor | None = None
    columns: tuple[str, ...] = ()
    """Only these (plus key and cursor); all when empty."""
    exclude: tuple[str, ...] = ()
    where: str = ""
    cast: tuple[tuple[str, DataType], ...] = ()
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """A stream as the source sees it now: the columns it will yield, the cursor's type, whether the key is enforced
    there."""

    schema: Schema
    cursor_type: BookmarkType | None = None
    cursor_scale: int | None = None
    key_is_unique: bool = False
    comment: str = ""


@dataclass(frozen=True)
class CursorCandidate:
    field: str
    type: BookmarkType
    why: str


@dataclass(frozen=True)
class TableInfo:
    """One table that discovery found."""

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    cursors: tuple[CursorCandidate, ...] = ()
    rows: int | None = None
    bytes: int | None = None
    comment: str = ""
    problems: tuple[str, ...] = ()
    """Columns that need a `cast:`, in words."""
