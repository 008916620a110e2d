"""Marks are safe: no row below one appears later, whatever transactions do meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.stream import Cursor, NullPolicy, Stream
from seamark.model.window import Frontier, Window, next_window
from seamark.sources.base import Source
from seamark.sources.postgres.probes import local_mark
from tests.servers import PostgresServer, wait_until
from tests.sources.postgres.place import execute, opened, query, read_all, stream_of

TIMED = "create table t (id int8 primary key, at timestamptz not null default now())"
COUNTED = "create table t (id int8 generated always as identity primary key, note text)"


@contextmanager
def transaction(url: str, application: str = "a writer") -> Iterator[psycopg.Connection[Any]]:
    """A session with a transaction open; what happens to it is the test's to say."""
    connection = psycopg.connect(url, application_name=application)
    try:
        connection.execute("select 1")
        yield connection
    finally:
        connection.close()


class Follower:
    """Reads window after window, as runs would, and keeps the ids of all rows it saw."""

    def __init__(self, source: Source, stream: Stream) -> None:
        self.source, self.stream = source, stream
        self.bookmark: Bookmark | None = None
        self.seen: list[int] = []

    def step(self) -> Frontier:
        shape = self.source.shape(self.stream)
        frontier = self.source.frontier(self.stream, shape, self.bookmark)
        window = next_window(self.bookmark, frontier, nulls=NullPolicy.EXCLUDE)
        if window is not None:
            self.seen += [row["id"] for row in read_all(self.source, self.stream, window, shape)]
            self.bookmark = window.high
        return frontier


def timed(**rest: Any) -> Stream:
    return stream_of("t", cursor=Cursor("at", **rest))


def counted(field: str = "id", settle: float = 0.3, **rest: Any) -> Stream:
    return stream_of("t", cursor=Cursor(field, settle=timedelta(seconds=settle), **rest))


def test_a_transaction_that_began_early_and_wrote_late_is_not_lost(db: str) -> None:
    execute(db, TIMED)
    with opened(db) as source, transaction(db) as early:
        execute(db, "insert into t values (1)")
        follower = Follower(source, timed(settle=timedelta(seconds=2.5)))
        frontier = follower.step()
        assert frontier.hold is not None
        assert f"session {early.info.backend_pid} (a writer)" in frontier.hold.reason
        assert "idle in transaction" in frontier.hold.reason
        assert frontier.hold.since is not None
        early.execute("insert into t values (2)")
        early.commit()
        follower.step()
    assert sorted(follower.seen) == [1, 2]


def test_a_commit_while_planning_waits_lets_the_mark_pass(db: str) -> None:
    execute(db, TIMED)
    with opened(db) as source, transaction(db) as early:
        early.execute("insert into t values (1)")
        execute(db, "insert into t values (2)")
        threading.Timer(2.2, early.commit).start()
        follower = Follower(source, timed(settle=timedelta(seconds=5)))
        follower.step()
        assert sorted(follower.seen) == [1, 2]


def test_truncated_timestamps_stay_above_the_mark(db: str) -> None:
    execute(
        db,
        "create table t (id int8 generated always as identity, at timestamptz(0) default date_trunc('second', now()))",
    )
    with opened(db) as source:
        follower = Follower(source, timed(settle=timedelta(0)))
        until = time.monotonic() + 3.5
        while time.monotonic() < until:
            execute(db, "insert into t default values")
            follower.step()
        time.sleep(2.1)
        follower.step()
    assert sorted(follower.seen) == [number for (number,) in query(db, "select id from t order by id")]


def test_a_truncated_start_of_a_long_transaction_stays_above_the_mark(db: str) -> None:
    """The mark stands where the transaction began, and its row's time is up to a second before that."""
    execute(db, TIMED)
    with opened(db) as source, transaction(db) as early:
        while query(db, "select extract(milliseconds from now())::int % 1000 between 500 and 900") != [(True,)]:
            time.sleep(0.02)
        early.rollback()
        early.execute("select 1")
        execute(db, "insert into t values (1, now() - interval '5 minutes')")
        time.sleep(2)
        follower = Follower(source, timed(settle=timedelta(0)))
        follower.step()
        early.execute("insert into t values (2, date_trunc('second', now()))")
        early.commit()
        follower.step()
    assert follower.seen == [1, 2]


