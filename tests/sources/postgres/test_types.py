"""Every built-in type arrives as documented with its extremes, or says which column can't and what to choose."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamark.errors import SourceError, TypeMappingError
from seamark.model.window import Window
from seamark.sources.postgres.types import RULES, TYPE_MAPPING
from tests.sources.postgres.place import execute, fill, opened, query, read_all, stream_of, values

NAN = float("nan")
INF = float("inf")
D40 = "1234567890123456789012345678901234567890"

EXACT: list[tuple[str, list[str], str, list[Any]]] = [
    ("boolean", ["true", "false"], "boolean", [True, False]),
    ("int2", ["-32768", "32767"], "int16", [-32768, 32767]),
    ("int4", ["-2147483648", "2147483647"], "int32", [-(2**31), 2**31 - 1]),
    ("int8", ["-9223372036854775808", "9223372036854775807"], "int64", [-(2**63), 2**63 - 1]),
    ("oid", ["0", "4294967295"], "int64", [0, 2**32 - 1]),
    ("xid", ["'4294967295'"], "int64", [2**32 - 1]),
    ("cid", ["'4294967295'"], "int64", [2**32 - 1]),
    ("float4", ["'NaN'", "'-Infinity'", "3.4028235e38", "1e-45", "'-0'"], "float32", [NAN, -INF, 3.4028234663852886e38, 1.401298464324817e-45, -0.0]),
    ("float8", ["'NaN'", "'Infinity'", "1.7976931348623157e308", "5e-324", "0.1"], "float64", [NAN, INF, 1.7976931348623157e308, 5e-324, 0.1]),
    ("numeric(12,2)", ["-9999999999.99", "0", "0.01", "1e9"], "decimal(12,2)", [Decimal("-9999999999.99"), Decimal("0.00"), Decimal("0.01"), Decimal("1000000000.00")]),
    ("numeric(38,0)", ["'" + "9" * 38 + "'", "'-" + "9" * 38 + "'"], "decimal(38,0)", [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    ("numeric(38,38)", ["0." + "1" * 38], "decimal(38,38)", [Decimal("0." + "1" * 38)]),
    ("numeric", [D40, "'NaN'", "'Infinity'", "'-Infinity'", "1.500", "1e-20"], "string", [D40, "NaN", "Infinity", "-Infinity", "1.500", "0.00000000000000000001"]),
    ("numeric(40,2)", [D40[:38] + ".25"], "string", [D40[:38] + ".25"]),
    ("money", ["'-92233720368547758.08'", "'92233720368547758.07'", "1.5"], "decimal(19,2)", [Decimal("-92233720368547758.08"), Decimal("92233720368547758.07"), Decimal("1.50")]),
    ("text", ["''", "'NULL'", "E'tab\\there'", "'naïve 🙂 \u200b'", "repeat('x', 100000)"], "string", ["", "NULL", "tab\there", "naïve 🙂 \u200b", "x" * 100000]),
    ("varchar(5)", ["''", "'abc'"], "string", ["", "abc"]),
    ("char(5)", ["'ab'", "''"], "string", ["ab   ", "     "]),
    ("name", ["'n'"], "string", ["n"]),
    ('"char"', ["'a'", "''"], "string", ["a", ""]),
    ("bytea", ["''", "'\\x00ff'"], "binary", [b"", b"\x00\xff"]),
    ("date", ["'0001-01-01'", "'9999-12-31'", "'1582-10-10'"], "date", [date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10)]),
    ("timestamp", ["'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'2026-03-29 02:30'"], "timestamp", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30)]),
    ("timestamptz", ["'0001-01-01 00:00+00'", "'9999-12-31 23:59:59.999999+00'", "'2026-01-01 12:00+05:45'"], "timestamptz", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(2026, 1, 1, 6, 15, tzinfo=UTC)]),
    ("time", ["'00:00'", "'24:00'", "'12:34:56.789012'"], "string", ["00:00:00", "24:00:00", "12:34:56.789012"]),
    ("timetz", ["'12:00+02'", "'23:59:59.999999-15:59'"], "string", ["12:00:00+02", "23:59:59.999999-15:59"]),
    ("interval", ["'1 year 2 mons 3 days 4 hours 5 minutes 6.7 seconds'", "'-1 day +1 hour'", "'0'", "'178000000 years'"], "string", ["P1Y2M3DT4H5M6.7S", "P-1DT1H", "PT0S", "P178000000Y"]),
    ("uuid", ["'00000000-0000-0000-0000-000000000000'", "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'"], "string", ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    ("json", ["'{\"b\": 1,  \"a\":[null]}'", "'null'", "'\"\"'"], "string", ['{"b": 1,  "a":[null]}', "null", '""']),
    ("jsonb", ["'{\"b\": 1e400,  \"a\":[null]}'"], "string", ['{"a": [null], "b": 1' + "0" * 400 + "}"]),
    ("inet", ["'192.0.2.1'", "'2001:db8::1/64'"], "string", ["192.0.2.1/32", "2001:db8::1/64"]),
    ("bit(3)", ["B'101'"], "string", ["101"]),
    ("varbit", ["B''", "B'1'"], "string", ["", "1"]),
    ("int4range", ["'[1,5)'", "'empty'", "'(,)'"], "string", ["[1,5)", "empty", "(,)"]),
    ("tstzrange", ["'[2026-01-01 00:00+02,)'"], "string", ['["2025-12-31 22:00:00+00",)']),
    ("datemultirange", ["'{[2026-01-01,2026-01-03)}'"], "string", ["{[2026-01-01,2026-01-03)}"]),
    ("pg_lsn", ["'FFFFFFFF/FFFFFFFF'"], "string", ["FFFFFFFF/FFFFFFFF"]),
    ("xid8", ["'18446744073709551615'"], "string", ["18446744073709551615"]),
    ("regclass", ["'pg_class'"], "string", ["pg_class"]),
    ("int4[]", ["'{1,NULL,-3}'", "'{}'", "'[5:6]={1,2}'"], "list<int32>", [[1, None, -3], [], [1, 2]]),
    ("text[]", ["'{\"\",NULL,\"NULL\",\"a,b\"}'"], "list<string>", [["", None, "NULL", "a,b"]]),
    ("numeric(5,2)[]", ["'{1.5,NULL,-999.99}'"], "list<decimal(5,2)>", [[Decimal("1.50"), None, Decimal("-999.99")]]),
    ("timestamptz[]", ["'{2026-01-01 00:00+01,NULL}'"], "list<timestamptz>", [[datetime(2025, 12, 31, 23, tzinfo=UTC), None]]),
    ("uuid[]", ["array['ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid]"], "list<string>", [["ffffffff-ffff-ffff-ffff-ffffffffffff"]]),
    ("bytea[]", ["array['\\xff'::bytea, null]"], "list<binary>", [[b"\xff", None]]),
    ("float8[]", ["'{NaN,0.5}'"], "list<float64>", [[NAN, 0.5]]),
    ("jsonb[]", ["array['{\"a\": 1}'::jsonb]"], "list<string>", [['{"a": 1}']]),
    ("xid[]", ["array['4294967295'::xid]"], "list<int64>", [[2**32 - 1]]),
    ("char(3)[]", ["'{a}'"], "list<string>", [["a  "]]),
]  # fmt: skip

AS_TEXT: list[tuple[str, list[str]]] = [
    ("xml", ["'<a b=\"c\"/>'"]),
    ("jsonpath", ["'$.a[*]'"]),
    ("cidr", ["'192.0.2.0/24'", "'2001:db8::/32'"]),
    ("macaddr", ["'08:00:2b:01:02:03'"]),
    ("macaddr8", ["'08:00:2b:01:02:03:04:05'"]),
    ("point", ["'(1.1,-2e300)'"]),
    ("line", ["'{1,2,3}'"]),
    ("lseg", ["'[(0,0),(1,1)]'"]),
    ("box", ["'(1,1),(0,0)'"]),
    ("path", ["'[(0,0),(1,1)]'", "'((0,0),(1,1))'"]),
    ("polygon", ["'((0,0),(1,1),(2,0))'"]),
    ("circle", ["'<(0.1,0),5>'"]),
    ("tsvector", ["to_tsvector('english', 'the quick foxes')"]),
    ("tsquery", ["'fat & rat'"]),
    ("tid", ["'(42,7)'"]),
    ("pg_snapshot", ["'10:20:10,14,15'"]),
    ("txid_snapshot", ["'10:20:10,14,15'"]),
    ("int2vector", ["'1 2 3'"]),
    ("oidvector", ["'1 2 3'"]),
    ("refcursor", ["'c'"]),
    ("aclitem", ["(select acldefault('r', oid))[1] from pg_roles limit 1"]),
    ("regproc", ["'now'"]),
    ("regprocedure", ["'now()'"]),
    ("regoper", ["'|/'"]),
    ("regoperator", ["'+(int4,int4)'"]),
    ("regtype", ["'int4'", "'timestamptz'"]),
    ("regrole", ["current_user::regrole"]),
    ("regnamespace", ["'public'"]),
    ("regconfig", ["'english'"]),
    ("regdictionary", ["'simple'"]),
    ("regcollation", ["'\"C\"'"]),
    ("int8range", ["'[1,9223372036854775807)'"]),
    ("numrange", ["'(1.10,)'"]),
    ("tsrange", ["'[2026-01-01,2026-01-02)'"]),
    ("daterange", ["'[2026-01-01,infinity)'"]),
    ("int4multirange", ["'{[1,2),[5,8)}'"]),
    ("int8multirange", ["'{}'"]),
    ("nummultirange", ["'{(1.5,2)}'"]),
    ("tsmultirange", ["'{}'"]),
    ("tstzmultirange", ["'{}'"]),
]

INTERNAL = {
    "pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list", "pg_brin_bloom_summary",
    "pg_brin_minmax_multi_summary", "gtsvector",
}  # fmt: skip
"""Base types that no one can give a column values of."""


def same(left: Any, right: Any) -> bool:
    """Equality to which NaN is NaN, -0 is not 0, and 1.0 is not 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    return type(left) is type(right) and left == right


