"""A stream as Postgres has it now: its columns, the SQL that reads them, its cursor, whether its key is enforced."""

from __future__ import annotations

from dataclasses import dataclass

from seamark.errors import SourceError, TypeMappingError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.schema import Column, Schema
from seamark.model.stream import CursorCandidate, Shape, Stream, TableInfo
from seamark.model.window import Window
from seamark.sources.postgres.catalog import PgColumn, Relation
from seamark.sources.postgres.types import ColumnRead, base_type, column_read, cursor_type
from seamark.sources.query import literal, quoted, select, window_predicate
from seamark.sources.selection import selected


def shape_of(relation: Relation, stream: Stream) -> Shape:
    """SourceError or TypeMappingError, naming the column, where the stream can't be read faithfully."""
    reads = reads_of(relation, stream)
    columns = {column.name: column for column in relation.columns}
    schema = Schema(
        tuple(
            Column(
                read.name,
                read.type,
                nullable=not columns[read.name].not_null,
                comment=columns[read.name].comment,
                source_type=read.source_type,
            )
            for read in reads
        )
    )
    kind, scale = _cursor(relation, stream)
    return Shape(schema, kind, scale, key_is_unique(relation, stream.key), relation.comment)


def reads_of(relation: Relation, stream: Stream) -> tuple[ColumnRead, ...]:
    """How each of the stream's columns is read."""
    casts = dict(stream.cast)
    names = selected(stream, relation.column_names)
    columns = [column for column in relation.columns if column.name in names]
    if hidden := [column.name for column in columns if not column.readable]:
        raise SourceError(
            f"stream {stream.name!r}: the user may not read {', '.join(map(repr, hidden))} of {relation.label}",
            f"GRANT SELECT ON {relation.sql} TO the user, or leave the columns out with `exclude:`",
        )
    return tuple(column_read(relation, column, casts.get(column.name)) for column in columns)


def _cursor(relation: Relation, stream: Stream) -> tuple[BookmarkType | None, int | None]:
    if stream.cursor is None:
        return None, None
    column = relation.column(stream.cursor.field)
    assert column is not None  # `selected` looked
    cast = dict(stream.cast).get(column.name)
    found = cursor_type(relation, column, cast)
    if found is None:
        kind = base_type(relation, column)[0].name
        advice = (
            f'give it a fixed number of decimals: `cast: {{{column.name}: "decimal(38,9)"}}`'
            if kind == "numeric"
            else "use a column of timestamps, integers, dates, decimals, text or uuids"
        )
        raise SourceError(
            f"stream {stream.name!r}: the cursor {column.name!r} is {column.type_text}, whose values have no exact "
            "order with a next value",
            advice,
        )
    if cast is not None and found[0] is not BookmarkType.DECIMAL:
        raise SourceError(
            f"stream {stream.name!r}: the cursor {column.name!r} is cast to {cast}, so its values would not be those "
            "that order the rows",
            f"take {column.name!r} out of `cast:`",
        )
    return found


def key_is_unique(relation: Relation, key: tuple[str, ...]) -> bool:
    """Whether the database refuses two rows with one key: a unique index over (a part of) it, and nothing NULL in
    it."""
    columns = [relation.column(name) for name in key]
    if not key or relation.has_rows_elsewhere or not all(column and column.not_null for column in columns):
        return False
    return any(index.unique and not index.partial and set(index.columns) <= set(key) for index in relation.indexes)


