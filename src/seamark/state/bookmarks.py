"""Streams' and bookmarks' rows: all of them read for a state, only what changes written for a checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection, Table, bindparam, delete, insert, select

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Checkpoint
from seamark.model.state import HistoryEntry, State, StreamState
from seamark.state import identity
from seamark.state.checksum import Values, corrupt, sealed, verified
from seamark.state.database import put
from seamark.state.rows import bookmark_of, bookmark_row, history_row, state_of, stream_of, stream_row
from seamark.state.tables import bookmarks, history, pipelines, streams

_AT_ONCE = 500
"""Values of an IN; every database takes that many parameters."""


def read_pipeline(connection: Connection, pipeline: str) -> Values | None:
    row = connection.execute(select(pipelines).where(pipelines.c.pipeline == pipeline)).mappings().first()
    return None if row is None else verified(pipelines, row)


def read_state(connection: Connection, pipeline: str) -> State:
    current = identity.incarnation(connection)
    row = read_pipeline(connection, pipeline)
    if row is None:
        return State(pipeline, "", current)
    stream_rows = _all(connection, streams, pipeline, row["streams"])
    bookmark_rows = _all(connection, bookmarks, pipeline, row["bookmarks"])
    return state_of(row, current, stream_rows, bookmark_rows)


def read_streams(connection: Connection, pipeline: str, names: Collection[str]) -> dict[str, StreamState]:
    """Those of the streams that the store knows, without their bookmarks."""
    found: dict[str, StreamState] = {}
    for some in _chunks(sorted(names)):
        query = select(streams).where(streams.c.pipeline == pipeline, streams.c.stream.in_(some))
        for row in connection.execute(query).mappings():
            found[row["stream"]] = stream_of(verified(streams, row))
    return found


def write_streams(connection: Connection, pipeline: str, known: Collection[str], after: Sequence[StreamState]) -> int:
    """Write the streams' own rows; how many there are more than before."""
    rows = [sealed(streams, stream_row(pipeline, stream)) for stream in after]
    put(connection, streams, rows, {(pipeline, name) for name in known})
    return sum(stream.name not in known for stream in after)


def move_bookmarks(
    connection: Connection, checkpoint: Checkpoint, changes: Sequence[BookmarkChange], version: int, now: datetime
) -> list[BookmarkChange]:
    """Write what the bookmarks are from `version` on; gives those that really changed, with what was there before."""
    there = _read_bookmarks(connection, checkpoint.pipeline, changes)
    wanted = {(change.stream, change.partition): change.after for change in changes}
    moved = [
        BookmarkChange(stream, there.get((stream, partition)), after, partition)
        for (stream, partition), after in wanted.items()
        if there.get((stream, partition)) != after
    ]
    rows = [bookmark_row(checkpoint, change, version, now) for change in moved if change.after is not None]
    put(connection, bookmarks, [sealed(bookmarks, row) for row in rows], {(checkpoint.pipeline, *key) for key in there})
    _remove(connection, checkpoint.pipeline, [change for change in moved if change.after is None])
    return moved


def write_history(connection: Connection, pipeline: str, entries: Sequence[HistoryEntry]) -> None:
    if entries:
        connection.execute(insert(history), [sealed(history, history_row(pipeline, entry)) for entry in entries])


def _all(connection: Connection, table: Table, pipeline: str, expected: int) -> list[Values]:
    """The pipeline's rows in order of their keys, each as it was written, and none missing."""
    query = select(table).where(table.c.pipeline == pipeline).order_by(*table.primary_key)
    rows = [verified(table, row) for row in connection.execute(query).mappings()]
    if len(rows) != expected:
        corrupt(f"pipeline {pipeline!r} has {len(rows)} rows in {table.name}, {expected} were written")
    return rows


def _read_bookmarks(
    connection: Connection, pipeline: str, changes: Sequence[BookmarkChange]
) -> dict[tuple[str, str], Bookmark]:
    by_stream: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        by_stream[change.stream].add(change.partition)
    found: dict[tuple[str, str], Bookmark] = {}
    for stream, partitions in by_stream.items():
        this = (bookmarks.c.pipeline == pipeline, bookmarks.c.stream == stream)
        for some in _chunks(sorted(partitions)):
            query = select(bookmarks).where(*this, bookmarks.c.partition.in_(some))
            for row in connection.execute(query).mappings():
                found[stream, row["partition"]] = bookmark_of(verified(bookmarks, row))
    return found


def _remove(connection: Connection, pipeline: str, changes: Sequence[BookmarkChange]) -> None:
    if changes:
        this = (bookmarks.c.pipeline == pipeline, bookmarks.c.stream == bindparam("of_stream"))
        query = delete(bookmarks).where(*this, bookmarks.c.partition == bindparam("of_partition"))
        connection.execute(query, [{"of_stream": c.stream, "of_partition": c.partition} for c in changes])


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
