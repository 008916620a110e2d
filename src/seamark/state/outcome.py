"""What committing a checkpoint changes, decided from plain data."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from seamark.errors import StateError
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft
from seamark.model.state import HistoryEntry, State, StoredBookmark, StreamState, TableOutcome


def require_every_outcome(checkpoint: Checkpoint, outcomes: Sequence[TableOutcome]) -> None:
    """A table whose outcome nobody looked up might hold rows that the state would then deny."""
    missing = {table.stream for table in checkpoint.draft.tables} - {outcome.stream for outcome in outcomes}
    if missing:
        raise StateError(
            f"pipeline {checkpoint.pipeline!r}: checkpoint {checkpoint.seq} can't be committed without knowing what "
            f"the tables of {', '.join(sorted(missing))} hold",
            "Nothing was changed. Run the pipeline again: recovery looks at every table.",
        )


def bookmarks_that_move(before: State, draft: Draft, outcomes: Sequence[TableOutcome]) -> list[BookmarkChange]:
    """The bookmarks that really change, each with what was there before: those of streams whose table has the rows.

    A bookmark with no table of its own (a global one), and every bookmark of a checkpoint that is all or nothing, moves
    when all tables have them.
    """
    has_rows = {outcome.stream: outcome.has_rows for outcome in outcomes}
    everywhere = all(has_rows.values())
    there = {(s.name, b.partition): b.bookmark for s in before.streams.values() for b in s.bookmarks}
    wanted = {
        (change.stream, change.partition): change.after
        for change in draft.bookmarks
        if (everywhere if draft.whole else has_rows.get(change.stream, everywhere))
    }
    return [
        BookmarkChange(stream, there.get((stream, partition)), after, partition)
        for (stream, partition), after in wanted.items()
        if there.get((stream, partition)) != after
    ]


def epoch_after(epoch: int, draft: Draft) -> int:
    """A load adds to history; everything else (reset, rewind, edit) rewrites it."""
    return epoch if draft.kind == "load" else epoch + 1


def streams_after(
    before: State,
    outcomes: Iterable[TableOutcome],
    facts: Iterable[StreamState],
    moved: Iterable[BookmarkChange],
    now: datetime,
) -> list[StreamState]:
    """The streams that this touches: what each table recorded, the rows moved so far, and the facts for people."""
    after = {change.stream: before.stream(change.stream) for change in moved}
    for fact in facts:
        known = after.get(fact.name, before.stream(fact.name))
        after[fact.name] = dataclasses.replace(known, cursor=fact.cursor, mode=fact.mode)
    for outcome in outcomes:
        known = after.get(outcome.stream, before.stream(outcome.stream))
        if outcome.has_rows:
            known = dataclasses.replace(known, rows_total=known.rows_total + outcome.rows, last_sync=now)
        after[outcome.stream] = dataclasses.replace(known, recorded=outcome.recorded)
    return list(after.values())


def with_bookmarks(
    streams: Iterable[StreamState], moved: Iterable[BookmarkChange], version: int, run_id: str, now: datetime
) -> dict[str, StreamState]:
    """These streams with the bookmarks that moved."""
    changes: Mapping[str, list[BookmarkChange]] = _by_stream(moved)
    after: dict[str, StreamState] = {}
    for stream in streams:
        bookmarks = {bookmark.partition: bookmark for bookmark in stream.bookmarks}
        for change in changes.get(stream.name, ()):
            if change.after is None:
                del bookmarks[change.partition]
            else:
                bookmarks[change.partition] = StoredBookmark(change.partition, change.after, now, run_id, version)
        ordered = tuple(bookmarks[partition] for partition in sorted(bookmarks))
        after[stream.name] = dataclasses.replace(stream, bookmarks=ordered)
    return after


def history_of_commit(
    checkpoint: Checkpoint,
    moved: Iterable[BookmarkChange],
    outcomes: Iterable[TableOutcome],
    version: int,
    now: datetime,
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
            at=now,
        )
        for change in moved
    ]


def growth(moved: Iterable[BookmarkChange]) -> int:
    """How many bookmarks there are more than before."""
    return sum((change.before is None) - (change.after is None) for change in moved)


def _by_stream(moved: Iterable[BookmarkChange]) -> dict[str, list[BookmarkChange]]:
    changes = defaultdict(list)
    for change in moved:
        changes[change.stream].append(change)
    return changes
