"""Publishing with Spark: MERGE, and the replacement of a table by rows of which the last of each key wins.

The statement runs under `txnAppId` and `txnVersion`: Spark skips it when the number is recorded already and fails it
when the number was recorded while it ran, so that it too compares where it commits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from seamark.destinations.base import Sessions
from seamark.destinations.delta.log import Look, Moved, look, looked_at
from seamark.destinations.delta.rows import newest_of_each_key, quoted, staged_rows, with_comments
from seamark.destinations.delta.types import same_columns
from seamark.errors import DestinationError
from seamark.model.checkpoint import TableChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VECTORS = "delta.enableDeletionVectors"
_SPARK_ALTERS_NO_TABLE_WITH = frozenset(" ,;{}()\n\t=")
"""Characters in column names that Spark reads and writes, but won't have in metadata that it commits."""

PARTITION_BYTES = 64 << 20
_CONFLICTS = ("Concurrent", "DELTA_CONCURRENT", "MetadataChangedException", "ProtocolChangedException")


def merge(seen: Look, number: int, change: TableChange, receipt: str, spark: Sessions) -> None:
    """Run the MERGE. Moved when the table went on meanwhile; whether the number is recorded the caller has to see."""
    session = _writing_session(seen, number, change, receipt, spark)
    rows = staged_rows(session, change)
    if not change.unique_key:
        rows = newest_of_each_key(rows, change)
    rows.createOrReplaceTempView("seamark_staged")
    _run(seen, lambda: session.sql(merge_statement(seen, change)).collect())


def overwrite(seen: Look, number: int, change: TableChange, receipt: str, spark: Sessions) -> None:
    """Replace all there is by the staged rows, of which the last of each key wins."""
    session = _writing_session(seen, number, change, receipt, spark)
    rows = newest_of_each_key(staged_rows(session, change), change)
    writer = with_comments(rows, change.schema).write.format("delta").mode("overwrite")
    if not same_columns(seen.facts.schema, change.schema):
        writer = writer.option("overwriteSchema", "true").partitionBy(*change.partition_by)
    _run(seen, lambda: writer.save(seen.table))


def prepare_table(seen: Look, spark: Sessions) -> bool:
    """Turn deletion vectors on before the first merge, so that merging a few rows doesn't rewrite the files they are
    in. True when the table had to change. Tables that are only appended to stay readable to every reader of Delta."""
    if VECTORS in seen.properties:
        return False
    if any(set(column.name) & _SPARK_ALTERS_NO_TABLE_WITH for column in seen.facts.schema):
        # delta-rs can do it in any case, but it makes the table ask its readers for more than this one feature.
        with looked_at(seen):
            seen.handle.alter.set_table_properties({VECTORS: "true"})
        return True
    statement = f"ALTER TABLE {_table(seen.table)} SET TBLPROPERTIES ('{VECTORS}' = 'true')"
    _run(seen, lambda: _session(seen, spark).sql(statement).collect())
    return True


def merge_statement(seen: Look, change: TableChange) -> str:
    """MERGE by key: columns that the stream doesn't have stay as they are, and are NULL in new rows."""
    conditions = [f"t.{quoted(name)} = s.{quoted(name)}" for name in change.key]
    conditions += [f"t.{quoted(name)} BETWEEN {low} AND {high}" for name, (low, high) in key_bounds(change).items()]
    given = [c.name for c in change.schema]
    updates = [f"t.{quoted(name)} = s.{quoted(name)}" for name in given if name not in change.key]
    columns = [c.name for c in seen.facts.schema]
    values = [f"s.{quoted(name)}" if name in given else "NULL" for name in columns]
    return (
        f"MERGE INTO {_table(seen.table)} AS t USING seamark_staged AS s ON {' AND '.join(conditions)}"
        + (f" WHEN MATCHED THEN UPDATE SET {', '.join(updates)}" if updates else "")
        + f" WHEN NOT MATCHED THEN INSERT ({', '.join(map(quoted, columns))}) VALUES ({', '.join(values)})"
    )


def _table(path: str) -> str:
    return f"delta.{quoted(path)}"


def _session(seen: Look, spark: Sessions) -> SparkSession:
    """A session whose settings fit the table: Delta's own are made for tables of millions of files."""
    session = spark.session()
    session.conf.set("spark.databricks.delta.snapshotPartitions", str(_between(1, len(seen.sizes) // 2_000, 50)))
    # A name may hold what looks like a variable.
    session.conf.set("spark.sql.variable.substitute", "false")
    return session


def _writing_session(seen: Look, number: int, change: TableChange, receipt: str, spark: Sessions) -> SparkSession:
    """A session of this statement's own: its number would fence off whatever else ran in it."""
    session = _session(seen, spark)
    shuffled = 4 * change.bytes + sum(seen.sizes) // 8
    settings = {
        "spark.databricks.delta.write.txnAppId": seen.app_id,
        "spark.databricks.delta.write.txnVersion": str(number),
        "spark.databricks.delta.commitInfo.userMetadata": receipt,
        # Staged files never change, so nothing is gained by keeping a second copy of their rows for the second pass.
        "spark.databricks.delta.merge.materializeSource": "none",
        # Spark's default is 96 bits of nanoseconds, which other readers can't follow past the year 2262.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.shuffle.partitions": str(_between(2, shuffled // PARTITION_BYTES, 200)),
    }
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def _run(seen: Look, statement: Any) -> None:
    """Run it; Moved when someone else committed meanwhile, else DestinationError with what Spark said."""
    try:
        statement()
    except Exception as error:
        text = str(error)
        now = look(seen.table)
        if any(word in text for word in _CONFLICTS) or now is None or now.facts.version != seen.facts.version:
            raise Moved(text) from error
        raise DestinationError(f"{seen.table}: {_said(text)}", _hint(text)) from error


def _said(text: str) -> str:
    """What Spark said, without the stack it appends."""
    lines = [line.strip() for line in text.split("JVM stacktrace:")[0].splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "An error occurred while calling"))]
    return " ".join(lines)[:1000] or "Spark failed without a word"


def _hint(text: str) -> str:
    if "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE" in text:
        return "the stream's key is not unique: name the columns that are in `key:`"
    return "nothing was written; the logs of Spark have more"


def key_bounds(change: TableChange) -> dict[str, tuple[str, str]]:
    """For each key column whose range is known in every staged file: its ends as SQL, so that the merge leaves alone
    the table's files outside it. Delta's MERGE takes no parameters."""
    stats = [json.loads(file.stats) for file in change.files]
    bounds: dict[str, tuple[str, str]] = {}
    for name in change.key:
        column = change.schema.get(name)
        literal = _LITERALS.get(column.type.kind) if column else None
        lows = [facts.get("minValues", {}).get(name) for facts in stats]
        highs = [facts.get("maxValues", {}).get(name) for facts in stats]
        if literal is None or None in lows or None in highs:
            continue
        low, high = literal(min(lows)), literal(max(highs))
        if low and high:
            bounds[name] = low, high
    return bounds


def _text(value: str) -> str:
    """Only texts that need no escape: pruning is worth no doubt about quoting."""
    return f"'{value}'" if re.fullmatch(r"[\w .:@/+=-]*", value, re.ASCII) else ""


def _integer(value: int) -> str:
    return str(int(value))


def _date(value: str) -> str:
    return f"DATE'{date.fromisoformat(value).isoformat()}'"


_LITERALS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), _integer),
    "string": _text,
    "date": _date,
}


def _between(low: int, value: int, high: int) -> int:
    return max(low, min(high, value))
