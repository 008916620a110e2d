"""Check: whether a pipeline is fit to run, as far as that can be told without moving a row."""

from __future__ import annotations

from seamark.errors import SeamarkError
from seamark.model.state import State
from seamark.model.stream import Stream
from seamark.sources.base import Finding
from seamark.sync.context import Context
from seamark.sync.plan import state_to_look_at
from seamark.sync.tables import require_agreement


def check(ctx: Context) -> list[Finding]:
    """Everything found, the source first; one that can't be reached ends it, since the rest would only repeat that."""
    try:
        findings = ctx.source.check([s for s in ctx.streams if not ctx.only or s.name in ctx.only])
    except SeamarkError as error:
        return [_finding("source", error)]
    state = state_to_look_at(ctx)
    findings.append(Finding("ok", "state store", f"{ctx.store.location}, version {state.version}"))
    for stream in ctx.streams:
        if not ctx.only or stream.name in ctx.only:
            findings.append(_check_stream(ctx, stream, state))
    return findings


def _check_stream(ctx: Context, stream: Stream, state: State) -> Finding:
    """The stream's columns, and the table they are to go to."""
    subject = f"stream {stream.name}"
    try:
        shape = ctx.source.shape(stream)
        table = ctx.destination.table_of(stream)
        facts = ctx.destination.facts(table)
        require_agreement(ctx.pipeline, state, stream.name, table, facts, ctx.full_refresh or not ctx.use_state)
        if facts is not None:
            ctx.destination.fit(table, shape, replacing=False)
    except SeamarkError as error:
        return _finding(subject, error)
    where = "into" if facts is not None else "into a new table,"
    return Finding("ok", subject, f"{len(shape.schema)} columns, {stream.mode} {where} {table}")


def _finding(subject: str, error: SeamarkError) -> Finding:
    return Finding("error", subject, error.message, error.hint)
