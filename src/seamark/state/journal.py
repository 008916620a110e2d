"""The journal: runs, history, pipelines and the audit, for people to look at."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from seamark.errors import StateError
from seamark.model.state import HistoryEntry, PipelineRecord, RunRecord
from seamark.state.checksum import verified
from seamark.state.database import Database
from seamark.state.rows import history_of, pipeline_record_of, run_of, run_row
from seamark.state.tables import audit, history, pipelines, runs


class SqlJournal:
    """`state.store.Journal` in a SQL database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start_run(self, record: RunRecord) -> None:
        with self._db.writing() as connection:
            connection.execute(insert(runs), run_row(record))

    def end_run(self, run_id: str, status: str, result: dict[str, Any], error: str) -> None:
        with self._db.writing() as connection:
            ended = {
                "status": status,
                "ended_at": self._db.clock(connection),
                "result": json.dumps(result, default=str),
                "error": error,
            }
            if connection.execute(update(runs).where(runs.c.run_id == run_id).values(ended)).rowcount == 0:
                raise StateError(f"run {run_id!r} was never started in {self._db.location}", "Start it first.")

    def runs(self, pipeline: str, limit: int = 20) -> list[RunRecord]:
        query = select(runs).where(runs.c.pipeline == pipeline).order_by(runs.c.id.desc()).limit(limit)
        with self._db.reading() as connection:
            return [run_of(row._asdict()) for row in connection.execute(query)]

    def history(self, pipeline: str, stream: str | None = None, limit: int = 100) -> list[HistoryEntry]:
        query = select(history).where(history.c.pipeline == pipeline)
        if stream is not None:
            query = query.where(history.c.stream == stream)
        query = query.order_by(history.c.version.desc(), history.c.stream, history.c.partition).limit(limit)
        with self._db.reading() as connection:
            return [history_of(verified(history, row)) for row in connection.execute(query).mappings()]

    def pipelines(self) -> list[PipelineRecord]:
        with self._db.reading() as connection:
            rows = connection.execute(select(pipelines).order_by(pipelines.c.pipeline)).mappings()
            return [pipeline_record_of(verified(pipelines, row)) for row in rows]

    def note(self, actor: str, action: str, pipeline: str, reason: str, before: str, after: str) -> None:
        with self._db.writing() as connection:
            write_note(connection, self._db.clock(connection), actor, action, pipeline, reason, before, after)

    def audit(self, pipeline: str, limit: int = 100) -> list[dict[str, Any]]:
        columns = [column for column in audit.columns if column.name != "id"]
        query = select(*columns).where(audit.c.pipeline == pipeline).order_by(audit.c.id.desc()).limit(limit)
        with self._db.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def write_note(
    connection: Connection,
    at: datetime,
    actor: str,
    action: str,
    pipeline: str,
    reason: str,
    before: str,
    after: str,
) -> None:
    line = {"at": at, "actor": actor, "action": action, "pipeline": pipeline, "reason": reason}
    connection.execute(insert(audit), {**line, "before": before, "after": after})
