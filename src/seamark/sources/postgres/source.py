"""The Postgres source: probes through one connection, rows through ADBC in tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

from seamark.config.secret import Secret
from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark
from seamark.model.split import Split
from seamark.model.stream import Shape, Stream, TableInfo
from seamark.model.window import Estimate, Frontier, Window
from seamark.sources.arrow import Place
from seamark.sources.base import Finding, Reading
from seamark.sources.postgres.catalog import Catalog, Relation
from seamark.sources.postgres.checks import findings
from seamark.sources.postgres.connection import Session, connection_text, settings
from seamark.sources.postgres.marks import Marks
from seamark.sources.postgres.options import PostgresOptions
from seamark.sources.postgres.reader import PostgresReader, dimensions_column
from seamark.sources.postgres.shape import CursorSql, cursor_sql, reads_of, shape_of, table_info
from seamark.sources.postgres.snapshot import explained, exported, plan_of
from seamark.sources.postgres.splits import cut, make_splits
from seamark.sources.query import filter_predicate, quoted, select

COUNTED = 20_000
"""Rows of a window that an index lets us count exactly; beyond, the planner's guess will do."""


class PostgresSource:
    """See `Source`."""

    def __init__(self, options: PostgresOptions) -> None:
        self._options = options
        self._session = Session(options)
        self._catalog = Catalog(self._session, options.schemas)
        self._marks = Marks(self._session, options)
        self._relations: dict[str, Relation] = {}

    def check(self, streams: Sequence[Stream]) -> list[Finding]:
        return findings(self._session, self._options, streams, lambda stream: (self._look(stream), self.shape(stream)))

    def discover(self, pattern: str = "*") -> list[TableInfo]:
        """A pattern without a dot is matched against the table's name in every schema."""

        def matches(relation: Relation) -> bool:
            known = (relation.label, f"{relation.schema}.{relation.name}", *([] if "." in pattern else [relation.name]))
            return any(name == pattern or fnmatchcase(name, pattern) for name in known)

        return [table_info(relation) for relation in self._catalog.all() if matches(relation)]

    def shape(self, stream: Stream) -> Shape:
        relation = self._look(stream)
        shape = shape_of(relation, stream)
        if stream.where or stream.cast:
            self._require_sound_sql(relation, stream)
        return shape

    def frontier(self, stream: Stream, shape: Shape, low: Bookmark | None) -> Frontier:
        return self._marks.frontier(self._relation(stream), stream, shape, low)

    def estimate(self, stream: Stream, window: Window) -> Estimate:
        relation = self._relation(stream)
        cursor = _cursor(relation, stream)
        rows, width = self._guess(relation, stream, window, cursor)
        if cursor is None or not cursor.indexed or window.low is None or stream.where:
            return Estimate(rows, rows * width)
        some = select(["1"], relation.sql, [cursor.within(window)]) + f" LIMIT {COUNTED + 1}"
        (count,) = self._session.row(
            f"SELECT count(*) FROM ({some}) rows", doing=f"counting new rows of {relation.label}"
        )
        if count <= COUNTED:
            return Estimate(count, count * width, exact=True)
        return Estimate(max(rows, count), max(rows, count) * width)

    @contextmanager
    def read(self, stream: Stream, shape: Shape, window: Window, parallelism: int) -> Iterator[Reading]:
        relation = self._relation(stream)
        cursor = _cursor(relation, stream)
        reads = reads_of(relation, stream)
        columns = [f"{read.sql} AS {quoted(read.name)}" for read in reads]
        arrays = tuple(read.name for read in reads if read.is_array)
        if arrays:
            columns.append(dimensions_column(tuple(quoted(name) for name in arrays)))
        with exported(self._options, relation) as snapshot:
            query = _window_query(columns, relation, stream, window, cursor)
            scan = plan_of(snapshot, self._options, query, relation, stream.key)
            pieces = cut(scan, window, cursor, snapshot.version, parallelism)
            splits: tuple[Split, ...] = make_splits(pieces, columns, relation.sql, stream.where, scan)
            yield Reading(
                splits,
                PostgresReader(
                    connection=Secret(connection_text(self._options)),
                    url=self._options.url,
                    snapshot=snapshot.id,
                    settings=(*settings(self._options.statement_timeout), ("idle_in_transaction_session_timeout", "0")),
                    schema=shape.schema,
                    place=Place(relation.label, stream.key),
                    arrays=arrays,
                ),
            )

    def acknowledge(self, stream: Stream, bookmark: Bookmark | None) -> None:
        """Nothing is kept for it."""

    def close(self) -> None:
        self._session.close()

    def _look(self, stream: Stream) -> Relation:
        self._relations[stream.table] = self._catalog.find(stream.table)
        return self._relations[stream.table]

    def _relation(self, stream: Stream) -> Relation:
        return self._relations.get(stream.table) or self._look(stream)

    def _require_sound_sql(self, relation: Relation, stream: Stream) -> None:
        """Let the server look at the casts and the row filter. The filter must be whole without our parentheses,
        too."""
        columns = [f"{read.sql} AS {quoted(read.name)}" for read in reads_of(relation, stream)]
        where = f" WHERE {stream.where}\n" if stream.where else ""
        doing = f"stream {stream.name!r}: `where: {stream.where}`" if where else f"stream {stream.name!r}: its casts"
        try:
            self._session.rows(f"{select(columns, relation.sql)}{where} LIMIT 0", doing=doing)
            self._session.rows(
                f"{select(columns, relation.sql, [filter_predicate(stream.where)])} LIMIT 0", doing=doing
            )
        except SourceError as error:
            if type(error) is SourceError:
                raise SourceError(error.message, "write the condition as it would stand after WHERE") from error
            raise

    def _guess(self, relation: Relation, stream: Stream, window: Window, cursor: CursorSql | None) -> tuple[int, int]:
        columns = [quoted(column.name) for column in relation.columns]
        query = _window_query(columns, relation, stream, window, cursor)
        (plans,) = self._session.row(f"EXPLAIN (FORMAT JSON) {query}", doing=f"estimating {relation.label}")
        rows, width, _ = explained(plans)
        return rows, width


def _cursor(relation: Relation, stream: Stream) -> CursorSql | None:
    if stream.cursor is None:
        return None
    kind = shape_of(relation, stream).cursor_type
    assert kind is not None
    return cursor_sql(relation, stream.cursor.field, kind)


def _window_query(
    columns: Sequence[str], relation: Relation, stream: Stream, window: Window, cursor: CursorSql | None
) -> str:
    within = cursor.within(window) if cursor else ""
    return select(columns, relation.sql, [within, filter_predicate(stream.where)])