@pytest.mark.parametrize(("kind", "literals", "ours", "expected"), EXACT, ids=[case[0] for case in EXACT])
def test_a_type_arrives_exactly_with_its_extremes(
    db: str, kind: str, literals: list[str], ours: str, expected: list[Any]
) -> None:
    fill(db, kind, [*literals, "null"])
    found, got = values(db)
    assert found == ours
    assert same(
        [value if not hasattr(value, "astimezone") or value.tzinfo is None else value.astimezone(UTC) for value in got],
        [*expected, None],
    )


@pytest.mark.parametrize(("kind", "literals"), AS_TEXT, ids=[case[0] for case in AS_TEXT])
def test_other_types_arrive_as_their_text(db: str, kind: str, literals: list[str]) -> None:
    fill(db, kind, ["null"])
    for number, literal in enumerate(literals, 2):
        execute(db, f"insert into t select {number}, {literal}")
    with psycopg.connect(db) as connection:
        connection.execute("set timezone = 'UTC'")
        expected = [text for (text,) in connection.execute("select c::text from t order by n")]
    assert values(db) == ("string", expected)
    assert None not in expected[1:]


def test_no_built_in_type_is_forgotten(db: str) -> None:
    tried = {kind for kind, *_ in [*EXACT, *AS_TEXT]}
    names = query(
        db,
        "select typname, format_type(oid, null) from pg_type where typnamespace = 'pg_catalog'::regnamespace "
        "and typtype = 'b' and typcategory not in ('A', 'X') and typname !~ '^_'",
    )
    unknown = {name for name, _ in names} - set(RULES) - INTERNAL - {"numeric"}
    assert unknown == set()
    shown = {kind.split("(")[0].strip('"') for kind in tried}
    untried = (
        {name for name, long in names if name not in shown and long not in shown}
        - INTERNAL
        - {"bpchar", "varchar", "bit", "bool"}
    )
    assert untried == set()


