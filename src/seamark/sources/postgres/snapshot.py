"""One snapshot for all splits of a window, and what the planner says of the window in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from seamark.errors import SourceError
from seamark.sources.postgres.catalog import Relation
from seamark.sources.postgres.connection import connect
from seamark.sources.postgres.errors import translated
from seamark.sources.postgres.options import PostgresOptions
from seamark.sources.postgres.splits import TID_RANGE_SCANS, Scan
from seamark.sources.query import quoted


@dataclass(frozen=True)
class Snapshot:
    """An exported snapshot; good as long as the transaction that exported it is open."""

    id: str
    version: int
    connection: psycopg.Connection[tuple[Any, ...]]

    def row(self, query: str) -> tuple[Any, ...]:
        row = self.connection.execute(query.encode(), binary=True).fetchone()
        assert row is not None
        return row


@contextmanager
def exported(options: PostgresOptions, relation: Relation) -> Iterator[Snapshot]:
    """Hold a snapshot of the database while splits are read.

    The table is locked against TRUNCATE and rewriting ALTERs first (ACCESS SHARE, as any SELECT does): they leave older
    snapshots an empty table, without any error.
    """
    connection, server = connect(options)
    try:
        # The transaction is idle while tasks read: no limit on that, or on its length, may cut it off.
        limits = ["idle_in_transaction_session_timeout", *(["transaction_timeout"] if server.version >= 170000 else [])]
        opening = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", *(f"SET LOCAL {limit} = 0" for limit in limits)]
        if relation.kind in "rpv" and relation.selectable:
            opening.append(f"LOCK TABLE {relation.sql} IN ACCESS SHARE MODE")
        try:
            connection.execute("; ".join(opening).encode())
            (name,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
            snapshot = Snapshot(name, server.version, connection)
        except psycopg.Error as error:
            raise translated(error, f"taking a snapshot to read {relation.label}", options.url) from error
        yield snapshot
    finally:
        with contextlib.suppress(psycopg.Error):  # it only ever read: whatever it says now changes nothing
            connection.close()


def plan_of(snapshot: Snapshot, options: PostgresOptions, query: str, relation: Relation, key: Sequence[str]) -> Scan:
    """What the planner expects of `query`, which reads the window in one go."""
    try:
        (plans,) = snapshot.row(f"EXPLAIN (FORMAT JSON) {query}")
        (blocks,) = snapshot.row(_blocks(relation))
        scan = Scan(*explained(plans), blocks=tuple(blocks or ()))
        number = _number_key(relation, key)
        if number and not (scan.blocks and snapshot.version >= TID_RANGE_SCANS):
            low, high = snapshot.row(f"SELECT min({quoted(number)}), max({quoted(number)}) FROM {relation.sql}")
            return replace(scan, key=number, key_range=(low, high) if low is not None else None)
        return scan
    except psycopg.Error as error:
        raise translated(error, f"planning how to read {relation.label}", options.url) from error


def explained(plans: Sequence[dict[str, Any]]) -> tuple[int, int, bool]:
    """(rows, bytes a row, whether an index finds them) of a plan in JSON."""
    if not plans:
        raise SourceError("EXPLAIN gave no plan", "this server is not Postgres, or one that hides its plans")
    plan = plans[0]["Plan"]
    return int(plan["Plan Rows"]), int(plan["Plan Width"]), _uses_index(plan)


def _uses_index(plan: dict[str, Any]) -> bool:
    if "Index" in plan["Node Type"]:
        return True
    children = plan.get("Plans", [])
    return bool(children) and all(_uses_index(child) for child in children)


def _blocks(relation: Relation) -> str:
    """Sizes of the heaps that hold the relation's rows; none when some part is no heap, so that ctids mean nothing."""
    return f"""
        WITH RECURSIVE tree(oid) AS (
          SELECT {relation.oid}::oid UNION SELECT h.inhrelid FROM tree JOIN pg_inherits h ON h.inhparent = tree.oid)
        SELECT CASE WHEN bool_and(t.relkind IN ('r', 'm', 'p') AND (t.relkind = 'p' OR am.amname = 'heap'))
               THEN array_agg(pg_relation_size(t.oid) / current_setting('block_size')::int8)
                    FILTER (WHERE t.relkind IN ('r', 'm')) END
        FROM tree JOIN pg_class t ON t.oid = tree.oid LEFT JOIN pg_am am ON am.oid = t.relam"""


def _number_key(relation: Relation, key: Sequence[str]) -> str:
    """The one column that key ranges can be cut by: an integer with a unique index and no NULL."""
    for columns in [tuple(key), *(index.columns for index in relation.indexes if index.unique)]:
        if len(columns) != 1:
            continue
        column = relation.column(columns[0])
        integer = column is not None and relation.types[column.type].name in ("int2", "int4", "int8")
        if column is not None and integer and column.not_null and relation.index_on(column.name):
            return column.name
    return ""
