"""What a run needs, passed as one object: no ambient state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from seamark.destinations.base import Destination
from seamark.engine.engine import Engine
from seamark.model.plan import PipelinePlan
from seamark.model.stream import Stream
from seamark.sources.base import Source
from seamark.state.store import StateStore


class Progress(Protocol):
    """Told what is going on; whatever it does must not fail the run."""

    def planned(self, plan: PipelinePlan) -> None: ...

    def phase(self, stream: str, phase: str) -> None:
        """`phase` is recover, stage, prepare, publish, commit, acknowledge or done."""

    def rows(self, stream: str, rows: int, bytes: int) -> None:
        """So many more have been staged."""

    def warn(self, message: str) -> None: ...


class Quiet:
    """A Progress that says nothing."""

    def planned(self, plan: PipelinePlan) -> None: ...

    def phase(self, stream: str, phase: str) -> None: ...

    def rows(self, stream: str, rows: int, bytes: int) -> None: ...

    def warn(self, message: str) -> None: ...


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Context:
    pipeline: str
    streams: tuple[Stream, ...]
    source: Source
    destination: Destination
    store: StateStore
    engine: Engine
    full_refresh: bool = False
    max_checkpoint_state_size: int = 16_777_216
    lease_ttl: timedelta = timedelta(seconds=30)
    actor: str = ""
    clock: Callable[[], datetime] = utc_now
    progress: Progress = field(default_factory=Quiet)
