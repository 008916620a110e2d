"""Items of `streams`: what they become, and every mistake at its line (the first line below HEAD is line 4)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.config.names import last_part, stream_name_problem
from seamark.config.resolve import resolve
from seamark.config.streams import StreamSpec
from seamark.errors import ConfigError
from seamark.model.bookmark import BookmarkType
from seamark.model.schema import Column, DataType, Schema, decimal
from seamark.model.stream import Cursor, CursorCandidate, Mode, NullPolicy, Stream, TableInfo
from tests.config.files import load, refused, said


def table(name: str, *columns: str, key: tuple[str, ...] = ()) -> TableInfo:
    schema = Schema(tuple(Column(column, DataType("int64")) for column in columns or ("id", "at")))
    return TableInfo(name, schema, key, (CursorCandidate("at", BookmarkType.INTEGER, "grows"),))


SHOP = (
    table("public.customers", key=("id",)),
    table("public.log_debug"),
    table("public.log_error"),
    table("public.log_info"),
    table("public.orders", key=("id",)),
)


class Tables:
    """A discovery that remembers what it was asked."""

    def __init__(self, *tables: TableInfo) -> None:
        self.tables = tables
        self.asked: list[str] = []

    def __call__(self, pattern: str) -> list[TableInfo]:
        from fnmatch import fnmatchcase

        self.asked.append(pattern)
        return [t for t in self.tables if fnmatchcase(t.name, pattern) or fnmatchcase(last_part(t.name), pattern)]


def streams(folder: Path, text: str, *tables: TableInfo) -> list[Stream]:
    return list(load(folder, text).resolved(Tables(*tables)))


def one(folder: Path, item: str) -> Stream:
    (stream,) = streams(folder, f"streams:\n  - {item}\n")
    return stream


def unresolved(folder: Path, text: str, *tables: TableInfo) -> ConfigError:
    config = load(folder, text)
    with pytest.raises(ConfigError) as caught:
        config.resolved(Tables(*tables))
    return caught.value


def test_every_key_of_a_stream(tmp_path: Path) -> None:
    stream = one(
        tmp_path,
        """name: sold
    table: public.orders
    key: [shop, id]
    cursor: {field: updated_at, lookback: 10m, nulls: include, sorted: true, settle: 500ms}
    mode: merge
    columns: [shop, id, amount, note, day]
    exclude: [secret]
    where: amount > 0
    cast: {amount: "decimal(12,2)", note: list<string>}
    partition_by: day""",
    )
    assert stream == Stream(
        name="sold",
        table="public.orders",
        mode=Mode.MERGE,
        key=("shop", "id"),
        cursor=Cursor("updated_at", timedelta(minutes=10), NullPolicy.INCLUDE, True, timedelta(milliseconds=500)),
        columns=("shop", "id", "amount", "note", "day"),
        exclude=("secret",),
        where="amount > 0",
        cast=(("amount", decimal(12, 2)), ("note", DataType("list", item=DataType("string")))),
        partition_by=("day",),
    )


@pytest.mark.parametrize(
    ("item", "mode"),
    [
        ("{name: a, key: id}", Mode.MERGE),
        ("{name: a, key: id, cursor: at}", Mode.MERGE),
        ("{name: a, cursor: at}", Mode.APPEND),
        ("{name: a}", Mode.REPLACE),
        ("{name: a, key: id, mode: replace}", Mode.REPLACE),
        ("{name: a, key: id, cursor: at, mode: append}", Mode.APPEND),
    ],
)
def test_the_mode_follows_from_key_and_cursor(tmp_path: Path, item: str, mode: Mode) -> None:
    assert one(tmp_path, item).mode is mode


@pytest.mark.parametrize(
    ("item", "name", "table"),
    [
        ("{name: orders}", "orders", "orders"),
        ("{table: shop.public.orders}", "orders", "shop.public.orders"),
        ("{name: sold, table: public.orders}", "sold", "public.orders"),
        ("""{table: 'public."Order.Items"'}""", "Order.Items", 'public."Order.Items"'),
        ("""{table: 'public."a ""b"" c"'}""", 'a "b" c', 'public."a ""b"" c"'),
        ("{name: Größe der Läden}", "Größe der Läden", "Größe der Läden"),
        ("{name: all, table: 'sql_*'}", "all", "sql_*"),
    ],
)
def test_name_and_table_stand_for_each_other(tmp_path: Path, item: str, name: str, table: str) -> None:
    stream = one(tmp_path, item)
    assert (stream.name, stream.table) == (name, table)


@pytest.mark.parametrize(
    ("lookback", "value"),
    [("10m", timedelta(minutes=10)), ("1000", 1000), ('"1000"', 1000), ("0", 0), ("2 h", timedelta(hours=2))],
)
def test_a_lookback_is_a_duration_or_a_number(tmp_path: Path, lookback: str, value: object) -> None:
    cursor = one(tmp_path, f"{{name: a, key: id, cursor: {{field: at, lookback: {lookback}}}}}").cursor
    assert cursor is not None
    assert cursor.lookback == value


@pytest.mark.parametrize(
    ("lines", "mistakes"),
    [
        ("- {name: a, mode: merge}", [(5, "stream 'a': merge needs a key")]),
        ("- name: a\n    cursor: at\n    mode: merge", [(7, "stream 'a': merge needs a key")]),
        ("- name: a\n    mode: append", [(6, "stream 'a': append needs a cursor")]),
        ("- name: a\n    key: id\n    mode: append", [(7, "stream 'a': append needs a cursor")]),
        ("- name: a\n    key: id\n    mode: cdc", [(7, "stream 'a': cdc is not available for this source yet")]),
        (
            "- name: a\n    cursor:\n      field: at\n      lookback: 10m",
            [(8, "stream 'a': a lookback can't go with append")],
        ),
        (
            "- name: a\n    key: id\n    mode: append\n    cursor: {field: at, lookback: 5}",
            [(8, "stream 'a': a lookback can't go with append")],
        ),
        ("- name: a\n    cursor:\n      field: at\n      nulls: include", [(8, "stream 'a': `nulls: include` can't go with append")]),
        ("- name: a\n    cursor: at\n    exclude: [b, at]", [(7, "stream 'a': the cursor 'at' is also excluded")]),
        ("- name: a\n    key: [id]\n    exclude: id", [(7, "stream 'a': the column 'id' is in `key` and in `exclude`")]),
        (
            "- name: a\n    partition_by: day\n    exclude: day",
            [(7, "stream 'a': the column 'day' is in `partition_by` and in `exclude`")],
        ),
        ("- name: a\n    columns: [x, y]\n    exclude: y", [(7, "stream 'a': the column 'y' is in `columns` and in `exclude`")]),
        ("- name: a\n    columns: [x]\n    partition_by: y", [(7, "stream 'a': partition_by: the column 'y' is not in `columns`")]),
        ("- name: a\n    columns: [x]\n    cast: {y: int64}", [(7, "stream 'a': cast: the column 'y' is not in `columns`")]),
        ("- name: a\n    key: [id, id]", [(6, "stream 'a': key: the column 'id' is named 2 times")]),
        ("- {name: a}\n  - {name: b}\n  - {name: a}", [(7, "a second stream 'a' would share one table; the first is at line 5")]),
        (
            "- {name: orders}\n  - {name: Orders}",
            [(6, "the streams 'orders' and 'Orders' would share one table (tables orders and Orders); the first is at line 5")],
        ),
        (
            "- {table: a.orders}\n  - {table: b.orders}",
            [(6, "a second stream 'orders' would share one table (tables a.orders and b.orders); the first is at line 5")],
        ),
        ("- {name: Straße}\n  - {name: STRASSE, table: x}", [(6, "the streams 'Straße' and 'STRASSE' would share one table (tables Straße and x); the first is at line 5")]),
        ("- {name: ../x}", [(5, "the stream name '../x' would leave its folder under the destination")]),
        ("- name: /etc/x\n    table: y", [(5, "the stream name '/etc/x' would leave its folder under the destination")]),
        ("- {name: 'a\\b'}", [(5, "the stream name 'a\\\\b' would leave its folder under the destination")]),
        ("- {name: ..}", [(5, "the stream name '..' would leave its folder under the destination")]),
        ('- {name: "a\\0b"}', [(5, "the stream name 'a\\x00b' holds a control character")]),
        ("- {name: ' '}", [(5, "the stream name ' ' is empty")]),
        ("- {name: 'a '}", [(5, "the stream name 'a ' begins or ends with a space")]),
        (f"- {{name: {'ü' * 101}}}", [(5, f"the stream name '{'ü' * 101}' is longer than 200 bytes")]),
        ("- {table: 'x./etc'}", [(5, "the stream name '/etc' would leave its folder under the destination")]),
        ("- {mode: merge, key: id}", [(5, "a stream needs a `name` or a `table`")]),
        ("- key: id\n    table: public.*", [(6, "'public.*' is a pattern, not a table")]),
        ("- {name: a, mode: mergee}", [(5, "streams[0].mode: 'mergee' is none of the choices")]),
        ("- {name: a, kye: id}", [(5, "streams[0]: unknown key 'kye'")]),
        ("- name: a\n    cursor:\n      feild: at", [(6, "streams[0].cursor: 'field' is required"), (7, "streams[0].cursor: unknown key 'feild'")]),
        ("- name: a\n    cursor: {field: at, nulls: skip}", [(6, "streams[0].cursor.nulls: 'skip' is none of the choices")]),
        ("- name: a\n    cursor: {field: at, lookback: 10x}", [(6, "streams[0].cursor.lookback: '10x' is no duration; expected one such as 500ms, 30s, 10m, 2h or 1d")]),
        ("- name: a\n    cursor: {field: at, lookback: -5}", [(6, "streams[0].cursor.lookback: -5 is negative; a lookback says how far to go back")]),
        ("- name: a\n    cursor: {field: at, settle: 5}", [(6, "streams[0].cursor.settle: 5 has no unit; expected a duration such as 5s")]),
        ("- name: a\n    cast:\n      b: decimal(50,2)", [(7, "streams[0].cast.b: decimal(50,2): precision is 1 to 38, scale 0 to precision")]),
        ("- name: a\n    columns: [1]", [(6, "streams[0].columns[0]: expected text, found a number")]),
        ("- include: 'a*'\n    defalts: {}", [(6, "streams[0]: unknown key 'defalts'")]),
        ("- include: 'a*'\n    defaults:\n      name: x", [(7, "streams[0].defaults: unknown key 'name'")]),
        ("- include: []", [(5, "streams[0].include: expected at least 1, found none")]),
        ("- 5", [(5, "streams: expected a mapping, a table's name or a pattern")]),
        ("- a\n  - ", [(6, "streams: expected a mapping, a table's name or a pattern")]),
    ],
)  # fmt: skip
def test_each_mistake_has_its_line(tmp_path: Path, lines: str, mistakes: list[tuple[int, str]]) -> None:
    error = refused(tmp_path, f"streams:\n  {lines}\n")
    found = [(line, message.split(" (did")[0].split(" (The column")[0]) for line, message in said(error, tmp_path)]
    assert found == mistakes
    assert error.where.endswith(f"shop.yaml:{mistakes[0][0]}")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("streams: []", "streams: the list is empty"),
        ("streams:", "streams: expected a mapping, a table's name or a pattern"),
        ("streams: 5", "streams: expected a mapping, a table's name or a pattern"),
    ],
)
def test_no_streams_is_a_mistake(tmp_path: Path, lines: str, message: str) -> None:
    assert said(refused(tmp_path, lines), tmp_path) == [(4, message)]


def test_mistakes_of_all_streams_come_at_once(tmp_path: Path) -> None:
    error = refused(
        tmp_path,
        """
        streams:
          - {name: a, mode: merge}
          - {name: b, kye: x}
          - {name: ../c}
        """,
    )
    assert [line for line, _ in said(error, tmp_path)] == [5, 6, 7]


def test_everything_is_found_and_each_takes_its_tables_key(tmp_path: Path) -> None:
    found = streams(tmp_path, 'streams: "*"', *SHOP)
    assert [(s.name, s.table, s.key, s.mode) for s in found] == [
        ("customers", "public.customers", ("id",), Mode.REPLACE),
        ("log_debug", "public.log_debug", (), Mode.REPLACE),
        ("log_error", "public.log_error", (), Mode.REPLACE),
        ("log_info", "public.log_info", (), Mode.REPLACE),
        ("orders", "public.orders", ("id",), Mode.REPLACE),
    ]


def test_a_patterns_defaults_go_for_each_table(tmp_path: Path) -> None:
    found = streams(
        tmp_path,
        """
        streams:
          - include: ["public.log_*", orders]
            exclude: log_debug
            defaults: {cursor: {field: at, settle: 1s}, exclude: [id2, at2], cast: {at: int32, nope: int8}}
        """,
        *SHOP,
    )
    assert [(s.name, s.mode, s.key) for s in found] == [
        ("log_error", Mode.APPEND, ()),
        ("log_info", Mode.APPEND, ()),
        ("orders", Mode.MERGE, ("id",)),
    ]
    assert {s.cursor for s in found} == {Cursor("at", settle=timedelta(seconds=1))}
    assert {(s.exclude, s.cast) for s in found} == {((), (("at", DataType("int32")),))}


def test_what_an_item_names_no_pattern_takes(tmp_path: Path) -> None:
    text = """
        streams:
          - "*"
          - {name: sold, table: public.orders, cursor: at}
          - {name: customers, key: id, cursor: at}
          - include: log_info
            defaults: {cursor: at}
        """
    found = streams(tmp_path, text, *SHOP)
    assert [(s.name, s.mode) for s in found] == [
        ("log_debug", Mode.REPLACE),
        ("log_error", Mode.REPLACE),
        ("sold", Mode.APPEND),
        ("customers", Mode.MERGE),
        ("log_info", Mode.APPEND),
    ]


def test_a_bare_name_that_could_mean_two_tables_hides_neither(tmp_path: Path) -> None:
    text = 'streams:\n  - "*"\n  - {name: mine, table: orders}\n'
    error = unresolved(tmp_path, text, *SHOP, table("archive.orders"))
    assert "'orders' would share one table" in error.message


def test_a_table_by_its_name_alone(tmp_path: Path) -> None:
    (stream,) = streams(tmp_path, "streams: public.orders", *SHOP)
    assert (stream.name, stream.key, stream.mode) == ("orders", ("id",), Mode.REPLACE)


def test_named_streams_ask_the_source_nothing(tmp_path: Path) -> None:
    tables = Tables(*SHOP)
    assert len(load(tmp_path, "streams:\n  - name: orders\n").resolved(tables)) == 1
    assert tables.asked == []


@pytest.mark.parametrize(
    ("lines", "message", "hint"),
    [
        ("- public.order", "5: the source has no table 'public.order'", "did you mean 'public.orders'?"),
        ("- 'shop_*'", "5: the pattern 'shop_*' finds no table", "seamark discover"),
        ("- '*'\n  - include: 'log_*'", "6: the table public.log_debug is found by the item at line 5 too", "exclude"),
        (
            "- include: orders\n    defaults:\n      cursor: updated",
            "7: stream 'orders': the table public.orders has no column 'updated' for `cursor`",
            "it has: id, at",
        ),
        (
            "- include: orders\n    defaults:\n      partition_by: [at, day]",
            "7: stream 'orders': the table public.orders has no column 'day' for `partition_by`",
            "it has: id, at",
        ),
        ("- include: log_info\n    defaults:\n      mode: merge", "7: stream 'log_info': merge needs a key", "key"),
        (
            "- include: log_info\n    defaults:\n      mode: cdc",
            "7: stream 'log_info': cdc is not available for this source yet",
            "",
        ),
        (
            "- include: log_info\n    defaults:\n      cursor: {field: at, lookback: 1h}",
            "7: stream 'log_info': a lookback can't go with append",
            "merge",
        ),
    ],
)
def test_what_a_pattern_can_not_do_has_its_line(tmp_path: Path, lines: str, message: str, hint: str) -> None:
    error = unresolved(tmp_path, f"streams:\n  {lines}\n", *SHOP)
    first = error.message.split(";\n")[0]
    assert message in first
    assert hint in error.hint + first


@pytest.mark.parametrize("exclude", ["Order*", "public.Order*", 'public."Order Items"', "Order Items"])
def test_a_quoted_table_is_excluded_by_its_name(tmp_path: Path, exclude: str) -> None:
    text = f"streams: {{include: '*', exclude: ['{exclude}']}}"
    found = streams(tmp_path, text, table('public."Order Items"'), table("public.orders"))
    assert [stream.name for stream in found] == ["orders"]


def test_tables_of_two_schemas_with_one_name_clash(tmp_path: Path) -> None:
    error = unresolved(tmp_path, 'streams: "*"', table("a.orders"), table("b.Orders"))
    assert said(error, tmp_path)[0][0] == 4
    assert "'orders' and 'Orders' would share one table (tables a.orders and b.Orders)" in error.message


def test_a_name_of_several_tables_has_to_be_completed(tmp_path: Path) -> None:
    error = unresolved(tmp_path, "streams: orders", table("a.orders"), table("b.orders"))
    assert "'orders' is the name of several tables: a.orders, b.orders" in error.message


def test_a_discovered_table_whose_name_would_leave_the_folder_is_refused(tmp_path: Path) -> None:
    error = unresolved(tmp_path, 'streams: "*"', table("../../etc"), table('public."a/b"'))
    assert [message.split("'")[1] for _, message in said(error, tmp_path)] == ["/etc", "a/b"]


def test_one_stream_can_be_resolved_by_itself(tmp_path: Path) -> None:
    (spec,) = load(tmp_path, "streams:\n  - {name: orders, key: id}\n").streams
    assert isinstance(spec, StreamSpec)
    assert resolve(spec).mode is Mode.MERGE


@given(st.text())
def test_a_stream_name_that_passes_stays_in_its_folder(name: str) -> None:
    if stream_name_problem(name):
        return
    path = Path("/lake") / name
    assert path.parent == Path("/lake")
    assert path.name == name
    assert "\0" not in name


@given(st.text())
def test_a_tables_last_part_is_always_there(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    assert last_part(f'"x.y".{quoted}') == name
