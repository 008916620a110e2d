"""The engine: one Spark application per process, started only when something needs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine.stage import StageJob
from seamark.model.checkpoint import StagedFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from seamark.config.project import SparkOptions

__all__ = ["Engine", "StageJob"]


class Engine:
    """Spark as this process uses it. Constructing one starts nothing."""

    def __init__(self, options: SparkOptions, folder: Path) -> None:
        """`folder` is the project's `.seamark`: logs go there."""
        self._options = options
        self._folder = folder

    @property
    def started(self) -> bool:
        """Whether a session was asked for and came up."""
        return False

    def warm_up(self, small: bool) -> None:
        """Begin to start Spark in the background, with settings for a small or a large job. Idempotent."""

    def session(self) -> SparkSession:
        """A new session on the one application: one per concurrent writer. Starts Spark if need be; EngineError."""
        raise NotImplementedError

    def parallelism(self) -> int:
        """How many tasks can run at once; for local masters this starts nothing."""
        raise NotImplementedError

    def stage(self, job: StageJob) -> tuple[StagedFile, ...]:
        """Read every split and write it as Parquet; all files are on disk when this returns.

        Raises what the reader raised (SourceError and its kin), DestinationError when the folder can't be written,
        Cancelled, or EngineError. Files of failed tasks may stay behind: only what is returned counts.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """End the application, quickly; safe to call twice or when nothing was started."""
