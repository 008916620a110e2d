"""Plan: read the state at one version, ask the source what is new, freeze the windows. Nothing is changed anywhere."""

from __future__ import annotations

from dataclasses import replace

from seamark.destinations.base import TableFacts
from seamark.errors import (
    Cancelled,
    ConfigError,
    SchemaConflict,
    SeamarkError,
    SourceError,
    SourceUnavailable,
    StateConflict,
    StateError,
)
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import Write
from seamark.model.plan import PipelinePlan, StreamPlan, choose_write
from seamark.model.schema import Schema
from seamark.model.state import State, StreamState
from seamark.model.stream import Mode, NullPolicy, Shape, Stream
from seamark.model.window import Estimate, Frontier, Window, lookback_fits, next_window
from seamark.sync.context import Context
from seamark.sync.tables import require_agreement

ENDS_THE_RUN = (SourceUnavailable, StateError, StateConflict, Cancelled)


def make_plan(ctx: Context, state: State) -> PipelinePlan:
    """What a run would do to each stream, from one version of the state."""
    chosen = [stream for stream in ctx.streams if not ctx.only or stream.name in ctx.only]
    return PipelinePlan(ctx.pipeline, state.version, tuple(_plan_or_problem(ctx, stream, state) for stream in chosen))


def state_to_look_at(ctx: Context) -> State:
    """The state to plan by without a lease: a checkpoint being published may be in its tables already, which does
    not make the state an old copy."""
    state, prepared = ctx.store.checkpoints.state(ctx.pipeline), ctx.store.checkpoints.prepared(ctx.pipeline)
    if prepared is None:
        return state
    streams = dict(state.streams)
    for change in prepared.draft.tables:
        facts = ctx.destination.facts(change.table)
        if facts is not None and facts.recorded in (prepared.number, prepared.tombstone):
            streams[change.stream] = replace(state.stream(change.stream), recorded=facts.recorded)
    return replace(state, streams=streams)


def count_splits(ctx: Context, plan: PipelinePlan) -> PipelinePlan:
    """The plan with the number of splits that a run would read right now, for people."""

    def counted(stream: StreamPlan) -> StreamPlan:
        if not stream.runs or stream.window is None:
            return stream
        with ctx.source.read(stream.stream, stream.shape, stream.window, ctx.engine.parallelism()) as reading:
            return replace(stream, splits=len(reading.splits))

    return replace(plan, streams=tuple(counted(stream) for stream in plan.streams))


def _plan_or_problem(ctx: Context, stream: Stream, state: State) -> StreamPlan:
    ctx.cancellation.heed()
    try:
        return _plan_stream(ctx, stream, state)
    except ENDS_THE_RUN:
        raise
    except SeamarkError as error:
        return StreamPlan(stream, Shape(Schema()), runs=False, reason=error.message, problem=error)


def _plan_stream(ctx: Context, stream: Stream, state: State) -> StreamPlan:
    shape = _with_sure_key(stream, ctx.source.shape(stream))
    stored = state.stream(stream.name)
    starts_over = ctx.full_refresh or not ctx.use_state or stream.mode is Mode.REPLACE
    bookmark = None if starts_over else stored.bookmark()
    _require_same_cursor(stream, shape, stored, bookmark)
    frontier = Frontier(None)
    window: Window | None = Window()
    if stream.cursor is not None and stream.mode is not Mode.REPLACE:
        _require_fitting_lookback(stream, shape)
        frontier = ctx.source.frontier(stream, shape, bookmark)
        _require_no_nulls(stream, frontier)
        window = next_window(bookmark, frontier, stream.cursor.lookback, stream.cursor.nulls)
    if starts_over and frontier.high is None and frontier.newest is not None:
        raise SourceError(
            f"stream {stream.name!r} can't be loaded anew: {_why_idle(None, frontier)}",
            "run it again once that has ended",
        )
    empties = window is None and starts_over and frontier.newest is None
    plan = StreamPlan(stream, shape, runs=False, reason="", window=window, bookmark=bookmark, hold=frontier.hold)
    if window is None and not empties:
        return _idle(ctx, plan, state, frontier)
    return _busy(ctx, plan, state, starts_over)


def _idle(ctx: Context, plan: StreamPlan, state: State, frontier: Frontier) -> StreamPlan:
    """Nothing to read now. A stream that never ran still gets its (empty) table."""
    table = ctx.destination.table_of(plan.stream)
    plan = replace(plan, table=table, reason=_why_idle(plan.bookmark, frontier))
    stored = state.stream(plan.stream.name)
    if stored.last_sync is not None:
        return plan
    facts = _facts(ctx, plan, state, everything=stored.recorded < 0)
    return plan if facts else replace(plan, runs=True, creates=True, reason=f"{plan.reason}; its table is made")