def test_a_new_row_is_read_within_the_settling_time(db: str) -> None:
    execute(db, TIMED, "insert into t values (1)")
    with opened(db) as source:
        began = time.monotonic()
        follower = Follower(source, timed())
        assert follower.step().hold is None
        assert follower.seen == [1]
        assert time.monotonic() - began < 3.2


def test_nothing_new_costs_no_waiting_even_while_someone_writes(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, now() - interval '1 hour')")
    with opened(db) as source, transaction(db):
        follower = Follower(source, timed())
        follower.step()
        began = time.monotonic()
        follower.step()
        assert time.monotonic() - began < 1
        assert follower.seen == [1]


def test_a_row_from_the_future_is_held_and_named_without_waiting_for_it(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, '2999-01-01'), (2, now() - interval '1 hour')")
    with opened(db) as source:
        began = time.monotonic()
        follower = Follower(source, timed())
        frontier = follower.step()
        assert time.monotonic() - began < 1
    assert follower.seen == [2]
    assert frontier.hold is not None
    assert "2999-01-01" in frontier.hold.reason


@pytest.mark.parametrize("leaf", ["t", "t_1"])
@pytest.mark.parametrize("cursor", ["at", "id"])
def test_a_prepared_transaction_holds_the_mark_where_it_is(db: str, leaf: str, cursor: str) -> None:
    execute(
        db,
        "create table t (id int8 not null, at timestamptz not null default now()) partition by range (id)",
        "create sequence s owned by t.id",
        "alter table t alter id set default nextval('s')",
        "create table t_1 partition of t for values from (0) to (100)",
        "alter table t_1 alter id set default nextval('s')",
        "insert into t default values",
    )
    with transaction(db) as connection:
        connection.execute(f"insert into {leaf} default values")
        connection.execute("prepare transaction 'two-phase'")
        connection.commit()
    execute(db, "insert into t default values")
    with opened(db) as source:
        follower = Follower(source, counted(cursor))
        frontier = follower.step()
        assert follower.seen == []
        assert frontier.hold is not None
        assert "'two-phase'" in frontier.hold.reason
        execute(db, "commit prepared 'two-phase'")
        follower = Follower(source, counted(cursor, settle=3))
        follower.step()
    assert sorted(follower.seen) == [1, 2, 3]


def test_a_prepared_transaction_on_another_table_holds_nothing(db: str) -> None:
    execute(db, TIMED, "create table other (id int4)", "insert into t values (1, now() - interval '1 hour')")
    with transaction(db) as connection:
        connection.execute("insert into other values (1)")
        connection.execute("prepare transaction 'elsewhere'")
        connection.commit()
    with opened(db) as source:
        follower = Follower(source, timed())
        follower.step()
    execute(db, "rollback prepared 'elsewhere'")
    assert follower.seen == [1]


def test_a_serial_number_that_is_committed_late_is_not_lost(db: str) -> None:
    execute(db, COUNTED)
    with opened(db) as source, transaction(db) as slow:
        slow.execute("insert into t default values")
        execute(db, "insert into t default values")
        follower = Follower(source, counted())
        frontier = follower.step()
        assert follower.seen == []
        assert frontier.high is None
        assert frontier.hold is not None
        assert (
            f"session {slow.info.backend_pid} (a writer) of user seamark is writing to public.t" in frontier.hold.reason
        )
        slow.commit()
        follower.step()
        assert sorted(follower.seen) == [1, 2]


def test_a_held_serial_mark_stays_where_it_was(db: str) -> None:
    execute(db, COUNTED, "insert into t default values")
    with opened(db) as source:
        follower = Follower(source, counted())
        follower.step()
        with transaction(db) as slow:
            slow.execute("insert into t default values")
            execute(db, "insert into t default values")
            assert follower.step().high == Bookmark.of("integer", 2)
            slow.rollback()
        follower.step()
    assert follower.seen == [1, 3]


