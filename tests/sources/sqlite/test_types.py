"""SQLite lets any value into almost any column: each arrives as it is, or is named."""

from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamark.errors import TypeMappingError
from seamark.sources.sqlite.types import TYPE_MAPPING
from tests.sources.sqlite.place import execute, fill, opened, read_all, stream_of, values


@pytest.mark.parametrize(
    ("declared", "stored", "ours", "expected"),
    [
        ("INTEGER", [-(2**63), 2**63 - 1, 0], "int64", None),
        ("TINYINT", [300], "int64", None),
        ("UNSIGNED BIG INT", [5], "int64", None),
        ("REAL", [0.1, -1.5e300, math.inf, 5e-324, 3], "float64", [0.1, -1.5e300, math.inf, 5e-324, 3.0]),
        ("DOUBLE PRECISION", [2.5], "float64", None),
        ("TEXT", ["", "naïve 🙂", "a\x00b", "NULL", "x" * 100_000], "string", None),
        ("VARCHAR(3)", ["longer than that"], "string", None),
        ("STRING", ["007", "x"], "string", ["7", "x"]),  # SQLite itself makes a number of it
        ("BLOB", [b"", b"\x00\xff"], "binary", None),
        ("BOOLEAN", [0, 1, True], "boolean", [False, True, True]),
        ("DATE", ["0001-01-01", "9999-12-31", "2024-02-29"], "date", [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]),
        ("DATETIME", ["2026-01-31 08:00:00", "2026-01-31T08:00", "2026-01-31", "2026-01-31 08:00:00.1", "2026-01-31 08:00:00.123456"], "timestamp",
         [datetime(2026, 1, 31, 8), datetime(2026, 1, 31, 8), datetime(2026, 1, 31), datetime(2026, 1, 31, 8, 0, 0, 100000), datetime(2026, 1, 31, 8, 0, 0, 123456)]),
        ("TIMESTAMP", [0, -1, 1767225600], "timestamp", [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59), datetime(2026, 1, 1)]),
        ("TIMESTAMPTZ", ["2026-01-31 08:00:00", "2026-01-31T08:00:00Z", "2026-01-31 08:00:00.5+05:45", "2026-01-31", "2026-01-31 08:00-03", 1767225600], "timestamptz",
         [datetime(2026, 1, 31, 8, tzinfo=UTC), datetime(2026, 1, 31, 8, tzinfo=UTC), datetime(2026, 1, 31, 2, 15, 0, 500000, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 1, 31, 11, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]),
        ("TIME", ["08:00"], "string", None),
        ("DECIMAL(12,2)", [1, 2.5, 59.97, 59.969999999999995, 19.99 * 3, -0.01, "12.30", 9999999999.99], "decimal(12,2)",
         [Decimal("1.00"), Decimal("2.50"), Decimal("59.97"), Decimal("59.97"), Decimal("59.97"), Decimal("-0.01"), Decimal("12.30"), Decimal("9999999999.99")]),
        ("NUMERIC(18, 4)", [123456789012.3456], "decimal(18,4)", [Decimal("123456789012.3456")]),
        ("DECIMAL(5)", [12345], "decimal(5,0)", [Decimal(12345)]),
        ("JSON", ['{"a": 1}'], "string", None),
        ("UUID", ["6e1c0d1e-0000-4000-8000-000000000001"], "string", None),
    ],
)  # fmt: skip
def test_values_that_fit_their_declaration_arrive(
    path: Path, declared: str, stored: list[Any], ours: str, expected: list[Any] | None
) -> None:
    fill(path, declared, [None, *stored])
    found, got = values(path)
    assert found == ours
    assert got == [None, *(stored if expected is None else expected)]
    assert all(type(left) is type(right) for left, right in zip(got, [None, *(expected or stored)], strict=True))


