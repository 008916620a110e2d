"""Checkpoints' rows: prepared once, then committed or void; never prepared again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from seamark.model.checkpoint import Checkpoint, dump_draft
from seamark.state.checksum import Values, checked_columns, corrupt, describe, digest, sealed, verified
from seamark.state.rows import checkpoint_of
from seamark.state.tables import checkpoints, pipelines
from seamark.state.turn import Turn, own, write_pipeline

PREPARED, COMMITTED, VOID = "prepared", "committed", "void"

_AT_ONCE = 500
"""Values of an IN; every database takes that many parameters."""


def write_prepared(ours: Turn, checkpoint: Checkpoint) -> None:
    draft = dump_draft(checkpoint.draft)
    row = {
        "pipeline": checkpoint.pipeline,
        "seq": checkpoint.seq,
        "pipeline_uuid": checkpoint.pipeline_uuid,
        "incarnation": checkpoint.incarnation,
        "token": checkpoint.token,
        "run_id": checkpoint.run_id,
        "status": PREPARED,
        "has_rows": False,
        "digest": digest(draft),
        "prepared_at": ours.now,
        "committed_at": None,
        "draft": draft,
    }
    ours.connection.execute(insert(checkpoints), sealed(checkpoints, row))


def read_prepared(connection: Connection, pipeline: Values) -> Checkpoint:
    """The checkpoint that the pipeline's row says is prepared."""
    row = connection.execute(select(checkpoints).where(*_this(pipeline))).mappings().first()
    if row is None:
        corrupt(f"checkpoint {pipeline['prepared']} of pipeline {pipeline['pipeline']!r} is prepared and not there")
    values = verified(checkpoints, row)
    if digest(values["draft"]) != values["digest"]:
        corrupt(f"the draft in {describe(checkpoints, values)} is not what was prepared")
    return checkpoint_of(values)


def mark_committed(connection: Connection, pipeline: Values, has_rows: bool, now: datetime) -> None:
    _rewrite(connection, pipeline, status=COMMITTED, has_rows=has_rows, committed_at=now)


def void_all_prepared(connection: Connection, now: datetime) -> None:
    """No checkpoint of before can be finished any more: their incarnation is over."""
    names = connection.execute(select(pipelines.c.pipeline).where(pipelines.c.prepared.is_not(None)))
    for name in sorted(names.scalars()):
        row = own(connection, name)
        if row is not None and row["prepared"] is not None:
            _rewrite(connection, row, status=VOID)
            write_pipeline(connection, row, prepared=None, updated_at=now)


def published(connection: Connection, pipeline: str, seqs: Sequence[int]) -> set[tuple[int, int]]:
    """(token, seq) of those checkpoints whose rows are in a table, or may still get there."""
    columns = checked_columns(checkpoints)
    found: set[tuple[int, int]] = set()
    for start in range(0, len(seqs), _AT_ONCE):
        some = checkpoints.c.seq.in_(seqs[start : start + _AT_ONCE])
        for row in connection.execute(select(*columns).where(checkpoints.c.pipeline == pipeline, some)).mappings():
            verified(checkpoints, row)
            # A void one was never resolved: for all we know its rows are in a table.
            if row["has_rows"] or row["status"] != COMMITTED:
                found.add((row["token"], row["seq"]))
    return found


def _rewrite(connection: Connection, pipeline: Values, **changes: Any) -> None:
    columns = checked_columns(checkpoints)
    row = connection.execute(select(*columns).where(*_this(pipeline))).mappings().one()
    values = sealed(checkpoints, {**verified(checkpoints, row), **changes})
    connection.execute(update(checkpoints).where(*_this(pipeline)).values(values))


def _this(pipeline: Values) -> tuple[Any, ...]:
    return checkpoints.c.pipeline == pipeline["pipeline"], checkpoints.c.seq == pipeline["prepared"]
