"""Every type of the model comes back the same, through staged files, appended and merged, in delta-rs and in Spark."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from seamark.destinations.delta.connector import DeltaDestination
from seamark.destinations.delta.types import delta_schema, model_schema, spark_schema
from seamark.engine.engine import Engine
from seamark.model.checkpoint import Write
from seamark.model.schema import SCALARS, Column, DataType, Schema
from seamark.model.stream import Mode, Stream
from seamark.testing.destination import Feed, as_set, change_of
from tests.destinations.delta.tables import read_delta_rs, read_spark

Row = dict[str, Any]

VALUES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "int8": [-128, 127],
    "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "float32": [1.5, -math.inf],
    "float64": [1e308, 5e-324],
    "string": ["", "ü\U0001f642 '\"\\\n\t\x01" + "long " * 30],
    "binary": [b"", b"\x00\xff"],
    "date": [date(1, 1, 1), date(9999, 12, 31)],
    "timestamp": [datetime(1900, 1, 1, 0, 0, 0, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)],
    "timestamptz": [
        datetime(1900, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC),
    ],
    "decimal(38,38)": [Decimal("0." + "9" * 38), Decimal("-0." + "0" * 37 + "1")],
    "decimal(38,0)": [Decimal("9" * 38), Decimal("-" + "9" * 38)],
    "decimal(9,2)": [Decimal("1234567.89"), Decimal("0.00")],
    "list<string>": [[], ["a", None]],
    "list<list<decimal(20,2)>>": [[[Decimal("1.00")], []], [None]],
    'struct<a: int64, "b c": list<date>>': [{"a": 1, "b c": [date(2026, 1, 1)]}, {"a": None, "b c": None}],
    "list<struct<at: timestamp, on: timestamptz>>": [[{"at": datetime(2026, 1, 1), "on": None}], [None]],
}
SCHEMA = Schema((Column("k", DataType("int64")), *(Column(f"c {kind}", DataType.parse(kind)) for kind in VALUES)))


def _row(key: int, place: int | None) -> Row:
    return {"k": key} | {f"c {kind}": None if place is None else values[place] for kind, values in VALUES.items()}


def _in_utc(rows: list[Row]) -> list[Row]:
    """PySpark gives instants as the machine's local time, and binary as bytearray."""
    return [{name: _plain(value, name.endswith("timestamptz")) for name, value in row.items()} for row in rows]


def _plain(value: Any, instant: bool) -> Any:
    if instant and isinstance(value, datetime):
        # astimezone() of the last day overflows where the machine is east of Greenwich.
        return (value.astimezone(UTC) if value.tzinfo is None else value).replace(tzinfo=UTC)
    return bytes(value) if isinstance(value, bytearray) else value


def test_every_type_comes_back_the_same(destination: DeltaDestination, engine: Engine) -> None:
    assert {DataType.parse(kind).kind for kind in VALUES} >= set(SCALARS)
    feed = Feed(destination, Stream("types", "types", Mode.MERGE, key=("k",)), SCHEMA)
    feed.create()
    first = feed.checkpoint(1, Write.APPEND, [_row(1, 0), _row(2, None), _row(3, 0)])
    second = feed.checkpoint(2, Write.MERGE, [_row(3, 1), _row(4, 1), _row(5, None)])
    for checkpoint in (first, second):
        destination.publish(checkpoint, change_of(checkpoint), engine)
    expected = as_set([_row(1, 0), _row(2, None), _row(3, 1), _row(4, 1), _row(5, None)])
    assert as_set(read_delta_rs(feed.table)) == expected
    assert as_set(_in_utc(read_spark(engine.session(), feed.table))) == expected


PARTITIONS: dict[str, list[Any]] = {
    kind: VALUES[kind] for kind in ("boolean", "int8", "int64", "float64", "date", "timestamp", "decimal(9,2)")
} | {
    "string": ["a/b c=%41 ü'\"", "__HIVE_DEFAULT_PARTITION__x"],
    "timestamptz": [datetime(2026, 3, 29, 0, 59, 59, 1, tzinfo=UTC), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)],
}


