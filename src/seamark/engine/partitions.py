"""Rows by the values of the columns that partition a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from seamark.errors import DestinationError

if TYPE_CHECKING:
    import pyarrow as pa

Values = tuple[str | None, ...]


def split_by_values(batch: pa.RecordBatch, columns: Sequence[str]) -> Iterator[tuple[Values, pa.RecordBatch]]:
    """The batch's rows by their values in `columns`, as Delta spells those, and without those columns."""
    import numpy as np
    import pyarrow as pa

    codes = np.zeros(batch.num_rows, dtype=np.int64)
    for name in columns:
        encoded = batch.column(name).dictionary_encode()
        size = len(encoded.dictionary)
        codes = codes * (size + 1) + encoded.indices.fill_null(size).to_numpy(zero_copy_only=False)
        codes = np.unique(codes, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1)).tolist()
    rest = batch.drop_columns(list(columns))
    if len(starts) > 1:
        rest = rest.take(pa.array(order))
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        first = int(order[start])
        values = tuple(partition_value(batch.column(name)[first].as_py(), name) for name in columns)
        yield values, rest.slice(start, end - start)


def partition_value(value: Any, column: str) -> str | None:
    """A value as Delta's log spells it."""
    match value:
        case None:
            return None
        case "":
            raise DestinationError(
                f"column {column!r} partitions the table and holds an empty text, which Delta takes for NULL there",
                "take another column for `partition_by`, or turn empty texts into something else at the source",
            )
        case bool():
            return "true" if value else "false"
        case datetime():
            if value.tzinfo is not None:
                return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
            return value.isoformat(sep=" ", timespec="microseconds")
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case float():
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
        case str() | int():
            return str(value)
    raise DestinationError(
        f"column {column!r} can't partition the table: Delta has no spelling for {type(value).__name__} values",
        "take a column of numbers, texts, dates or times for `partition_by`",
    )
