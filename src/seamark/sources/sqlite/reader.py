"""Reads a window through ADBC, in whatever process a task runs in. The only module here that imports Arrow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
    """SQL for what names a row in an error."""
    misfits: tuple[Misfit, ...]

    def __call__(self, split: Split) -> Iterator[pa.RecordBatch]:
        from seamark.engine.arrow import arrow_schema

        schema = arrow_schema(self.schema)
        with self._errors(), self._cursor() as cursor:
            cursor.execute(split.query)
            first = True
            for batch in cursor.fetch_record_batch():
                rows = batch.slice(1) if first else batch  # the first row is the sample
                first = False
                self._require_fitting(rows, split)
                if len(rows):
                    yield conform(rows, schema, self.place, check_text=True)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        from adbc_driver_sqlite import StatementOptions, dbapi

        with closing(dbapi.connect(self.uri, autocommit=True)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {round(self.busy_timeout * 1000)}")
            cursor.fetchall()
            cursor.adbc_statement.set_options(**{StatementOptions.BATCH_ROWS.value: str(BATCH_ROWS)})
            yield cursor

    @contextmanager
    def _errors(self) -> Iterator[None]:
        import pyarrow as pa
        from adbc_driver_manager import Error

        try:
            yield
        except (Error, pa.ArrowException, OSError, sqlite3.Error) as error:
            raise translated(error, f"reading {self.place.table}", self.path) from error

    def _require_fitting(self, batch: pa.RecordBatch, split: Split) -> None:
        import pyarrow.compute as pc

        if not self.misfits or not len(batch):
            return
        which = pc.max(batch.column(batch.num_columns - 1)).as_py()
        if which:
            raise self._error(self.misfits[which - 1])

    def _error(self, misfit: Misfit) -> TypeMappingError:
        """Look the value up: which row, what value, of which type."""
        found = f"typeof({quoted(misfit.column)})", f"quote({quoted(misfit.column)})"
        query = select([*self.locator, *found], self.table, [f"({misfit.condition})"]) + " LIMIT 1"
        with closing(sqlite3.connect(self.uri, uri=True, timeout=self.busy_timeout)) as connection:
            row = connection.execute(query).fetchone() or (*("?" for _ in self.locator), "unknown", "a value")
        *place, kind, text = row
        names = [name.strip('"') for name in self.locator]
        where = ", ".join(f"{name} = {value!r}" for name, value in zip(names, place, strict=True))
        shown = text if len(text) <= 80 else text[:77] + "…"
        return TypeMappingError(
            f"column {misfit.column!r} of {self.place.table} is {misfit.declared or 'of no declared type'}, but holds the {kind} "
            f"{shown}{' in the row with ' + where if where else ''}, which has no place in {misfit.type}",
            f"keep the values' text with `cast: {{{misfit.column}: string}}`, choose another type that fits them, correct the "
            "row, or leave it out with `where:`",
        )


def read_query(reads: tuple[ColumnRead, ...], table: str, predicates: list[str]) -> tuple[str, tuple[Misfit, ...]]:
    """The statement for a window, and what its last column counts: the first misfit of each row, 0 for none.

    Its first row is a sample: the driver guesses a column's type from the first values it sees, and these are never NULL.
    """
    misfits = tuple(
        Misfit(read.name, read.misfit, read.source_type, str(read.type)) for read in reads if read.misfit != "0"
    )
    count = "0"
    if misfits:
        cases = " ".join(f"WHEN {misfit.condition} THEN {number}" for number, misfit in enumerate(misfits, 1))
        count = f"CASE {cases} ELSE 0 END"
    sample = [*(f"{read.sample} AS {quoted(read.name)}" for read in reads), '0 AS "seamark: misfit"']
    rows = select([*(read.sql for read in reads), count], table, predicates)
    return f"SELECT {', '.join(sample)} UNION ALL {rows}", misfits
