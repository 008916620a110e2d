"""A plan is data: what a run will do to each stream and why. `seamark plan` prints it, `sync.execute` interprets it."""

from __future__ import annotations

from dataclasses import dataclass

from seamark.errors import SeamarkError
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import Write
from seamark.model.stream import Mode, Shape, Stream
from seamark.model.window import Estimate, Hold, Window


@dataclass(frozen=True)
class StreamPlan:
    stream: Stream
    shape: Shape
    runs: bool
    reason: str
    """Why it runs or not, in words."""
    window: Window | None = None
    """What is read; None for nothing, be it that nothing runs or that the table is to be emptied."""
    bookmark: Bookmark | None = None
    """Where the stream stands before the run."""
    write: Write = Write.NOTHING
    hold: Hold | None = None
    estimate: Estimate = Estimate()
    splits: int = 0
    table: str = ""
    """Where its rows go, as the destination names it."""
    creates: bool = False
    """Whether that table has to be made first."""
    warnings: tuple[str, ...] = ()
    problem: SeamarkError | None = None
    """Why it can't be planned; the other streams run all the same."""

    @property
    def after(self) -> Bookmark | None:
        """The bookmark once the window has been moved; a window over everything that has no end leaves none."""
        if self.window is None or (self.window.high is None and self.write is not Write.REPLACE):
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


SMALL_ROWS = 20_000
"""Up to so many rows a window is read sooner by the driver itself than by a Python worker that has yet to start."""
SMALL_BYTES = 64 * 1024 * 1024


def choose_write(mode: Mode, *, starts_over: bool, table_has_rows: bool, unique_key: bool) -> Write:
    """What a window's rows become. A merge into an empty table is an append, if no key can come twice."""
    if starts_over or mode is Mode.REPLACE:
        return Write.REPLACE
    if mode is Mode.APPEND:
        return Write.APPEND
    return Write.MERGE if table_has_rows or not unique_key else Write.APPEND


def needs_spark_to_publish(plan: StreamPlan) -> bool:
    """Whether publishing runs a statement on Spark; otherwise staged files only have to be named in the table's log."""
    return plan.write is Write.MERGE or (plan.stream.mode is Mode.MERGE and not plan.shape.key_is_unique)


def is_small(estimate: Estimate) -> bool:
    return (
        estimate.rows is not None
        and estimate.rows <= SMALL_ROWS
        and (estimate.bytes is None or estimate.bytes <= SMALL_BYTES)
    )


def stage_in_driver(plan: StreamPlan, splits: int, skip_below: int) -> bool:
    """Whether the driver reads the window itself: while the JVM that a merge needs starts, or to do without one."""
    if needs_spark_to_publish(plan):
        return splits <= 1 and is_small(plan.estimate)
    return plan.estimate.rows is not None and plan.estimate.rows <= skip_below
