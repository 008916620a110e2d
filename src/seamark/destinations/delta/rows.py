"""Staged rows as Spark sees them, and whether they can be published with one meaning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from seamark.destinations.base import Sessions, TableFacts
from seamark.destinations.delta.log import look
from seamark.destinations.delta.places import filesystem, staged_path
from seamark.destinations.delta.types import spark_schema
from seamark.errors import DestinationError, SchemaConflict
from seamark.model.checkpoint import StagedFile, TableChange, Write
from seamark.model.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def staged_rows(session: SparkSession, change: TableChange) -> DataFrame:
    """Exactly the files of `change`, with exactly its columns; no folder is listed and no schema inferred."""
    if not change.files:
        return session.createDataFrame([], spark_schema(change.schema))
    partitions = [name for name in change.partition_by if any(file.partition for file in change.files)]
    stored = Schema(tuple(column for column in change.schema if column.name not in partitions))
    _, base = filesystem(change.table)
    paths = [staged_path(base, file.path) for file in change.files]
    # A table's name may look like a pattern; escaped patterns in turn won't have a colon beside them.
    rows = session.read.option("__globPaths__", "false").schema(spark_schema(stored)).parquet(*paths)
    return _with_partitions(session, rows, change, partitions) if partitions else rows


def newest_of_each_key(rows: DataFrame, change: TableChange) -> DataFrame:
    """One row of each key: the last by cursor. Of rows that are the same in every column any will do."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    order = Window.partitionBy(*_columns(change.key)).orderBy(_newest_first(change))
    place = "seamark row"
    return rows.withColumn(place, sql.row_number().over(order)).where(sql.col(quoted(place)) == 1).drop(place)


def with_comments(rows: DataFrame, schema: Schema) -> DataFrame:
    from pyspark.sql import functions as sql

    return rows.select(
        *(sql.col(quoted(c.name)).alias(c.name, metadata={"comment": c.comment} if c.comment else {}) for c in schema)
    )


def has_twins(change: TableChange, spark: Sessions) -> bool:
    """Whether two staged rows share a key."""
    return _first_twin(staged_rows(spark.session(), change), change) is not None


def ambiguous_keys(change: TableChange, spark: Sessions) -> str | None:
    """A key whose rows can't be ordered, in words; None when there is none. Rows that are lower by cursor don't matter,
    nor do rows that are the same in every column."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    rows = staged_rows(spark.session(), change)
    if _first_twin(rows, change) is None:
        return None
    place = "seamark rank"
    order = Window.partitionBy(*_columns(change.key)).orderBy(_newest_first(change))
    newest = rows.withColumn(place, sql.rank().over(order)).where(sql.col(quoted(place)) == 1)
    whole = sql.struct(*_columns(change.schema.names))
    clashes = newest.groupBy(*_columns(change.key)).agg(sql.count_distinct(whole).alias(place))
    found = clashes.where(sql.col(quoted(place)) > 1).drop(place).limit(1).collect()
    return _in_words(change, found[0]) if found else None


def check_rows(change: TableChange, spark: Sessions) -> None:
    """See `Destination.check_rows`."""
    if change.write is Write.NOTHING:
        return
    if (seen := look(change.table)) is not None:
        require_same_partitions(seen.facts, change)
    if not change.key:
        return
    for name in change.key:
        if column_has_nulls(change, name):
            raise DestinationError(
                f"stream {change.stream!r}: the key column {name!r} is NULL in some rows, which equal no other row",
                "name columns in `key:` that are never NULL, or leave those rows out with `where:`",
            )
    if change.unique_key or change.write is Write.APPEND or not change.files:
        return
    if example := ambiguous_keys(change, spark):
        order = f"the same {change.cursor}" if change.cursor else "no cursor that orders them"
        raise DestinationError(
            f"stream {change.stream!r}: several different rows have the key {example} and {order}",
            "name the columns in `key:` that tell rows apart, or a cursor that says which of them is the last",
        )


def require_same_partitions(facts: TableFacts, change: TableChange) -> None:
    """SchemaConflict when the stream's files lie otherwise than the table's."""
    if change.write is not Write.NOTHING and facts.partition_by != change.partition_by:
        raise SchemaConflict(
            f"{change.table} is partitioned by {list(facts.partition_by)}, and stream {change.stream!r} asks for "
            f"{list(change.partition_by)}",
            "put `partition_by:` back, or give the stream another name, and so a new table",
        )


def column_has_nulls(change: TableChange, name: str) -> bool:
    """Whether a staged file holds NULL in the column: by its statistics, or where they don't say by its footer."""
    if name in change.partition_by and any(file.partition for file in change.files):
        return any(dict(file.partition).get(name) is None for file in change.files)
    return any(_nulls(change, file, name) for file in change.files)


def _nulls(change: TableChange, file: StagedFile, name: str) -> int:
    import pyarrow.parquet as pq

    known = json.loads(file.stats).get("nullCount", {}).get(name)
    if known is not None:
        return int(known)
    files, base = filesystem(change.table)
    with files.open_input_file(staged_path(base, file.path)) as source:
        parquet = pq.ParquetFile(source)
        counts = [_group_nulls(parquet.metadata.row_group(g), name) for g in range(parquet.metadata.num_row_groups)]
        if None not in counts:
            return sum(count or 0 for count in counts)
        return int(parquet.read(columns=[name]).column(0).null_count)


def _group_nulls(group: Any, name: str) -> int | None:
    """The row group's count of NULLs in the column, None when it doesn't say."""
    for place in range(group.num_columns):
        chunk = group.column(place)
        if chunk.path_in_schema == name and chunk.statistics is not None and chunk.statistics.has_null_count:
            return int(chunk.statistics.null_count)
    return None


def _first_twin(rows: DataFrame, change: TableChange) -> Any:
    from pyspark.sql import functions as sql

    place = "seamark count"
    twins = (
        rows.groupBy(*_columns(change.key)).agg(sql.count(sql.lit(1)).alias(place)).where(sql.col(quoted(place)) > 1)
    )
    return next(iter(twins.limit(1).collect()), None)


def _newest_first(change: TableChange) -> Column:
    from pyspark.sql import functions as sql

    return sql.col(quoted(change.cursor)).desc_nulls_last() if change.cursor else sql.lit(0).desc()


def _columns(names: tuple[str, ...]) -> list[Column]:
    from pyspark.sql import functions as sql

    return [sql.col(quoted(name)) for name in names]


def _in_words(change: TableChange, row: Any) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in zip(change.key, row, strict=True))


def _with_partitions(session: SparkSession, rows: DataFrame, change: TableChange, names: list[str]) -> DataFrame:
    """Data files don't hold the columns that partition the table: each row gets them from the facts of its file."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    file_name = "seamark file"
    values = [
        (file.path.rsplit("/", 1)[-1], *(dict(file.partition).get(name) for name in names)) for file in change.files
    ]
    texts = StructType([StructField(name, StringType()) for name in (file_name, *names)])
    partitions = session.createDataFrame(values, texts)
    for field in spark_schema(change.schema):
        if field.name in names:
            partitions = partitions.withColumn(field.name, sql.col(quoted(field.name)).cast(field.dataType))
    placed = rows.withColumn(file_name, rows.metadataColumn("_metadata").getField("file_name"))
    return placed.join(sql.broadcast(partitions), file_name).select(*_columns(change.schema.names))
