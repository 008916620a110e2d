"""A pipeline as its file describes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seamark.config.project import SparkOptions


@dataclass(frozen=True)
class PipelineConfig:
    """One pipeline file, read and checked; the connectors' own options are checked when they are opened."""

    name: str
    file: Path
    root: Path
    """Relative paths start here."""
    spark: SparkOptions
