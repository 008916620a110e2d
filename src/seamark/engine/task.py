"""What happens to one split, in whatever process: read as Arrow, written as Parquet, told as file facts.

Imported by Python workers: keep what this imports small.
"""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
import uuid
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from seamark.crash import reach
from seamark.engine.arrow import arrow_schema, from_arrow
from seamark.engine.failure import failure_of, is_final, without_credentials
from seamark.engine.noticeboard import Noticeboard
from seamark.engine.parquet import CURSORS, ParquetFile
from seamark.engine.partitions import Values, split_by_values
from seamark.engine.sink import disk_error, make_folder, sync_folders
from seamark.errors import Cancelled, SourceError
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import StagedFile
from seamark.model.schema import Schema, widens
from seamark.model.split import Split, SplitReader

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP_BYTES = 48 << 20
"""Rows wait in memory until they are so many bytes; a task's memory is a small multiple of this."""
OPEN_FILES = 100
"""A table with more partition values than this gets more than one file per value and split."""


@dataclass(frozen=True)
class Task:
    """What the splits of one job have in common."""

    reader: SplitReader
    schema: Schema
    root: str
    folder: str
    partition_by: tuple[str, ...]
    cursor: str | None


class Watch(Protocol):
    """Who looks on while a split is staged."""

    def wrote(self, rows: int, bytes: int) -> None:
        """So many more rows have been taken in, so many more bytes written."""

    def stopped(self) -> bool:
        """Whether to give up: a person asked for it, or another split has failed for good."""


def stage_split(task: Task, split: Split, watch: Watch) -> tuple[StagedFile, ...]:
    """The facts of the split's files, all safely on disk; nothing is left of them when this raises."""
    writer = _SplitWriter(task, split, watch)
    try:
        with contextlib.closing(_generator(task.reader(split))) as batches:
            for batch in batches:
                if watch.stopped():
                    raise Cancelled("staging was stopped", "run it again: it goes on from the last checkpoint")
                writer.write(batch)
        return writer.finish()
    except BaseException:
        writer.discard()
        raise


def _generator(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
    """Whatever iterator a reader returns, as one that can be closed; closing lets go of the reader's connection."""
    try:
        yield from batches
    finally:
        if (close := getattr(batches, "close", None)) is not None:
            close()


def stage_in_task(task: Task, split: Split, board: Noticeboard, attempts: int) -> str:
    """JSON of the split's file facts, or of why it failed for good; raises while Spark should try again."""
    from pyspark import TaskContext

    context = TaskContext.get()
    tried = context.attemptNumber() + 1 if context is not None else attempts
    try:
        files = stage_split(task, split, board.watch(split.index))
    except Exception as error:
        if not is_final(error) and tried < attempts:
            raise
        _print_traceback(error)
        board.stop()
        return json.dumps({"index": split.index, "failure": asdict(failure_of(error, split))})
    return json.dumps({"index": split.index, "files": [asdict(file) for file in files]})


def _print_traceback(error: Exception) -> None:
    """Into Spark's log: standard error of a worker goes there."""
    sys.stderr.write(without_credentials("".join(traceback.format_exception(error))))


class _SplitWriter:
    """Gathers batches into row groups, and those into one file per partition's values."""

    def __init__(self, task: Task, split: Split, watch: Watch) -> None:
        self._task = task
        self._split = split
        self._watch = watch
        self._arrow = arrow_schema(task.schema)
        self._file_schema = Schema(tuple(c for c in task.schema if c.name not in task.partition_by))
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._folder: Path | None = None
        self._open: dict[Values, tuple[Path, ParquetFile]] = {}
        self._facts: list[StagedFile] = []

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        self._waiting.append(fitted(batch, self._arrow, self._task.schema))
        self._waiting_bytes += batch.nbytes
        self._watch.wrote(batch.num_rows, 0)
        if self._waiting_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def finish(self) -> tuple[StagedFile, ...]:
        self._flush()
        for values in list(self._open):
            self._close(values)
        if self._folder is not None:
            try:
                sync_folders(self._folder, self._folder)
            except OSError as error:
                raise disk_error(error, self._folder) from error
        return tuple(self._facts)

    def discard(self) -> None:
        for _, file in self._open.values():
            file.discard()
        for fact in self._facts:
            with contextlib.suppress(OSError):
                Path(self._task.root, fact.path).unlink()

    def _flush(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        rows = pa.Table.from_batches(self._waiting, self._arrow)
        self._waiting, self._waiting_bytes = [], 0
        if self._task.partition_by:
            for values, part in split_by_values(_one_batch(rows), self._task.partition_by):
                self._append(values, pa.Table.from_batches([part]))
        else:
            self._append((), rows)
        reach("stage.task")

    def _append(self, values: Values, rows: pa.Table) -> None:
        # Taken out and put back, so that the file that has waited longest stands first.
        opened = self._open.pop(values) if values in self._open else self._create()
        self._open[values] = opened
        self._watch.wrote(0, opened[1].write(rows))

    def _create(self) -> tuple[Path, ParquetFile]:
        if len(self._open) >= OPEN_FILES:
            self._close(next(iter(self._open)))
        if self._folder is None:
            self._folder = make_folder(Path(self._task.root), self._task.folder)
        path = self._folder / f"part-{self._split.index:05d}-{uuid.uuid4()}.parquet"
        return path, ParquetFile(path, self._file_schema, self._task.cursor)

    def _close(self, values: Values) -> None:
        path, file = self._open[values]
        self._watch.wrote(0, file.finish())
        del self._open[values]
        partition = tuple(zip(self._task.partition_by, values, strict=True))
        facts = file.facts(f"{self._task.folder}/{path.name}", partition)
        self._facts.append(replace(facts, cursor_max=facts.cursor_max or self._cursor_among(partition)))

    def _cursor_among(self, partition: tuple[tuple[str, str | None], ...]) -> str | None:
        """The bookmark of a cursor that partitions the table, and so does not stand in the file."""
        column, value = self._task.schema.get(self._task.cursor or ""), dict(partition).get(self._task.cursor or "")
        if column is None or value is None or column.type.kind not in CURSORS:
            return None
        return Bookmark.parse(CURSORS[column.type.kind], value).text


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    (batch,) = rows.combine_chunks().to_batches()
    return batch


def fitted(batch: pa.RecordBatch, arrow: pa.Schema, schema: Schema) -> pa.RecordBatch:
    """The batch with exactly the declared columns: types that only grew wider are cast, anything else is refused."""
    import pyarrow as pa

    if batch.schema.names != arrow.names:
        missing = [name for name in arrow.names if name not in batch.schema.names]
        unknown = [name for name in batch.schema.names if name not in arrow.names]
        if missing or unknown or len(batch.schema.names) != len(arrow.names):
            raise SourceError(
                f"rows came with other columns than announced (missing: {missing}, not announced: {unknown})",
                "the source's table may have been altered during the run: run it again",
            )
        batch = batch.select(arrow.names)
    columns = [_fitted_column(batch.column(field.name), field, schema) for field in arrow]
    return pa.RecordBatch.from_arrays(columns, schema=arrow)


def _fitted_column(values: pa.Array, field: pa.Field, schema: Schema) -> pa.Array:
    import pyarrow as pa

    if values.type == field.type:
        return values
    column = schema.get(field.name)
    assert column is not None
    came = from_arrow(pa.schema([pa.field(field.name, values.type)])).columns[0].type
    if not widens(came, column.type):
        raise SourceError(
            f"column {field.name!r} came as {values.type} where {field.type} was announced",
            "the source's table may have been altered during the run: run it again; or fix the type with `cast:`",
        )
    return values.cast(field.type)
