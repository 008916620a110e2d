"""One staged Parquet file: row groups of bounded size, a digest, and the facts that a checkpoint keeps of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine.arrow import arrow_schema
from seamark.engine.sink import Sink
from seamark.engine.stats import delta_stats
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import StagedFile
from seamark.model.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP_ROWS = 1 << 20
COMPACTED = ("int8", "int16", "int32", "int64", "date", "timestamp", "timestamptz")
"""Types written as differences: for what grows row by row, half the size of the same without, and faster."""

CURSORS = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), BookmarkType.INTEGER),
    "decimal": BookmarkType.DECIMAL,
    "date": BookmarkType.DATE,
    "timestamp": BookmarkType.TIMESTAMP,
    "timestamptz": BookmarkType.TIMESTAMPTZ,
    "string": BookmarkType.TEXT,
    "binary": BookmarkType.BYTES,
}


class ParquetFile:
    """A file that is being written, one row group per `write`."""

    def __init__(self, path: Path, schema: Schema, cursor: str | None) -> None:
        import pyarrow.parquet as pq

        self._schema = schema
        self._cursor = cursor
        self._cursor_max: pa.Scalar | None = None
        self._rows = self._told = 0
        self._nulls = dict.fromkeys(schema.names, 0)
        self._with_nan: set[str] = set()
        self._metadata: list[pq.FileMetaData] = []
        self._sink = Sink(path)
        self._writer = pq.ParquetWriter(
            self._sink,
            arrow_schema(schema),
            compression="zstd",
            compression_level=1,
            use_dictionary=[column.name for column in schema if column.type.kind == "string"],
            column_encoding={column.name: "DELTA_BINARY_PACKED" for column in schema if column.type.kind in COMPACTED},
            store_decimal_as_integer=True,
            metadata_collector=self._metadata,
        )

    def write(self, rows: pa.Table) -> int:
        """Write a row group; how many bytes the file has grown by."""
        with self._the_disk_speaking():
            self._writer.write_table(rows, row_group_size=ROW_GROUP_ROWS)
        self._rows += rows.num_rows
        self._count(rows)
        return self._growth()

    def finish(self) -> int:
        """Write the footer; all of the file is on disk when this returns. How many bytes it has grown by."""
        with self._the_disk_speaking():
            self._writer.close()
        self._sink.finish()
        return self._growth()

    def discard(self) -> None:
        """Take the file away again; nothing that this does can fail."""
        self._sink.discard()
        # Closing writes a footer, which now goes nowhere; left open, the writer would try it when it is collected.
        with contextlib.suppress(Exception):
            self._writer.close()

    def facts(self, path: str, partition: tuple[tuple[str, str | None], ...]) -> StagedFile:
        """What a checkpoint keeps of the finished file."""
        return StagedFile(
            path=path,
            rows=self._rows,
            bytes=self._sink.bytes,
            digest=self._sink.digest,
            partition=partition,
            stats=delta_stats(self._metadata[0], self._schema, self._nulls, self._with_nan),
            cursor_max=self._bookmark(),
        )

    def _growth(self) -> int:
        before, self._told = self._told, self._sink.bytes
        return self._told - before

    def _count(self, rows: pa.Table) -> None:
        import pyarrow.compute as pc

        for column, values in zip(self._schema, rows.columns, strict=True):
            self._nulls[column.name] += values.null_count
            if column.type.kind in ("float32", "float64") and pc.any(pc.is_nan(values)).as_py():
                self._with_nan.add(column.name)
            if column.name == self._cursor and column.type.kind in CURSORS:
                highest = pc.max(values)
                if highest.is_valid and (self._cursor_max is None or pc.greater(highest, self._cursor_max).as_py()):
                    self._cursor_max = highest

    def _bookmark(self) -> str | None:
        column = self._schema.get(self._cursor or "")
        if self._cursor_max is None or column is None:
            return None
        try:
            return Bookmark.of(CURSORS[column.type.kind], self._cursor_max.as_py()).text
        except (ValueError, OverflowError):
            # A value that Python has no date for, such as Postgres' infinity: there is no bookmark at it.
            return None

    @contextlib.contextmanager
    def _the_disk_speaking(self) -> Iterator[None]:
        """Let through what the disk said, whatever Arrow made of it."""
        try:
            yield
        except Exception:
            if self._sink.failure is not None:
                raise self._sink.failure from None
            raise
