"""A file's statistics as Delta words them, taken from what the Parquet writer has counted anyway."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from seamark.model.schema import DataType, Schema

if TYPE_CHECKING:
    import pyarrow.parquet as pq

LEAVES = 32
"""Delta keeps statistics of a table's first 32 leaf columns."""
PREFIX = 32
"""Delta keeps so many characters of a string."""

_INTEGERS = {"int8": 4, "int16": 4, "int32": 4, "int64": 8}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_CHARACTER = chr(0x10FFFF)


def delta_stats(
    metadata: pq.FileMetaData, schema: Schema, nulls: dict[str, int], with_nan: Collection[str] = ()
) -> str:
    """The JSON of an add action's `stats`. A bound that is not certain is left out, which readers take as unknown.

    `schema` is that of the file; `nulls` are the null counts of its columns; `with_nan` the columns that hold a NaN,
    which Parquet ignores but Spark orders above all numbers.
    """
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name, kind, leaf in _first_leaves(schema):
        if kind.kind != "struct":
            counts[name] = nulls[name]
        bounds = _bounds(metadata, leaf, kind)
        if bounds is None:
            continue
        low, high = _lower(bounds[0], kind), _upper(bounds[1], kind)
        if low is not None:
            lows[name] = low
        if high is not None and name not in with_nan:
            highs[name] = high
    return _dump({"numRecords": metadata.num_rows, "minValues": lows, "maxValues": highs, "nullCount": counts})


def _first_leaves(schema: Schema) -> Iterator[tuple[str, DataType, int]]:
    """Columns among whose leaves are the first 32, each with the number of its first leaf."""
    leaf = 0
    for column in schema:
        if leaf >= LEAVES:
            return
        yield column.name, column.type, leaf
        leaf += _leaves(column.type)


def _leaves(kind: DataType) -> int:
    if kind.kind == "struct":
        return sum(_leaves(inner) for _, inner in kind.fields)
    if kind.item is not None:
        return _leaves(kind.item)
    return 1


def _bounds(metadata: pq.FileMetaData, leaf: int, kind: DataType) -> tuple[Any, Any] | None:
    """Least and greatest value over all row groups; None when there is none, or when one row group does not say."""
    if kind.kind not in _READERS:
        return None
    read = _READERS[kind.kind]
    found: list[tuple[Any, Any]] = []
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(leaf)
        known = chunk.statistics
        if known is not None and known.has_min_max:
            found.append((read(known.min_raw, kind), read(known.max_raw, kind)))
        elif known is None or known.null_count != chunk.num_values:
            return None
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _read_decimal(raw: Any, kind: DataType) -> Decimal:
    unscaled = int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else int(raw)
    # Arithmetic would round to the context's 28 digits.
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -kind.scale))


def _read_number(raw: Any, kind: DataType) -> Any:
    return raw


def _read_text(raw: Any, kind: DataType) -> str:
    return raw if isinstance(raw, str) else bytes(raw).decode()


_READERS = {
    **dict.fromkeys((*_INTEGERS, "float32", "float64", "date", "timestamp", "timestamptz"), _read_number),
    "decimal": _read_decimal,
    "string": _read_text,
}


def _lower(value: Any, kind: DataType) -> Any:
    match kind.kind:
        case "string":
            return value[:PREFIX]
        case "date":
            return _day(value)
        case "timestamp" | "timestamptz":
            return _instant(value // 1000, kind)
        case "float32" | "float64":
            return value if isfinite(value) else None
    return value


def _upper(value: Any, kind: DataType) -> Any:
    match kind.kind:
        case "string":
            return _above(value)
        case "date":
            return _day(value)
        case "timestamp" | "timestamptz":
            # Delta's statistics count milliseconds: rounded down, a file could be skipped that holds the row.
            return _instant(-(-value // 1000), kind)
        case "float32" | "float64":
            return value if isfinite(value) else None
    return value


def _above(text: str) -> str | None:
    """A short text that is not below `text`: a prefix and a character above the one that follows it."""
    if len(text) <= PREFIX:
        return text
    for cut in range(PREFIX, min(len(text), 2 * PREFIX)):
        if text[cut] != _LAST_CHARACTER:
            return text[:cut] + ("\x7f" if text[cut] < "\x7f" else _LAST_CHARACTER)
    return None


def _day(days: int) -> str | None:
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        return None


def _instant(milliseconds: int, kind: DataType) -> str | None:
    try:
        text = (_EPOCH + timedelta(milliseconds=milliseconds)).replace(tzinfo=None).isoformat(timespec="milliseconds")
    except OverflowError:
        return None
    return text + "Z" if kind.kind == "timestamptz" else text


def _dump(value: Any) -> str:
    """JSON with decimals as numbers of all their digits."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value)
