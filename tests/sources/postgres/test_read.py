"""Reading: every row of a window once, from one snapshot, whatever the table is and whatever goes on meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from seamark.errors import SourceError, SourceUnavailable
from seamark.model.bookmark import Bookmark
from seamark.model.stream import Cursor
from seamark.model.window import Window
from seamark.sources.postgres import snapshot as snapshots
from seamark.sources.postgres.splits import TID_RANGE_SCANS
from tests.servers import wait_until
from tests.sources.postgres.place import execute, opened, query, read_all, read_split, stream_of

BIG = "create table t (id int8 primary key, at timestamptz, pad text)"
FILL = "insert into t select i, timestamptz '2026-01-01' + i * interval '1 second', repeat('x', 50) from generate_series(1, {}) i"


def number(value: int) -> Bookmark:
    return Bookmark.of("integer", value)


def splits_of(url: str, stream: Any, window: Window, parallelism: int = 4) -> tuple[list[str], list[int], list[int]]:
    """(what each split describes, rows in each, all ids in order)."""
    with opened(url) as source:
        shape = source.shape(stream)
        with source.read(stream, shape, window, parallelism) as reading:
            rows = [read_split(reading.reader, split) for split in reading.splits]
            described = [split.describes for split in reading.splits]
    return described, [len(some) for some in rows], sorted(row["id"] for some in rows for row in some)


def test_a_table_is_cut_by_blocks_into_even_splits(db: str) -> None:
    execute(db, BIG, FILL.format(80_000), "vacuum analyze t")
    described, sizes, ids = splits_of(db, stream_of("t"), Window())
    assert ids == list(range(1, 80_001))
    assert len(sizes) == 4
    assert max(sizes) < 1.2 * min(sizes)
    assert described[0].startswith("blocks 0 to")


def test_a_split_reads_only_its_own_blocks(db: str) -> None:
    execute(db, BIG, FILL.format(80_000), "vacuum analyze t")
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 4) as reading:
            for split in reading.splits:
                plan = "\n".join(line for (line,) in query(db, f"explain {split.query}"))
                assert "Tid Range Scan" in plan


def test_partitions_of_uneven_size_are_read_once_from_one_snapshot(db: str) -> None:
    execute(
        db,
        "create table t (id int8 not null, kind int4 not null) partition by list (kind)",
        "create table t_0 partition of t for values in (0)",
        "create table t_1 partition of t for values in (1) partition by range (id)",
        "create table t_1_a partition of t_1 for values from (minvalue) to (50000)",
        "create table t_1_b (kind int4 not null, id int8 not null)",  # columns in another order
        "alter table t_1 attach partition t_1_b for values from (50000) to (maxvalue)",
        "insert into t select i, (i % 10 > 0)::int from generate_series(1, 90000) i",
        "analyze t",
    )
    _, sizes, ids = splits_of(db, stream_of("t"), Window())
    assert ids == list(range(1, 90_001))
    assert len(sizes) == 4
    assert max(sizes) < 1.5 * min(sizes)


def test_inheriting_tables_are_read_with_their_parent(db: str) -> None:
    execute(
        db,
        "create table t (id int8 primary key)",
        "create table child (extra text) inherits (t)",
        "insert into t select generate_series(1, 40000)",
        "insert into child select generate_series(40001, 70000), 'x'",
        "analyze t, child",
    )
    _, sizes, ids = splits_of(db, stream_of("t"), Window())
    assert ids == list(range(1, 70_001))
    assert len(sizes) > 1
    with opened(db) as source:
        assert not source.shape(stream_of("t", key=("id",))).key_is_unique, "a key covers only the parent's own rows"


def test_views_and_materialized_views_are_read(db: str) -> None:
    execute(
        db,
        BIG,
        FILL.format(60_000),
        "create view v as select id, pad from t where id % 2 = 0",
        "create materialized view m as select id from t",
        "analyze t, m",
    )
    _, sizes, ids = splits_of(db, stream_of("v"), Window())
    assert (len(sizes), ids) == (1, list(range(2, 60_001, 2)))
    _, sizes, ids = splits_of(db, stream_of("m"), Window())
    assert len(sizes) == 4
    assert ids == list(range(1, 60_001))


def test_a_large_window_of_an_indexed_cursor_is_cut_by_its_values(db: str) -> None:
    execute(
        db, BIG, FILL.format(600_000), "create index on t (at)", "insert into t values (0, null)", "vacuum analyze t"
    )
    at = [
        Bookmark.of("timestamptz", moment)
        for (moment,) in query(db, "select at from t where id in (200000, 270000) order by 1")
    ]
    described, sizes, ids = splits_of(db, stream_of("t", cursor="at"), Window(at[0], at[1], nulls=False))
    assert ids == list(range(200_000, 270_000))
    assert len(sizes) == 4
    assert max(sizes) - min(sizes) <= 1
    assert described[0].startswith("[2026-01-03")
    described, sizes, ids = splits_of(db, stream_of("t", cursor="id"), Window(number(300_000), number(360_000)))
    assert ids == list(range(300_000, 360_000))
    assert sizes == [15_000] * 4


def test_a_first_load_carries_the_mark_in_every_split(db: str) -> None:
    execute(db, BIG, FILL.format(60_000), "analyze t")
    _, sizes, ids = splits_of(db, stream_of("t", cursor="id"), Window(None, number(55_001)))
    assert len(sizes) == 4
    assert ids == list(range(1, 55_001))


def test_rows_without_a_cursor_are_in_one_split_each(db: str) -> None:
    execute(
        db,
        "create table t (id int8, at int8)",
        "insert into t select i, nullif(i % 7, 0) from generate_series(1, 70000) i",
        "analyze t",
    )
    window = Window(number(2), number(4), nulls=True)
    expected = [i for i in range(1, 70_001) if i % 7 in (0, 2, 3)]
    for statement in ("select 1", "create index on t (at)"):
        execute(db, statement)
        assert splits_of(db, stream_of("t", cursor="at"), window)[2] == expected


def test_servers_without_tid_range_scans_are_read_by_key_ranges(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(db, BIG, FILL.format(60_000), "delete from t where id between 100 and 5000", "analyze t")
    monkeypatch.setattr("seamark.sources.postgres.splits.TID_RANGE_SCANS", 10**9)
    monkeypatch.setattr(snapshots, "TID_RANGE_SCANS", 10**9)
    assert TID_RANGE_SCANS == 140000
    described, sizes, ids = splits_of(db, stream_of("t", key=("id",)), Window())
    assert ids == [*range(1, 100), *range(5001, 60_001)]
    assert described[0].startswith("id from beginning to")
    assert len(sizes) == 4


def test_all_splits_see_one_snapshot_while_rows_change(db: str) -> None:
    """Money moves between accounts in one transaction each: any mixture of two snapshots would change the total."""
    execute(
        db,
        "create table t (id int8 primary key, money int8 not null)",
        "insert into t select i, 100 from generate_series(1, 60000) i",
        "analyze t",
    )
    stop = threading.Event()

    def move() -> None:
        with psycopg.connect(db) as connection:
            while not stop.is_set():
                connection.execute(
                    "update t set money = money + case when id % 2 = 0 then 1 else -1 end where id % 60 in (1, 2)"
                )
                connection.commit()

    mover = threading.Thread(target=move)
    mover.start()
    try:
        with opened(db) as source:
            stream = stream_of("t")
            with source.read(stream, source.shape(stream), Window(), 4) as reading:
                assert len(reading.splits) == 4
                rows = [row for split in reading.splits for row in read_split(reading.reader, split)]
    finally:
        stop.set()
        mover.join()
    assert len(rows) == 60_000
    assert sum(row["money"] for row in rows) == 6_000_000
    assert len({row["money"] for row in rows if row["id"] % 60 == 2}) == 1


def test_rows_committed_after_the_snapshot_are_not_read(db: str) -> None:
    execute(db, BIG, FILL.format(10))
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            execute(
                db, "insert into t values (11)", "delete from t where id = 1", "update t set pad = 'new' where id = 2"
            )
            rows = {row["id"]: row for split in reading.splits for row in read_split(reading.reader, split)}
    assert sorted(rows) == list(range(1, 11))
    assert rows[2]["pad"] != "new"


def test_a_truncate_waits_instead_of_emptying_the_snapshot(db: str) -> None:
    execute(db, BIG, FILL.format(10))
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            with pytest.raises(psycopg.errors.LockNotAvailable):
                execute(db, "set lock_timeout = '200ms'", "truncate t")
            assert len(read_split(reading.reader, reading.splits[0])) == 10
        execute(db, "set lock_timeout = '2s'", "truncate t")


def test_a_snapshot_is_not_taken_before_the_table_is_locked(db: str) -> None:
    """A TRUNCATE that commits between the two would leave the snapshot an empty table."""
    execute(db, BIG, FILL.format(10))
    with psycopg.connect(db) as other, opened(db) as source:
        stream = stream_of("t")
        shape = source.shape(stream)
        other.execute("truncate t")
        other.execute("insert into t values (99)")
        rows: list[dict[str, Any]] = []
        reading = threading.Thread(target=lambda: rows.extend(read_all(source, stream, shape=shape)))
        reading.start()
        waiting = "select count(*) from pg_stat_activity where application_name = 'seamark source' and wait_event_type = 'Lock'"
        wait_until(lambda: query(db, waiting) == [(1,)], "the reader waits for the lock")
        other.commit()
        reading.join()
    assert [row["id"] for row in rows] == [99]


def test_when_the_snapshots_session_dies_the_stage_fails_as_unavailable(db: str) -> None:
    execute(db, BIG, FILL.format(10))
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            execute(
                db,
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'seamark source' "
                "and state = 'idle in transaction'",
            )
            with pytest.raises(SourceUnavailable, match="snapshot is gone"):
                read_split(reading.reader, reading.splits[0])


def test_a_session_limit_of_the_server_does_not_end_the_snapshot(postgres_db: str) -> None:
    execute(
        postgres_db,
        BIG,
        FILL.format(10),
        "do $$ begin execute format('alter database %I set idle_in_transaction_session_timeout = 100', current_database()); end $$",
    )
    with opened(postgres_db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            threading.Event().wait(0.5)
            assert len(read_split(reading.reader, reading.splits[0])) == 10


def test_a_connection_cut_while_rows_flow_is_no_end_of_the_rows(db: str) -> None:
    execute(db, BIG, FILL.format(200_000), "analyze t")
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            batches = reading.reader(reading.splits[0])
            first = next(iter(batches))
            assert len(first)
            execute(
                db,
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'seamark source' "
                "and query like 'COPY%'",
            )
            with pytest.raises(SourceUnavailable):
                for _ in batches:
                    pass


def test_a_reader_that_is_left_early_leaves_no_session_behind(db: str) -> None:
    execute(db, BIG, FILL.format(200_000), "analyze t")
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            batches = reading.reader(reading.splits[0])
            next(iter(batches))
            batches.close()  # type: ignore[attr-defined]
            left = query(
                db,
                "select count(*) from pg_stat_activity where application_name = 'seamark source' and query like 'COPY%' and state = 'active'",
            )
            assert left == [(0,)]


def test_batches_are_bounded_whatever_the_size_of_the_table(db: str) -> None:
    execute(
        db,
        "create table t (id int8, pad text)",
        "insert into t select i, repeat('x', 1000) from generate_series(1, 30000) i",
        "analyze t",
    )
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            sizes = [batch.nbytes for split in reading.splits for batch in reading.reader(split)]
    assert len(sizes) > 3
    assert max(sizes) < 12 << 20


NAMES = [
    'with "quotes"',
    "with space",
    "Größe 表",
    "ÄÖÜ" * 10 + "xyz",
    "select",
    "new.est",
    "a'b",
    "100%",
    "%s",
    "$1",
    "v",
    "newest",
    "rows",
    "CamelCase",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_identifier_works_everywhere(db: str, name: str) -> None:
    assert len(name.encode()) <= 63
    quoted = '"' + name.replace('"', '""') + '"'
    execute(
        db,
        f"create schema {quoted}",
        f"create table {quoted}.{quoted} ({quoted} int8 generated always as identity primary key, \"id\" timestamptz default '2026-01-01', tags int4[])",
        f"insert into {quoted}.{quoted} default values",
        f"comment on column {quoted}.{quoted}.{quoted} is 'it''s'",
    )
    try:
        with opened(db) as source:
            (table,) = [found for found in source.discover() if found.schema.names[0] == name]
            for cursor in (name, "id"):
                stream = stream_of(
                    table.name, cursor=Cursor(cursor), key=(name,), where=f"{quoted} % 2 = 1 or {quoted}::text like '%'"
                )
                shape = source.shape(stream)
                assert shape.key_is_unique
                assert shape.schema.columns[0].comment == "it's"
                frontier = source.frontier(stream, shape, None)
                window = Window(None, frontier.high)
                source.estimate(stream, window)
                assert [row[name] for row in read_all(source, stream, window)] == [1]
                assert [finding for finding in source.check([stream]) if finding.level == "error"] == []
    finally:
        execute(db, f"drop schema {quoted} cascade")


@pytest.mark.parametrize(
    "where",
    ["id = 1) or (1 = 1", "id = 1; drop table t", "nope = 1", "id =", "id = 1 union select 2", "id = 1 limit 1"],
)
def test_a_filter_that_is_no_condition_is_refused_before_anything_is_read(db: str, where: str) -> None:
    execute(db, "create table t (id int8)")
    with opened(db) as source:
        with pytest.raises(SourceError, match="where"):
            source.shape(stream_of("t", where=where))
        assert query(db, "select count(*) from t") == [(0,)]


def test_a_filter_holds_in_every_split(db: str) -> None:
    execute(db, BIG, FILL.format(80_000), "analyze t")
    _, _, ids = splits_of(db, stream_of("t", where="id % 2 = 0 or id = 1 -- half of them"), Window(), 4)
    assert ids == [1, *range(2, 80_001, 2)]


def test_generated_and_dropped_columns(db: str) -> None:
    execute(
        db,
        "create table t (id int8, gone text, twice int8 generated always as (id * 2) stored)",
        "alter table t drop column gone",
        "insert into t values (4)",
    )
    with opened(db) as source:
        assert read_all(source, stream_of("t")) == [{"id": 4, "twice": 8}]


def test_a_table_without_columns_and_one_without_rows(db: str) -> None:
    execute(db, "create table t (id int8)", "create table nothing ()")
    with opened(db) as source:
        assert read_all(source, stream_of("t")) == []
        with pytest.raises(SourceError, match="selects no column"):
            source.shape(stream_of("nothing"))
