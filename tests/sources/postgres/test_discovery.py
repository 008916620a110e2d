"""Discovery and shapes: what there is, what names a row, what could be a cursor, and what `check` says of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.schema import DataType
from seamark.model.stream import Cursor
from seamark.model.window import Window
from tests.sources.postgres.place import execute, opened, query, stream_of


def test_everything_that_can_be_read_is_listed_in_order(db: str) -> None:
    execute(
        db,
        "create schema if not exists other",
        "create table b (id int8)",
        "create table a (id int8) partition by range (id)",
        "create table a_1 partition of a for values from (0) to (10)",
        "create view v as select * from b",
        "create materialized view m as select * from b",
        'create table other."a.b" (id int8)',
        "create temporary table hidden (id int8)",
    )
    try:
        with opened(db) as source:
            assert [table.name for table in source.discover()] == [
                'other."a.b"',
                "public.a",
                "public.b",
                "public.m",
                "public.v",
            ]
            assert [table.name for table in source.discover("public.[ab]")] == ["public.a", "public.b"]
            assert [table.name for table in source.discover("b")] == ["public.b"]
            assert source.shape(stream_of('other."a.b"')).schema.names == ("id",)
        with opened(db, schemas=["other"]) as source:
            assert [table.name for table in source.discover()] == ['other."a.b"']
            assert source.shape(stream_of("a.b")).schema.names == ("id",)
    finally:
        execute(db, "drop schema other cascade")


def test_a_table_tells_its_size_comment_key_and_types(db: str) -> None:
    execute(
        db,
        "create table t (a int4, b text not null, c numeric(8,3) not null, primary key (a, b))",
        "comment on table t is 'things'",
        "comment on column t.c is 'what it costs'",
        "insert into t select i, 'x', 1 from generate_series(1, 1000) i",
        "analyze t",
    )
    with opened(db) as source:
        (table,) = source.discover("t")
    assert (table.key, table.comment, table.rows, table.problems) == (("a", "b"), "things", 1000, ())
    assert table.bytes
    assert table.bytes >= 8192
    column = table.schema.get("c")
    assert column is not None
    assert (column.type, column.nullable, column.comment, column.source_type) == (
        DataType("decimal", precision=8, scale=3), False, "what it costs", "numeric(8,3)",
    )  # fmt: skip


def test_rows_are_unknown_before_the_first_analyze(db: str) -> None:
    execute(
        db,
        "create table t (id int8)",
        "alter table t set (autovacuum_enabled = off)",
        "insert into t select generate_series(1, 1000)",
    )
    with opened(db) as source:
        assert source.discover("t")[0].rows is None
        execute(db, "analyze t", "insert into t select generate_series(1, 10000)")
        assert (source.discover("t")[0].rows or 0) > 5000, "scaled by the size now"


def test_cursors_are_ranked_by_what_they_find(db: str) -> None:
    execute(
        db,
        "create table t (id int8 generated always as identity primary key, amount int4, born timestamptz default now(), "
        "due timestamptz, updated_at timestamptz, note text)",
        "create index on t (updated_at)",
    )
    with opened(db) as source:
        found = source.discover("t")[0].cursors
    assert [candidate.field for candidate in found] == ["updated_at", "born", "due", "id"]
    assert "changes with the row, indexed" in found[0].why
    assert "without an index" in found[1].why
    assert "finds new rows, not updates" in found[3].why


@pytest.mark.parametrize(
    ("declaration", "key", "unique"),
    [
        ("a int4 primary key, b int4", ("a",), True),
        ("a int4 not null unique, b int4", ("a",), True),
        ("a int4 unique, b int4", ("a",), False),  # two NULLs
        ("a int4 not null, b int4 not null, unique (a, b)", ("a",), False),
        ("a int4 not null, b int4 not null, unique (a, b)", ("b", "a"), True),
        ("a int4 primary key, b int4 not null", ("a", "b"), True),
        ("a int4 primary key, b int4", ("a", "b"), False),  # a NULL in a merge's key matches nothing
        ("a int4 not null, b int4, unique (a) deferrable", ("a",), False),
        ("a int4 not null, b int4", ("a",), False),
    ],
)
def test_a_key_is_unique_only_if_the_database_keeps_it_so(
    db: str, declaration: str, key: tuple[str, ...], unique: bool
) -> None:
    execute(db, f"create table t ({declaration})")
    with opened(db) as source:
        assert source.shape(stream_of("t", key=key)).key_is_unique is unique


def test_partial_and_expression_indexes_make_no_key(db: str) -> None:
    execute(
        db,
        "create table t (a int4 not null, b text not null)",
        "create unique index on t (a) where a > 0",
        "create unique index on t (lower(b))",
    )
    with opened(db) as source:
        assert not source.shape(stream_of("t", key=("a",))).key_is_unique
        assert not source.shape(stream_of("t", key=("a", "b"))).key_is_unique
        assert source.discover("t")[0].key == ()
        execute(db, "create unique index on t (b) include (a)")
        assert source.shape(stream_of("t", key=("b",))).key_is_unique


def test_shapes_name_the_cursors_type_and_scale(db: str) -> None:
    execute(db, "create table t (a numeric(9,4), b uuid, d varchar(3))")
    with opened(db) as source:
        shapes = {field: source.shape(stream_of("t", cursor=field)) for field in "abd"}
    assert [(shape.cursor_type, shape.cursor_scale) for shape in shapes.values()] == [
        (BookmarkType.DECIMAL, 4), (BookmarkType.UUID, None), (BookmarkType.TEXT, None),
    ]  # fmt: skip


def test_small_new_windows_are_counted_exactly_and_large_ones_guessed(db: str) -> None:
    execute(
        db,
        "create table t (id int8 primary key, pad text)",
        "insert into t select i, repeat('x', 100) from generate_series(1, 60000) i",
        "analyze t",
        "insert into t select i, 'x' from generate_series(60001, 60100) i",
    )
    with opened(db) as source:
        stream = stream_of("t", cursor="id")
        new = source.estimate(stream, Window(Bookmark.of("integer", 60_001), Bookmark.of("integer", 10**6)))
        assert (new.rows, new.exact) == (100, True)
        everything = source.estimate(stream, Window(None, Bookmark.of("integer", 10**6)))
        assert not everything.exact
        assert everything.rows == pytest.approx(60_100, rel=0.2)
        assert everything.bytes == pytest.approx(60_100 * 109, rel=0.3)
        filtered = stream_of("t", cursor="id", where="id % 2 = 0")
        assert not source.estimate(
            filtered, Window(Bookmark.of("integer", 60_001), Bookmark.of("integer", 10**6))
        ).exact


def messages(db: str, level: str, *streams: object, **options: object) -> str:
    with opened(db, **options) as source:
        return "\n".join(f"{f.message} | {f.fix}" for f in source.check(streams) if f.level == level)  # type: ignore[arg-type]


def test_check_is_content_with_a_sound_stream(db: str) -> None:
    execute(db, "create table t (id int8 primary key, at timestamptz not null)", "create index on t (at)")
    stream = stream_of("t", key=("id",), cursor="at")
    assert messages(db, "error", stream) == messages(db, "warning", stream) == ""
    assert "table public.t, 2 columns, cursor at (timestamptz)" in messages(db, "ok", stream)


def test_check_says_what_a_streams_marks_rest_on(db: str) -> None:
    execute(db, "create sequence s increment 50",
            "create table t (id int8 default nextval('s'), at timestamp, day date, name text, version int4)")  # fmt: skip
    wanted = {
        "id": ["counts by 50", "no index begins with 'id'", "may be NULL"],
        "at": ["no time zone; it is taken to be written in America/St_Johns"],
        "day": ["when the day is over"],
        "name": ["says nothing about when rows were written", 'COLLATE "C"'],
        "version": ["no sequence numbers 'version'"],
    }
    for field, texts in wanted.items():
        found = messages(db, "warning", stream_of("t", cursor=field))
        for text in texts:
            assert text in found
    assert "nothing in the database keeps the key (id) unique" in messages(db, "warning", stream_of("t", key=("id",)))


def test_check_goes_on_after_a_stream_that_is_wrong(db: str) -> None:
    execute(db, "create table t (id int8, c point, d json)", "create materialized view m as select now() as at")
    streams = [
        stream_of("nope", name="a"),
        stream_of("t", name="b", cursor="c"),
        stream_of("m", name="c", cursor="at"),
        stream_of("t", name="d"),
    ]
    with opened(db) as source:
        found = {(f.subject, f.level) for f in source.check(streams)}
    assert {("stream a", "error"), ("stream b", "error"), ("stream c", "error"), ("stream d", "ok")} <= found
    assert ("stream d", "error") not in found
    tolerant = stream_of("m", name="c", cursor=Cursor("at", lookback=timedelta(days=1)))
    assert messages(db, "error", tolerant) == ""
    assert messages(db, "error", streams[2], allow_unsafe_marks=True) == ""


def test_check_warns_of_row_security(db: str) -> None:
    execute(
        db,
        "create table t (id int8)",
        "alter table t enable row level security",
        "alter table t force row level security",
    )
    execute(
        db,
        "drop role if exists seer",
        "create role seer login password 'seer'",
        "grant select on t to seer",
        "grant usage on schema public to seer",
    )
    try:
        url = db.replace(db.split("//")[1].split("@")[0], "seer:seer")
        assert "row security shows this user only some rows" in messages(url, "warning", stream_of("t"))
        assert messages(db, "warning", stream_of("t")) == ""
    finally:
        execute(db, "drop owned by seer", "drop role seer")


def test_probes_of_a_plan_take_few_round_trips(db: str) -> None:
    """A run that finds nothing new has to end within a second, over slow lines as well."""
    execute(
        db,
        "create table t (id int8 primary key, at timestamptz not null)",
        "create index on t (at)",
        "insert into t values (1, '2026-01-01')",
    )
    with opened(db) as source:
        statements: list[str] = []
        session = source._session  # type: ignore[attr-defined]
        ask = session.rows
        session.rows = lambda text, *rest, **named: (statements.append(text), ask(text, *rest, **named))[1]
        low = Bookmark.of("timestamptz", query(db, "select at + interval '1 s' from t")[0][0])
        for number in range(5):
            stream = stream_of("t", name=f"s{number}", cursor="at")
            source.frontier(stream, source.shape(stream), low)
    assert len(statements) == 5 * 2 + 1
