"""What is to be staged, and staging it in this process. `job.py` does it in Spark's tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine.failure import failure_of, is_final
from seamark.errors import DestinationError
from seamark.model.checkpoint import StagedFile
from seamark.model.schema import Schema
from seamark.model.split import Split, SplitReader

if TYPE_CHECKING:
    from seamark.engine.task import Task

ATTEMPTS_IN_DRIVER = 4
"""What Spark gives a task."""


def _never() -> bool:
    return False


def _silent(rows: int, bytes: int) -> None:
    return None


@dataclass(frozen=True)
class StageJob:
    """What to stage and where: files go to `root/folder`, and their paths in the facts are relative to `root`.

    The reader's batches have the schema's columns; where the schema has a wider type, values are cast.
    """

    splits: tuple[Split, ...]
    reader: SplitReader
    schema: Schema
    root: Path | str
    folder: str
    partition_by: tuple[str, ...] = ()
    cursor: str | None = None
    """The column whose maximum each file fact carries."""
    in_driver: bool = False
    """Read in this process, without Spark: for one small split while the JVM is still starting."""
    cancelled: Callable[[], bool] = _never
    on_progress: Callable[[int, int], None] = _silent
    """Told how many more rows and bytes have been staged."""


def task_of(job: StageJob) -> Task:
    from seamark.engine.task import Task

    root = str(job.root)
    if "://" in root:
        raise DestinationError(
            f"files can't be staged under {root}", "give the destination a path that every task can reach"
        )
    root = str(Path(root).absolute())
    return Task(job.reader, job.schema, root, job.folder, job.partition_by, job.cursor)


class _Onlooker:
    """Passes on progress as it comes, and what the job says about stopping."""

    def __init__(self, job: StageJob) -> None:
        self._job = job

    def wrote(self, rows: int, bytes: int) -> None:
        self._job.on_progress(rows, bytes)

    def stopped(self) -> bool:
        return self._job.cancelled()


def stage_here(job: StageJob) -> tuple[StagedFile, ...]:
    """Stage the splits one after the other in this process; one that fails is tried again, as Spark would."""
    task = task_of(job)
    files: list[StagedFile] = []
    for split in job.splits:
        files.extend(_stage_split_here(task, split, job))
    return tuple(files)


def _stage_split_here(task: Task, split: Split, job: StageJob) -> tuple[StagedFile, ...]:
    from seamark.engine.task import stage_split

    for attempt in range(1, ATTEMPTS_IN_DRIVER + 1):
        try:
            return stage_split(task, split, _Onlooker(job))
        except Exception as error:
            if is_final(error) or attempt == ATTEMPTS_IN_DRIVER:
                raise failure_of(error, split).error() from error
    raise AssertionError
