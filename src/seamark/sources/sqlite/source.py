"""The SQLite source: probes through the standard library, rows through ADBC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path

from seamark.errors import SourceError, SourceUnavailable, TypeMappingError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.schema import Column, Schema
from seamark.model.split import Split
from seamark.model.stream import CursorCandidate, Shape, Stream, TableInfo
from seamark.model.window import Estimate, Frontier, Window
from seamark.sources.arrow import Place
from seamark.sources.base import Finding, Reading
from seamark.sources.query import filter_predicate, quoted, select
from seamark.sources.selection import selected
from seamark.sources.sqlite.catalog import Table, all_tables, find
from seamark.sources.sqlite.checks import findings
from seamark.sources.sqlite.database import Database
from seamark.sources.sqlite.marks import Marks, utc_now
from seamark.sources.sqlite.options import SqliteOptions
from seamark.sources.sqlite.reader import SqliteReader, read_query
from seamark.sources.sqlite.types import ColumnRead, column_read, cursor_type

COUNTED = 100_000
"""Rows of a window that are counted exactly; so many take a few milliseconds."""


class SqliteSource:
    """See `Source`. A window is one split: processes can't share a snapshot of a SQLite database, and rows that change
    between two splits would be moved twice or not at all."""

    def __init__(self, options: SqliteOptions, root: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self._options = options
        self._database = Database(options, root)
        self._marks = Marks(self._database, options.timezone, clock)
        self._tables: dict[str, Table] = {}

    def check(self, streams: Sequence[Stream]) -> list[Finding]:
        return findings(self._database, streams, lambda stream: (self._look(stream), self.shape(stream)))

    def discover(self, pattern: str = "*") -> list[TableInfo]:
        tables = [
            table
            for table in all_tables(self._database)
            if any(name == pattern or fnmatchcase(name, pattern) for name in (table.name, table.label))
        ]
        return [self._info(table) for table in tables]

    def shape(self, stream: Stream) -> Shape:
        table = self._look(stream)
        reads = _reads(table, stream)
        columns = tuple(
            Column(read.name, read.type, nullable=not table.never_null(read.name), source_type=read.source_type)
            for read in reads
        )
        if stream.where:
            self._require_sound_filter(table, stream)
        return Shape(Schema(columns), _cursor_type(table, stream), None, _key_is_unique(table, stream.key))

    def frontier(self, stream: Stream, shape: Shape, low: Bookmark | None) -> Frontier:
        assert shape.cursor_type is not None
        return self._marks.frontier(self._table(stream), stream, shape.cursor_type, low)

    def estimate(self, stream: Stream, window: Window) -> Estimate:
        table = self._table(stream)
        some = select(["1"], table.sql, self._predicates(table, stream, window)) + f" LIMIT {COUNTED + 1}"
        doing = f"estimating {table.label}"
        (count,) = self._database.row(f"SELECT count(*) FROM ({some})", doing=doing)
        rows = count
        if count > COUNTED and table.has_rowid:
            (greatest,) = self._database.row(f"SELECT max(rowid) FROM {table.sql}", doing=doing)
            rows = max(count, greatest or 0)
        lengths = " + ".join(f"coalesce(length({quoted(name)}), 0)" for name in table.column_names)
        sample = f"SELECT avg({lengths}) FROM ({select(['*'], table.sql)} LIMIT 100)"
        (width,) = self._database.row(sample, doing=doing)
        return Estimate(rows, round(rows * (width or 0)), exact=count <= COUNTED)

    @contextmanager
    def read(self, stream: Stream, shape: Shape, window: Window, parallelism: int) -> Iterator[Reading]:
        table = self._table(stream)
        query, misfits = read_query(_reads(table, stream), table.sql, self._predicates(table, stream, window))
        split = Split(0, query, (), self.estimate(stream, window), str(window))
        locator = stream.key or table.primary_key or (("rowid",) if table.has_rowid else ())
        yield Reading(
            (split,),
            SqliteReader(
                uri=self._database.uri,
                path=str(self._database.path),
                busy_timeout=self._options.busy_timeout.total_seconds(),
                schema=shape.schema,
                place=Place(table.label, stream.key),
                table=table.sql,
                locator=locator,
                misfits=misfits,
            ),
        )

    def acknowledge(self, stream: Stream, bookmark: Bookmark | None) -> None:
        """Nothing is kept for it."""

    def close(self) -> None:
        self._database.close()

    def _look(self, stream: Stream) -> Table:
        self._tables[stream.table] = find(self._database, stream.table)
        return self._tables[stream.table]

    def _table(self, stream: Stream) -> Table:
        return self._tables.get(stream.table) or self._look(stream)

    def _predicates(self, table: Table, stream: Stream, window: Window) -> list[str]:
        where = filter_predicate(stream.where)
        kind = _cursor_type(table, stream)
        if kind is None or (window.low is None and window.high is None and not window.nulls):
            return [where]
        return [self._marks.cursor(table, stream, kind).within(window), where]

    def _require_sound_filter(self, table: Table, stream: Stream) -> None:
        """The filter must be whole without our parentheses, too."""
        doing = f"stream {stream.name!r}: `where: {stream.where}`"
        try:
            self._database.rows(f"{select(['1'], table.sql)} WHERE {stream.where}\n LIMIT 0", doing=doing)
            self._database.rows(f"{select(['1'], table.sql, [filter_predicate(stream.where)])} LIMIT 0", doing=doing)
        except SourceUnavailable:
            raise
        except SourceError as error:
            raise SourceError(error.message, "write the condition as it would stand after WHERE") from error

    def _info(self, table: Table) -> TableInfo:
        columns: list[Column] = []
        problems: list[str] = []
        for column in table.columns:
            try:
                read = column_read(table, column, None)
            except TypeMappingError as error:
                problems.append(f"{error.message}; {error.hint}")
                continue
            nullable = not table.never_null(column.name)
            columns.append(Column(read.name, read.type, nullable, source_type=read.source_type))
        key = table.primary_key if _key_is_unique(table, table.primary_key) else ()
        schema = Schema(tuple(columns))
        rows = self._rows(table)
        return TableInfo(table.label, schema, key, tuple(_candidates(table, schema)), rows, None, "", tuple(problems))

    def _rows(self, table: Table) -> int | None:
        """Counted up to a bound; beyond, and for views, unknown."""
        if table.kind != "table":
            return None
        (count,) = self._database.row(f"SELECT count(*) FROM (SELECT 1 FROM {table.sql} LIMIT {COUNTED + 1})")
        return count if count <= COUNTED else None


def _reads(table: Table, stream: Stream) -> tuple[ColumnRead, ...]:
    casts = dict(stream.cast)
    names = selected(stream, table.column_names)
    return tuple(column_read(table, column, casts.get(column.name)) for column in table.columns if column.name in names)


def _cursor_type(table: Table, stream: Stream) -> BookmarkType | None:
    if stream.cursor is None:
        return None
    column = table.column(stream.cursor.field)
    if column is None:
        selected(stream, table.column_names)  # raises, with the nearest name
        raise AssertionError
    kind = cursor_type(column_read(table, column, dict(stream.cast).get(column.name)).type)
    if kind is None:
        raise SourceError(
            f"stream {stream.name!r}: the cursor {column.name!r} is {column.declared or 'of no declared type'}, whose "
            "values have no exact order with a next value in SQLite",
            "use a column of timestamps, integers, dates or text",
        )
    return kind


def _key_is_unique(table: Table, key: tuple[str, ...]) -> bool:
    """Whether SQLite refuses two rows with one key: a primary key or unique index over (a part of) it, and no NULL in
    it."""
    if not key or not all(table.never_null(name) for name in key):
        return False
    unique = [index.columns for index in table.indexes if index.unique and not index.partial]
    if table.primary_key:
        unique.append(table.primary_key)
    return any(set(columns) <= set(key) for columns in unique)


def _candidates(table: Table, schema: Schema) -> list[CursorCandidate]:
    """Columns that would make a cursor, the best first."""
    found: list[tuple[int, CursorCandidate]] = []
    for column in schema:
        kind = cursor_type(column.type)
        indexed = ", indexed" if table.indexed(column.name) else ", but without an index each plan scans the table"
        if table.is_rowid(column.name):
            why = f"numbered by SQLite: finds new rows, not updates{indexed}"
            found.append((4, CursorCandidate(column.name, BookmarkType.INTEGER, why)))
        elif kind in (BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ):
            changes = any(word in column.name.lower() for word in ("updat", "modif", "chang"))
            why = (
                "its name says that it changes with the row"
                if changes
                else "whether it changes with the row is for you to know"
            )
            rank = (0 if changes else 2) + (0 if table.indexed(column.name) else 1)
            found.append((rank, CursorCandidate(column.name, kind, f"a timestamp; {why}{indexed}")))
    return [candidate for _, candidate in sorted(found, key=lambda item: item[0])]
