"""Makes the class-data archive: runs what a small run does once, in a JVM that writes down its classes at its end.

`python -m seamark.engine.training` is what a first start leaves running; `make_archive` does it here and now.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.engine import archive
from seamark.engine.application import launch
from seamark.engine.cache import cache_folder, locked
from seamark.engine.jars import delta_jars
from seamark.engine.java import find_java
from seamark.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from seamark.config.spark import SparkOptions

DUMP_SECONDS = 180


def make_archive(options: SparkOptions) -> Path | None:
    """The archive for the Java and the jars of these options, made unless it is there; None if someone is at it."""
    java = find_java(options.java_home, cache_folder())
    jars = delta_jars(java, options.conf)
    path = archive.path_for(java, jars)
    path.parent.mkdir(exist_ok=True)
    with locked(path.with_suffix(".lock"), wait=False) as alone:
        if path.exists():
            return path
        if not alone:
            return None
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".training-") as name:
            work = Path(name)
            fresh = work / "classes.jsa"
            trainee = launch(
                options, work, True, java, jars, lambda: False, java_options=(f"-XX:ArchiveClassesAtExit={fresh}",)
            )
            try:
                _exercise(trainee.session(), work / "table")
            finally:
                trainee.leave(DUMP_SECONDS)
            if not fresh.exists():
                raise EngineError(
                    "Java wrote no class-data archive", "nothing is broken: Spark only starts more slowly"
                )
            fresh.replace(path)
    return path


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
    from seamark.config.spark import SparkOptions

    if "--nice" in arguments:
        os.nice(19)
    return (
        0 if make_archive(SparkOptions(master="local[2]", memory="512m", java_home=os.environ.get("JAVA_HOME"))) else 1
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