def test_the_documented_mapping_says_what_the_code_does() -> None:
    documented = {row.source.strip('"'): row.ours for row in TYPE_MAPPING}
    assert documented.items() >= {name: rule.ours for name, rule in RULES.items()}.items()


def test_sizes_of_numeric_that_are_not_ordinary(db: str) -> None:
    if query(db, "show server_version_num")[0][0] < "150000":
        pytest.skip("negative scales came with 15")
    execute(db, "create table t (n int4, a numeric(3,-2), b numeric(3,5))", "insert into t values (1, 99949, 0.00999)")
    with opened(db) as source:
        schema = source.shape(stream_of("t")).schema
    assert [str(column.type) for column in schema][1:] == ["decimal(5,0)", "decimal(5,5)"]
    assert values(db, column="a")[1] == [Decimal(99900)]
    assert values(db, column="b")[1] == [Decimal("0.00999")]


def test_enums_and_domains_over_domains(db: str) -> None:
    execute(
        db,
        "create type mood as enum ('sad', 'ok''y')",
        "create domain cents as numeric(12,2)",
        "create domain price as cents check (value > 0)",
        "create domain moods as mood[]",
        "create domain when_ as timestamptz",
        "create table t (n int4, a mood, b price, c moods, d when_, e price[])",
        "insert into t values (1, 'ok''y', 1.5, '{sad,NULL}', '2026-01-01 00:00+00', '{2.5}'), (2, null, null, null, null, null)",
    )
    assert values(db, column="a") == ("string", ["ok'y", None])
    assert values(db, column="b") == ("decimal(12,2)", [Decimal("1.50"), None])
    assert values(db, column="c") == ("list<string>", [["sad", None], None])
    kind, moments = values(db, column="d")
    assert (kind, moments[0].astimezone(UTC)) == ("timestamptz", datetime(2026, 1, 1, tzinfo=UTC))
    assert values(db, column="e") == ("list<decimal(12,2)>", [[Decimal("2.50")], None])