def test_planning_waits_for_a_serial_writer_that_ends_in_time(db: str) -> None:
    execute(db, COUNTED)
    with opened(db) as source, transaction(db) as slow:
        slow.execute("insert into t default values")
        execute(db, "insert into t default values")
        threading.Timer(0.3, slow.commit).start()
        follower = Follower(source, counted(settle=5))
        began = time.monotonic()
        follower.step()
        assert time.monotonic() - began < 3
        assert sorted(follower.seen) == [1, 2]


def test_who_only_reads_the_table_holds_no_serial_mark(db: str) -> None:
    execute(db, COUNTED, "insert into t default values")
    with opened(db) as source, transaction(db) as reader:
        reader.execute("select * from t")
        follower = Follower(source, counted())
        assert follower.step().hold is None
    assert follower.seen == [1]


def test_numbers_that_sessions_keep_back_need_a_lookback(db: str) -> None:
    execute(
        db,
        "create sequence s cache 20",
        "create table t (id int8 primary key default nextval('s'))",
        "insert into t default values",
    )
    with opened(db) as source:
        stream = counted()
        with pytest.raises(SourceError, match="CACHE 20") as failure:
            source.frontier(stream, source.shape(stream), None)
        assert "CACHE 1" in failure.value.hint
        assert source.check([stream])[1].level == "error"
        tolerant = counted(lookback=100)
        assert source.frontier(tolerant, source.shape(tolerant), None).high == Bookmark.of("integer", 2)
    with opened(db, allow_unsafe_marks=True) as source:
        assert source.frontier(stream, source.shape(stream), None).high == Bookmark.of("integer", 2)


@pytest.mark.parametrize("options", ["increment by -1 start with -1", "cycle maxvalue 100"])
def test_sequences_that_do_not_only_grow_are_refused(db: str, options: str) -> None:
    execute(
        db,
        f"create table t (id int8 generated always as identity ({options}) primary key)",
        "insert into t default values",
    )
    with opened(db) as source, pytest.raises(SourceError, match=r"counts down|CYCLE"):
        source.frontier(counted(), source.shape(counted()), None)


@contextmanager
def restricted(url: str) -> Iterator[str]:
    """The URL of a user that may read the tables, and nothing more."""
    parts = urlsplit(url)
    execute(url, "drop role if exists reader", "create role reader login password 'reader'", "grant usage on schema public to reader",
            "grant select on all tables in schema public to reader")  # fmt: skip
    try:
        yield urlunsplit(parts._replace(netloc=f"reader:reader@{parts.hostname}:{parts.port}"))
    finally:
        execute(url, "drop owned by reader", "drop role reader")


def test_without_the_privilege_to_see_sessions_timestamps_are_refused_and_numbers_are_not(db: str) -> None:
    execute(db, "create table t (id int8 generated always as identity primary key, at timestamptz not null default now())",
            "insert into t (at) values (now() - interval '1 hour')")  # fmt: skip
    with restricted(db) as url, transaction(db) as invisible, opened(url) as source:
        with pytest.raises(SourceError, match="can't be seen") as failure:
            source.frontier(timed(), source.shape(timed()), None)
        assert "GRANT pg_read_all_stats" in failure.value.hint
        (finding,) = [finding for finding in source.check([timed()]) if finding.level == "error"]
        assert "pg_read_all_stats" in finding.fix
        tolerant = timed(lookback=timedelta(hours=1))
        assert source.frontier(tolerant, source.shape(tolerant), None).high is not None
        assert source.frontier(counted(), source.shape(counted()), None).high == Bookmark.of("integer", 2)
        invisible.execute("insert into t default values")
        execute(db, "insert into t default values")
        assert source.frontier(counted(), source.shape(counted()), None).high is None
        execute(db, "grant pg_read_all_stats to reader")
    with restricted(db) as url:
        execute(db, "grant pg_read_all_stats to reader")
        with opened(url) as source:
            assert source.frontier(timed(), source.shape(timed()), None).high is not None
            assert [finding for finding in source.check([timed()]) if finding.level == "error"] == []


