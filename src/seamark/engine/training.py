"""Makes the class-data archive: does once what a small run does, in a JVM that writes down its classes at its end.

`python -m seamark.engine.training PATH` is always a process of its own: a first start leaves it running, at the lowest
priority, and `make_archive` waits for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine import archive
from seamark.engine.application import launch
from seamark.engine.cache import cache_folder, locked
from seamark.engine.jars import delta_jars
from seamark.engine.java import Java, find_java
from seamark.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from seamark.config.spark import SparkOptions

DUMP_SECONDS = 180
TRAINING_SECONDS = 600


def make_archive(options: SparkOptions) -> Path:
    """The archive for the Java and the jars of these options, made unless it is there. Takes about half a minute."""
    java = find_java(options.java_home, cache_folder())
    path = archive.path_for(java, delta_jars(java, options.conf))
    if not path.exists():
        ran = subprocess.run(
            archive.training(java, path),
            env=os.environ | {"JAVA_HOME": str(java.home)},
            capture_output=True,
            text=True,
            timeout=TRAINING_SECONDS,
            check=False,
        )
        if ran.returncode != 0:
            said = ran.stderr.strip().splitlines() or ["it said nothing"]
            raise EngineError(
                f"Java's class-data archive could not be made: {said[-1]}",
                "nothing is broken: Spark only starts more slowly",
            )
    return path


def _train(path: Path, with_base: bool, wait: bool) -> None:
    """Make the archive at `path`, unless someone else has, or is at it and we need not wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = locked(path.with_suffix(".lock"), wait)
    with lock as alone, tempfile.TemporaryDirectory(dir=path.parent, prefix=".training-") as name:
        if path.exists() or not alone:
            return
        work, java = Path(name), find_java(None, cache_folder())
        base = (_dump_base(java, archive.base_of(path)),) if with_base else ()
        fresh = work / "classes.jsa"
        dump = (f"-XX:ArchiveClassesAtExit={fresh}",)
        trainee = launch(_options(), work, True, java, delta_jars(java, {}), lambda: False, base, dump)
        try:
            _exercise(trainee.session(), work / "table")
        finally:
            trainee.leave(DUMP_SECONDS)
        if not fresh.exists():
            raise EngineError("Java wrote no archive", "nothing is broken: Spark only starts more slowly")
        fresh.replace(path)


def _dump_base(java: Java, path: Path) -> Path:
    """The archive of Java's own classes, which most Javas come with."""
    command: list[str | Path] = [java.executable, "-Xshare:dump", f"-XX:SharedArchiveFile={path}"]
    subprocess.run(command, capture_output=True, timeout=DUMP_SECONDS, check=True)
    return path


def _options() -> SparkOptions:
    from seamark.config.spark import SparkOptions

    return SparkOptions(master="local[2]", memory="512m")


def _exercise(spark: SparkSession, table: Path) -> None:
    """Once through what a small run does."""
    spark.range(0, 2, 1, 2).mapInArrow(_nothing, "id long").collect()
    spark.range(1000).selectExpr("id", "cast(id as string) as name", "current_timestamp() as at").write.format(
        "delta"
    ).option("delta.enableDeletionVectors", "true").save(str(table))
    rows = spark.range(500, 1500).selectExpr("id", "cast(id as string) as name", "current_timestamp() as at")
    parquet = table.with_name("rows")
    rows.write.parquet(str(parquet))
    spark.read.parquet(str(parquet)).createOrReplaceTempView("rows")
    spark.sql(
        f"merge into delta.`{table}` t using rows s on t.id = s.id when matched then update set * "
        "when not matched then insert *"
    ).collect()
    spark.read.format("delta").load(str(table)).groupBy("name").count().limit(3).collect()
    spark.sql(f"describe history delta.`{table}`").collect()


def _nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def main(arguments: list[str]) -> int:
    nice, path = "--nice" in arguments, Path(arguments[-1])
    if nice:
        os.nice(19)
    try:
        _train(path, "--base" in arguments, wait=not nice)
    except BaseException:
        archive.hopeless(path).touch()
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