def test_a_domain_in_an_array_keeps_its_size(db: str) -> None:
    execute(
        db, "create domain tag as varchar(3)", "create table t (n int4, c tag[])", "insert into t values (1, '{abc}')"
    )
    assert values(db) == ("list<string>", [["abc"]])


@pytest.mark.parametrize(
    ("kind", "literal", "shown"),
    [
        ("date", "'infinity'", "infinity"),
        ("date", "'-infinity'", "infinity"),
        ("date", "'0044-03-15 BC'", "BC"),
        ("date", "'10000-01-01'", "after the year 9999"),
        ("date", "'5874897-12-31'", "after the year 9999"),
        ("timestamp", "'infinity'", "infinity"),
        ("timestamp", "'4713-01-01 BC'", "BC"),
        ("timestamp", "'294276-12-31 23:59:59.999999'", "after the year 9999"),
        ("timestamptz", "'-infinity'", "infinity"),
        ("timestamptz", "'10000-01-01 00:00+00'", "after the year 9999"),
        ("date[]", "'{2026-01-01,infinity}'", "infinity"),
        ("timestamptz[]", "'{infinity}'", "infinity"),
        ("numeric(5,2)", "'NaN'", "NaN"),
        ("numeric(5,2)[]", "'{1,NaN}'", "NaN"),
        ("int4[]", "'{{1,2},{3,4}}'", "several dimensions"),
        ("text[]", "'{{a},{b}}'", "several dimensions"),
    ],
)  # fmt: skip
def test_a_value_without_a_place_fails_and_names_the_row_and_the_choice(
    db: str, kind: str, literal: str, shown: str
) -> None:
    fill(db, kind, ["null", literal, "null"], column='"the column"')
    with opened(db) as source, pytest.raises(TypeMappingError) as failure:
        read_with_key(source)
    assert "'the column' of public.t" in failure.value.message
    assert shown in failure.value.message
    assert "n = 2" in failure.value.message
    assert "cast: {the column: string}" in failure.value.hint
    expected = [text for (text,) in query(db, 'select "the column"::text from t order by n')]
    assert values(db, column="the column", cast={"the column": "string"}) == ("string", expected)


def read_with_key(source: Any) -> None:
    stream = stream_of("t", key=("n",))
    with source.read(stream, source.shape(stream), Window(), 1) as reading:
        for split in reading.splits:
            for _ in reading.reader(split):
                pass