def test_a_session_that_hides_its_activity_is_not_taken_for_idle(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, now() - interval '1 minute')")
    with opened(db) as source, transaction(db) as hiding:
        hiding.rollback()
        hiding.execute("set track_activities = off")
        hiding.commit()
        hiding.execute("select 1")
        with pytest.raises(SourceError, match="can't be seen"):
            source.frontier(timed(), source.shape(timed()), None)


def test_what_one_streams_lookback_allows_is_not_allowed_to_the_next(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, now() - interval '1 minute')")
    with restricted(db) as url, transaction(db), opened(url) as source:
        tolerant = timed(lookback=timedelta(hours=1))
        assert source.frontier(tolerant, source.shape(tolerant), None).high is not None
        with pytest.raises(SourceError, match="can't be seen"):
            source.frontier(timed(), source.shape(timed()), None)


@pytest.mark.parametrize("kind", ["timestamptz", "timestamp"])
def test_a_clock_that_was_set_back_is_noticed(db: str, kind: str) -> None:
    """Rows that are written until it has caught up would be below the bookmark."""
    execute(db, f"create table t (id int8, at {kind} not null default now())", "insert into t values (1)")
    ((ahead,),) = query(db, "select now() + interval '10 minutes'")
    low = Bookmark.of("timestamptz", ahead) if kind == "timestamptz" else Bookmark.of(kind, ahead.replace(tzinfo=None))
    with opened(db, timezone="UTC") as source:
        shape = source.shape(timed())
        with pytest.raises(SourceError, match="clock was set back"):
            source.frontier(timed(), shape, low)
        with pytest.raises(SourceError, match="clock was set back"):
            source.frontier(timed(), shape, low)
        tolerant = timed(lookback=timedelta(hours=1))
        source.frontier(tolerant, shape, low)


def test_a_bookmark_that_another_process_moved_on_is_no_clock_set_back(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, now() - interval '1 minute')")
    with opened(db) as old, opened(db) as young:
        first = old.frontier(timed(), old.shape(timed()), None).high
        time.sleep(2.1)
        low = young.frontier(timed(), young.shape(timed()), None).high
        assert first is not None
        assert low is not None
        assert first < low
        assert old.frontier(timed(), old.shape(timed()), low).high == low


def test_a_sequence_that_started_over_is_noticed(db: str) -> None:
    execute(db, COUNTED, "insert into t select from generate_series(1, 10)")
    with opened(db) as source:
        follower = Follower(source, counted())
        follower.step()
        execute(db, "delete from t where id > 8")
        follower.step()
        execute(db, "truncate t")
        follower.step()
        execute(db, "truncate t restart identity", "insert into t default values")
        with pytest.raises(SourceError, match="set back to 1, below the bookmark 11"):
            follower.step()


def test_sessions_that_never_write_can_be_ignored(db: str) -> None:
    execute(db, TIMED, "insert into t values (1, now() - interval '1 minute')")
    with transaction(db, "dashboard") as idle:
        idle.execute("select 1")
        time.sleep(1.1)
        execute(db, "insert into t values (2)")
        with opened(db) as source:
            assert Follower(source, timed(settle=timedelta(seconds=2.5))).step().hold is not None
        with opened(db, ignore_sessions=["dashboard"]) as source:
            follower = Follower(source, timed())
            assert follower.step().hold is None
            assert sorted(follower.seen) == [1, 2]


def test_one_streams_reading_does_not_hold_the_marks_of_another(db: str) -> None:
    execute(db, TIMED, "insert into t values (1)")
    with opened(db) as source, opened(db) as other:
        stream = timed()
        shape = other.shape(stream)
        with other.read(stream, shape, next_window(None, other.frontier(stream, shape, None)) or Window(), 1):
            time.sleep(1.1)
            execute(db, "insert into t values (2)")
            assert Follower(source, stream).step().hold is None


