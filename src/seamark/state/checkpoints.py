"""Checkpoints: the write-ahead log of every pipeline, and the state that follows from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from seamark.model.checkpoint import Checkpoint, Draft
from seamark.model.state import Lease, State, StreamState, TableOutcome
from seamark.state import conditions, identity, prepared
from seamark.state.bookmarks import read_pipeline, read_state, write_bookmarks, write_history, write_streams
from seamark.state.database import Database
from seamark.state.journal import write_note
from seamark.state.outcome import (
    bookmarks_that_move,
    epoch_after,
    growth,
    history_of_commit,
    require_every_outcome,
    streams_after,
    with_bookmarks,
)
from seamark.state.rows import state_of
from seamark.state.turn import Turn, require_lease, turn


class SqlCheckpoints:
    """`state.store.Checkpoints` in a SQL database."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._last: dict[str, State] = {}
        """Each pipeline's state as last seen here, so that a commit costs what it changes and not what there is."""

    def state(self, pipeline: str) -> State:
        with self._db.reading() as connection:
            state = read_state(connection, pipeline)
        return self._remember(state)

    def prepare(self, lease: Lease, version: int, draft: Draft, run_id: str) -> Checkpoint:
        with turn(self._db, lease) as ours:
            conditions.require_version(ours.row["version"], version, lease.pipeline)
            conditions.require_nothing_prepared(ours.row["prepared"], lease.pipeline)
            seq, uuid = ours.row["next_seq"], ours.row["uuid"]
            checkpoint = Checkpoint(lease.pipeline, uuid, lease.incarnation, lease.token, seq, run_id, draft)
            prepared.write_prepared(ours, checkpoint)
            ours.advance(next_seq=seq + 1, prepared=seq)
            return checkpoint

    def prepared(self, pipeline: str) -> Checkpoint | None:
        with self._db.reading() as connection:
            row = read_pipeline(connection, pipeline)
            return None if row is None or row["prepared"] is None else prepared.read_prepared(connection, row)

    def commit(
        self, lease: Lease, checkpoint: Checkpoint, outcomes: Sequence[TableOutcome], facts: Sequence[StreamState]
    ) -> State:
        with turn(self._db, lease) as ours:
            conditions.require_prepared(ours.row["prepared"], checkpoint)
            ready = prepared.read_prepared(ours.connection, ours.row)
            require_every_outcome(ready, outcomes)
            before = self._as_found(ours)
            version = before.version + 1
            moved = bookmarks_that_move(before, ready.draft, outcomes)
            touched = streams_after(before, outcomes, facts, moved, ours.now)
            write_streams(ours.connection, before, touched)
            write_bookmarks(ours.connection, ready, moved, version, ours.now)
            history = history_of_commit(ready, moved, outcomes, version, ours.now)
            write_history(ours.connection, lease.pipeline, history)
            prepared.mark_committed(ours.connection, ours.row, any(o.has_rows for o in outcomes), ours.now)
            after = before.streams | with_bookmarks(touched, moved, version, ready.run_id, ours.now)
            row = ours.advance(
                version=version,
                epoch=epoch_after(before.epoch, ready.draft),
                prepared=None,
                streams=len(after),
                bookmarks=ours.row["bookmarks"] + growth(moved),
            )
        return self._remember(state_of(row, lease.incarnation, after))

    def adopt(self, lease: Lease, next_seq: int, recorded: dict[str, int], uuid: str) -> State:
        with turn(self._db, lease) as ours:
            conditions.require_nothing_prepared(ours.row["prepared"], lease.pipeline)
            before = self._as_found(ours)
            outcomes = [TableOutcome(name, has_rows=False, recorded=number) for name, number in recorded.items()]
            touched = [replace(s, last_sync=None) for s in streams_after(before, outcomes, (), (), ours.now)]
            write_streams(ours.connection, before, touched)
            after = before.streams | {stream.name: stream for stream in touched}
            row = ours.advance(
                uuid=uuid,
                version=before.version + 1,
                next_seq=max(next_seq, ours.row["next_seq"]),
                adopted_by=lease.incarnation,
                streams=len(after),
            )
        return self._remember(state_of(row, lease.incarnation, after))

    def published(self, pipeline: str, candidates: Collection[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        with self._db.reading() as connection:
            seqs = sorted({seq for _, seq in candidates})
            return frozenset(prepared.published(connection, pipeline, seqs).intersection(candidates))

    def begin_incarnation(self, lease: Lease) -> None:
        with self._db.writing() as connection:
            old, new = identity.begin_incarnation(connection)
            now = self._db.clock(connection)
            require_lease(connection, old, lease, now)
            prepared.void_all_prepared(connection, now)
            reason = "the store is behind the tables of this pipeline"
            write_note(connection, now, lease.holder.id, "begin incarnation", lease.pipeline, reason, old, new)

    def _as_found(self, ours: Turn) -> State:
        """The state that this turn builds on; read again only if someone else has moved it since we last looked."""
        pipeline = ours.row["pipeline"]
        last = self._last.get(pipeline)
        if last is not None and last.version == ours.row["version"]:
            return last
        return read_state(ours.connection, pipeline)

    def _remember(self, state: State) -> State:
        self._last[state.pipeline] = state
        return state