def test_every_plain_type_can_partition_a_table(destination: DeltaDestination, engine: Engine) -> None:
    schema = Schema(
        (Column("k", DataType("int64")), *(Column(f"c {kind}", DataType.parse(kind)) for kind in PARTITIONS))
    )
    names = tuple(f"c {kind}" for kind in PARTITIONS)
    feed = Feed(destination, Stream("parts", "parts", Mode.MERGE, key=("k",), partition_by=names), schema)
    feed.create()

    def row(key: int, place: int | None) -> Row:
        return {"k": key} | {f"c {k}": None if place is None else v[place] for k, v in PARTITIONS.items()}

    first = feed.checkpoint(1, Write.APPEND, [row(1, 0), row(2, None)])
    second = feed.checkpoint(2, Write.MERGE, [row(2, 1), row(3, 0), row(4, None)])
    for checkpoint in (first, second):
        destination.publish(checkpoint, change_of(checkpoint), engine)
    expected = as_set([row(1, 0), row(2, 1), row(3, 0), row(4, None)])
    assert as_set(read_delta_rs(feed.table)) == expected
    assert as_set(_in_utc(read_spark(engine.session(), feed.table))) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [k for k in VALUES if not k.startswith(("list", "struct", "binary", "float", "boolean"))]
)
def test_every_orderable_type_can_be_a_key(destination: DeltaDestination, engine: Engine, kind: str) -> None:
    schema = Schema((Column("k", DataType.parse(kind)), Column("v", DataType("int64"))))
    feed = Feed(destination, Stream("keys", "keys", Mode.MERGE, key=("k",)), schema)
    feed.create()
    low, high = VALUES[kind]
    first = feed.checkpoint(1, Write.APPEND, [{"k": low, "v": 1}])
    second = feed.checkpoint(2, Write.MERGE, [{"k": low, "v": 2}], [{"k": high, "v": 3}])
    for checkpoint in (first, second):
        destination.publish(checkpoint, change_of(checkpoint), engine)
    assert as_set(read_delta_rs(feed.table)) == as_set([{"k": low, "v": 2}, {"k": high, "v": 3}])


def test_schemas_are_told_alike(destination: DeltaDestination) -> None:
    assert [(c.name, c.type) for c in model_schema(delta_schema(SCHEMA).to_json())] == [
        (c.name, c.type) for c in SCHEMA
    ]
    assert spark_schema(SCHEMA).fieldNames() == list(SCHEMA.names)


def test_a_type_no_stream_has_keeps_its_name() -> None:
    text = """{"type": "struct", "fields": [
        {"name": "m", "type": {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": true},
         "nullable": true, "metadata": {}},
        {"name": "v", "type": "variant", "nullable": false, "metadata": {"comment": "anything"}}]}"""
    assert [(c.name, str(c.type), c.nullable, c.comment) for c in model_schema(text)] == [
        ("m", "map", True, ""),
        ("v", "variant", False, "anything"),
    ]


def test_stats_never_hide_a_row(destination: DeltaDestination, engine: Engine) -> None:
    """Readers skip files by the statistics that staging counted."""
    at = datetime(2026, 1, 1, 0, 0, 0, 999999)
    schema = Schema(
        (
            Column("id", DataType("int64")),
            Column("at", DataType("timestamp")),
            Column("t", DataType("string")),
            Column("d", DataType.parse("decimal(38,2)")),
        )
    )
    feed = Feed(destination, Stream("s", "s", Mode.APPEND), schema)
    feed.create()
    long = "z" * 40
    exact = Decimal("123456789012345678901234567890123456.78")
    rows = [
        {"id": 1, "at": at, "t": long, "d": exact},
        {"id": 2, "at": at - timedelta(microseconds=1), "t": "a", "d": exact},
    ]
    checkpoint = feed.checkpoint(1, Write.APPEND, rows)
    destination.publish(checkpoint, change_of(checkpoint), engine)
    frame = engine.session().read.format("delta").load(feed.table)
    assert frame.where("at = TIMESTAMP_NTZ'2026-01-01 00:00:00.999999'").count() == 1
    assert frame.where(f"t = '{long}'").count() == 1
    assert frame.where(f"d = {exact}BD").count() == 2