def test_timestamps_without_a_zone_follow_the_servers_zone(db: str) -> None:
    """The test server lives in St. John's, hours behind UTC: a mark in UTC would run ahead of the rows."""
    execute(db, "create table t (id int8, at timestamp not null default now())", "insert into t values (1)")
    with opened(db) as source, transaction(db) as early:
        follower = Follower(source, timed(settle=timedelta(seconds=2.2)))
        assert follower.step().hold is not None
        early.execute("insert into t values (2)")
        early.commit()
        follower.step()
        execute(db, "insert into t values (3)")
        follower.step()
    assert sorted(follower.seen) == [1, 2, 3]


def test_a_wrong_zone_does_not_carry_the_mark_far_past_the_newest_row(db: str) -> None:
    execute(db, "create table t (id int8, at timestamp not null default now())", "insert into t values (1)")
    with opened(db, timezone="Pacific/Kiritimati") as source:
        follower = Follower(source, timed())
        follower.step()
        time.sleep(1.1)
        execute(db, "insert into t values (2)")
        follower.step()
    assert follower.seen == [1, 2]


def test_an_unknown_zone_is_named(db: str) -> None:
    execute(db, "create table t (id int8, at timestamp)", "insert into t values (1, '2020-01-01')")
    with opened(db, timezone="Middle/Earth") as source, pytest.raises(SourceError, match="Middle/Earth"):
        Follower(source, timed()).step()


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2026-11-01T04:30:00+00:00", "2026-11-01 00:30:00"),  # 00:30 EDT, long before the change
        ("2026-11-01T05:30:00+00:00", "2026-11-01 01:00:00"),  # 01:30 EDT: 01:00 to 02:00 will come once more
        ("2026-11-01T06:30:00+00:00", "2026-11-01 01:30:00"),  # 01:30 EST: the second time, for good
        ("2026-03-08T07:00:01+00:00", "2026-03-08 03:00:01"),  # clocks went ahead
    ],
)
def test_an_hour_that_comes_twice_is_safe_when_it_is_over(db: str, instant: str, expected: str) -> None:
    ((mark,),) = query(db, f"select ({local_mark(datetime.fromisoformat(instant), 'America/New_York')})::text")
    assert mark == expected


def test_the_rows_of_a_day_are_read_when_it_is_over(db: str) -> None:
    execute(
        db,
        "create table t (id int8, at date)",
        "insert into t values (1, '2020-01-01'), (2, (now() at time zone 'UTC')::date)",
    )
    with opened(db, timezone="UTC") as source:
        follower = Follower(source, timed())
        frontier = follower.step()
        assert follower.seen == [1]
        assert frontier.high == Bookmark.of(BookmarkType.DATE, (datetime.now(UTC) - timedelta(seconds=1)).date())
        assert any("when the day is over" in finding.message for finding in source.check([timed()]))


