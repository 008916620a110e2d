"""Model objects as the use cases return them, made by hand to be shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import Write
from seamark.model.plan import PipelinePlan, StreamPlan
from seamark.model.schema import Schema
from seamark.model.state import Holder, Lease, RunRecord, State, StoredBookmark, StreamState
from seamark.model.status import PipelineStatus, StreamStatus
from seamark.model.stream import Cursor, Mode, Shape, Stream
from seamark.model.window import Estimate, Hold, Window

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LOW = Bookmark.parse(BookmarkType.TIMESTAMPTZ, "2026-03-01T10:00:00Z")
HIGH = Bookmark.parse(BookmarkType.TIMESTAMPTZ, "2026-03-01T11:59:58Z")
ORDERS = Stream("orders", "public.orders", Mode.MERGE, key=("id",), cursor=Cursor("updated_at"))
COUNTRIES = Stream("countries", "public.countries", Mode.REPLACE)
EVENTS = Stream("events", "public.events", Mode.APPEND, cursor=Cursor("id"))


def stream_plan(**changes: object) -> StreamPlan:
    """Orders with a window, held back, on their way into a table that has to be made."""
    facts: dict[str, object] = {
        "stream": ORDERS,
        "shape": Shape(Schema()),
        "runs": True,
        "reason": f"there are rows from {LOW} on",
        "window": Window(LOW, HIGH),
        "bookmark": LOW,
        "write": Write.MERGE,
        "hold": Hold("session 4711 (psql, idle in transaction)", NOON - timedelta(minutes=3)),
        "estimate": Estimate(4200, 1_100_000),
        "splits": 4,
        "table": "/lake/orders",
    }
    return StreamPlan(**(facts | changes))  # type: ignore[arg-type]


def idle(stream: Stream = EVENTS) -> StreamPlan:
    return StreamPlan(stream, Shape(Schema()), runs=False, reason="nothing new since 17")


def broken() -> StreamPlan:
    problem = SourceError("stream 'events': there is no column 'idd'", "did you mean 'id'?")
    return StreamPlan(EVENTS, Shape(Schema()), runs=False, reason=problem.message, problem=problem)


def plan(*streams: StreamPlan) -> PipelinePlan:
    return PipelinePlan("shop", 3, streams or (stream_plan(), idle()))


def state() -> State:
    stored = StoredBookmark("{}", LOW, NOON, "run1", 3)
    department = StoredBookmark('{"department":"toys"}', Bookmark.of(BookmarkType.INTEGER, 42), NOON, "run2", 2)
    return State(
        "shop",
        "uuid",
        "incarnation",
        version=3,
        streams={
            "orders": StreamState("orders", "updated_at", "merge", 1234, NOON, 6, (stored,)),
            "events": StreamState("events", "id", "append", 7, NOON, 4, (department,)),
            "countries": StreamState("countries", "", "replace", 9, None, 2),
        },
    )


def status() -> PipelineStatus:
    holder = Holder("holder", "host-a", 4242)
    return PipelineStatus(
        "shop",
        "postgres",
        "delta",
        version=3,
        epoch=1,
        streams=(StreamStatus("orders", "merge", "updated_at", LOW.text, 1234, NOON),),
        last_run=RunRecord("run1", "shop", "failed", NOON, NOON, "host-a", 4242, error="it broke"),
        lease=Lease("shop", "incarnation", 7, holder, NOON, NOON + timedelta(seconds=30)),
        prepared=9,
    )
