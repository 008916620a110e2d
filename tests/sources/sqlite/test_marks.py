"""Marks in SQLite: rowids in the order of commits, timestamps once they have settled."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.stream import Cursor, NullPolicy, Stream
from seamark.model.window import Frontier, Window, next_window
from seamark.sources.sqlite.marks import local_mark
from seamark.sources.sqlite.options import SqliteOptions
from seamark.sources.sqlite.source import SqliteSource
from tests.sources.sqlite.place import execute, opened, read_all, stream_of

NOON = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)


class Follower:
    """Reads window after window, as runs would, and keeps the ids of all rows it saw."""

    def __init__(self, source: Any, stream: Stream) -> None:
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


class Clock:
    """A time of one's own; sleeping moves it."""

    def __init__(self, now: datetime) -> None:
        self.now, self.slept = now, 0.0

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.now += timedelta(seconds=seconds)


def source_at(path: Path, clock: Clock, **options: Any) -> SqliteSource:
    from dataclasses import replace

    source = SqliteSource(SqliteOptions.model_validate({"path": path.name, **options}), path.parent, clock)
    source._marks = replace(source._marks, sleep=clock.sleep)
    return source


def timed(settle: float = 3) -> Stream:
    return stream_of("t", cursor=Cursor("at", settle=timedelta(seconds=settle)))


def test_rowids_are_in_the_order_of_commits(path: Path) -> None:
    execute(path, "create table t (id integer primary key autoincrement, note text)", "pragma journal_mode = wal")
    stop = time.monotonic() + 2
    committed = threading.Event()

    def write(who: int) -> None:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            while time.monotonic() < stop:
                with connection:
                    connection.execute("insert into t (note) values (?)", [f"writer {who}"])
                    time.sleep(0.002 * who)
                committed.set()

    writers = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for writer in writers:
        writer.start()
    with opened(path) as source:
        follower = Follower(source, stream_of("t", cursor="id"))
        while any(writer.is_alive() for writer in writers):
            follower.step()
        follower.step()
    with closing(sqlite3.connect(path)) as connection:
        expected = [number for (number,) in connection.execute("select id from t order by id")]
    assert len(expected) > 20
    assert sorted(follower.seen) == expected


def test_a_fresh_row_is_waited_for_until_it_has_settled(path: Path) -> None:
    execute(
        path,
        "create table t (id integer primary key, at timestamp)",
        f"insert into t values (1, '{NOON:%Y-%m-%d %H:%M:%S}')",
    )
    clock = Clock(NOON)
    follower = Follower(source_at(path, clock), timed())
    frontier = follower.step()
    assert follower.seen == [1]
    assert clock.slept == 3.5  # the rest of its second, and `settle`
    assert frontier.high == Bookmark.of("timestamp", datetime(2026, 3, 1, 12, 0, 1))
    follower.step()
    assert clock.slept == 3.5


def test_a_row_that_commits_within_the_settling_time_is_not_lost(path: Path) -> None:
    """Its time was taken two seconds before it was committed, and newer rows were there already."""
    execute(
        path, "create table t (id integer primary key, at timestamp)", "insert into t values (1, '2026-03-01 12:00:02')"
    )
    clock = Clock(datetime(2026, 3, 1, 12, 0, 2, tzinfo=UTC))
    follower = Follower(source_at(path, clock), timed(settle=0))
    clock.sleep = lambda seconds: None  # type: ignore[method-assign]
    source = source_at(path, clock)
    patient = Follower(source, timed())
    assert patient.step().hold is not None
    execute(path, "insert into t values (2, '2026-03-01 12:00:00')")
    clock.now += timedelta(seconds=10)
    patient.step()
    assert sorted(patient.seen) == [1, 2]
    assert follower.seen == []


def test_rows_of_the_running_second_are_left_for_the_next_window(path: Path) -> None:
    execute(
        path, "create table t (id integer primary key, at timestamp)", "insert into t values (1, '2026-03-01 12:00:00')"
    )
    clock = Clock(NOON)
    follower = Follower(source_at(path, clock), timed(settle=0))
    follower.step()
    assert clock.now >= datetime(2026, 3, 1, 12, 0, 1, tzinfo=UTC)
    execute(path, "insert into t values (2, '2026-03-01 12:00:01')")
    clock.now = datetime(2026, 3, 1, 12, 0, 2, tzinfo=UTC)
    follower.step()
    assert follower.seen == [1, 2]


