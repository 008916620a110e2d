"""Reading a SQLite file: only ever reading, one consistent state, and clear words when it can't be had."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from seamark.errors import SourceError, SourceUnavailable
from seamark.model.stream import Cursor
from seamark.model.window import Window
from tests.sources.sqlite.place import execute, opened, read_all, stream_of


def test_a_missing_file_is_named_and_not_made(path: Path) -> None:
    with opened(path) as source, pytest.raises(SourceError, match=str(path)):
        source.shape(stream_of("t"))
    assert not path.exists()


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)
    with opened(path) as source, pytest.raises(SourceError, match="no sound SQLite database"):
        source.discover()
    path.unlink()
    path.mkdir()
    with opened(path) as source, pytest.raises(SourceError, match="no SQLite database"):
        source.discover()


def test_a_locked_database_is_waited_for_and_then_named(path: Path) -> None:
    execute(path, "create table t (id integer primary key)", "insert into t values (1)")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer, opened(path, busy_timeout="200ms") as source:
        stream = stream_of("t")
        shape = source.shape(stream)
        with source.read(stream, shape, Window(), 1) as reading:
            writer.execute("begin exclusive")
            with pytest.raises(SourceUnavailable, match="locked") as failure:
                list(reading.reader(reading.splits[0]))
            assert "busy_timeout" in failure.value.hint
            with pytest.raises(SourceUnavailable, match="locked"):
                source.shape(stream)
            writer.execute("rollback")
            assert sum(len(batch) for batch in reading.reader(reading.splits[0])) == 1


def test_a_lock_that_ends_in_time_is_waited_for(path: Path) -> None:
    execute(path, "create table t (id integer primary key)", "insert into t values (1)")
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as writer,
        opened(path) as source,
    ):
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            writer.execute("begin exclusive")
            threading.Timer(0.3, lambda: writer.execute("rollback")).start()
            assert sum(len(batch) for batch in reading.reader(reading.splits[0])) == 1


def test_one_window_sees_one_state_of_the_database(path: Path) -> None:
    execute(path, "pragma journal_mode = wal", "create table t (id integer primary key, money integer)",
            "with recursive i(i) as (select 1 union all select i + 1 from i where i < 50000) insert into t select i, 100 from i")  # fmt: skip
    with opened(path) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 4) as reading:
            batches = reading.reader(reading.splits[0])
            rows = list(next(iter(batches)).to_pylist())
            execute(
                path,
                "update t set money = money + case when id % 2 = 0 then 1 else -1 end",
                "insert into t values (60000, 7)",
            )
            for batch in batches:
                rows += batch.to_pylist()
    assert len(rows) == 50_000
    assert {row["money"] for row in rows} == {100}


def test_batches_are_bounded(path: Path) -> None:
    execute(path, "create table t (id integer primary key)",
            "with recursive i(i) as (select 1 union all select i + 1 from i where i < 20000) insert into t select i from i")  # fmt: skip
    with opened(path) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            assert max(len(batch) for batch in reading.reader(reading.splits[0])) <= 5000


NAMES = ['with "quotes"', "with space", "Größe 表", "select", "a.b", "a'b", "100%", "?1", "least", "CamelCase"]


@pytest.mark.parametrize("name", NAMES)
def test_any_identifier_works_everywhere(path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    execute(path, f"create table {quoted} ({quoted} integer primary key, at timestamp, n decimal(5,2))", f"insert into {quoted} values (1, '2026-01-01', 1.5)",
            f"insert into {quoted} values (2, '2026-01-01', 'x')")  # fmt: skip
    with opened(path) as source:
        (table,) = source.discover()
        for cursor in (name, "at"):
            stream = stream_of(table.name, cursor=Cursor(cursor), key=(name,), where=f"{quoted} = 1 -- '%s'")
            shape = source.shape(stream)
            assert shape.key_is_unique
            frontier = source.frontier(stream, shape, None)
            window = Window(None, frontier.high)
            assert source.estimate(stream, window).rows == 1
            assert [row[name] for row in read_all(source, stream, window)] == [1]
            assert [finding for finding in source.check([stream]) if finding.level == "error"] == []
        with pytest.raises(SourceError, match="holds 'x'"):
            read_all(source, stream_of(table.name))


@pytest.mark.parametrize("where", ["id = 1) or (1 = 1", "id = 1; drop table t", "nope = 1", "id ="])
def test_a_filter_that_is_no_condition_is_refused(path: Path, where: str) -> None:
    execute(path, "create table t (id integer primary key)")
    with opened(path) as source, pytest.raises(SourceError, match="where"):
        source.shape(stream_of("t", where=where))


@pytest.mark.parametrize(
    ("declaration", "key", "unique"),
    [
        ("a integer primary key, b", ("a",), True),
        ("a int primary key, b", ("a",), False),  # NULLs, of which a primary key may have many
        ("a int primary key not null, b", ("a",), True),
        ("a text, b int, primary key (a, b)", ("a", "b"), False),
        ("a text not null, b int not null, primary key (a, b)", ("b", "a"), True),
        ("a text not null, b int not null, primary key (a, b)", ("a",), False),
        ("a text unique not null", ("a",), True),
        ("a text unique", ("a",), False),
        ("a text, b int, primary key (a, b)) without rowid --", ("a", "b"), True),
    ],
)
def test_a_key_is_unique_only_if_sqlite_keeps_it_so(
    path: Path, declaration: str, key: tuple[str, ...], unique: bool
) -> None:
    execute(path, f"create table t ({declaration}\n{'' if '--' in declaration else ')'}")
    with opened(path) as source:
        assert source.shape(stream_of("t", key=key, columns=key)).key_is_unique is unique


def test_views_virtual_tables_generated_columns_and_hidden_tables(path: Path) -> None:
    execute(
        path,
        "create table t (id integer primary key autoincrement, a int, twice int generated always as (a * 2))",
        "insert into t (a) values (4)",
        "create view v as select id, a from t",
        "create virtual table words using fts5(word)",
        "insert into words values ('x')",
    )
    with opened(path) as source:
        assert [table.name for table in source.discover()] == ["t", "v", "words"]
        assert read_all(source, stream_of("t")) == [{"id": 1, "a": 4, "twice": 8}]
        assert read_all(source, stream_of("main.t", columns=("a",))) == [{"a": 4}]
        assert read_all(source, stream_of("v")) == [{"id": 1, "a": 4}]
        assert read_all(source, stream_of("words", cast={"word": "string"})) == [{"word": "x"}]


def test_a_missing_table_names_the_nearest(path: Path) -> None:
    execute(path, "create table orders (id integer primary key)")
    with opened(path) as source, pytest.raises(SourceError, match="did you mean 'orders'"):
        source.shape(stream_of("Ordres"))


def test_check_says_what_marks_rest_on(path: Path) -> None:
    execute(
        path,
        "create table t (id integer primary key, n int, at timestamp, day date, name text)",
        "create table u (id integer primary key autoincrement)",
    )
    wanted = {
        "id": "AUTOINCREMENT",
        "n": "does not number 'n'",
        "at": "settle",
        "day": "when the day is over",
        "name": "says nothing about when",
    }
    with opened(path) as source:
        for field, text in wanted.items():
            findings = source.check([stream_of("t", cursor=field)])
            assert any(text in f"{finding.message} {finding.fix}" for finding in findings if finding.level == "warning")
        assert [
            f.message
            for f in source.check([stream_of("u", cursor="id")])
            if f.subject == "stream s" and f.level != "ok"
        ] == []
