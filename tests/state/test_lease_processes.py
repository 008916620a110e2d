"""Real processes and one lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seamark.errors import LeaseHeld, LeaseLost
from seamark.state.process import this_process
from seamark.testing.state_store.given import LONG, PIPELINE, prepare, take, took
from tests.servers import wait_until
from tests.state.stores import PostgresFactory, SqliteFactory

Factory = SqliteFactory | PostgresFactory

WORKER = """
import sys
from datetime import timedelta
from pathlib import Path
from seamark.errors import LeaseHeld
from seamark.state.process import this_process
if sys.argv[1] == "sqlite":
    from seamark.state.sqlite import SqliteOptions, open_sqlite
    store = open_sqlite(SqliteOptions(path=sys.argv[2], busy_timeout=30), Path("/"))
else:
    from seamark.state.postgres import PostgresOptions, open_postgres
    store = open_postgres(PostgresOptions(url=sys.argv[2]), Path("/"))
print("ready", flush=True)
for line in sys.stdin:
    try:
        lease = store.leases.acquire(line.strip(), this_process(sys.argv[3]), timedelta(minutes=10))
        print("won", flush=True)
    except LeaseHeld as held:
        print(held.message, flush=True)
"""


class Worker:
    def __init__(self, factory: Factory, name: str) -> None:
        where = ["sqlite", str(factory.path)] if isinstance(factory, SqliteFactory) else ["postgres", factory.url]
        command = [sys.executable, "-c", WORKER, *where, name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.name = name

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def want(self, pipeline: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(pipeline + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(params=["sqlite", "postgres"])
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Factory]:
    if request.param == "sqlite":
        factory: Factory = SqliteFactory(tmp_path / "state.db")
    else:
        factory = PostgresFactory(request.getfixturevalue("postgres_db"))
    yield factory
    factory.close()


@pytest.fixture
def workers(factory: Factory) -> Iterator[list[Worker]]:
    workers = [Worker(factory, f"run-{i}") for i in range(3)]
    assert [worker.hear() for worker in workers] == ["ready"] * 3
    yield workers
    for worker in workers:
        worker.end()


def test_of_processes_that_race_for_a_lease_exactly_one_wins(factory: Factory, workers: list[Worker]) -> None:
    store = factory()
    for turn in range(10):
        for worker in workers:
            worker.want(f"p{turn}")
        said = {worker.name: worker.hear() for worker in workers}
        winners = [name for name, words in said.items() if words == "won"]
        assert len(winners) == 1, said
        lease = store.leases.current(f"p{turn}")
        assert lease is not None
        assert (lease.token, lease.holder.id) == (1, winners[0])
        refused = [words for words in said.values() if words != "won"]
        assert all(
            f"by {winners[0]} on host {lease.holder.host} (pid {lease.holder.pid})" in words for words in refused
        )


def test_a_killed_process_is_taken_over_at_once_and_a_stopped_one_is_not(
    factory: Factory, workers: list[Worker]
) -> None:
    store = factory()
    worker = workers[0]
    worker.want(PIPELINE)
    assert worker.hear() == "won"
    os.kill(worker.process.pid, signal.SIGSTOP)
    with pytest.raises(LeaseHeld, match="run-0"):
        take(store, this_process())
    os.kill(worker.process.pid, signal.SIGKILL)  # and not waited for: its pid is still there

    def taken_over() -> bool:
        try:
            return take(store, this_process()).token == 2
        except LeaseHeld:
            return False

    wait_until(taken_over, "the lease of a killed process is taken over")


def test_a_lease_that_a_process_lost_while_it_slept_is_lost_for_good(factory: Factory, workers: list[Worker]) -> None:
    store = factory()
    lease = take(store, this_process("sleeper"))
    checkpoint = prepare(store, lease)
    store.leases.renew(lease, -LONG)  # as if it had slept past its expiry
    workers[0].want(PIPELINE)
    assert workers[0].hear() == "won"
    for act in (
        lambda: store.leases.renew(lease, LONG),
        lambda: prepare(store, lease),
        lambda: store.checkpoints.commit(lease, checkpoint, took(checkpoint), []),
    ):
        with pytest.raises(LeaseLost):
            act()
    current = store.leases.current(PIPELINE)
    assert current is not None
    assert current.holder.id == "run-0"
