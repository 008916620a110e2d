"""What the suite's tests start from: stores, holders, drafts and outcomes."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Literal, Protocol

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft, StagedFile, TableChange, Write
from seamark.model.schema import Column, DataType, Schema
from seamark.model.state import Holder, Lease, State, StreamState, TableOutcome
from seamark.state.process import this_process
from seamark.state.store import StateStore

PIPELINE = "shop"
LONG = timedelta(minutes=10)
OVER = timedelta(0)
"""A lease for this long has expired as soon as it was taken."""

Row = Literal["pipeline", "stream", "bookmark", "checkpoint", "history"]


class StateStoreFactory(Protocol):
    """What a provider gives the suite: the store of one test, and ways to harm it."""

    def __call__(self) -> StateStore:
        """Open the test's store, over a connection of its own; every call of one test opens the same one."""

    def damage(self, row: Row, pipeline: str) -> None:
        """Change a value in every such row of the pipeline, going around the store."""

    def lose(self, row: Row, pipeline: str) -> None:
        """Delete every such row of the pipeline, going around the store."""


def elsewhere(name: str = "anna") -> Holder:
    """A holder that can't be looked at from here."""
    return Holder(name, "another-host.example", 4711, "1")


def gone() -> Holder:
    """A process of this host that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return Holder("gone", socket.gethostname(), process.pid, "1")


def someone_with_our_pid() -> Holder:
    """An ended process of this host whose pid has been given to another one: ours."""
    ours = this_process()
    return Holder("earlier", ours.host, ours.pid, "1")


def number(value: int) -> Bookmark:
    return Bookmark.of("integer", value)


def load(stream: str = "orders", to: int = 1, partition: str = "{}", **changes: Any) -> Draft:
    """A checkpoint that moves `stream`'s bookmark to `to`."""
    change = BookmarkChange(stream, None, number(to), partition)
    return Draft(tables=(table(stream),), bookmarks=(change,), **changes)


def table(stream: str) -> TableChange:
    columns = (
        Column("id", DataType.parse("int64"), nullable=False),
        Column("price", DataType.parse("decimal(12,2)"), comment="without tax"),
    )
    files = (
        StagedFile(
            f"staged/1/{stream}-0.parquet", 7, 700, "d0", (("day", "2026-01-31"), ("area", None)), '{"n":1}', "7"
        ),
        StagedFile(f"staged/1/{stream}-1.parquet", 3, 300, "d1"),
    )
    return TableChange(stream, f"lake/{stream}", Write.MERGE, files, Schema(columns), ("id",), ("day", "area"))


def took(checkpoint: Checkpoint, rows: int = 10) -> list[TableOutcome]:
    """Every table has the rows."""
    return [TableOutcome(t.stream, True, checkpoint.number, rows) for t in checkpoint.draft.tables]


def entombed(checkpoint: Checkpoint) -> list[TableOutcome]:
    """No table has them, nor ever will."""
    return [TableOutcome(t.stream, False, checkpoint.tombstone) for t in checkpoint.draft.tables]


def take(store: StateStore, holder: Holder | None = None, ttl: timedelta = LONG, pipeline: str = PIPELINE) -> Lease:
    return store.leases.acquire(pipeline, holder or elsewhere(), ttl)


def prepare(store: StateStore, lease: Lease, draft: Draft | None = None, run_id: str = "run-1") -> Checkpoint:
    version = store.checkpoints.state(lease.pipeline).version
    return store.checkpoints.prepare(lease, version, load() if draft is None else draft, run_id)


def move(store: StateStore, lease: Lease, draft: Draft | None = None, run_id: str = "run-1") -> State:
    """Prepare and commit, with every table taking the rows."""
    checkpoint = prepare(store, lease, draft, run_id)
    facts = [StreamState(t.stream, cursor="id", mode="merge") for t in checkpoint.draft.tables]
    return store.checkpoints.commit(lease, checkpoint, took(checkpoint), facts)


def values(state: State) -> dict[tuple[str, str], Bookmark]:
    """Every bookmark of a state by stream and partition."""
    return {(s.name, b.partition): b.bookmark for s in state.streams.values() for b in s.bookmarks}


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run the calls in threads that start together; what each returned or raised, in their order."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(index: int, call: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[index] = call()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            results[index] = error

    threads = [threading.Thread(target=run, args=(i, call)) for i, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