@pytest.mark.parametrize(
    ("kind", "literals", "cast", "expected"),
    [
        ("numeric", ["1.50", "'-0.001'"], "decimal(38,3)", [Decimal("1.500"), Decimal("-0.001")]),
        ("numeric", ["3.00", "12"], "int64", [3, 12]),
        ("numeric", ["0.1"], "float64", [0.1]),
        ("float8", ["2.5", "1e20"], "decimal(38,2)", [Decimal("2.50"), Decimal("100000000000000000000.00")]),
        ("float4", ["3.4"], "float64", [3.4000000953674316]),
        ("int8", ["127"], "int8", [127]),
        ("int8", ["5"], "string", ["5"]),
        ("int4", ["1", "0"], "boolean", [True, False]),
        ("text", ["'42'"], "int64", [42]),
        ("text", ["'1.25'"], "decimal(5,2)", [Decimal("1.25")]),
        ("text", ["'2026-01-31'"], "date", [date(2026, 1, 31)]),
        ("text", ["'yes'"], "boolean", [True]),
        ("timestamp", ["'2026-01-01 10:00'"], "timestamptz", [datetime(2026, 1, 1, 10, tzinfo=UTC)]),
        ("timestamptz", ["'2026-01-01 10:00+02'"], "timestamp", [datetime(2026, 1, 1, 8)]),
        ("timestamptz", ["'2026-01-01 01:00+02'"], "date", [date(2025, 12, 31)]),
        ("char(5)", ["'ab'"], "string", ["ab"]),
        ("bytea", ["'\\xff'"], "string", ["\\xff"]),
        ("money", ["1.5"], "decimal(30,3)", [Decimal("1.500")]),
        ("numeric[]", ["'{1.5,NULL}'"], "list<decimal(10,2)>", [[Decimal("1.50"), None]]),
        ("int4[]", ["'{{1,2},{3,4}}'"], "string", ["{{1,2},{3,4}}"]),
        ("int4[]", ["'{1,2}'"], "list<int64>", [[1, 2]]),
        ("interval", ["'1 day'"], "string", ["P1D"]),
    ],
)  # fmt: skip
def test_a_cast_keeps_the_value(db: str, kind: str, literals: list[str], cast: str, expected: list[Any]) -> None:
    fill(db, kind, [*literals, "null"])
    found, got = values(db, cast={"c": cast})
    assert found == cast
    assert [value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value for value in got] == [
        *expected,
        None,
    ]


@pytest.mark.parametrize(
    ("kind", "literal", "cast"),
    [
        ("numeric", "1.5", "int64"),
        ("numeric", "1.55", "decimal(10,1)"),
        ("numeric", "'NaN'", "decimal(38,0)"),
        ("numeric", "'Infinity'", "decimal(38,0)"),
        ("numeric", "1e30", "decimal(20,2)"),
        ("numeric", D40, "decimal(38,0)"),
        ("numeric", "1e400", "float64"),
        ("float8", "0.125", "decimal(10,2)"),
        ("float8", "1e10", "int32"),
        ("int8", "2147483648", "int32"),
        ("int8", "128", "int8"),
        ("int4", "2", "boolean"),
        ("text", "'12x'", "int64"),
        ("text", "'1.255'", "decimal(5,2)"),
        ("text", "'31.02.2026'", "date"),
        ("numeric[]", "'{1.55}'", "list<decimal(10,1)>"),
        ("float4", "'Infinity'", "decimal(10,1)"),
    ],
)
def test_a_cast_that_would_lose_something_fails(db: str, kind: str, literal: str, cast: str) -> None:
    fill(db, kind, [literal])
    with pytest.raises(SourceError):
        values(db, cast={"c": cast})


@pytest.mark.parametrize(
    ("kind", "cast"),
    [
        ("date", "int64"),
        ("int4", "date"),
        ("json", "struct<a: int64>"),
        ("uuid", "int64"),
        ("int4[]", "int64"),
        ("int4", "list<int64>"),
        ("text", "binary"),
    ],
)
def test_a_cast_without_meaning_is_refused(db: str, kind: str, cast: str) -> None:
    fill(db, kind, [])
    with pytest.raises(TypeMappingError, match=f"'c' of public.t.* to {cast.split('<')[0]}"):
        values(db, cast={"c": cast})


def test_types_that_only_their_owner_understands_need_a_cast(db: str) -> None:
    execute(
        db,
        "create type pair as (a int4, b text)",
        "create type shade",
        "create function shade_in(cstring) returns shade language internal immutable strict as 'int4in'",
        "create function shade_out(shade) returns cstring language internal immutable strict as 'int4out'",
        "create type shade (input = shade_in, output = shade_out, internallength = 4, passedbyvalue, alignment = int4)",
        "create table t (n int4, c pair, d shade, e pair[])",
        "insert into t values (1, '(1,\"a b\")', '7', array[row(1, null)::pair])",
    )
    for name in ("c", "d", "e"):
        with pytest.raises(TypeMappingError, match=f"'{name}' of public.t") as failure:
            values(db, columns=("n", name), column=name)
        assert f"cast: {{{name}: string}}" in failure.value.hint
    cast = {"c": "string", "d": "string", "e": "string"}
    assert values(db, cast=cast, column="c")[1] == ['(1,"a b")']
    assert values(db, cast=cast, column="d")[1] == ["7"]
    assert values(db, cast=cast, column="e")[1] == ['{"(1,)"}']
    with opened(db) as source:
        (table,) = source.discover("t")
    assert len(table.problems) == 3
    assert "cast: {c: string}" in table.problems[0]
    assert table.schema.names == ("n",)