@pytest.mark.parametrize(
    ("kind", "values", "newest", "after"),
    [
        ("text", ["'a'", "'B'", "'é'"], "é", "é\x01"),
        ("varchar(9)", ["'a'", "'Z'"], "a", "a\x01"),
        ("char(3)", ["'a'"], "a", "a\x01"),
        ("uuid", ["'00000000-0000-0000-0000-0000000000ff'"], "00000000-0000-0000-0000-0000000000ff", "00000000-0000-0000-0000-000000000100"),
        ("bytea", ["'\\x00'", "'\\xff'"], "ff", "ff00"),
        ("numeric(6,2)", ["9.99", "10.5"], "10.5", "10.51"),
        ("int2", ["32767"], "32767", "32768"),
        ("int8", ["9223372036854775807"], "9223372036854775807", "9223372036854775808"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("indexed", [True, False])
def test_other_types_go_to_right_after_the_greatest_value(
    db: str, kind: str, values: list[str], newest: str, after: str, indexed: bool
) -> None:
    rows = ", ".join(f"({number}, {value})" for number, value in enumerate(values, 1))
    collation = ' collate "C"' if kind in ("text", "varchar(9)") else ""
    execute(
        db,
        f"create table t (id int8, at {kind})",
        f"insert into t values {rows}",
        *([f"create index on t (at{collation})"] if indexed else []),
    )
    with opened(db) as source:
        follower = Follower(source, counted("at"))
        frontier = follower.step()
        assert (frontier.newest and frontier.newest.text, frontier.high and frontier.high.text) == (newest, after)
        assert sorted(follower.seen) == list(range(1, len(values) + 1))
        follower.step()
        assert len(follower.seen) == len(values)


def test_text_cursors_compare_bytes_whatever_the_database_collates_by(db: str) -> None:
    """In the test server's collation 'a' < 'B' < 'c'; in bytes 'B' < 'a' < 'c'."""
    execute(db, "create table t (id int8, at text)", "insert into t values (1, 'a'), (2, 'B')")
    with opened(db) as source:
        follower = Follower(source, counted("at"))
        assert follower.step().newest == Bookmark.of("text", "a")
        execute(db, "insert into t values (3, 'c')")
        follower.step()
    assert sorted(follower.seen) == [1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("timestamptz", "'infinity'"), ("date", "'infinity'"), ("timestamp", "'20000-01-01'"), ("numeric(5,2)", "'NaN'")],
)
def test_a_greatest_value_without_a_place_in_the_order_is_named(db: str, kind: str, value: str) -> None:
    execute(db, f"create table t (id int8, at {kind})", f"insert into t values (1, {value})")
    with opened(db) as source, pytest.raises(SourceError, match=r"greatest 'at' in public.t is"):
        source.frontier(timed(), source.shape(timed()), None)


@pytest.mark.parametrize("kind", ["float8", "boolean", "json", "interval", "int4[]", "numeric", "time"])
def test_a_cursor_that_can_not_be_ordered_is_refused(db: str, kind: str) -> None:
    execute(db, f"create table t (id int8, at {kind})")
    with opened(db) as source, pytest.raises(SourceError, match="the cursor 'at' is"):
        source.shape(timed())


def test_a_numeric_of_any_size_becomes_a_cursor_by_a_cast(db: str) -> None:
    execute(db, "create table t (id int8, at numeric)", "insert into t values (1, 1.5), (2, 2)")
    with opened(db) as source:
        stream = stream_of("t", cursor="at", cast={"at": "decimal(20,3)"})
        shape = source.shape(stream)
        assert source.frontier(stream, shape, None).high == Bookmark.of("decimal", Decimal("2.001"))


def test_a_cursor_can_not_be_cast_away_from_its_order(db: str) -> None:
    execute(db, "create table t (id int8, at timestamptz)")
    with opened(db) as source, pytest.raises(SourceError, match="cast to string"):
        source.shape(stream_of("t", cursor="at", cast={"at": "string"}))


def test_rows_without_a_cursor_count_only_where_the_filter_lets_them_through(db: str) -> None:
    execute(db, "create table t (id int8, at timestamptz)", "insert into t values (1, null), (2, null), (3, now())")
    for statement in ("select 1", "create index on t (at)"):
        execute(db, statement)
        with opened(db) as source:
            assert source.frontier(timed(), source.shape(timed()), None).nulls == 2
            filtered = stream_of("t", cursor=Cursor("at"), where="id % 2 = 1 -- odd ones")
            assert source.frontier(filtered, source.shape(filtered), None).nulls == 1


def test_a_materialized_view_has_no_safe_marks(db: str) -> None:
    execute(db, TIMED, "create materialized view m as select * from t")
    with opened(db) as source:
        stream = stream_of("m", cursor="at")
        with pytest.raises(SourceError, match="materialized view"):
            source.frontier(stream, source.shape(stream), None)


def test_a_views_serial_mark_waits_for_writers_of_any_table(db: str) -> None:
    execute(db, COUNTED, "create view v as select * from t", "insert into t default values")
    with opened(db) as source, transaction(db) as slow:
        stream = stream_of("v", cursor=Cursor("id", settle=timedelta(seconds=0.2)))
        slow.execute("insert into t default values")
        assert source.frontier(stream, source.shape(stream), None).high is None
        slow.commit()
        assert source.frontier(stream, source.shape(stream), None).high == Bookmark.of("integer", 3)


def test_timestamps_of_clients_need_a_lookback(db: str) -> None:
    execute(db, TIMED)
    with opened(db, client_timestamps=True) as source:
        with pytest.raises(SourceError, match="client"):
            source.frontier(timed(), source.shape(timed()), None)
        tolerant = timed(lookback=timedelta(minutes=10))
        source.frontier(tolerant, source.shape(tolerant), None)


def test_a_table_fed_by_logical_replication_needs_a_lookback(postgres: PostgresServer) -> None:
    with postgres.database() as publisher, postgres.database() as subscriber:
        execute(
            publisher,
            TIMED,
            "create publication p for table t",
            "select pg_create_logical_replication_slot('seamark_test', 'pgoutput')",
        )
        conninfo = psycopg.conninfo.make_conninfo(publisher)
        execute(
            subscriber,
            TIMED,
            f"create subscription s connection '{conninfo}' publication p with (create_slot = false, slot_name = seamark_test, copy_data = false)",
        )
        try:
            with opened(subscriber) as source:
                with pytest.raises(SourceError, match="logical replication"):
                    source.frontier(timed(), source.shape(timed()), None)
                assert any("logical replication" in f.message for f in source.check([timed()]) if f.level == "error")
        finally:
            execute(
                subscriber,
                "alter subscription s disable",
                "alter subscription s set (slot_name = none)",
                "drop subscription s",
            )
            wait_until(
                lambda: (
                    not query(
                        publisher, "select 1 from pg_replication_slots where slot_name = 'seamark_test' and active"
                    )
                ),
                "the slot is let go",
            )


ROUNDS = 8.0


@pytest.mark.parametrize("cursor", ["id", "at", "wall"])
def test_windows_back_to_back_hold_every_row_once_while_four_writers_write(db: str, cursor: str) -> None:
    """Transactions that begin before they write, commit late, roll back, put rows in partitions, truncate their times."""
    execute(
        db,
        "create table t (id int8 generated always as identity, at timestamptz not null default now(), "
        "wall timestamp(0) not null default now(), who int4) partition by list (who)",
        *(f"create table t_{who} partition of t for values in ({who})" for who in range(4)),
        "create index on t (id)",
        "create index on t (at)",
    )
    stop = time.monotonic() + ROUNDS * (0.5 if cursor == "wall" else 1)
    writers = [threading.Thread(target=write, args=(db, who, stop)) for who in range(4)]
    for writer in writers:
        writer.start()
    with opened(db) as source:
        follower = Follower(source, stream_of("t", cursor=Cursor(cursor, settle=timedelta(seconds=0.2))))
        windows = 0
        while any(writer.is_alive() for writer in writers):
            follower.step()
            windows += 1
        for writer in writers:
            writer.join()
        follower.stream = stream_of("t", cursor=Cursor(cursor, settle=timedelta(seconds=5)))
        follower.step()
    expected = [number for (number,) in query(db, "select id from t order by id")]
    assert len(expected) > 200
    assert windows > 5
    assert sorted(follower.seen) == expected


def write(url: str, who: int, stop: float) -> None:
    chance = random.Random(who)
    with psycopg.connect(url, application_name=f"writer {who}") as connection:
        while time.monotonic() < stop:
            connection.execute("select 1")
            time.sleep(chance.random() * chance.choice((0.02, 0.2)))
            connection.execute("insert into t (who) select %s from generate_series(1, %s)", [who, chance.randint(1, 5)])
            time.sleep(chance.random() * chance.choice((0.005, 0.1)))
            connection.rollback() if chance.random() < 0.1 else connection.commit()
