"""Reads one split through ADBC, in whatever process a task runs in. The only module here that imports Arrow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seamark.config.secret import Secret
from seamark.errors import TypeMappingError
from seamark.model.schema import Schema
from seamark.model.split import Split
from seamark.sources.arrow import Place, conform, in_row
from seamark.sources.postgres.connection import set_all
from seamark.sources.postgres.errors import translated
from seamark.sources.query import literal

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 4 << 20
DIMENSIONS = "seamark: arrays of several dimensions"
"""The extra column that tells which array of a row has more than one dimension (1 for the first array), if any."""


@dataclass(frozen=True)
class PostgresReader:
    """See `SplitReader`. What it holds travels to tasks; of its secrets nothing shows."""

    connection: Secret
    """What libpq connects with."""
    url: Secret
    snapshot: str
    settings: tuple[tuple[str, str], ...]
    schema: Schema
    place: Place
    arrays: tuple[str, ...] = ()
    """The columns that DIMENSIONS counts."""

    def __call__(self, split: Split) -> Iterator[pa.RecordBatch]:
        from seamark.engine.arrow import arrow_schema

        schema = arrow_schema(self.schema)
        doing = f"reading {self.place.table} ({split.describes})"
        with self._errors(doing), self._cursor() as cursor:
            cursor.execute(split.query)
            for batch in cursor.fetch_record_batch():
                self._require_flat_arrays(batch)
                yield conform(batch, schema, self.place)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor in a transaction that sees the snapshot."""
        from adbc_driver_postgresql import StatementOptions, dbapi

        connection = dbapi.connect(self.connection.reveal(), autocommit=True)
        try:
            cursor = connection.cursor()
            try:
                cursor.adbc_statement.set_options(**{StatementOptions.BATCH_SIZE_HINT_BYTES.value: str(BATCH_BYTES)})
                cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                cursor.execute(f"SET TRANSACTION SNAPSHOT {literal(self.snapshot)}")
                cursor.execute(f"SELECT {set_all(self.settings, local=True)}")
                cursor.fetchall()
                yield cursor
            finally:
                cursor.close()
        finally:
            with contextlib.suppress(Exception):  # it only read: how the connection ends changes nothing
                connection.close()

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        import pyarrow as pa
        from adbc_driver_manager import Error

        try:
            yield
        except (Error, pa.ArrowException, OSError) as error:
            # `from None`: the driver's own error may quote what it connected with.
            raise translated(error, doing, self.url, self.connection) from None

    def _require_flat_arrays(self, batch: pa.RecordBatch) -> None:
        """The driver strings the elements of a matrix together; as a list that would be another value."""
        import pyarrow.compute as pc

        if not self.arrays:
            return
        dimensions = batch.column(batch.num_columns - 1)
        which = pc.max(dimensions).as_py()
        if not which:
            return
        name = self.arrays[which - 1]
        where = in_row(batch, pc.index(dimensions, which).as_py(), self.place)
        raise TypeMappingError(
            f"column {name!r} of {self.place.table} holds an array of several dimensions{where}, which has no place "
            "in a list",
            f"keep its text with `cast: {{{name}: string}}`, or leave the row out with `where:`",
        )


def dimensions_column(arrays: tuple[str, ...]) -> str:
    """SQL for DIMENSIONS over arrays given as SQL expressions."""
    cases = " ".join(f"WHEN array_ndims({array}) > 1 THEN {number}" for number, array in enumerate(arrays, 1))
    return f'CASE {cases} ELSE 0 END AS "{DIMENSIONS}"'
