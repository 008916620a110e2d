"""Staging: each split is read as Arrow and written as Parquet inside its task, which returns file facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seamark.model.schema import Schema
from seamark.model.split import Split, SplitReader


def _never() -> bool:
    return False


def _silent(rows: int, bytes: int) -> None:
    return None


@dataclass(frozen=True)
class StageJob:
    """What to stage and where: files go to `root/folder`, and their paths in the facts are relative to `root`."""

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
