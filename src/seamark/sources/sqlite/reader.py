"""Reads a window, in whatever process a task runs in. The only module here that imports Arrow.

Rows come through the standard library's SQLite and not through ADBC, whose driver brings a SQLite of its own: two of
them in one process undo each other's file locks (POSIX drops a process's locks on a file when any handle on it is
closed), so that a writer can get in between, and the shared memory of a WAL database be cut under the other's feet
(SIGBUS)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seamark.errors import TypeMappingError
from seamark.model.schema import Schema
from seamark.model.split import Split
from seamark.sources.arrow import Place, conform
from seamark.sources.query import quoted, select
from seamark.sources.sqlite.database import translated
from seamark.sources.sqlite.types import ColumnRead

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 4096


@dataclass(frozen=True)
class Misfit:
    """A condition that is true for a value which has no place in its column."""

    column: str
    condition: str
    declared: str
    type: str


@dataclass(frozen=True)
class SqliteReader:
    """See `SplitReader`. A split's query is one statement, so one state of the database is all it sees."""

    uri: str
    path: str
    busy_timeout: float
    schema: Schema
    place: Place
    table: str
    locator: tuple[str, ...]
    """Columns that name a row in an error."""
    misfits: tuple[Misfit, ...]

    def __call__(self, split: Split) -> Iterator[pa.RecordBatch]:
        from seamark.engine.arrow import arrow_schema

        schema = arrow_schema(self.schema)
        with self._connection() as connection:
            connection.text_factory = bytes  # Arrow makes text of them, and looks whether they are
            cursor = connection.execute(split.query)
            while rows := cursor.fetchmany(BATCH_ROWS):
                columns = list(zip(*rows, strict=True))
                if which := max(columns[-1]):
                    raise self._error(self.misfits[which - 1])
                yield conform(self._batch(columns), schema, self.place)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(
                sqlite3.connect(self.uri, uri=True, timeout=self.busy_timeout, isolation_level=None)
            ) as opened:
                yield opened
        except sqlite3.Error as error:
            raise translated(error, f"reading {self.place.table}", self.path) from error

    def _batch(self, columns: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        """The values as SQLite has them: integers, floats, bytes and texts."""
        import pyarrow as pa

        arrays = []
        for column, values in zip(self.schema, columns, strict=False):
            kind = column.type.kind
            if kind in ("int8", "int16", "int32", "int64", "boolean"):
                arrays.append(pa.array(values, pa.int64()))
            elif kind == "float64":
                arrays.append(pa.array(values, pa.float64()))
            else:
                arrays.append(pa.array(values, pa.binary()))
        return pa.RecordBatch.from_arrays(arrays, names=list(self.schema.names))

    def _error(self, misfit: Misfit) -> TypeMappingError:
        """Look the value up: which row, what value, of which type."""
        column = quoted(misfit.column)
        facts = [f"typeof({column})", f"quote({column})", *(f"quote({_name(name)})" for name in self.locator)]
        with self._connection() as connection:
            query = f"{select(facts, self.table, [f'({misfit.condition})'])} LIMIT 1"
            kind, text, *row = connection.execute(query).fetchone() or ("value", "(since corrected)")
        where = ", ".join(f"{name} = {value}" for name, value in zip(self.locator, row, strict=False))
        shown = text if len(text) <= 80 else text[:77] + "…"
        return TypeMappingError(
            f"column {misfit.column!r} of {self.place.table} is {misfit.declared or 'of no declared type'}, but holds "
            f"the {kind} {shown}{' in the row with ' + where if where else ''}, which has no place in {misfit.type}",
            f"keep the values' text with `cast: {{{misfit.column}: string}}`, choose another type that fits them, "
            "correct the row, or leave it out with `where:`",
        )


def read_query(reads: Sequence[ColumnRead], table: str, predicates: Sequence[str]) -> tuple[str, tuple[Misfit, ...]]:
    """The statement for a window, and what its last column counts: the first misfit of each row, 0 for none."""
    misfits = tuple(Misfit(read.name, read.misfit, read.source_type, str(read.type)) for read in reads if read.misfit)
    cases = " ".join(f"WHEN {misfit.condition} THEN {number}" for number, misfit in enumerate(misfits, 1))
    count = f"CASE {cases} ELSE 0 END" if misfits else "0"
    return select([*(read.sql for read in reads), count], table, predicates), misfits


def _name(column: str) -> str:
    return column if column == "rowid" else quoted(column)
