"""Safe marks in SQLite, where one transaction at a time writes.

- Integers, text, bytes: `high` comes right after the greatest value. A row that is numbered when it is inserted (rowid,
  AUTOINCREMENT) is committed before the next number is given out. Without AUTOINCREMENT the numbers of deleted last
  rows are given out again; `check` says so.
- Timestamps are taken before the transaction commits, and no one can ask SQLite who is writing. `settle` is how long
  that may take: `high = floor(now - settle, 1 s)`, and no more than a second above the newest row, which bounds the
  harm of clocks and time zones that are not what they are thought to be.
- Dates: as timestamps, a day's rows when the day is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType, successor
from seamark.model.stream import Cursor, Stream
from seamark.model.window import Frontier, Hold
from seamark.sources.query import filter_predicate, quoted, select
from seamark.sources.sqlite.catalog import Table
from seamark.sources.sqlite.cursor import CursorSql, Form, cursor_sql
from seamark.sources.sqlite.database import Database

NULLS_COUNTED = 1000
TIMED = (BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ, BookmarkType.DATE)
_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Marks:
    """Makes marks. `clock` and `sleep` are the machine's own; writers are on the same one, or share its time."""

    database: Database
    timezone: str | None = None
    clock: Callable[[], datetime] = utc_now
    sleep: Callable[[float], None] = time.sleep

    def frontier(self, table: Table, stream: Stream, kind: BookmarkType, low: Bookmark | None) -> Frontier:
        """See `Source.frontier`."""
        cursor = stream.cursor
        assert cursor is not None
        sql, greatest, nulls = self._ends(table, stream, kind)
        if greatest is None:
            return Frontier(low, None, nulls=nulls)
        newest = self._newest(table, stream, sql, greatest)
        if kind not in TIMED:
            return Frontier(successor(newest), newest, nulls=nulls)
        if low is not None and newest < low:
            return Frontier(low, newest, nulls=nulls)
        return self._settled(cursor, kind, newest, nulls)

    def cursor(self, table: Table, stream: Stream, kind: BookmarkType) -> CursorSql:
        """How the column is compared; for moments by the form that its values have now."""
        assert stream.cursor is not None
        sql = cursor_sql(table, stream.cursor.field, kind)
        return self._ends(table, stream, kind)[0] if sql.moments else sql

    def _ends(self, table: Table, stream: Stream, kind: BookmarkType) -> tuple[CursorSql, object, int]:
        """(how to compare, the greatest value as stored, rows without one). SQLite sorts numbers before texts before
        blobs: when both ends are of one kind, so is all that lies between."""
        assert stream.cursor is not None
        name = quoted(stream.cursor.field)
        column = cursor_sql(table, stream.cursor.field, kind).column
        null = " AND ".join(filter(None, (f"{name} IS NULL", filter_predicate(stream.where))))
        if table.indexed(stream.cursor.field, binary=kind is not BookmarkType.INTEGER):
            ends = [f"(SELECT min({column}) FROM {table.sql})", f"(SELECT max({column}) FROM {table.sql})"]
            counted = f"SELECT count(*) FROM ({select(['1'], table.sql, [null])} LIMIT {NULLS_COUNTED})"
            nulls = "0" if table.never_null(stream.cursor.field) else f"({counted})"
            query = (
                f"SELECT *, typeof(least), typeof(greatest) FROM (SELECT {ends[0]} least, {ends[1]} greatest, {nulls})"
            )
        else:
            inner = [f"min({column}) least", f"max({column}) greatest", f"count(*) FILTER (WHERE {null})"]
            query = f"SELECT *, typeof(least), typeof(greatest) FROM ({select(inner, table.sql)})"
        doing = f"looking for new rows in {table.label}"
        least, greatest, nulls_found, least_kind, greatest_kind = self.database.row(query, doing=doing)
        form = Form.SECONDS if greatest_kind == "integer" else Form.TEXT
        sql = cursor_sql(table, stream.cursor.field, kind, form)
        if greatest is not None and {least_kind, greatest_kind} != {sql.storage}:
            raise _mixed(table, stream, sql, least if least_kind != sql.storage else greatest)
        return sql, greatest, nulls_found

    def _newest(self, table: Table, stream: Stream, sql: CursorSql, greatest: object) -> Bookmark:
        value = greatest
        if sql.moments and sql.form is Form.TEXT:
            # Texts of one day need not sort as their moments do, nor those of neighbouring days in different zones.
            near = str(greatest)[:10]
            since = f"date('{near}', '-2 days')" if _is_day(near) else "''"
            query = select([f"max({sql.expression})"], table.sql, [f"{sql.column} >= {since}"])
            (value,) = self.database.row(query, doing=f"looking for new rows in {table.label}")
        try:
            return sql.bookmark(value)
        except (ValueError, OverflowError) as error:
            assert stream.cursor is not None
            raise SourceError(
                f"stream {stream.name!r}: the greatest {stream.cursor.field!r} in {table.label} is {greatest!r}, "
                f"which can't be a bookmark: {error}",
                "correct such rows, or use another cursor",
            ) from None

    def _settled(self, cursor: Cursor, kind: BookmarkType, newest: Bookmark, nulls: int) -> Frontier:
        """Wait while only the settling of the newest row is to be waited for."""
        zone = _zone(self.timezone)
        high = self._mark(cursor, kind, newest, zone)
        if high <= newest and kind is not BookmarkType.DATE:
            written = newest.value if newest.value.tzinfo else newest.value.replace(tzinfo=zone)
            wait = written.replace(microsecond=0) + _SECOND + cursor.settle - self.clock()
            if timedelta(0) < wait <= cursor.settle + _SECOND:
                self.sleep(wait.total_seconds())
                high = self._mark(cursor, kind, newest, zone)
        hold = None
        if high <= newest:
            hold = Hold(f"the newest {cursor.field} is {newest}, and only what lies before {high} has settled")
        return Frontier(high, newest, hold, nulls)

    def _mark(self, cursor: Cursor, kind: BookmarkType, newest: Bookmark, zone: tzinfo) -> Bookmark:
        moment = (self.clock() - cursor.settle).replace(microsecond=0)
        if kind is BookmarkType.TIMESTAMPTZ:
            mark = Bookmark.of(kind, moment)
        else:
            local = local_mark(moment, zone)
            mark = Bookmark.of(kind, local if kind is BookmarkType.TIMESTAMP else local.date())
        try:
            above = newest.value + _DAY if kind is BookmarkType.DATE else newest.value.replace(microsecond=0) + _SECOND
        except OverflowError:
            return mark
        return min(mark, Bookmark.of(kind, above))


def local_mark(moment: datetime, zone: tzinfo) -> datetime:
    """The least reading that a wall clock in `zone` can show at `moment` or in the day after it: when clocks are put
    back, an hour of readings comes twice, and until it is over for good nothing in it is safe."""
    quarter = timedelta(minutes=15)
    next_quarter = moment + (quarter - (moment - datetime.min.replace(tzinfo=UTC)) % quarter)
    moments = [moment, *(next_quarter + index * quarter for index in range(26 * 4))]
    return min(instant.astimezone(zone).replace(tzinfo=None) for instant in moments)


def _zone(name: str | None) -> tzinfo:
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise SourceError(
            f"no time zone {name!r} is known here", "write one such as Europe/Berlin in `timezone`"
        ) from None


def _is_day(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return False
    return True


def _mixed(table: Table, stream: Stream, sql: CursorSql, value: object) -> SourceError:
    assert stream.cursor is not None
    shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:77] + "…"
    return SourceError(
        f"stream {stream.name!r}: the cursor {stream.cursor.field!r} of {table.label} holds {shown} among values "
        f"stored as {sql.storage}: SQLite sorts them apart, so they have no common order",
        "store all of them in one way, or use another cursor",
    )
