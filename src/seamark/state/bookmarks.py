"""Streams', bookmarks' and history's rows: all of them read for a state, only what changes written for a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Table, bindparam, delete, insert, select

from seamark.model.checkpoint import BookmarkChange, Checkpoint
from seamark.model.state import HistoryEntry, State, StreamState
from seamark.state import identity
from seamark.state.checksum import Values, corrupt, sealed, verified
from seamark.state.database import put
from seamark.state.rows import bookmark_row, history_row, state_of, stored_bookmark_of, stream_of, stream_row
from seamark.state.tables import bookmarks, history, pipelines, streams


def read_pipeline(connection: Connection, pipeline: str) -> Values | None:
    row = connection.execute(select(pipelines).where(pipelines.c.pipeline == pipeline)).mappings().first()
    return None if row is None else verified(pipelines, row)


def read_state(connection: Connection, pipeline: str) -> State:
    current = identity.incarnation(connection)
    row = read_pipeline(connection, pipeline)
    if row is None:
        return State(pipeline, "", current)
    by_stream: dict[str, list[Values]] = {}
    for found in _all(connection, bookmarks, pipeline, row["bookmarks"]):
        by_stream.setdefault(found["stream"], []).append(found)
    known = {
        found["stream"]: stream_of(found, map(stored_bookmark_of, by_stream.get(found["stream"], ())))
        for found in _all(connection, streams, pipeline, row["streams"])
    }
    return state_of(row, current, known)


def write_streams(connection: Connection, before: State, after: Sequence[StreamState]) -> None:
    rows = [sealed(streams, stream_row(before.pipeline, stream)) for stream in after]
    put(connection, streams, rows, {(before.pipeline, name) for name in before.streams})


def write_bookmarks(
    connection: Connection, checkpoint: Checkpoint, moved: Sequence[BookmarkChange], version: int, now: datetime
) -> None:
    """Write what the bookmarks are from `version` on."""
    pipeline = checkpoint.pipeline
    there = {(pipeline, change.stream, change.partition) for change in moved if change.before is not None}
    rows = [bookmark_row(checkpoint, change, version, now) for change in moved if change.after is not None]
    put(connection, bookmarks, [sealed(bookmarks, row) for row in rows], there)
    gone = [{"of_stream": c.stream, "of_partition": c.partition} for c in moved if c.after is None]
    if gone:
        this = (bookmarks.c.pipeline == pipeline, bookmarks.c.stream == bindparam("of_stream"))
        connection.execute(delete(bookmarks).where(*this, bookmarks.c.partition == bindparam("of_partition")), gone)


def write_history(connection: Connection, pipeline: str, entries: Sequence[HistoryEntry]) -> None:
    if entries:
        connection.execute(insert(history), [sealed(history, history_row(pipeline, entry)) for entry in entries])


def _all(connection: Connection, table: Table, pipeline: str, expected: int) -> list[Values]:
    """The pipeline's rows, each as it was written, and none missing."""
    found = connection.execute(select(table).where(table.c.pipeline == pipeline)).mappings()
    rows = [verified(table, row) for row in found]
    if len(rows) != expected:
        corrupt(f"pipeline {pipeline!r} has {len(rows)} rows in {table.name}, {expected} were written")
    return rows
