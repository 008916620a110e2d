"""State: all bookmarks of a pipeline at one version, and the records around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from seamark.model.bookmark import Bookmark
from seamark.model.canonical import PRINTERS

NO_PARTITION = "{}"


def partition_text(context: dict[str, Any]) -> str:
    """A partition's canonical text: JSON with sorted keys. ValueError for what JSON can't say."""
    return PRINTERS["json"](context)


@dataclass(frozen=True)
class StoredBookmark:
    partition: str
    bookmark: Bookmark
    updated_at: datetime
    run_id: str
    version: int


@dataclass(frozen=True)
class StreamState:
    name: str
    cursor: str = ""
    """The cursor's field, for people."""
    mode: str = ""
    rows_total: int = 0
    last_sync: datetime | None = None
    """When rows were last committed; None while this store has yet to put any into the table."""
    recorded: int = -1
    """The number that this store last saw committed in the stream's table; -1: none yet."""
    bookmarks: tuple[StoredBookmark, ...] = ()

    def bookmark(self, partition: str = NO_PARTITION) -> Bookmark | None:
        return next((b.bookmark for b in self.bookmarks if b.partition == partition), None)


@dataclass(frozen=True)
class State:
    """One version of a pipeline's state. A pipeline that never ran has version 0 and no streams."""

    pipeline: str
    uuid: str
    incarnation: str
    version: int = 0
    epoch: int = 1
    next_seq: int = 1
    adopted: bool = False
    """Whether this incarnation of the store has looked at the tables yet (see `sync.adopt`)."""
    streams: dict[str, StreamState] = field(default_factory=dict)

    def stream(self, name: str) -> StreamState:
        return self.streams.get(name, StreamState(name))


@dataclass(frozen=True)
class Holder:
    """Who holds, or wants, a lease. `started` is the process's own start time, so that a reused pid is not mistaken
    for it."""

    id: str
    host: str
    pid: int
    started: str = ""


@dataclass(frozen=True)
class Lease:
    """The exclusive right to advance a pipeline; `token` only grows."""

    pipeline: str
    incarnation: str
    token: int
    holder: Holder
    acquired_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class TableOutcome:
    """What resolving a checkpoint left in one stream's table."""

    stream: str
    has_rows: bool
    recorded: int
    rows: int = 0
    table_version: int | None = None


@dataclass(frozen=True)
class HistoryEntry:
    version: int
    seq: int
    stream: str
    partition: str
    before: Bookmark | None
    after: Bookmark | None
    rows: int
    run_id: str
    actor: str
    reason: str
    at: datetime


@dataclass(frozen=True)
class RunRecord:
    run_id: str
    pipeline: str
    status: str
    """running, succeeded, failed, skipped, cancelled or crashed."""
    started_at: datetime
    ended_at: datetime | None
    host: str
    pid: int
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class PipelineRecord:
    name: str
    uuid: str
    version: int
    epoch: int
    streams: int
    updated_at: datetime
