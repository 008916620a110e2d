"""A small world for interleavings: two append streams from a real SQLite file into real Delta tables, a real state store,
and workers that a test moves step by step. No JVM is started: the driver stages what it reads."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from seamark import crash
from seamark.config.project import SparkOptions
from seamark.destinations.delta import connector as delta
from seamark.engine.engine import Engine
from seamark.errors import AdoptionRequired, SeamarkError, StateError
from seamark.model.checkpoint import TableChange, Write
from seamark.model.run import RunResult
from seamark.model.state import Holder, State
from seamark.model.stream import Cursor, Mode, Stream
from seamark.sources.sqlite import connector as sqlite
from seamark.state.sqlite import SqliteOptions, open_sqlite
from seamark.sync.context import Context
from seamark.sync.execute import run
from tests.sync.actors import Actor, Gated, GatedStore, gate_here

PIPELINE = "play"
TABLES = ("left", "right")
TTL = timedelta(hours=1)
Outcome = tuple[RunResult, SeamarkError | None]


def make_steps_of_crash_points(patch: pytest.MonkeyPatch) -> None:
    """Every named crash point becomes a step of the actor that reaches it."""
    for name in ("seamark.destinations.delta.publish", "seamark.engine.task"):
        import_module(name)
    for name, module in list(sys.modules.items()):
        if name.startswith("seamark.") and getattr(module, "reach", None) is crash.reach and module is not crash:
            patch.setattr(module, "reach", lambda point: gate_here(f"reach.{point}"))


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.head = 0
        self.runs = 0
        self.late = timedelta()
        self.engine = Engine(SparkOptions(), folder / ".seamark")
        self.source_file = folder / "shop.db"
        with sqlite3.connect(self.source_file) as db:
            db.execute("pragma journal_mode = wal")
            for table in TABLES:
                db.execute(f"create table {table} (id integer primary key)")
        self.open_store()
        self.destination = delta.open(delta.options(path="lake"), folder)
        self.streams = tuple(Stream(name, name, Mode.APPEND, cursor=Cursor("id")) for name in TABLES)

    def open_store(self) -> None:
        self.store = open_sqlite(SqliteOptions(path="state.db", fsync=False), self.folder, self.now)

    def close(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.late

    def insert(self, rows: int) -> None:
        with sqlite3.connect(self.source_file) as db:
            for number in range(self.head + 1, self.head + rows + 1):
                for table in TABLES:
                    db.execute(f"insert into {table} values (?)", (number,))
        self.head += rows

    def begin(self, actor: Actor, full_refresh: bool = False, streams: tuple[Stream, ...] | None = None) -> None:
        """Start a run that the test moves step by step."""
        context = self.context(actor.name, full_refresh, streams, gated=True)
        actor.start(self._work(context))

    def run_alone(self, full_refresh: bool = False, streams: tuple[Stream, ...] | None = None) -> Outcome:
        """A run from beginning to end that nobody interrupts, by a worker that comes after everybody else's lease."""
        self.expire_leases()
        return self._work(self.context("alone", full_refresh, streams, gated=False))()

    def expire_leases(self) -> None:
        self.late += TTL + timedelta(seconds=1)

    def context(
        self, who: str, full_refresh: bool, streams: tuple[Stream, ...] | None = None, gated: bool = False
    ) -> Context:
        source: Any = sqlite.open(sqlite.options(path=str(self.source_file)), self.folder)
        destination: Any = self.destination
        store: Any = self.store
        if gated:
            source, destination = Gated(source, "source"), Gated(destination, "destination")
            store = GatedStore(store)
        return Context(
            pipeline=PIPELINE,
            streams=self.streams if streams is None else streams,
            source=source,
            destination=destination,
            store=store,
            engine=self.engine,
            # Of another host: leases end by expiry only, which is in the test's hand.
            holder=Holder(who, f"host-{who}", 1),
            full_refresh=full_refresh,
            skip_below=1_000_000,
            lease_ttl=TTL,
            clock=self.now,
        )

    def _work(self, context: Context) -> Callable[[], Outcome]:
        self.runs += 1
        run_id = f"run-{self.runs}"
        return lambda: run(context, run_id)

    def state(self) -> State:
        return self.store.checkpoints.state(PIPELINE)

    def back_up(self) -> Path:
        copy = self.folder / "state.backup"
        copy.unlink(missing_ok=True)
        _copy_database(self.folder / "state.db", copy)
        return copy

    def put_back(self, copy: Path) -> None:
        _copy_database(copy, self.folder / "state.db")

    def table(self, name: str) -> Path:
        return self.folder / "lake" / name

    def staged_and_unused(self) -> list[Path]:
        """Staged files that no table refers to now."""
        used = {path for name in TABLES for path in self._referred(name)}
        return sorted(path for path in self.folder.glob("lake/*/staged/**/*.parquet") if path not in used)

    def counts(self, name: str) -> Counter[int]:
        """How often each row is in the table; an AssertionError when the table refers to a file that is gone."""
        import pyarrow.parquet as pq

        found: Counter[int] = Counter()
        for path in self._referred(name):
            assert path.exists(), f"table {name} refers to a deleted file: {path.name}"
            found.update(pq.read_table(path, columns=["id"], partitioning=None)["id"].to_pylist())
        return found

    def _referred(self, name: str) -> list[Path]:
        from deltalake import DeltaTable

        if not (self.table(name) / "_delta_log").exists():
            return []
        return [Path(uri) for uri in DeltaTable(str(self.table(name))).file_uris()]

    def wrong(self) -> str:
        """What data and state disagree on, "" when they agree. Only a prepared checkpoint may explain a difference."""
        state, prepared = self.state(), self.store.checkpoints.prepared(PIPELINE)
        changes = {change.stream: change for change in prepared.draft.tables} if prepared else {}
        for name in TABLES:
            bookmark = state.stream(name).bookmark()
            reached = bookmark.value if bookmark else 0
            counts = self.counts(name)
            for row in range(1, self.head + 1):
                allowed = self._allowed(row, reached, changes.get(name), prepared)
                if counts[row] not in allowed:
                    return f"{name} has row {row} {counts[row]} times, the state (up to {reached}) allows {allowed}"
        return ""

    def _allowed(self, row: int, reached: int, change: TableChange | None, prepared: Any) -> tuple[int, ...]:
        if change is not None and change.write is Write.REPLACE:
            return (0, 1)
        for move in prepared.draft.bookmarks if change is not None else ():
            low = move.before.value if move.before else 0
            if move.stream == change.stream and low <= row < move.after.value:
                return (0, 1)
        return (int(row < reached),)

    def settle(self) -> str:
        """From here one worker runs alone to the end: "" when every row is there once, else what is wrong."""
        outcome: Outcome | None = None
        for _ in range(4):
            outcome = self.run_alone()
            if outcome[1] is None:
                break
            if isinstance(outcome[1], AdoptionRequired):
                outcome = self.run_alone(full_refresh=True)
            elif not isinstance(outcome[1], StateError):
                return f"the last run failed: {outcome[1]!r}"
        assert outcome is not None
        if outcome[1] is not None:
            return f"the last run failed: {outcome[1]!r}"
        for name in TABLES:
            if self.counts(name) != Counter(range(1, self.head + 1)):
                return f"{name} holds {sorted(self.counts(name).elements())}, the source 1 to {self.head}"
        return self.wrong()

    def history_replays(self) -> bool:
        """Whether the history's changes, one after the other, give the bookmarks of now."""
        bookmarks: dict[tuple[str, str], str] = {}
        for entry in reversed(self.store.journal.history(PIPELINE, limit=100_000)):
            key = (entry.stream, entry.partition)
            if entry.after is None:
                bookmarks.pop(key, None)
            else:
                bookmarks[key] = entry.after.text
        now = {(s.name, b.partition): b.bookmark.text for s in self.state().streams.values() for b in s.bookmarks}
        return bookmarks == now


def _copy_database(origin: Path, copy: Path) -> None:
    """SQLite's own backup: whole, whoever has it open."""
    with sqlite3.connect(origin) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
