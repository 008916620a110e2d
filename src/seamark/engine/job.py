"""Staging in Spark: a task per split reads Arrow and writes Parquet itself; only file facts pass through the JVM."""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamark import crash
from seamark.engine.failure import Failure, without_credentials
from seamark.engine.noticeboard import Noticeboard
from seamark.engine.stage import StageJob, task_of
from seamark.errors import Cancelled, EngineError, SeamarkError
from seamark.model.checkpoint import StagedFile
from seamark.model.split import Split

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from seamark.engine.task import Task

POLL_SECONDS = 0.1
TIDY_SECONDS = 2.0
"""How long tasks get to end by themselves when they are told to stop."""
INTERRUPT_SECONDS = 10.0
FACTS = "split bigint, facts string"


def stage_in_spark(job: StageJob, session: SparkSession, attempts: int) -> tuple[StagedFile, ...]:
    """Stage each split in a task of its own. `attempts` is how often Spark tries a task.

    The session is this job's alone while it runs: cancelling interrupts all that the session does. (Tags would do over
    Spark Connect only; in the same process Spark keeps them per thread, and no other thread can interrupt by them.)
    """
    if not job.splits:
        return ()
    task, board = task_of(job), Noticeboard(Path(job.root, job.folder), uuid.uuid4().hex)
    run = _task_function(task, job.splits, board, attempts, crash.variables())
    count = len(job.splits)
    frame = session.range(0, count, 1, count).mapInArrow(run, FACTS)
    try:
        outcomes = [json.loads(row[1]) for row in _collect(frame, session, job, board)]
    finally:
        board.clear()
    failures = [Failure(**outcome["failure"]) for outcome in outcomes if "failure" in outcome]
    if failures:
        # A split that was merely told to stop says nothing of why.
        raise next((f for f in failures if f.kind != Cancelled.__name__), failures[0]).error()
    files = _staged(outcomes)
    _remove_leftovers(job, files)
    job.on_progress(*board.rest(sum(file.rows for file in files), sum(file.bytes for file in files)))
    return files


def _remove_leftovers(job: StageJob, files: tuple[StagedFile, ...]) -> None:
    """What attempts left that were killed: all else in the folder is published, and nobody would look for it there."""
    kept = {Path(job.root, file.path) for file in files}
    for path in Path(job.root, job.folder).glob("*.parquet"):
        if path not in kept:
            with contextlib.suppress(OSError):
                path.unlink()


def _staged(outcomes: list[dict[str, Any]]) -> tuple[StagedFile, ...]:
    files = [file for outcome in sorted(outcomes, key=lambda o: o["index"]) for file in outcome["files"]]
    return tuple(
        StagedFile(**(file | {"partition": tuple((name, value) for name, value in file["partition"])}))
        for file in files
    )


def _task_function(
    task: Task, splits: tuple[Split, ...], board: Noticeboard, attempts: int, crashes: dict[str, str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What Spark runs in its Python workers. It travels by value: whatever it imports, it imports there."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        from seamark import crash
        from seamark.engine.task import stage_in_task

        crash.take(crashes)
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            facts = [stage_in_task(task, splits[number], board, attempts) for number in numbers]
            yield pyarrow.RecordBatch.from_pydict(
                {"split": pyarrow.array(numbers, pyarrow.int64()), "facts": pyarrow.array(facts, pyarrow.string())}
            )

    return run


class _Collecting(threading.Thread):
    """Runs the job, so that the thread that waits for it can do something about it."""

    def __init__(self, frame: DataFrame) -> None:
        super().__init__(name="seamark-stage", daemon=True)
        self.rows: list[Any] = []
        self.error: Exception | None = None
        self._frame = frame

    def run(self) -> None:
        try:
            self.rows = self._frame.collect()
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            self.error = error


def _collect(frame: DataFrame, session: SparkSession, job: StageJob, board: Noticeboard) -> list[Any]:
    """The job's rows; looks after progress and cancellation while it runs."""
    collecting = _Collecting(frame)
    collecting.start()
    try:
        while collecting.is_alive():
            collecting.join(POLL_SECONDS)
            job.on_progress(*board.news())
            if job.cancelled():
                raise Cancelled("staging was stopped", "run it again: it goes on from the last checkpoint")
    finally:
        if collecting.is_alive():
            _interrupt(collecting, session, board)
    if collecting.error is not None:
        raise _job_error(collecting.error) from collecting.error
    return collecting.rows


def _interrupt(collecting: _Collecting, session: SparkSession, board: Noticeboard) -> None:
    """Tasks that look at the board clean up and end; whatever does not look is killed by Spark."""
    board.stop()
    collecting.join(TIDY_SECONDS)
    if collecting.is_alive():
        session.interruptAll()
        collecting.join(INTERRUPT_SECONDS)


def _job_error(error: Exception) -> SeamarkError:
    """What Spark said, without the stacks it wraps around it."""
    text = str(error).split("Driver stacktrace:")[0].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("at ")]
    return EngineError(
        f"staging failed in Spark: {without_credentials(' '.join(lines)[:1000])}",
        "Spark's log has more; a worker that 'exited unexpectedly' was killed, most often for want of memory",
    )
