"""A plan in words: per stream why it runs or not, what it reads, what holds the mark back, what it writes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from seamark.cli.output import facts, heading, say
from seamark.cli.progress import plan_in_short
from seamark.cli.terminal import clean, is_terminal, styled
from seamark.cli.wording import ago, counted, moment, size
from seamark.model.checkpoint import Write
from seamark.model.plan import PipelinePlan, StreamPlan
from seamark.model.window import Estimate, Hold

_WRITES = {
    Write.APPEND: "appends to",
    Write.MERGE: "merges into",
    Write.REPLACE: "replaces all of",
    Write.NOTHING: "nothing to",
}


def show_plan(plan: PipelinePlan) -> None:
    heading(f"{plan.pipeline}, state version {plan.state_version}: {plan_in_short(plan)}")
    for stream in plan.streams:
        say()
        say(f"  {styled(clean(stream.stream.name), 'bold', sys.stdout)}  {clean(_rule(stream))}")
        facts(explain(stream), indent=4)
    say()


def explain(plan: StreamPlan) -> Iterator[tuple[str, str]]:
    """What there is to say of one stream, as name and value."""
    if plan.problem is not None:
        yield "can't run", plan.problem.message
        if plan.problem.hint:
            yield "to do", plan.problem.hint
        return
    yield ("runs" if plan.runs else "rests"), plan.reason
    if plan.bookmark is not None:
        yield "bookmark", plan.bookmark.text
    if plan.runs and plan.window is not None:
        yield "reads", _window(plan)
    if plan.hold is not None:
        yield "held back", _hold(plan.hold)
    if plan.runs:
        yield from _effect(plan)
    for warning in plan.warnings:
        yield "warning", warning


def _effect(plan: StreamPlan) -> Iterator[tuple[str, str]]:
    if plan.window is not None:
        yield "expects", expected(plan.estimate) + (f" in {counted(plan.splits, 'split')}" if plan.splits else "")
    created = ", which is made first" if plan.creates else ""
    key = f" by {', '.join(plan.stream.key)}" if plan.write is Write.MERGE else ""
    if plan.window is not None or created:
        yield "writes", f"{_WRITES[plan.write]} {plan.table}{key}{created}"


def _rule(plan: StreamPlan) -> str:
    stream = plan.stream
    parts = [f"{stream.mode.value} by {', '.join(stream.key)}" if stream.key else stream.mode.value]
    if stream.cursor is not None:
        parts.append(f"cursor {stream.cursor.field}")
    return ", ".join(parts) + f", from {stream.table}"


def _window(plan: StreamPlan) -> str:
    window = plan.window
    cursor = plan.stream.cursor
    if window is None or cursor is None or (window.high is None and not window.nulls):
        return "all rows"
    low = f"{window.low} <= " if window.low is not None else ""
    nulls = f", and rows whose {cursor.field} is NULL" if window.nulls else ""
    if window.low == window.high:
        return nulls.removeprefix(", and ") or "no rows"
    return f"{low}{cursor.field} < {window.high}{nulls}"


def _hold(hold: Hold) -> str:
    if hold.since is None:
        return hold.reason
    return f"{hold.reason}, since {moment(hold.since)} ({ago(hold.since, datetime.now(UTC))})"


def brief(bookmark: object) -> str:
    """A bookmark in a table; for people without a fraction of a second that is none."""
    text = "-" if bookmark is None else str(bookmark)
    return text.replace(".000000", "") if is_terminal(sys.stdout) else text


def expected(estimate: Estimate) -> str:
    if estimate.rows is None:
        return "an unknown number of rows"
    about = "" if estimate.exact else "about "
    return f"{about}{counted(estimate.rows, 'row')}" + (f", {size(estimate.bytes)}" if estimate.bytes else "")
