"""What a run needs, passed as one object: no ambient state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from seamark.destinations.base import Destination
from seamark.engine.engine import Engine
from seamark.errors import Cancelled
from seamark.model.plan import PipelinePlan
from seamark.model.state import Holder
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


class Cancellation:
    """A person's wish to stop: heeded until a checkpoint is prepared and again once it is committed, never between."""

    def __init__(self) -> None:
        self.requested = False

    def request(self) -> None:
        self.requested = True

    def heed(self) -> None:
        if self.requested:
            raise Cancelled("the run was stopped; what it had committed stays", "run it again to go on from there")


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
    holder: Holder
    only: tuple[str, ...] = ()
    """The streams to run; none named means all."""
    full_refresh: bool = False
    use_state: bool = True
    """False: every run reads everything again (`stateful_ingestion.enabled: false`)."""
    skip_below: int = 0
    """Rows up to which a window that is only added to a table is staged by the driver, with no JVM."""
    max_checkpoint_state_size: int = 16_777_216
    lease_ttl: timedelta = timedelta(seconds=30)
    actor: str = ""
    """Who asked for the run; stands in the history."""
    clock: Callable[[], datetime] = utc_now
    progress: Progress = field(default_factory=Quiet)
    cancellation: Cancellation = field(default_factory=Cancellation)