@pytest.mark.parametrize(
    ("declared", "value", "shown"),
    [
        ("INTEGER", "twelve", "the text 'twelve'"),
        ("INTEGER", 1.5, "the real 1.5"),
        ("INTEGER", b"\x01", "the blob X'01'"),
        ("REAL", "n/a", "the text 'n/a'"),
        ("REAL", b"x", "blob"),
        ("TEXT", b"\xff", "the blob X'FF'"),
        ("STRING", 1.5, "the real 1.5"),
        ("BLOB", "text", "the text 'text'"),
        ("BOOLEAN", 2, "the integer 2"),
        ("BOOLEAN", "true", "the text 'true'"),
        ("DATE", "31.01.2026", "'31.01.2026'"),
        ("DATE", "2026-02-30", "'2026-02-30'"),
        ("DATE", "2026-01-31 08:00:00", "'2026-01-31 08:00:00'"),
        ("DATE", 20260131, "the integer 20260131"),
        ("DATETIME", "yesterday", "'yesterday'"),
        ("DATETIME", 2461041.5, "the real"),
        ("DATETIME", 1767225600000, "the integer 1767225600000"),
        ("DATETIME", "2026-01-31T08:00:00Z", "'2026-01-31T08:00:00Z'"),
        ("DATETIME", "2026-01-31 08:00:00.1234567", "'2026-01-31 08:00:00.1234567'"),
        ("TIMESTAMPTZ", "2026-01-31 08:00 CET", "CET"),
        ("DECIMAL(4,2)", 0.125, "the real 0.125"),
        ("DECIMAL(4,2)", 123.45, "'123.45'"),
        ("DECIMAL(4,2)", "1.999", "the real 1.999"),
        ("DECIMAL(4,2)", "abc", "'abc'"),
        ("DECIMAL(38,2)", math.inf, "'Inf'"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_row_and_the_choice(
    path: Path, declared: str, value: Any, shown: str
) -> None:
    fill(path, declared, [None] * 2000 + [value])
    with opened(path) as source, pytest.raises(TypeMappingError) as failure:
        read_all(source, stream_of("t", key=("n",)))
    assert "column 'c' of t" in failure.value.message
    assert shown in failure.value.message
    assert "n = 2001" in failure.value.message
    assert "cast: {c: string}" in failure.value.hint
    kind, got = values(path, cast={"c": "string"})
    assert kind == "string"
    assert got[:2000] == [None] * 2000
    assert got[2000] is not None


def test_integers_that_a_float_can_not_hold_are_named(path: Path) -> None:
    execute(path, "create table t (n integer primary key, c)", ("insert into t (c) values (?)", [2**53 + 1]))
    with opened(path) as source, pytest.raises(TypeMappingError, match="the integer 9007199254740993"):
        read_all(source, stream_of("t", cast={"c": "float64"}))


def test_text_that_is_not_utf_8_is_named(path: Path) -> None:
    fill(path, "TEXT", [])
    execute(path, "insert into t (c) values (cast(x'ff41' as text))")
    with opened(path) as source, pytest.raises(TypeMappingError, match="'c' of t holds bytes that are not UTF-8"):
        read_all(source, stream_of("t"))
    assert values(path, cast={"c": "binary"}) == ("binary", [b"\xffA"])


@pytest.mark.parametrize("declared", ["", "NUMERIC", "DECIMAL", "POINT", "INTERVAL", "SOMETHING", "DECIMAL(50,2)"])
def test_a_declaration_that_means_no_type_needs_a_cast(path: Path, declared: str) -> None:
    fill(path, declared, [1, "a", 1.5, b"\x01", None])
    with opened(path) as source:
        with pytest.raises(TypeMappingError, match="'c' of t is") as failure:
            source.shape(stream_of("t"))
        assert "cast: {c: string}" in failure.value.hint
        (table,) = source.discover("t")
        assert len(table.problems) == 1
    assert values(path, cast={"c": "string"}) == ("string", ["1", "a", "1.5", "X'01'", None])


@pytest.mark.parametrize(
    ("stored", "cast", "expected"),
    [
        ([1, "42", None], "int64", [1, 42, None]),
        ([1], "int16", [1]),
        ([1, 1.5], "decimal(10,2)", [Decimal("1.00"), Decimal("1.50")]),
        (["2026-01-31"], "date", [date(2026, 1, 31)]),
        ([1767225600], "timestamptz", [datetime(2026, 1, 1, tzinfo=UTC)]),
        ([0, 1], "boolean", [False, True]),
        ([0.1, 1e22, 59.969999999999995], "string", None),
    ],
)
def test_a_cast_keeps_the_value(path: Path, stored: list[Any], cast: str, expected: list[Any] | None) -> None:
    fill(path, "", stored)
    kind, got = values(path, cast={"c": cast})
    assert kind == cast
    if expected is None:
        assert [float(text) for text in got] == stored
    else:
        assert got == expected


@pytest.mark.parametrize(
    ("stored", "cast"),
    [
        (["x"], "int64"),
        ([300], "int8"),
        ([1.5], "int64"),
        ([0.125], "decimal(5,2)"),
        (["1.5"], "int64"),
        (["x"], "binary"),
        ([1], "binary"),
    ],
)
def test_a_cast_that_would_lose_something_fails(path: Path, stored: list[Any], cast: str) -> None:
    fill(path, "", stored)
    if cast == "binary" and stored == ["x"]:
        assert values(path, cast={"c": cast}) == ("binary", [b"x"])
        return
    with pytest.raises(TypeMappingError, match="'c' of t"):
        values(path, cast={"c": cast})


@pytest.mark.parametrize("cast", ["float32", "list<int64>", "struct<a: int64>"])
def test_a_cast_without_meaning_is_refused(path: Path, cast: str) -> None:
    fill(path, "", [])
    with opened(path) as source, pytest.raises(TypeMappingError, match="can't be cast to"):
        source.shape(stream_of("t", cast={"c": cast}))


def test_the_first_rows_do_not_decide_the_type(path: Path) -> None:
    """The driver guesses from what it sees first: NULLs for thousands of rows must not make a number of a text."""
    execute(path, "create table t (n integer primary key, c text, d real, e blob)")
    execute(
        path,
        "with recursive i(i) as (select 1 union all select i + 1 from i where i < 9000) insert into t (n) select i from i",
    )
    execute(path, "insert into t values (9001, 'text', 1, x'00')")
    with opened(path) as source:
        rows = read_all(source, stream_of("t"))
    assert len(rows) == 9001
    assert rows[-1] == {"n": 9001, "c": "text", "d": 1.0, "e": b"\x00"}


def test_an_empty_table_has_its_schema(path: Path) -> None:
    fill(path, "DECIMAL(5,2)", [])
    assert values(path) == ("decimal(5,2)", [])


def test_the_documented_mapping_holds(path: Path) -> None:
    named = {
        "int64",
        "float64",
        "decimal(p,s)",
        "string",
        "binary",
        "boolean",
        "date",
        "timestamp",
        "timestamptz",
        "needs a cast",
    }
    assert {row.ours for row in TYPE_MAPPING} == named


CELLS = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.none() | st.binary(max_size=20),
    st.none() | st.decimals(-(10**9), 10**9, places=2),
    st.none() | st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CELLS, max_size=12))
def test_any_values_round_trip(path: Path, rows: list[tuple[Any, ...]]) -> None:
    execute(
        path,
        "drop table if exists t",
        "create table t (n integer primary key, a integer, b real, c text, d blob, e decimal(12,2), f timestamp)",
    )
    execute(path, *[
        ("insert into t (a, b, c, d, e, f) values (?, ?, ?, ?, ?, ?)", (a, b, c, d, None if e is None else float(e), None if f is None else f.isoformat(" ")))
        for a, b, c, d, e, f in rows
    ])  # fmt: skip
    with opened(path) as source:
        got = sorted(read_all(source, stream_of("t")), key=lambda row: row["n"])
    assert [(row["a"], row["c"], row["d"], row["e"], row["f"]) for row in got] == [
        (a, c, d, e, f) for a, _, c, d, e, f in rows
    ]
    for row, given_row in zip(got, rows, strict=True):
        assert (row["b"] is None) == (given_row[1] is None)
        if row["b"] is not None:
            assert row["b"] == given_row[1]
            assert given_row[1] == 0 or struct.pack("d", row["b"]) == struct.pack("d", given_row[1])
