"""How a window is cut: by physical place, by the cursor's values, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.split import Split
from seamark.model.window import Estimate, Window
from seamark.sources.postgres.shape import CursorSql
from seamark.sources.query import filter_predicate, quoted, select, window_predicate
from seamark.sources.ranges import block_ranges, pieces, value_ranges

TID_RANGE_SCANS = 140000
"""Since this version a range of ctids reads just those blocks."""


@dataclass(frozen=True)
class Scan:
    """What the planner thinks of reading the window in one go, and where the relation's rows lie."""

    rows: int
    width: int
    by_index: bool
    blocks: tuple[int, ...]
    """Sizes of the parts that hold rows; empty when ctids mean nothing (views, foreign tables, other access
    methods)."""
    key: str = ""
    """A unique integer column, never NULL and indexed, where there is one."""
    key_range: tuple[int, int] | None = None

    @property
    def bytes(self) -> int:
        return self.rows * self.width


@dataclass(frozen=True)
class Piece:
    predicate: str
    describes: str


def cut(scan: Scan, window: Window, cursor: CursorSql | None, version: int, parallelism: int) -> list[Piece]:
    """The window's pieces. Their predicates hold the window's own; together they hold each of its rows once."""
    count = pieces(scan.rows, scan.bytes, parallelism)
    whole = cursor.within(window) if cursor else ""
    if count == 1:
        return [Piece(whole, str(window))]
    if scan.by_index and cursor is not None and (steps := _steps(window, cursor.kind)) is not None:
        return list(_by_cursor(window, cursor, steps, count))
    if scan.blocks and version >= TID_RANGE_SCANS:
        return list(_by_place(block_ranges(scan.blocks, count), whole))
    if scan.key and scan.key_range:
        return list(_by_key(scan.key, value_ranges(*scan.key_range, count), whole))
    return [Piece(whole, str(window))]


def make_splits(
    found: Sequence[Piece], columns: Sequence[str], table: str, where: str, scan: Scan
) -> tuple[Split, ...]:
    estimate = Estimate(-(-scan.rows // len(found)), -(-scan.bytes // len(found)))
    return tuple(
        Split(index, select(columns, table, [piece.predicate, filter_predicate(where)]), (), estimate, piece.describes)
        for index, piece in enumerate(found)
    )


def _by_place(ranges: Sequence[tuple[int, int | None]], whole: str) -> Iterator[Piece]:
    for start, end in ranges:
        bounds = [f"ctid >= '({start},0)'"] if start else []
        bounds += [f"ctid < '({end},0)'"] if end is not None else []
        predicate = " AND ".join([*bounds, whole] if whole else bounds)
        yield Piece(predicate, f"blocks {start} to {'the end' if end is None else end}")


def _by_cursor(window: Window, cursor: CursorSql, steps: tuple[int, int], count: int) -> Iterator[Piece]:
    for start, end in value_ranges(*steps, count):
        low = window.low if start is None else _from_step(cursor.kind, start)
        high = window.high if end is None else _from_step(cursor.kind, end)
        piece = Window(low, high)
        yield Piece(cursor.within(piece), str(piece))
    if window.nulls:
        yield Piece(window_predicate(cursor.expression, None, None, nulls=True), "rows without a cursor")


def _by_key(key: str, ranges: Sequence[tuple[int | None, int | None]], whole: str) -> Iterator[Piece]:
    for start, end in ranges:
        bounds = window_predicate(
            quoted(key), None if start is None else f"({start})", None if end is None else f"({end})", nulls=False
        )
        low, high = "beginning" if start is None else start, "end" if end is None else end
        yield Piece(" AND ".join(filter(None, (bounds, whole))), f"{key} from {low} to {high}")


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - compared with moments that have lost theirs
_FIRST_DAY = date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def _steps(window: Window, kind: BookmarkType) -> tuple[int, int] | None:
    """The window's ends on a line of whole numbers, for types that lie on one."""
    if window.low is None or window.high is None or window.low >= window.high:
        return None
    if kind is BookmarkType.INTEGER:
        return window.low.value, window.high.value
    if kind is BookmarkType.DATE:
        return (window.low.value - _FIRST_DAY).days, (window.high.value - _FIRST_DAY).days
    if kind in (BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ):
        low, high = (bookmark.value.replace(tzinfo=None) - _EPOCH for bookmark in (window.low, window.high))
        return low // _MICROSECOND, high // _MICROSECOND
    return None


def _from_step(kind: BookmarkType, step: int) -> Bookmark:
    match kind:
        case BookmarkType.INTEGER:
            return Bookmark.of(kind, step)
        case BookmarkType.DATE:
            return Bookmark.of(kind, _FIRST_DAY + timedelta(days=step))
        case BookmarkType.TIMESTAMPTZ:
            return Bookmark.of(kind, (_EPOCH + step * _MICROSECOND).replace(tzinfo=UTC))
    return Bookmark.of(kind, _EPOCH + step * _MICROSECOND)
