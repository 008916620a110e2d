"""A plan is data: what a run will do to each stream and why. `seamark plan` prints it, `sync.execute` interprets it."""

from __future__ import annotations

from dataclasses import dataclass

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import Write
from seamark.model.stream import Shape, Stream
from seamark.model.window import Estimate, Hold, Window


@dataclass(frozen=True)
class StreamPlan:
    stream: Stream
    shape: Shape
    runs: bool
    reason: str
    """Why it runs or not, in words."""
    window: Window | None = None
    bookmark: Bookmark | None = None
    """Where the stream stands before the run."""
    write: Write = Write.NOTHING
    hold: Hold | None = None
    estimate: Estimate = Estimate()
    splits: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def after(self) -> Bookmark | None:
        """The bookmark once the window has been moved."""
        if self.window is None or self.window.high is None:
            return self.bookmark
        return self.window.high


@dataclass(frozen=True)
class PipelinePlan:
    pipeline: str
    state_version: int
    streams: tuple[StreamPlan, ...]

    @property
    def has_work(self) -> bool:
        return any(stream.runs for stream in self.streams)
