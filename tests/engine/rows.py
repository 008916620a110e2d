"""Readers for the engine's tests. Each is made by a function, so that it travels to Spark's workers by value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamark.engine.stage import StageJob
from seamark.model.schema import Column, DataType, Schema
from seamark.model.split import Split, SplitReader

if TYPE_CHECKING:
    import pyarrow as pa


def schema(**types: str) -> Schema:
    return Schema(tuple(Column(name, DataType.parse(kind)) for name, kind in types.items()))


def splits(count: int) -> tuple[Split, ...]:
    return tuple(Split(index, "", describes=f"piece {index}") for index in range(count))


def tables(*batches: Any) -> SplitReader:
    """Every split yields these batches."""

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        yield from batches

    return read


def numbers(batches: int = 3, rows: int = 1000) -> SplitReader:
    """`id` (int64) counts on from split to split, `name` is a text made of it."""

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in range(batches):
            first = (split.index * batches + batch) * rows
            ids = list(range(first, first + rows))
            yield pa.record_batch({"id": pa.array(ids, pa.int64()), "name": [f"row {i}" for i in ids]})

    return read


NUMBERS = schema(id="int64", name="string")


def failing(error: Exception, after: int = 1, unless: Path | None = None, only: int | None = None) -> SplitReader:
    """Like `numbers`, but fails after some batches; once only with `unless`, a file that the first failure makes."""
    good, marker = numbers(batches=1), str(unless) if unless else None

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        import pathlib

        for _ in range(after):
            yield from good(split)
        if only is not None and split.index != only:
            return
        if marker is not None:
            if pathlib.Path(marker).exists():
                return
            pathlib.Path(marker).touch()
        raise error

    return read


def endless(pause: float = 0.02) -> SplitReader:
    """Never ends by itself."""
    good = numbers(batches=1)

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        import time

        while True:
            yield from good(split)
            time.sleep(pause)

    return read


def job(
    root: Path,
    reader: SplitReader,
    columns: Schema = NUMBERS,
    count: int = 1,
    in_driver: bool = True,
    partition_by: Sequence[str] = (),
    **more: Any,
) -> StageJob:
    return StageJob(
        splits=splits(count),
        reader=reader,
        schema=columns,
        root=root,
        folder="staged/0a-1-2",
        partition_by=tuple(partition_by),
        in_driver=in_driver,
        **more,
    )


def staged(root: Path) -> list[str]:
    """Names of all that lies in the staging folder, hidden files too."""
    return sorted(path.name for path in (root / "staged/0a-1-2").glob("*"))
