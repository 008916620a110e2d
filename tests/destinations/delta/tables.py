"""Delta tables as strangers read them: through delta-rs and through Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession

Row = dict[str, Any]


def read_delta_rs(table: str) -> list[Row]:
    return pa.table(DeltaTable(table).scan().read_all()).to_pylist()


def read_spark(session: SparkSession, table: str) -> list[Row]:
    return [row.asDict(recursive=True) for row in session.read.format("delta").load(table).collect()]


def actions(table: str, version: int | None = None) -> list[dict[str, Any]]:
    """The actions of one commit, the newest by default."""
    log = sorted(Path(table, "_delta_log").glob("*.json"))
    return [json.loads(line) for line in log[-1 if version is None else version].read_text().splitlines()]


def commits(table: str) -> int:
    return len(list(Path(table, "_delta_log").glob("*.json")))
