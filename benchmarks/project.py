"""The Seamark project that is measured: a folder with pipelines, run through the command line or in this process."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks.measure import process, python_worker_peaks, timed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from seamark.app import App

SEAMARK = Path(sys.executable).with_name("seamark")


class BenchProject:
    """Pipelines over the tables `orders` and `warmup`, each with a lake of its own."""

    def __init__(self, folder: Path, source: Mapping[str, Any]) -> None:
        self.folder = folder
        self._source = dict(source)
        (folder / "pipelines").mkdir(parents=True)
        (folder / "seamark.yaml").touch()

    def pipeline(self, name: str, table: str, cursor: str = "updated_at") -> str:
        stream = {"name": table.rsplit(".", 1)[-1], "table": table, "key": ["id"], "cursor": cursor}
        facts = {
            "pipeline": name,
            "source": self._source,
            "destination": {"type": "delta", "path": f"./{name}"},
            "streams": [stream],
        }
        (self.folder / "pipelines" / f"{name}.yaml").write_text(yaml.safe_dump(facts, sort_keys=False))
        return name

    def table(self, pipeline: str, stream: str = "orders") -> Path:
        return self.folder / pipeline / stream

    def drop(self, pipeline: str) -> None:
        shutil.rmtree(self.folder / pipeline, ignore_errors=True)

    def command(self, *arguments: str) -> str:
        """`seamark …` in a process of its own."""
        return process([SEAMARK, *arguments], self.folder)

    def run(self, pipeline: str) -> dict[str, Any]:
        """`seamark run` in a process of its own."""
        result: dict[str, Any] = json.loads(self.command("run", pipeline, "--json"))
        return result


# What follows runs in a process that keeps Spark up.


def run_warm(folder: Path, pipeline: str) -> dict[str, Any]:
    """One run in this process, how long it took and where the time went."""
    phases = _Phases()
    began = time.perf_counter()
    outcome = _app(folder).run(pipeline, progress=phases)
    seconds = time.perf_counter() - began
    if outcome.error is not None:
        raise RuntimeError(outcome.error.message)
    moved = sum(stream.rows for stream in outcome.result.streams)
    return {"seconds": seconds, "rows": moved, "phases": phases.seconds()}


def bare_merge(table: Path, changes: Path, statement: str) -> float:
    """The statement alone, in the JVM and with the settings that Seamark's own merges have."""
    spark = _session()
    for name, value in {
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.databricks.delta.merge.materializeSource": "none",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        spark.conf.set(name, value)
    spark.read.parquet(str(changes)).createOrReplaceTempView("changes")
    return timed(lambda: spark.sql(statement).collect())


def worker_peaks() -> list[int]:
    return python_worker_peaks(os.getpid())


def close(folder: Path) -> None:
    _app(folder).close()


@cache
def _app(folder: Path) -> App:
    from seamark.app import App
    from seamark.config.project import Project

    return App(Project.find(folder))


def _session() -> SparkSession:
    """A new session on the application that Seamark started in this process."""
    from pyspark.sql import SparkSession

    session: SparkSession = SparkSession.builder.getOrCreate().newSession()
    return session


class _Phases:
    """A Progress that notes when each phase began."""

    def __init__(self) -> None:
        self._began = [("plan", time.perf_counter())]

    def seconds(self) -> dict[str, float]:
        marks = [*self._began, ("", time.perf_counter())]
        spent: dict[str, float] = {}
        for (phase, start), (_, end) in pairwise(marks):
            spent[phase] = round(spent.get(phase, 0.0) + end - start, 3)
        return spent

    def planned(self, plan: object) -> None: ...

    def phase(self, stream: str, phase: str) -> None:
        self._began.append((phase, time.perf_counter()))

    def rows(self, stream: str, rows: int, bytes: int) -> None: ...

    def warn(self, message: str) -> None: ...
