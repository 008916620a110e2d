"""The engine: one Spark application per process, started only when something needs it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine.machine import attempts, local_tasks, this_machine
from seamark.engine.stage import StageJob, stage_here
from seamark.model.checkpoint import StagedFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from seamark.config.spark import SparkOptions
    from seamark.engine.application import Application

__all__ = ["Engine", "StageJob"]


class Engine:
    """Spark as this process uses it. Constructing one starts nothing; all methods may be called from any thread."""

    def __init__(self, options: SparkOptions, folder: Path) -> None:
        """`folder` is the project's `.seamark`: logs go there."""
        self._options = options
        self._folder = folder
        self._lock = threading.Lock()
        self._starting: Future[Application] | None = None
        self._abandoned = threading.Event()
        self._idle: list[SparkSession] = []
        self._parallelism: int | None = None

    @property
    def started(self) -> bool:
        """Whether Spark came up, because a session was asked for or was going to be."""
        starting = self._starting
        return starting is not None and starting.done() and starting.exception() is None

    def warm_up(self, small: bool) -> None:
        """Begin to start Spark in the background, with settings for a small or a large job. Idempotent: the first wins.

        Always a thread of its own: started from the main one, PySpark would put its own handler of SIGINT in place of
        the application's, and that one raises KeyboardInterrupt wherever it happens to be.
        """
        with self._lock:
            if self._starting is not None:
                return
            self._abandoned = threading.Event()
            self._starting = Future()
            arguments = (self._starting, self._abandoned, small)
            threading.Thread(target=self._start, args=arguments, name="seamark-spark-start", daemon=True).start()

    def session(self) -> SparkSession:
        """A new session on the one application: one per concurrent writer. Starts Spark if need be; EngineError.

        Sessions are not to be stopped: `stop` of the engine ends the application they share.
        """
        return self._application().session()

    def parallelism(self) -> int:
        """How many tasks can run at once; for local masters this starts nothing."""
        if self._parallelism is None:
            self._parallelism = local_tasks(self._options.master, this_machine()) or self._ask_parallelism()
        return self._parallelism

    def stage(self, job: StageJob) -> tuple[StagedFile, ...]:
        """Read every split and write it as Parquet; all files are on disk when this returns.

        Raises what the reader raised (SourceError and its kin), DestinationError when the folder can't be written,
        Cancelled, or EngineError. A task that fails takes its files with it, one that is killed can't: only what is
        returned counts.
        """
        if job.in_driver:
            return stage_here(job)
        from seamark.engine.job import stage_in_spark

        with self._staging_session() as session:
            conf = session.conf
            tries = attempts(conf.get("spark.master", "") or "", conf.get("spark.task.maxFailures", "4"))
            return stage_in_spark(job, session, tries)

    def stop(self) -> None:
        """End the application, quickly; safe to call twice or when nothing was started. It can start anew after."""
        with self._lock:
            starting, self._starting, self._idle = self._starting, None, []
            self._abandoned.set()
        if starting is None:
            return
        # A start that fails now fails because it was abandoned, or would have failed anyway.
        with contextlib.suppress(Exception):
            starting.result().stop()

    @contextlib.contextmanager
    def _staging_session(self) -> Iterator[SparkSession]:
        """A session that no other job uses meanwhile; kept afterwards, since a new one may start new Python workers."""
        with self._lock:
            idle = self._idle
            session = idle.pop() if idle else None
        session = session or self.session()
        yield session
        # Not after an error: what was interrupted may still be ending there.
        idle.append(session)

    def _application(self) -> Application:
        self.warm_up(small=False)
        starting = self._starting
        assert starting is not None
        return starting.result()

    def _start(self, starting: Future[Application], abandoned: threading.Event, small: bool) -> None:
        from seamark.engine.application import start_application

        try:
            starting.set_result(start_application(self._options, self._folder, small, abandoned.is_set))
        except BaseException as error:  # noqa: BLE001 - raised where the session is asked for
            starting.set_exception(error)

    def _ask_parallelism(self) -> int:
        """A range without a number of partitions gets as many as there are cores."""
        from pyspark.sql.functions import spark_partition_id

        session = self.session()
        return max(1, session.range(0, 10_000).select(spark_partition_id()).distinct().count())
