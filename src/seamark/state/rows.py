"""Rows to model and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import BookmarkChange, Checkpoint, load_draft
from seamark.model.state import (
    HistoryEntry,
    Holder,
    Lease,
    PipelineRecord,
    RunRecord,
    State,
    StoredBookmark,
    StreamState,
)

Row = Mapping[str, Any]


def lease_of(row: Row) -> Lease:
    holder = Holder(row["holder"], row["host"], row["pid"], row["started"])
    return Lease(row["pipeline"], row["incarnation"], row["token"], holder, row["acquired_at"], row["expires_at"])


def lease_row(lease: Lease) -> dict[str, Any]:
    return {
        "pipeline": lease.pipeline,
        "token": lease.token,
        "incarnation": lease.incarnation,
        "holder": lease.holder.id,
        "host": lease.holder.host,
        "pid": lease.holder.pid,
        "started": lease.holder.started,
        "acquired_at": lease.acquired_at,
        "expires_at": lease.expires_at,
    }


def new_pipeline_row(pipeline: str, uuid: str, now: datetime) -> dict[str, Any]:
    return {
        "pipeline": pipeline,
        "uuid": uuid,
        "version": 0,
        "epoch": 1,
        "next_seq": 1,
        "prepared": None,
        "adopted_by": None,
        "streams": 0,
        "bookmarks": 0,
        "updated_at": now,
    }


def state_of(row: Row, incarnation: str, streams: dict[str, StreamState]) -> State:
    return State(
        pipeline=row["pipeline"],
        uuid=row["uuid"],
        incarnation=incarnation,
        version=row["version"],
        epoch=row["epoch"],
        next_seq=row["next_seq"],
        adopted=row["adopted_by"] == incarnation,
        streams=streams,
    )


def stream_of(row: Row, bookmarks: Iterable[StoredBookmark]) -> StreamState:
    return StreamState(
        name=row["stream"],
        cursor=row["cursor"],
        mode=row["mode"],
        rows_total=row["rows_total"],
        last_sync=row["last_sync"],
        recorded=row["recorded"],
        bookmarks=tuple(sorted(bookmarks, key=lambda bookmark: bookmark.partition)),
    )


def stream_row(pipeline: str, stream: StreamState) -> dict[str, Any]:
    return {
        "pipeline": pipeline,
        "stream": stream.name,
        "cursor": stream.cursor,
        "mode": stream.mode,
        "rows_total": stream.rows_total,
        "last_sync": stream.last_sync,
        "recorded": stream.recorded,
    }


def bookmark_of(row: Row) -> Bookmark:
    return Bookmark(BookmarkType(row["type"]), row["value"])


def stored_bookmark_of(row: Row) -> StoredBookmark:
    return StoredBookmark(row["partition"], bookmark_of(row), row["updated_at"], row["run_id"], row["version"])


def bookmark_row(checkpoint: Checkpoint, change: BookmarkChange, version: int, now: datetime) -> dict[str, Any]:
    assert change.after is not None
    return {
        "pipeline": checkpoint.pipeline,
        "stream": change.stream,
        "partition": change.partition,
        "type": change.after.type.value,
        "value": change.after.text,
        "updated_at": now,
        "run_id": checkpoint.run_id,
        "version": version,
    }


def checkpoint_of(row: Row) -> Checkpoint:
    return Checkpoint(
        pipeline=row["pipeline"],
        pipeline_uuid=row["pipeline_uuid"],
        incarnation=row["incarnation"],
        token=row["token"],
        seq=row["seq"],
        run_id=row["run_id"],
        draft=load_draft(row["draft"]),
    )


def history_of(row: Row) -> HistoryEntry:
    return HistoryEntry(
        version=row["version"],
        seq=row["seq"],
        stream=row["stream"],
        partition=row["partition"],
        before=_bookmark(row["before_type"], row["before"]),
        after=_bookmark(row["after_type"], row["after"]),
        rows=row["rows"],
        run_id=row["run_id"],
        actor=row["actor"],
        reason=row["reason"],
        at=row["at"],
    )


def history_row(pipeline: str, entry: HistoryEntry) -> dict[str, Any]:
    return {
        "pipeline": pipeline,
        "version": entry.version,
        "stream": entry.stream,
        "partition": entry.partition,
        "seq": entry.seq,
        "before_type": entry.before and entry.before.type.value,
        "before": entry.before and entry.before.text,
        "after_type": entry.after and entry.after.type.value,
        "after": entry.after and entry.after.text,
        "rows": entry.rows,
        "run_id": entry.run_id,
        "actor": entry.actor,
        "reason": entry.reason,
        "at": entry.at,
    }


def run_of(row: Row) -> RunRecord:
    return RunRecord(
        run_id=row["run_id"],
        pipeline=row["pipeline"],
        status=row["status"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        host=row["host"],
        pid=row["pid"],
        result=json.loads(row["result"]),
        error=row["error"],
    )


def run_row(record: RunRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "pipeline": record.pipeline,
        "status": record.status,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "host": record.host,
        "pid": record.pid,
        "result": json.dumps(record.result, default=str),
        "error": record.error,
    }


def pipeline_record_of(row: Row) -> PipelineRecord:
    return PipelineRecord(
        name=row["pipeline"],
        uuid=row["uuid"],
        version=row["version"],
        epoch=row["epoch"],
        streams=row["streams"],
        updated_at=row["updated_at"],
    )


def _bookmark(kind: str | None, text: str | None) -> Bookmark | None:
    return None if kind is None or text is None else Bookmark(BookmarkType(kind), text)
