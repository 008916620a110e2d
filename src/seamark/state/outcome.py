"""What committing a checkpoint changes, decided from plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from seamark.errors import StateError
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft
from seamark.model.state import StreamState, TableOutcome


def bookmarks_that_move(draft: Draft, outcomes: Sequence[TableOutcome]) -> tuple[BookmarkChange, ...]:
    """The bookmarks of streams whose table has the rows. A bookmark with no table of its own (a global one), and every
    bookmark of a checkpoint that is all or nothing, moves when all tables have them."""
    has_rows = {outcome.stream: outcome.has_rows for outcome in outcomes}
    everywhere = all(has_rows.values())
    if draft.whole:
        return draft.bookmarks if everywhere else ()
    return tuple(change for change in draft.bookmarks if has_rows.get(change.stream, everywhere))


def require_every_outcome(checkpoint: Checkpoint, outcomes: Sequence[TableOutcome]) -> None:
    """A table whose outcome nobody looked up might hold rows that the state would then deny."""
    missing = {table.stream for table in checkpoint.draft.tables} - {outcome.stream for outcome in outcomes}
    if missing:
        raise StateError(
            f"pipeline {checkpoint.pipeline!r}: checkpoint {checkpoint.seq} can't be committed without knowing what "
            f"the tables of {', '.join(sorted(missing))} hold",
            "Nothing was changed. Run the pipeline again: recovery looks at every table.",
        )


def epoch_after(epoch: int, draft: Draft) -> int:
    """A load adds to history; everything else (reset, rewind, edit) rewrites it."""
    return epoch if draft.kind == "load" else epoch + 1


def streams_after(
    before: Mapping[str, StreamState],
    outcomes: Iterable[TableOutcome],
    facts: Iterable[StreamState],
    moved: Iterable[str],
    now: datetime,
) -> list[StreamState]:
    """The streams' rows after the commit: what each table recorded, the rows moved so far, and the facts for people."""
    after = {name: before.get(name, StreamState(name)) for name in moved}
    for fact in facts:
        known = after.get(fact.name) or before.get(fact.name, StreamState(fact.name))
        after[fact.name] = dataclasses.replace(known, cursor=fact.cursor, mode=fact.mode)
    for outcome in outcomes:
        known = after.get(outcome.stream) or before.get(outcome.stream, StreamState(outcome.stream))
        if outcome.has_rows:
            known = dataclasses.replace(known, rows_total=known.rows_total + outcome.rows, last_sync=now)
        after[outcome.stream] = dataclasses.replace(known, recorded=outcome.recorded)
    return list(after.values())
