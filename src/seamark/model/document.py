"""Model data as JSON documents: the shapes that the command line and the server give out and that people rely on."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from seamark.model.bookmark import Bookmark
from seamark.model.plan import PipelinePlan, StreamPlan
from seamark.model.state import HistoryEntry, Lease, PipelineRecord, RunRecord, State, StoredBookmark, StreamState
from seamark.model.status import ConnectorInfo, PipelineListing, PipelineStatus, StreamStatus
from seamark.model.stream import TableInfo

Document = dict[str, Any]


def state_document(state: State) -> Document:
    return {
        "pipeline": state.pipeline,
        "version": state.version,
        "epoch": state.epoch,
        "streams": {name: _stream_state(stream) for name, stream in state.streams.items()},
    }


def history_document(entry: HistoryEntry) -> Document:
    return {
        "version": entry.version,
        "seq": entry.seq,
        "stream": entry.stream,
        "partition": json.loads(entry.partition),
        "from": _text(entry.before),
        "to": _text(entry.after),
        "rows": entry.rows,
        "run_id": entry.run_id,
        "actor": entry.actor,
        "reason": entry.reason,
        "at": _time(entry.at),
    }


def pipeline_document(record: PipelineRecord) -> Document:
    return {
        "pipeline": record.name,
        "uuid": record.uuid,
        "version": record.version,
        "epoch": record.epoch,
        "streams": record.streams,
        "updated_at": _time(record.updated_at),
    }


def listing_document(listing: PipelineListing) -> Document:
    return {
        "pipeline": listing.name,
        "file": listing.file,
        "source": listing.source,
        "destination": listing.destination,
        "streams": list(listing.streams),
        "problem": listing.problem or None,
    }


def status_document(status: PipelineStatus) -> Document:
    return {
        "pipeline": status.name,
        "source": status.source,
        "destination": status.destination,
        "version": status.version,
        "epoch": status.epoch,
        "streams": [_stream_status(stream) for stream in status.streams],
        "last_run": _run(status.last_run) if status.last_run else None,
        "lease": _lease(status.lease) if status.lease else None,
        "prepared": status.prepared,
    }


def plan_document(plan: PipelinePlan) -> Document:
    return {
        "pipeline": plan.pipeline,
        "state_version": plan.state_version,
        "has_work": plan.has_work,
        "streams": [_stream_plan(stream) for stream in plan.streams],
    }


def table_document(table: TableInfo) -> Document:
    return {
        "table": table.name,
        "columns": [
            {"name": c.name, "type": str(c.type), "nullable": c.nullable, "source_type": c.source_type or None}
            for c in table.schema
        ],
        "key": list(table.key),
        "cursors": [{"field": c.field, "type": c.type.value, "why": c.why} for c in table.cursors],
        "rows": table.rows,
        "bytes": table.bytes,
        "comment": table.comment or None,
        "problems": list(table.problems),
    }


def connector_document(info: ConnectorInfo) -> Document:
    return {
        "role": info.role,
        "type": info.kind,
        "summary": info.summary,
        "capabilities": dict(info.capabilities),
        "problem": info.problem or None,
    }


def _stream_state(stream: StreamState) -> Document:
    return {
        "cursor": stream.cursor or None,
        "bookmarks": [_stored(bookmark) for bookmark in stream.bookmarks],
        "rows_total": stream.rows_total,
        "last_sync": _time(stream.last_sync),
    }


def _stored(stored: StoredBookmark) -> Document:
    return {
        "partition": json.loads(stored.partition),
        "value": stored.bookmark.text,
        "updated_at": _time(stored.updated_at),
        "run_id": stored.run_id,
    }


def _stream_status(stream: StreamStatus) -> Document:
    return {
        "name": stream.name,
        "mode": stream.mode,
        "cursor": stream.cursor or None,
        "bookmark": stream.bookmark,
        "rows_total": stream.rows_total,
        "last_sync": _time(stream.last_sync),
    }


def _run(run: RunRecord) -> Document:
    return {
        "run_id": run.run_id,
        "status": run.status,
        "started_at": _time(run.started_at),
        "ended_at": _time(run.ended_at),
        "host": run.host,
        "pid": run.pid,
        "error": run.error or None,
    }


def _lease(lease: Lease) -> Document:
    return {
        "host": lease.holder.host,
        "pid": lease.holder.pid,
        "token": lease.token,
        "since": _time(lease.acquired_at),
        "expires_at": _time(lease.expires_at),
    }


def _stream_plan(plan: StreamPlan) -> Document:
    stream, window = plan.stream, plan.window
    return {
        "name": stream.name,
        "table": stream.table,
        "mode": stream.mode.value,
        "key": list(stream.key),
        "cursor": stream.cursor.field if stream.cursor else None,
        "runs": plan.runs,
        "reason": plan.reason,
        "bookmark": _text(plan.bookmark),
        "window": {"from": _text(window.low), "to": _text(window.high), "nulls": window.nulls} if window else None,
        "held_by": {"reason": plan.hold.reason, "since": _time(plan.hold.since)} if plan.hold else None,
        "estimate": {"rows": plan.estimate.rows, "bytes": plan.estimate.bytes, "exact": plan.estimate.exact},
        "splits": plan.splits,
        "write": plan.write.value,
        "destination": plan.table,
        "creates": plan.creates,
        "warnings": list(plan.warnings),
        "error": plan.problem.message if plan.problem else None,
    }


def _text(bookmark: Bookmark | None) -> str | None:
    return bookmark.text if bookmark is not None else None


def _time(at: datetime | None) -> str | None:
    """An instant in UTC; one without a zone is in UTC already."""
    if at is None:
        return None
    return (at.astimezone(UTC) if at.tzinfo else at).replace(tzinfo=None).isoformat() + "Z"