def test_a_row_from_the_future_is_named_without_waiting(path: Path) -> None:
    execute(
        path,
        "create table t (id integer primary key, at timestamp)",
        "insert into t values (1, '2999-01-01'), (2, '2020-01-01')",
    )
    clock = Clock(NOON)
    follower = Follower(source_at(path, clock), timed())
    frontier = follower.step()
    assert frontier.hold is not None
    assert "2999-01-01" in frontier.hold.reason
    assert (follower.seen, clock.slept) == ([2], 0)


def test_a_zone_that_is_behind_does_not_carry_the_mark_away(path: Path) -> None:
    """Local times of New York, taken for UTC: rows seem five hours old when they are written."""
    execute(
        path, "create table t (id integer primary key, at timestamp)", "insert into t values (1, '2026-03-01 07:00:00')"
    )
    clock = Clock(NOON)
    follower = Follower(source_at(path, clock), timed())
    follower.step()
    execute(path, "insert into t values (2, '2026-03-01 07:00:09')")
    clock.now += timedelta(seconds=9)
    follower.step()
    assert follower.seen == [1, 2]


def test_the_zone_that_writers_use_can_be_named(path: Path) -> None:
    execute(
        path, "create table t (id integer primary key, at timestamp)", "insert into t values (1, '2026-03-01 21:00:00')"
    )
    clock = Clock(NOON + timedelta(minutes=1))
    follower = Follower(source_at(path, clock, timezone="Asia/Tokyo"), timed())
    follower.step()
    assert (follower.seen, clock.slept) == ([1], 0)
    with pytest.raises(SourceError, match="Middle/Earth"):
        Follower(source_at(path, clock, timezone="Middle/Earth"), timed()).step()


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        (datetime(2026, 11, 1, 4, 30), datetime(2026, 11, 1, 0, 30)),
        (datetime(2026, 11, 1, 5, 30), datetime(2026, 11, 1, 1, 0)),
        (datetime(2026, 11, 1, 6, 30), datetime(2026, 11, 1, 1, 30)),
        (datetime(2026, 3, 8, 7, 0, 1), datetime(2026, 3, 8, 3, 0, 1)),
    ],
)
def test_an_hour_that_comes_twice_is_safe_when_it_is_over(instant: datetime, expected: datetime) -> None:
    assert local_mark(instant.replace(tzinfo=UTC), ZoneInfo("America/New_York")) == expected


def test_the_rows_of_a_day_are_read_when_it_is_over(path: Path) -> None:
    execute(
        path,
        "create table t (id integer primary key, at date)",
        "insert into t values (1, '2026-02-28'), (2, '2026-03-01')",
    )
    clock = Clock(NOON)
    follower = Follower(source_at(path, clock), timed())
    follower.step()
    assert (follower.seen, clock.slept) == ([1], 0)
    clock.now += timedelta(days=1)
    follower.step()
    assert follower.seen == [1, 2]