def test_text_of_a_database_in_another_encoding_arrives_as_utf_8(postgres: Any) -> None:
    name = "latin"
    execute(
        postgres.url(), f"create database {name} template template0 encoding 'LATIN1' locale 'C' locale_provider libc"
    )
    try:
        fill(postgres.url(name), "text", ["'caf' || chr(233)"])
        assert values(postgres.url(name)) == ("string", ["café"])
    finally:
        execute(postgres.url(), f"drop database {name} with (force)")


def test_bytes_that_are_no_text_fail_in_a_database_without_encoding(postgres: Any) -> None:
    name = "ascii"
    execute(
        postgres.url(),
        f"create database {name} template template0 encoding 'SQL_ASCII' locale 'C' locale_provider libc",
    )
    try:
        fill(postgres.url(name), "text", ["'fine'", "E'\\\\xff'::bytea::text", "convert_from('\\xff41', 'SQL_ASCII')"])
        with pytest.raises(SourceError, match="invalid byte sequence"):
            values(postgres.url(name))
    finally:
        execute(postgres.url(), f"drop database {name} with (force)")


def test_session_settings_of_the_role_change_no_value(postgres_db: str) -> None:
    execute(
        postgres_db,
        "create table t (n int4, c interval, d timestamptz, e float8, f bytea)",
        "insert into t values (1, '1 day', '2026-01-01 00:00+00', 0.1::float8 + 0.2::float8, '\\x01')",
        "do $$ begin execute format('alter database %I set intervalstyle = sql_standard', current_database()); "
        "execute format('alter database %I set timezone = ''Asia/Tokyo''', current_database()); "
        "execute format('alter database %I set datestyle = ''German''', current_database()); "
        "execute format('alter database %I set extra_float_digits = -5', current_database()); "
        "execute format('alter database %I set bytea_output = escape', current_database()); end $$",
    )
    cast = {"d": "string", "e": "string", "f": "string"}
    assert values(postgres_db, column="c", cast=cast)[1] == ["P1D"]
    assert values(postgres_db, column="d", cast=cast)[1] == ["2026-01-01 00:00:00+00"]
    assert values(postgres_db, column="e", cast=cast)[1] == ["0.30000000000000004"]
    assert values(postgres_db, column="f", cast=cast)[1] == ["\\x01"]


MOMENTS = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30))
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)
ROWS = st.lists(
    st.tuples(
        st.none() | st.decimals(min_value=-(10**9), max_value=10**9, places=2, allow_nan=False),
        st.none() | st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**30), max_value=10**30),
        st.none() | st.floats(),
        st.none() | MOMENTS,
        st.none() | MOMENTS,
        st.none() | TEXTS,
        st.none() | st.binary(max_size=30),
        st.none() | st.lists(st.none() | TEXTS, max_size=4),
    ),
    max_size=20,
)


@pytest.mark.timeout(120)
def test_any_values_round_trip(db: str) -> None:
    execute(
        db,
        "create table t (n int4, a numeric(12,2), b numeric, c float8, d timestamp, e timestamptz, f text, g bytea, h text[])",
    )

    @settings(max_examples=40)
    @given(ROWS)
    def round_trips(rows: list[tuple[Any, ...]]) -> None:
        given_rows = [(*row[:4], row[4] and row[4].replace(tzinfo=UTC), *row[5:]) for row in rows]
        with psycopg.connect(db) as connection:
            connection.execute("truncate t")
            connection.cursor().executemany(
                "insert into t values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                [(number, *row) for number, row in enumerate(given_rows)],
            )
        with opened(db) as source:
            got = sorted(read_all(source, stream_of("t")), key=lambda row: row["n"])
        assert len(got) == len(given_rows)
        for wanted, row in zip(given_rows, got, strict=True):
            cents, number, *rest = wanted
            assert row["a"] == (None if cents is None else cents.quantize(Decimal("0.01")))
            assert row["b"] is None if number is None else Decimal(row["b"]) == number
            row["e"] = row["e"] and row["e"].astimezone(UTC)
            assert same([row[name] for name in "cdefgh"], rest)

    round_trips()
