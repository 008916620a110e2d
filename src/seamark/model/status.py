"""What people look at between runs: pipelines as they are listed, and where each stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seamark.model.state import Lease, RunRecord


@dataclass(frozen=True)
class PipelineListing:
    """One pipeline file of a project; `problem` says what is wrong with it, if anything."""

    name: str
    file: str
    source: str = ""
    destination: str = ""
    streams: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class StreamStatus:
    """Where a stream stands; `bookmark` is None for one that never ran or has no cursor."""

    name: str
    mode: str
    cursor: str
    bookmark: str | None
    rows_total: int
    last_sync: datetime | None


@dataclass(frozen=True)
class PipelineStatus:
    name: str
    source: str
    destination: str
    version: int
    epoch: int
    streams: tuple[StreamStatus, ...]
    last_run: RunRecord | None = None
    lease: Lease | None = None
    """Who is running it right now."""
    prepared: int | None = None
    """The seq of a checkpoint that the next run has to resolve."""


@dataclass(frozen=True)
class ConnectorInfo:
    """`role` is source, destination or state store."""

    role: str
    kind: str
    summary: str
    capabilities: tuple[tuple[str, str], ...] = ()
    problem: str = ""
