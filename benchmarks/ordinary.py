"""The ordinary way: plain PySpark with Delta, as their documentation has it. Runs in processes of its own.

`python -m benchmarks.ordinary URL SINCE TABLE` does a small incremental run once, from nothing.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.measure import timed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JDBC_DRIVER = "org.postgresql:postgresql:42.7.7"
FETCH_ROWS = 10_000
PARTITIONS = 8


@cache
def session() -> SparkSession:
    """Spark's and Delta's own settings, but for a heap that does for five million rows."""
    from pyspark.sql import SparkSession

    from seamark.engine.cache import cache_folder
    from seamark.engine.jars import delta_package
    from seamark.engine.java import find_java

    os.environ["JAVA_HOME"] = str(find_java(None, cache_folder()).home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[*]")
        .appName("ordinary")
        .config("spark.jars.packages", f"{delta_package()},{JDBC_DRIVER}")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )


def start() -> float:
    return timed(session)


def warm_up(url: str, table: str) -> float:
    return timed(lambda: _copy(url, "warmup", table, rows=60_000))


def load(url: str, table: str, rows: int) -> float:
    """Postgres to Delta through Spark JDBC."""
    return timed(lambda: _copy(url, "orders", table, rows))


def merge(table: str, changes: str) -> float:
    """A bare MERGE INTO of rows that are Parquet already."""
    spark = session()
    spark.read.parquet(changes).createOrReplaceTempView("changes")
    return timed(lambda: spark.sql(merge_statement(table)).collect())


def merge_statement(table: str) -> str:
    return (
        f"MERGE INTO delta.`{table}` AS t USING changes AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


def _copy(url: str, source: str, table: str, rows: int) -> None:
    """Partitions of equal width over the key, which has no gaps."""
    address, properties = _jdbc(url)
    frame = session().read.jdbc(
        address,
        source,
        column="id",
        lowerBound=1,
        upperBound=rows,
        numPartitions=PARTITIONS,
        properties=properties | {"fetchsize": str(FETCH_ROWS)},
    )
    frame.write.format("delta").save(table)


def _small_run(url: str, since: str, table: str) -> None:
    """What changed since, read through JDBC and merged."""
    address, properties = _jdbc(url)
    changed = f"(select * from orders where updated_at >= '{since}') changed"
    session().read.jdbc(address, changed, properties=properties).createOrReplaceTempView("changes")
    session().sql(merge_statement(table)).collect()


def _jdbc(url: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    properties = {"user": parts.username or "", "password": parts.password or "", "driver": "org.postgresql.Driver"}
    return f"jdbc:postgresql://{parts.hostname}:{parts.port}{parts.path}", properties


if __name__ == "__main__":
    _small_run(*sys.argv[1:])