@pytest.mark.parametrize(
    ("declared", "stored", "after"),
    [
        ("text", ["a", "B", "é"], "é\x01"),
        ("blob", [b"\x00", b"\xff"], "ff00"),
        ("int", [5, -3], "6"),
        ("text collate nocase", ["a", "B"], "a\x01"),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_other_types_go_to_right_after_the_greatest_value(
    path: Path, declared: str, stored: list[Any], after: str, indexed: bool
) -> None:
    execute(path, f"create table t (id integer primary key, at {declared})", *[("insert into t (at) values (?)", [value]) for value in stored],
            *(["create index i on t (at)"] if indexed else []))  # fmt: skip
    with opened(path) as source:
        follower = Follower(source, timed())
        frontier = follower.step()
        assert frontier.high is not None
        assert frontier.high.text == after
        follower.step()
    assert sorted(follower.seen) == list(range(1, len(stored) + 1))


@pytest.mark.parametrize(
    ("declared", "stored", "named"),
    [
        ("timestamp", ["2026-01-01", 1767225600], "1767225600"),
        ("integer", [1, "x"], "'x'"),
        ("timestamp", ["2026-01-01", b"\x00"], "b'\\\\x00'"),
        ("text", ["a", b"b"], "b'b'"),
    ],
)
def test_a_cursor_of_mixed_storage_has_no_order(path: Path, declared: str, stored: list[Any], named: str) -> None:
    execute(
        path,
        f"create table t (id integer primary key, at {declared})",
        *[("insert into t (at) values (?)", [value]) for value in stored],
    )
    with opened(path) as source, pytest.raises(SourceError, match=named):
        Follower(source, timed()).step()


@pytest.mark.parametrize("value", ["yesterday", "99/99/2026", "2026-13-01"])
def test_a_greatest_value_that_is_no_moment_is_named(path: Path, value: str) -> None:
    execute(
        path,
        "create table t (id integer primary key, at timestamp)",
        ("insert into t values (1, '2026-01-01'), (2, ?)", [value]),
    )
    with opened(path) as source, pytest.raises(SourceError, match="greatest 'at' in t is"):
        Follower(source, timed()).step()


@pytest.mark.parametrize("declared", ["real", "decimal(10,2)", "boolean"])
def test_a_cursor_without_exact_order_is_refused(path: Path, declared: str) -> None:
    execute(path, f"create table t (id integer primary key, at {declared})")
    with opened(path) as source, pytest.raises(SourceError, match="the cursor 'at' is"):
        source.shape(timed())


FORMS: list[Callable[[datetime], str]] = [
    lambda moment: moment.isoformat(" "),
    lambda moment: moment.isoformat("T"),
    lambda moment: (
        moment.isoformat(" ", timespec="milliseconds") if not moment.microsecond % 1000 else moment.isoformat(" ")
    ),
    lambda moment: (
        moment.isoformat(" ", timespec="minutes")
        if not (moment.second or moment.microsecond)
        else moment.isoformat("T")
    ),
    lambda moment: (
        moment.date().isoformat()
        if moment == datetime.combine(moment.date(), datetime.min.time())
        else moment.isoformat("T")
    ),
]
ZONED: list[Callable[[datetime], str]] = [
    *FORMS,
    lambda moment: moment.isoformat() + "Z",
    lambda moment: moment.replace(tzinfo=UTC).astimezone(ZoneInfo("Asia/Kathmandu")).isoformat(" "),
    lambda moment: moment.replace(tzinfo=UTC).astimezone(ZoneInfo("America/New_York")).isoformat("T"),
]
MOMENTS = st.one_of(
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 4)),
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 4)).map(lambda moment: moment.replace(microsecond=0)),
    st.dates(date(2026, 1, 1), date(2026, 1, 4)).map(lambda day: datetime.combine(day, datetime.min.time())),
)


@pytest.mark.parametrize(("declared", "forms"), [("timestamp", FORMS), ("timestamptz", ZONED)])
@pytest.mark.parametrize("indexed", [True, False])
def test_windows_over_moments_are_right_in_every_form_of_text(
    path: Path, declared: str, forms: list[Callable[[datetime], str]], indexed: bool
) -> None:
    """'… 08:00', '…T08:00:00' and '… 08:00:00.000' are one moment, and no text says so."""
    kind = BookmarkType(declared)

    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(MOMENTS, st.integers(0, len(forms) - 1)), max_size=12), MOMENTS, MOMENTS)
    def right(rows: list[tuple[datetime, int]], one: datetime, other: datetime) -> None:
        execute(path, "drop table if exists t", f"create table t (id integer primary key, at {declared})",
                *(["create index i on t (at)"] if indexed else []),
                *[("insert into t (at) values (?)", [forms[form](moment)]) for moment, form in rows])  # fmt: skip
        moments = [moment if declared == "timestamp" else moment.replace(tzinfo=UTC) for moment, _ in rows]
        ends = [moment if declared == "timestamp" else moment.replace(tzinfo=UTC) for moment in sorted((one, other))]
        window = Window(Bookmark.of(kind, ends[0]), Bookmark.of(kind, ends[1]))
        with opened(path) as source:
            shape = source.shape(timed())
            got = sorted(row["id"] for row in read_all(source, timed(), window, shape))
            newest = source.frontier(timed(), shape, None).newest
        assert got == [number for number, moment in enumerate(moments, 1) if ends[0] <= moment < ends[1]]
        assert newest == (Bookmark.of(kind, max(moments)) if moments else None)

    right()
