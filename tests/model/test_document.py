from __future__ import annotations

import json
from dataclasses import replace

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.document import (
    connector_document,
    history_document,
    listing_document,
    pipeline_document,
    plan_document,
    state_document,
    status_document,
    table_document,
)
from seamark.model.schema import Column, DataType, Schema
from seamark.model.state import HistoryEntry, PipelineRecord
from seamark.model.status import ConnectorInfo, PipelineListing
from seamark.model.stream import CursorCandidate, TableInfo
from tests.cli.hand_made import HIGH, LOW, NOON, broken, idle, plan, state, status, stream_plan


def test_state_has_the_shape_that_programs_rely_on() -> None:
    assert state_document(state()) == {
        "pipeline": "shop",
        "version": 3,
        "epoch": 1,
        "streams": {
            "orders": {
                "cursor": "updated_at",
                "bookmarks": [
                    {
                        "partition": {},
                        "value": "2026-03-01T10:00:00.000000Z",
                        "updated_at": "2026-03-01T12:00:00Z",
                        "run_id": "run1",
                    }
                ],
                "rows_total": 1234,
                "last_sync": "2026-03-01T12:00:00Z",
            },
            "events": {
                "cursor": "id",
                "bookmarks": [
                    {
                        "partition": {"department": "toys"},
                        "value": "42",
                        "updated_at": "2026-03-01T12:00:00Z",
                        "run_id": "run2",
                    }
                ],
                "rows_total": 7,
                "last_sync": "2026-03-01T12:00:00Z",
            },
            "countries": {"cursor": None, "bookmarks": [], "rows_total": 9, "last_sync": None},
        },
    }


def test_a_plan_tells_window_hold_estimate_and_write() -> None:
    document = plan_document(plan(stream_plan(creates=True), idle(), broken()))
    assert (document["pipeline"], document["state_version"], document["has_work"]) == ("shop", 3, True)
    orders, resting, failing = document["streams"]
    assert orders["window"] == {"from": LOW.text, "to": HIGH.text, "nulls": False}
    assert orders["held_by"] == {"reason": "session 4711 (psql, idle in transaction)", "since": "2026-03-01T11:57:00Z"}
    assert orders["estimate"] == {"rows": 4200, "bytes": 1_100_000, "exact": False}
    assert (orders["write"], orders["destination"], orders["creates"], orders["splits"]) == (
        "merge",
        "/lake/orders",
        True,
        4,
    )
    assert (resting["runs"], resting["window"], resting["held_by"], resting["error"]) == (False, None, None, None)
    assert failing["error"] == "stream 'events': there is no column 'idd'"


def test_status_tells_the_last_run_the_holder_and_what_is_unfinished() -> None:
    document = status_document(status())
    assert document["last_run"]["status"] == "failed"
    assert document["last_run"]["error"] == "it broke"
    assert document["lease"] == {
        "host": "host-a",
        "pid": 4242,
        "token": 7,
        "since": "2026-03-01T12:00:00Z",
        "expires_at": "2026-03-01T12:00:30Z",
    }
    assert document["prepared"] == 9
    assert document["streams"][0]["bookmark"] == LOW.text
    never_ran = status_document(replace(status(), last_run=None, lease=None, prepared=None))
    assert (never_ran["last_run"], never_ran["lease"], never_ran["prepared"]) == (None, None, None)


def test_history_tells_both_ends_and_who_did_it() -> None:
    entry = HistoryEntry(3, 5, "orders", "{}", None, LOW, 10, "run1", "ann", "load", NOON)
    document = history_document(entry)
    assert (document["from"], document["to"], document["actor"]) == (None, LOW.text, "ann")
    assert document["at"] == "2026-03-01T12:00:00Z"


def test_a_table_tells_its_columns_key_and_cursors() -> None:
    table = TableInfo(
        "public.orders",
        Schema((Column("id", DataType("int64"), nullable=False, source_type="bigint"),)),
        ("id",),
        (CursorCandidate("id", BookmarkType.INTEGER, "a serial key"),),
    )
    document = table_document(table)
    assert document["columns"] == [{"name": "id", "type": "int64", "nullable": False, "source_type": "bigint"}]
    assert document["cursors"] == [{"field": "id", "type": "integer", "why": "a serial key"}]


def test_every_document_is_json() -> None:
    bookmark = Bookmark.of(BookmarkType.BYTES, b"\x00\xff")
    documents = [
        state_document(state()),
        plan_document(plan()),
        status_document(status()),
        history_document(HistoryEntry(1, 1, "s", '{"a":1}', bookmark, None, 0, "r", "a", "", NOON)),
        pipeline_document(PipelineRecord("shop", "uuid", 3, 1, 2, NOON)),
        listing_document(PipelineListing("shop", "pipelines/shop.yaml", problem="line 3: no")),
        connector_document(ConnectorInfo("source", "sqlite", "SQLite", (("exact", "yes"),))),
    ]
    assert json.loads(json.dumps(documents)) == documents
