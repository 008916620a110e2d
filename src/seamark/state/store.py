"""The state store's interface: leases, checkpoints and the journal of one store, behind three small protocols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from seamark.model.checkpoint import Checkpoint, Draft
from seamark.model.state import (
    HistoryEntry,
    Holder,
    Lease,
    PipelineRecord,
    RunRecord,
    State,
    StreamState,
    TableOutcome,
)


class Leases(Protocol):
    """Who may advance a pipeline. Tokens only grow; every call is one transaction."""

    def acquire(self, pipeline: str, holder: Holder, ttl: timedelta) -> Lease:
        """Take the lease with a new, higher token; makes the pipeline's row (with a new uuid) if there is none.

        Raises LeaseHeld, naming host, pid and since when, while another holder's lease has not expired, unless that
        holder is a process of this host that is gone (pid with that start time): then it is taken over at once.
        """

    def renew(self, lease: Lease, ttl: timedelta) -> Lease:
        """Extend; LeaseLost when the token or the incarnation is no longer the current one."""

    def release(self, lease: Lease) -> None:
        """Give it back; does nothing when it was lost already."""

    def current(self, pipeline: str) -> Lease | None:
        """The lease in force, expired or not, None when nobody holds it."""


class Checkpoints(Protocol):
    """The write-ahead log of a pipeline and the state that follows from it."""

    def state(self, pipeline: str) -> State:
        """One consistent version; version 0 and uuid "" for a pipeline that never took a lease. Checksums are verified:
        StateCorruptionError names the row."""

    def prepare(self, lease: Lease, version: int, draft: Draft, run_id: str) -> Checkpoint:
        """Record `draft` as prepared with the next seq, all in one transaction.

        Compare-and-set: LeaseLost when the store's incarnation or the lease's token is not the current one or the
        lease has expired, StateConflict when the state's version is not `version` or another checkpoint is prepared.
        """

    def prepared(self, pipeline: str) -> Checkpoint | None:
        """The one prepared checkpoint, or None."""

    def commit(
        self, lease: Lease, checkpoint: Checkpoint, outcomes: Sequence[TableOutcome], facts: Sequence[StreamState]
    ) -> State:
        """Mark `checkpoint` committed and apply the bookmarks of the streams whose outcome has the rows; one
        transaction.

        The version grows by one, history gets an entry per changed bookmark. `facts` gives cursor and mode of the
        streams, for people. Raises as `prepare` does; StateConflict too when `checkpoint` is no longer the prepared
        one.
        """

    def adopt(self, lease: Lease, next_seq: int, recorded: dict[str, int], uuid: str) -> State:
        """Note that this incarnation has looked at every table: seq goes on from `next_seq` (never lower than it is),
        `recorded` is what each stream's table holds, and the pipeline goes by `uuid` from now on: that of its tables,
        if it has any. Their `last_sync` is None until rows are committed: what a table held before is not this store's.
        The version grows by one. Raises as `prepare` does."""

    def published(self, pipeline: str, candidates: Collection[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """Those of the (token, seq) pairs whose checkpoint is prepared, was committed with rows in some table, or
        became void before anyone looked."""

    def begin_incarnation(self, lease: Lease) -> None:
        """This store turned out to be behind its tables (an old backup put back): it gets a new incarnation id, so
        every lease and prepared checkpoint of before is void, this lease too, and every pipeline must adopt again.
        LeaseLost when the lease is not in force: one who was overtaken rightly sees tables ahead of what it knows."""


class Journal(Protocol):
    """What people look at: runs, history, pipelines, audit."""

    def start_run(self, record: RunRecord) -> None: ...

    def end_run(self, run_id: str, status: str, result: dict[str, Any], error: str) -> None: ...

    def runs(self, pipeline: str, limit: int = 20) -> list[RunRecord]:
        """Newest first."""

    def history(self, pipeline: str, stream: str | None = None, limit: int = 100) -> list[HistoryEntry]:
        """Newest first."""

    def pipelines(self) -> list[PipelineRecord]: ...

    def note(self, actor: str, action: str, pipeline: str, reason: str, before: str, after: str) -> None:
        """Add a line to the audit."""

    def audit(self, pipeline: str, limit: int = 100) -> list[dict[str, Any]]: ...


class StateStore(Protocol):
    """One store, opened. Providers register under the entry points `seamark.state_stores`."""

    leases: Leases
    checkpoints: Checkpoints
    journal: Journal

    @property
    def incarnation(self) -> str: ...

    @property
    def location(self) -> str:
        """Where it is, for people; never holds a password."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class StateStoreConnector:
    """How a kind of state store registers: its options and a function that opens one. `root` is the project's folder.

    Opening brings an older store up to date and makes one that is not there yet. NewerStateStore when a newer Seamark
    wrote it, StateUnavailable when it can't be reached, StateError when something else is in its place.
    """

    kind: str
    summary: str
    options: type[BaseModel]
    open: Callable[[BaseModel, Path], StateStore]
    capabilities: tuple[tuple[str, str], ...] = ()
