"""Checkpoints: the write-ahead log of every pipeline, and the state that follows from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft
from seamark.model.state import HistoryEntry, Lease, State, StreamState, TableOutcome
from seamark.state import conditions, identity, prepared
from seamark.state.bookmarks import (
    move_bookmarks,
    read_pipeline,
    read_state,
    read_streams,
    write_history,
    write_streams,
)
from seamark.state.database import Database
from seamark.state.journal import write_note
from seamark.state.outcome import bookmarks_that_move, epoch_after, require_every_outcome, streams_after
from seamark.state.turn import Turn, require_lease, turn


class SqlCheckpoints:
    """`state.store.Checkpoints` in a SQL database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def state(self, pipeline: str) -> State:
        with self._db.reading() as connection:
            return read_state(connection, pipeline)

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
            changes = bookmarks_that_move(ready.draft, outcomes)
            new_streams = _write_streams(ours, outcomes, facts, changes)
            version = ours.row["version"] + 1
            moved = move_bookmarks(ours.connection, ready, changes, version, ours.now)
            write_history(ours.connection, lease.pipeline, _entries(ready, moved, outcomes, version, ours))
            prepared.mark_committed(ours.connection, ours.row, any(o.has_rows for o in outcomes), ours.now)
            ours.advance(
                version=version,
                epoch=epoch_after(ours.row["epoch"], ready.draft),
                prepared=None,
                streams=ours.row["streams"] + new_streams,
                bookmarks=ours.row["bookmarks"] + _growth(moved),
            )
            return read_state(ours.connection, lease.pipeline)

    def adopt(self, lease: Lease, next_seq: int, recorded: dict[str, int], uuid: str) -> State:
        with turn(self._db, lease) as ours:
            conditions.require_nothing_prepared(ours.row["prepared"], lease.pipeline)
            outcomes = [TableOutcome(name, has_rows=False, recorded=number) for name, number in recorded.items()]
            new_streams = _write_streams(ours, outcomes, (), ())
            ours.advance(
                uuid=uuid,
                version=ours.row["version"] + 1,
                next_seq=max(next_seq, ours.row["next_seq"]),
                adopted_by=lease.incarnation,
                streams=ours.row["streams"] + new_streams,
            )
            return read_state(ours.connection, lease.pipeline)

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
            write_note(connection, now, "", "begin incarnation", lease.pipeline, reason, old, new)


def _write_streams(
    ours: Turn,
    outcomes: Sequence[TableOutcome],
    facts: Sequence[StreamState],
    changes: Sequence[BookmarkChange],
) -> int:
    moved = {change.stream for change in changes}
    names = moved | {outcome.stream for outcome in outcomes} | {fact.name for fact in facts}
    pipeline = ours.row["pipeline"]
    known = read_streams(ours.connection, pipeline, names)
    return write_streams(ours.connection, pipeline, known, streams_after(known, outcomes, facts, moved, ours.now))


def _entries(
    checkpoint: Checkpoint,
    moved: Sequence[BookmarkChange],
    outcomes: Sequence[TableOutcome],
    version: int,
    ours: Turn,
) -> list[HistoryEntry]:
    rows = {outcome.stream: outcome.rows for outcome in outcomes}
    return [
        HistoryEntry(
            version=version,
            seq=checkpoint.seq,
            stream=change.stream,
            partition=change.partition,
            before=change.before,
            after=change.after,
            rows=rows.get(change.stream, 0),
            run_id=checkpoint.run_id,
            actor=checkpoint.draft.actor,
            reason=checkpoint.draft.reason,
            at=ours.now,
        )
        for change in moved
    ]


def _growth(moved: Sequence[BookmarkChange]) -> int:
    return sum((change.before is None) - (change.after is None) for change in moved)
