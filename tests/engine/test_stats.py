"""A file's statistics: what Spark itself would write, or safely wider."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from seamark.engine.arrow import arrow_schema
from seamark.engine.stage import stage_here
from seamark.model.schema import Schema
from tests.engine.rows import job, schema, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOP = chr(0x10FFFF)


def stats_of(root: Path, columns: Schema, rows: list[dict[str, Any]]) -> dict[str, Any]:
    (file,) = stage_here(job(root, tables(pa.RecordBatch.from_pylist(rows, arrow_schema(columns))), columns))
    found: dict[str, Any] = json.loads(file.stats, parse_float=Decimal)
    return found


def bounds_of(root: Path, kind: str, *values: Any) -> tuple[Any, Any]:
    found = stats_of(root, schema(x=kind), [{"x": value} for value in values])
    return found["minValues"].get("x"), found["maxValues"].get("x")


@pytest.mark.parametrize(
    ("kind", "values", "low", "high"),
    [
        ("int8", [-128, None, 127], -128, 127),
        ("int64", [-(2**63), 2**63 - 1], -(2**63), 2**63 - 1),
        ("float64", [1.5, -2.25, None], Decimal("-2.25"), Decimal("1.5")),
        ("float64", [1.0, float("nan")], Decimal("1.0"), None),
        ("float32", [float("nan")], None, None),
        ("float64", [float("-inf"), 7.0, float("inf")], None, None),
        ("decimal(12,2)", [Decimal("-12.50"), Decimal("3.00")], Decimal("-12.50"), Decimal("3.00")),
        (
            "decimal(38,3)",
            [Decimal("9" * 35 + ".123"), Decimal("-0.001")],
            Decimal("-0.001"),
            Decimal("9" * 35 + ".123"),
        ),
        ("date", [date(1, 1, 1), date(9999, 12, 31)], "0001-01-01", "9999-12-31"),
        ("boolean", [True, False], None, None),
        ("binary", [b"\x00", b"\xff"], None, None),
        ("list<int64>", [[1], [2]], None, None),
        ("struct<a: int64>", [{"a": 1}], None, None),
        ("string", ["", "é"], "", "é"),
        ("string", [None, None], None, None),
        ("string", ["x" * 33], "x" * 32, "x" * 32 + "\x7f"),
        ("string", ["é" * 40], "é" * 32, "é" * 32 + TOP),
        ("string", ["x" * 32 + TOP + "y"], "x" * 32, "x" * 32 + TOP + "\x7f"),
        ("string", [TOP * 100], TOP * 32, None),
        ("string", ["a" * 5000, "b"], None, None),
    ],
)
def test_bounds(tmp_path: Path, kind: str, values: list[Any], low: Any, high: Any) -> None:
    assert bounds_of(tmp_path, kind, *values) == (low, high)


def test_instants_are_rounded_outwards_to_milliseconds(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 31, 8, 0, 0, 123_456)
    before_epoch = datetime(1969, 12, 31, 23, 59, 59, 999_999)
    assert bounds_of(tmp_path, "timestamp", moment) == ("2026-01-31T08:00:00.123", "2026-01-31T08:00:00.124")
    assert bounds_of(tmp_path, "timestamptz", moment.replace(tzinfo=UTC), before_epoch.replace(tzinfo=UTC)) == (
        "1969-12-31T23:59:59.999Z",
        "2026-01-31T08:00:00.124Z",
    )
    exact = moment.replace(microsecond=5000)
    assert bounds_of(tmp_path, "timestamp", exact) == ("2026-01-31T08:00:00.005", "2026-01-31T08:00:00.005")


def test_an_instant_beyond_all_calendars_has_no_bound(tmp_path: Path) -> None:
    columns = schema(x="timestamp")
    batch = pa.record_batch({"x": pa.array([0, 2**63 - 1], pa.timestamp("us"))})
    (file,) = stage_here(job(tmp_path, tables(batch), columns, cursor="x"))
    assert json.loads(file.stats)["minValues"] == {"x": "1970-01-01T00:00:00.000"}
    assert json.loads(file.stats)["maxValues"] == {}
    assert file.cursor_max is None


def test_nulls_are_counted_and_columns_beyond_the_first_32_leaves_left_out(tmp_path: Path) -> None:
    columns = schema(pair="struct<a: int64, b: int64>", tags="list<string>", **{f"c{i:02}": "int64" for i in range(40)})
    found = stats_of(tmp_path, columns, [{"c00": 1, "tags": None}, {"c00": None, "tags": ["x"]}])
    assert found["nullCount"] == {"tags": 1, "c00": 1} | {f"c{i:02}": 2 for i in range(1, 29)}
    assert found["numRecords"] == 2


KINDS = schema(
    i="int32",
    price="decimal(12,2)",
    wide="decimal(38,5)",
    day="date",
    at="timestamp",
    instant="timestamptz",
    short="string",
    long="string",
    umlauts="string",
    f="float64",
    ok="boolean",
    raw="binary",
    tags="list<int64>",
)
MOMENT = datetime(2026, 1, 31, 8, 0, 0, 123_456)
ROWS = [
    {
        "i": n,
        "price": Decimal(n) / 4,
        "wide": Decimal("-1234567890123456789012345678.12345") * n,
        "day": date(1960, 1, 1) + timedelta(days=n * 999),
        "at": MOMENT + timedelta(microseconds=n * 1001),
        "instant": (MOMENT - timedelta(days=n * 20_000)).replace(tzinfo=UTC),
        "short": f"row {n}",
        "long": f"{n}" + "long text " * 8,
        "umlauts": "äöü€" * 10 + f"{n}",
        "f": n / 8,
        "ok": n % 2 == 0,
        "raw": bytes([n]),
        "tags": [n],
    }
    for n in (0, 1, 2, 3)
] + [dict.fromkeys(KINDS.names)]


def spark_stats(spark: SparkSession, root: Path, files: str) -> dict[str, Any]:
    """What Spark writes for the same rows."""
    spark.read.parquet(files).coalesce(1).write.format("delta").save(str(root / "table"))
    log = (root / "table/_delta_log/00000000000000000000.json").read_text().splitlines()
    (added,) = [json.loads(line)["add"] for line in log if '"add"' in line]
    found: dict[str, Any] = json.loads(added["stats"], parse_float=Decimal)
    return found


def test_they_are_what_spark_writes(spark: SparkSession, tmp_path: Path) -> None:
    ours = stats_of(tmp_path, KINDS, ROWS)
    theirs = spark_stats(spark, tmp_path, str(tmp_path / "staged/0a-1-2"))
    assert ours["numRecords"] == theirs["numRecords"]
    assert ours["nullCount"] == theirs["nullCount"]
    assert ours["minValues"] == theirs["minValues"]
    for name, high in theirs["maxValues"].items():
        if name in ("at", "instant"):
            # Spark rounds down, and adds a millisecond when it reads; others don't know that.
            assert datetime.fromisoformat(ours["maxValues"][name]) - datetime.fromisoformat(high) == timedelta(
                milliseconds=1
            )
        else:
            assert (name, ours["maxValues"][name]) == (name, high)
    assert ours["maxValues"].keys() == theirs["maxValues"].keys()
