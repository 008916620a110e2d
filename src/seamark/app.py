"""The use cases that the command line, the server and Dagster share: each is a method that takes and returns model data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seamark.config.project import Project
from seamark.errors import SeamarkError
from seamark.model.plan import PipelinePlan
from seamark.model.run import RunResult
from seamark.model.state import HistoryEntry, PipelineRecord, State
from seamark.model.status import ConnectorInfo, PipelineListing, PipelineStatus
from seamark.model.stream import TableInfo
from seamark.sources.base import Finding
from seamark.sync.context import Cancellation, Progress, Quiet


@dataclass(frozen=True)
class RunOptions:
    """`streams`: only these; none named means all."""

    streams: tuple[str, ...] = ()
    full_refresh: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """A run's result in any case, and the error that ended it, if one did."""

    result: RunResult
    error: SeamarkError | None = None


@dataclass(frozen=True)
class Preview:
    """The first rows of a stream, as the next run would read them."""

    stream: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class App:
    """One project, opened. Nothing is connected to before a method needs it."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def pipelines(self) -> tuple[PipelineListing, ...]:
        """Every pipeline file of the project, those that can't be read with what is wrong with them."""
        raise NotImplementedError

    def run(
        self, pipeline: str, options: RunOptions = RunOptions(), progress: Progress = Quiet(), cancellation: Cancellation | None = None
    ) -> RunOutcome:
        """One run of a pipeline (a name, or a path to a file). ConfigError and UsageError are raised, all else is in the outcome."""
        raise NotImplementedError

    def plan(self, pipeline: str, options: RunOptions = RunOptions()) -> PipelinePlan:
        """What `run` would do now; takes no lease, changes nothing."""
        raise NotImplementedError

    def preview(self, pipeline: str, limit: int, options: RunOptions = RunOptions()) -> tuple[Preview, ...]:
        """The first `limit` rows of each stream's next window; nothing is staged, no JVM is started."""
        raise NotImplementedError

    def status(self, pipelines: Sequence[str] = ()) -> tuple[PipelineStatus, ...]:
        """Where pipelines stand, from the state store alone; all of the project's when none is named."""
        raise NotImplementedError

    def check(self, pipeline: str, options: RunOptions = RunOptions()) -> list[Finding]:
        """Whether source, destination, state store and each stream are fit to run."""
        raise NotImplementedError

    def discover(self, pipeline: str, pattern: str = "*") -> list[TableInfo]:
        """The source's tables."""
        raise NotImplementedError

    def state_list(self) -> list[PipelineRecord]:
        """Every pipeline that the project's store knows, configured or not."""
        raise NotImplementedError

    def state_show(self, pipeline: str) -> State:
        raise NotImplementedError

    def state_history(self, pipeline: str, stream: str | None = None, limit: int = 100) -> list[HistoryEntry]:
        raise NotImplementedError

    def connectors(self) -> tuple[ConnectorInfo, ...]:
        """Every source, destination and state store that is installed."""
        raise NotImplementedError

    def doctor(self) -> list[Finding]:
        """Whether this machine and project have what a run needs: Python, Java, jars, disk, state store, pipeline files."""
        raise NotImplementedError

    def close(self) -> None:
        """End Spark, if it was started."""
