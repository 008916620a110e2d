"""The SQLite store: its file, its locks and its bad days."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from seamark.errors import LeaseHeld, StateCorruptionError, StateError, StateUnavailable
from seamark.state.sqlite import MEMORY, SqliteOptions, connect, connector, open_sqlite
from seamark.testing.state_store.given import PIPELINE, at_once, elsewhere, load, move, number, prepare, take, took
from tests.servers import wait_until
from tests.state.stores import SqliteFactory


@pytest.fixture
def factory(tmp_path: Path) -> Iterator[SqliteFactory]:
    factory = SqliteFactory(tmp_path / "state.db", busy_timeout=0.2)
    yield factory
    factory.close()


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_the_default_is_a_file_under_the_projects_root(tmp_path: Path) -> None:
    store = connector.open(SqliteOptions(), tmp_path)
    assert store.location == str(tmp_path / ".seamark" / "state.db")
    assert (tmp_path / ".seamark" / "state.db").exists()
    assert pragma(tmp_path / ".seamark" / "state.db", "journal_mode") == "wal"
    store.close()


@pytest.mark.parametrize(("fsync", "level"), [(True, 2), (False, 0)])
def test_commits_wait_for_the_disk_unless_told_not_to(tmp_path: Path, fsync: bool, level: int) -> None:
    store = open_sqlite(SqliteOptions(path=str(tmp_path / "s.db"), fsync=fsync), tmp_path)
    with store.checkpoints._db.writing() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    store.close()


def test_a_store_in_memory_serves_many_threads(tmp_path: Path) -> None:
    store = open_sqlite(SqliteOptions(path=MEMORY), tmp_path)
    lease = take(store)

    def read() -> int:
        return max(store.checkpoints.state(PIPELINE).version for _ in range(20))

    def write() -> int:
        return [move(store, lease, load(to=i)).version for i in range(20)][-1]

    results = at_once([write, read, read])
    assert results[0] == 20
    assert all(isinstance(result, int) for result in results), results
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_the_clock_decides_when_a_lease_expires(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 31, tzinfo=UTC)]
    factory = SqliteFactory(tmp_path / "state.db", clock=lambda: now[0])
    store = factory()
    lease = take(store, elsewhere("anna"), timedelta(seconds=30))
    assert lease.expires_at == now[0] + timedelta(seconds=30)
    now[0] += timedelta(seconds=29.999999)
    with pytest.raises(LeaseHeld):
        take(store, elsewhere("ben"))
    now[0] += timedelta(microseconds=1)
    take(store, elsewhere("ben"))
    factory.close()


def test_a_store_locked_by_another_process_is_unavailable_and_loses_nothing(factory: SqliteFactory) -> None:
    store = factory()
    lease = take(store)
    checkpoint = prepare(store, lease)
    before = store.checkpoints.state(PIPELINE)
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(factory.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as locker:
        assert locker.stdout is not None
        assert locker.stdin is not None
        assert locker.stdout.readline() == "locked\n"
        for write in (
            lambda: store.checkpoints.commit(lease, checkpoint, took(checkpoint), []),
            lambda: store.leases.renew(lease, timedelta(seconds=30)),
            lambda: take(store, elsewhere("ben"), pipeline="other"),
        ):
            with pytest.raises(StateUnavailable, match=r"locked by another process for 0\.2 s") as refused:
                write()
            assert str(factory.path) in refused.value.message
            assert "fuser" in refused.value.hint
        assert store.checkpoints.state(PIPELINE) == before, "readers need no lock"
        locker.stdin.close()
    assert store.checkpoints.prepared(PIPELINE) == checkpoint
    after = store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
    assert after.stream("orders").bookmark() == number(1)


def test_who_is_second_to_open_a_new_file_waits_for_the_first(tmp_path: Path) -> None:
    """The switch to a write-ahead log does not wait its busy timeout: SQLite refuses it at once, so we have to."""
    path = str(tmp_path / "state.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as first:
        first.execute("BEGIN IMMEDIATE")
        opened: list[sqlite3.Connection] = []
        second = threading.Thread(target=lambda: opened.append(connect(path, busy_timeout=30, fsync=False)))
        second.start()
        second.join(0.2)
        assert second.is_alive()
        first.execute("COMMIT")
        second.join()
    assert opened[0].execute("PRAGMA journal_mode").fetchone() == ("wal",)
    opened[0].close()


def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    factory = SqliteFactory(tmp_path / "state.db", busy_timeout=30)
    store = factory()
    with closing(sqlite3.connect(factory.path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=take, args=(store,))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        other.execute("COMMIT")
        wait_until(lambda: not waiting.is_alive(), "the writer goes on")
    assert store.leases.current(PIPELINE) is not None
    factory.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_text("pipeline: shop\n" * 500)
    with pytest.raises(StateError, match="no SQLite database") as refused:
        SqliteFactory(path)()
    assert str(path) in refused.value.message
    assert refused.value.hint
    assert path.read_text().startswith("pipeline: shop")


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id)")
    with pytest.raises(StateError, match=r"no Seamark state store.*runs"):
        SqliteFactory(path)()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]


def test_a_truncated_file_is_damage(factory: SqliteFactory) -> None:
    store = factory()
    lease = take(store)
    for i in range(20):
        move(store, lease, load(to=i))
    factory.close()
    assert not factory.path.with_name("state.db-wal").exists()
    content = factory.path.read_bytes()
    factory.path.write_bytes(content[: len(content) // 3 // 4096 * 4096])
    with pytest.raises(StateCorruptionError, match="damaged") as reported:
        factory().checkpoints.state(PIPELINE)
    assert str(factory.path) in reported.value.message
    assert "backup" in reported.value.hint


def test_a_folder_that_can_not_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".seamark").write_text("in the way")
    with pytest.raises(StateUnavailable, match=r"\.seamark can't be made") as refused:
        connector.open(SqliteOptions(), tmp_path)
    assert "state_store.path" in refused.value.hint


def test_a_folder_in_the_files_place_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StateUnavailable, match="can't be opened for writing"):
        SqliteFactory(tmp_path)()


def test_a_file_that_may_not_be_written_is_reported(factory: SqliteFactory) -> None:
    store = factory()
    event.listen(store.leases._db.engine, "connect", lambda c, _: c.execute("PRAGMA query_only = ON"))  # type: ignore[attr-defined]
    _reconnect(store.leases._db.engine.pool)  # type: ignore[attr-defined]
    with pytest.raises(StateUnavailable, match="can't be opened for writing"):
        take(store)


def test_a_full_disk_is_reported_and_loses_nothing(factory: SqliteFactory) -> None:
    store = factory()
    lease = take(store)
    before = move(store, lease)
    engine = store.leases._db.engine  # type: ignore[attr-defined]
    event.listen(engine, "connect", lambda c, _: c.execute("PRAGMA max_page_count = 1"))
    _reconnect(engine.pool)
    with pytest.raises(StateUnavailable, match=r"disk of the state store .* is full"):
        prepare(store, lease, load(to=2, reason="x" * 1_000_000))
    assert factory().checkpoints.state(PIPELINE) == before


def _reconnect(pool: Pool) -> None:
    """The pool's connections are made anew, so that what listens to `connect` is told of them."""
    pool.dispose()