@dataclass(frozen=True)
class CursorSql:
    """How a cursor's column is compared: `expression` against `literal`s; `newest` gives its greatest value as text."""

    expression: str
    kind: BookmarkType
    indexed: bool = False
    """Whether an index finds ranges of it and its greatest value."""

    @property
    def newest(self) -> str:
        """The aggregate that gives the greatest value, as the text a bookmark is parsed from."""
        match self.kind:
            case BookmarkType.UUID:  # no max(uuid) before Postgres 18; the text sorts alike
                return f'max({self.expression}::text COLLATE "C")'
            case BookmarkType.BYTES:
                return f"max(encode({self.expression}, 'hex') COLLATE \"C\")"
        return f"max({self.expression})::text"

    def newest_by_index(self, table: str, name: str) -> str:
        """The same by an index, which finds the last entry at once."""
        text = "encode(v, 'hex')" if self.kind is BookmarkType.BYTES else "v::text"
        last = select([f"{self.expression} AS v"], table, [f"{name} IS NOT NULL"])
        # By position: a name would mean the output column first, and sort whatever that holds.
        return f"SELECT {text} FROM ({last} ORDER BY 1 DESC LIMIT 1) last"

    def literal(self, bookmark: Bookmark) -> str:
        match self.kind:
            case BookmarkType.INTEGER | BookmarkType.DECIMAL:
                return bookmark.text if not bookmark.text.startswith("-") else f"({bookmark.text})"
            case BookmarkType.TEXT:
                return literal(bookmark.text)
            case BookmarkType.BYTES:
                return f"{literal(chr(92) + 'x' + bookmark.text)}::bytea"
        return f"{literal(bookmark.text)}::{self.kind.value}"

    def within(self, window: Window) -> str:
        low = self.literal(window.low) if window.low else None
        high = self.literal(window.high) if window.high else None
        return window_predicate(self.expression, low, high, window.nulls)


def cursor_sql(relation: Relation, field: str, kind: BookmarkType) -> CursorSql:
    """Text is compared byte by byte, as bookmarks are, whatever the column's own collation."""
    name = quoted(field)
    if kind is BookmarkType.TEXT:
        column = relation.column(field)
        plain = column is not None and base_type(relation, column)[0].name in ("text", "varchar", "name")
        name = f'{name if plain else name + "::text"} COLLATE "C"'
        return CursorSql(name, kind, relation.index_on(field, c_collated=True) is not None and plain)
    return CursorSql(name, kind, relation.index_on(field) is not None)


def table_info(relation: Relation) -> TableInfo:
    """What discovery tells of a table; columns without a faithful type are among its problems."""
    columns: list[Column] = []
    problems: list[str] = []
    for column in relation.columns:
        try:
            read = column_read(relation, column, None)
        except TypeMappingError as error:
            problems.append(f"{error.message}; {error.hint}")
            continue
        columns.append(Column(read.name, read.type, not column.not_null, column.comment, read.source_type))
    if relation.kind == "f":
        problems.append("a foreign table: rows may appear late, a cursor over it needs a `lookback`")
    key = next((index.columns for index in relation.indexes if key_is_unique(relation, index.columns)), ())
    return TableInfo(
        name=relation.label,
        schema=Schema(tuple(columns)),
        key=key,
        cursors=tuple(_candidates(relation)),
        rows=relation.rows,
        bytes=relation.bytes if relation.leaves else None,
        comment=relation.comment,
        problems=tuple(problems),
    )


_CHANGE_WORDS = ("updat", "modif", "chang")


def _candidates(relation: Relation) -> list[CursorCandidate]:
    """Columns that would make a cursor, the best first: they see updates, have an index, are filled by the server."""
    found: list[tuple[int, int, CursorCandidate]] = []
    for column in relation.columns:
        kind = cursor_type(relation, column, None)
        if kind is None or kind[0] not in (BookmarkType.TIMESTAMPTZ, BookmarkType.TIMESTAMP, BookmarkType.INTEGER):
            continue
        if rank_why := _rank(relation, column, kind[0]):
            found.append((rank_why[0], column.number, CursorCandidate(column.name, kind[0], rank_why[1])))
    return [candidate for _, _, candidate in sorted(found, key=lambda item: item[:2])]


def _rank(relation: Relation, column: PgColumn, kind: BookmarkType) -> tuple[int, str] | None:
    indexed = ", indexed" if relation.index_on(column.name) else ", but without an index each plan scans the table"
    penalty = 0 if relation.index_on(column.name) else 1
    if kind is BookmarkType.INTEGER:
        if column.sequence is None:
            return None
        return 6 + penalty, f"numbered by a sequence: finds new rows, not updates{indexed}"
    if any(word in column.name.lower() for word in _CHANGE_WORDS):
        return penalty, f"a timestamp whose name says that it changes with the row{indexed}"
    if "now()" in column.default or "timestamp" in column.default.lower():
        return (
            2 + penalty,
            f"a timestamp that the server fills: finds new rows, updates only if a trigger sets it{indexed}",
        )
    return 4 + penalty, f"a timestamp; whether it changes with the row is for you to know{indexed}"