def _busy(ctx: Context, plan: StreamPlan, state: State, starts_over: bool) -> StreamPlan:
    stream = plan.stream
    plan = replace(plan, table=ctx.destination.table_of(stream))
    facts = _facts(ctx, plan, state, starts_over)
    write = choose_write(
        stream.mode,
        starts_over=starts_over,
        table_has_rows=facts is not None and facts.has_rows,
        unique_key=plan.shape.key_is_unique,
    )
    if facts is not None:
        _require_same_partitions(plan, facts)
        ctx.destination.fit(plan.table, plan.shape, write is Write.REPLACE)
    return replace(
        plan,
        runs=True,
        creates=facts is None,
        reason=_why_busy(ctx, plan),
        write=write,
        estimate=ctx.source.estimate(stream, plan.window) if plan.window else Estimate(0, 0, exact=True),
        warnings=_warnings(plan),
    )


def _facts(ctx: Context, plan: StreamPlan, state: State, everything: bool) -> TableFacts | None:
    facts = ctx.destination.facts(plan.table)
    require_agreement(ctx.pipeline, state, plan.stream.name, plan.table, facts, everything)
    return facts


def _why_idle(bookmark: Bookmark | None, frontier: Frontier) -> str:
    if frontier.newest is None:
        return "the table is empty" if not frontier.nulls else "every cursor is NULL"
    if frontier.high is None or (bookmark is not None and frontier.newest >= bookmark):
        held = f": {frontier.hold.reason}" if frontier.hold else ""
        return f"there are newer rows, but none that is safe to read yet{held}"
    return f"nothing new since {bookmark}"


def _why_busy(ctx: Context, plan: StreamPlan) -> str:
    if ctx.full_refresh:
        return "a full refresh was asked for"
    if not ctx.use_state:
        return "the pipeline keeps no state, so everything is read every time"
    if plan.stream.mode is Mode.REPLACE:
        return "the whole table is replaced every time"
    if plan.stream.cursor is None:
        return "it has no cursor, so every row is read and merged every time"
    return f"there are rows from {plan.bookmark} on" if plan.bookmark is not None else "it has not been loaded yet"


def _warnings(plan: StreamPlan) -> tuple[str, ...]:
    if plan.stream.mode is Mode.MERGE and not plan.shape.key_is_unique:
        key = ", ".join(plan.stream.key)
        return (f"the source doesn't enforce the key ({key}): rows are compared before the merge, which is slower",)
    return ()


def _with_sure_key(stream: Stream, shape: Shape) -> Shape:
    """A cast can make two keys one, whatever the source enforces."""
    cast = {name for name, _ in stream.cast}
    return replace(shape, key_is_unique=shape.key_is_unique and not cast.intersection(stream.key))


def _require_same_partitions(plan: StreamPlan, facts: TableFacts) -> None:
    if facts.partition_by != plan.stream.partition_by:
        raise SchemaConflict(
            f"{plan.table} is partitioned by {list(facts.partition_by)}, and stream {plan.stream.name!r} asks for "
            f"{list(plan.stream.partition_by)}",
            "put `partition_by:` back, or give the stream another name, and so a new table",
        )


def _require_same_cursor(stream: Stream, shape: Shape, stored: StreamState, bookmark: Bookmark | None) -> None:
    field = stream.cursor.field if stream.cursor else ""
    if bookmark is None:
        return
    if stored.cursor == field and bookmark.type is shape.cursor_type:
        return
    raise ConfigError(
        f"stream {stream.name!r}: its bookmark {bookmark} ({bookmark.type}) was made by cursor {stored.cursor!r}, "
        f"and the cursor is now {field!r} ({shape.cursor_type})",
        f"go back to {stored.cursor!r}, or load it again: --stream {stream.name} --full-refresh",
    )


def _require_fitting_lookback(stream: Stream, shape: Shape) -> None:
    cursor = stream.cursor
    if cursor is None or shape.cursor_type is None or lookback_fits(shape.cursor_type, cursor.lookback):
        return
    raise ConfigError(
        f"stream {stream.name!r}: a lookback of {cursor.lookback} does not fit the cursor {cursor.field!r}, "
        f"which is of type {shape.cursor_type}",
        "write a duration (`lookback: 10m`) for dates and times, a number for numbers; other cursors take none",
    )


def _require_no_nulls(stream: Stream, frontier: Frontier) -> None:
    assert stream.cursor is not None
    if frontier.nulls and stream.cursor.nulls is NullPolicy.FAIL:
        raise SourceError(
            f"stream {stream.name!r}: {frontier.nulls} or more rows have NULL in the cursor {stream.cursor.field!r}",
            f"say what to do with them: cursor: {{field: {stream.cursor.field}, nulls: include}} reads them, "
            "nulls: exclude leaves them out",
        )
