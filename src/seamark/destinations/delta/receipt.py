"""What a commit carries beside the rows: whose it is, which checkpoint, which files, and the bookmarks they justify."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from seamark.model.checkpoint import Checkpoint, TableChange

if TYPE_CHECKING:
    from deltalake import DeltaTable

BOOKMARKS_LIMIT = 65_536
"""Bookmarks beyond so many characters are left out of a commit: every reader of the table's log reads it whole."""

HISTORY_LIMIT = 100


def write_receipt(checkpoint: Checkpoint, change: TableChange, number: int) -> str:
    """Goes into the commit's userMetadata, where both Spark and delta-rs show it in the table's history."""
    bookmarks = [
        {"stream": b.stream, "partition": b.partition, "type": b.after.type.value, "text": b.after.text}
        if b.after
        else {"stream": b.stream, "partition": b.partition, "text": None}
        for b in checkpoint.draft.bookmarks
    ]
    small = len(json.dumps(bookmarks)) <= BOOKMARKS_LIMIT
    return _dump(
        {
            "pipeline": checkpoint.pipeline,
            "pipeline_uuid": checkpoint.pipeline_uuid,
            "incarnation": checkpoint.incarnation,
            "run_id": checkpoint.run_id,
            "stream": change.stream,
            "seq": checkpoint.seq,
            "number": number,
            "digest": change.digest,
            "bookmarks": bookmarks if small and number == checkpoint.number else None,
        }
    )


def write_fence(pipeline_uuid: str, number: int) -> str:
    """For a commit that belongs to no checkpoint: it only raises the number."""
    return _dump({"pipeline_uuid": pipeline_uuid, "number": number, "seq": number // 2})


def find_receipt(handle: DeltaTable, pipeline_uuid: str, number: int) -> dict[str, Any] | None:
    """The receipt of the commit that recorded `number`, among the newest commits."""
    for limit in (1, HISTORY_LIMIT):
        for entry in handle.history(limit):
            receipt = _load(entry.get("userMetadata"))
            if receipt.get("pipeline_uuid") == pipeline_uuid and receipt.get("number") == number:
                return receipt
    return None


def _dump(facts: dict[str, Any]) -> str:
    return json.dumps({"seamark": facts}, separators=(",", ":"), ensure_ascii=False)


def _load(text: Any) -> dict[str, Any]:
    """Anyone may write userMetadata: what is not a receipt is none."""
    try:
        receipt = json.loads(text)["seamark"]
    except (TypeError, ValueError, KeyError, IndexError):
        return {}
    return receipt if isinstance(receipt, dict) else {}
