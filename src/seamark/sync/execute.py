"""Execute: one run of a pipeline, from the lease to the result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from seamark.engine.failure import without_credentials
from seamark.errors import Cancelled, EngineError, SeamarkError, StoreBehind
from seamark.model.checkpoint import Checkpoint, Write
from seamark.model.plan import PipelinePlan, StreamPlan, is_small, needs_spark_to_publish
from seamark.model.run import RunResult, StreamResult
from seamark.model.state import RunRecord
from seamark.sync.context import Context
from seamark.sync.plan import ENDS_THE_RUN, make_plan
from seamark.sync.recover import adopt, recover
from seamark.sync.steps import acknowledge, clean, commit, prepare, publish, stage
from seamark.sync.term import Term, holding

_ENDED_WELL = ("succeeded", "skipped")


@dataclass
class _Ledger:
    """What has come of each stream so far."""

    results: dict[str, StreamResult] = field(default_factory=dict)
    errors: list[SeamarkError] = field(default_factory=list)
    state_version: int = 0


def run(ctx: Context, run_id: str) -> tuple[RunResult, SeamarkError | None]:
    """One run. Whatever ends it, the result says what was committed before."""
    began = time.monotonic()
    ledger = _Ledger()
    try:
        with holding(ctx, run_id) as term:
            _run_in_term(term, ledger)
    except SeamarkError as error:
        ledger.errors.insert(0, error)
    return _result(ctx, run_id, ledger, time.monotonic() - began), ledger.errors[0] if ledger.errors else None


def run_stream(plan: StreamPlan, term: Term, ledger: _Ledger) -> bool:
    """Move one stream's window; whether its rows are in the table."""
    staged = stage(plan, term)
    checkpoint = prepare(staged, plan, term)
    outcomes = publish(checkpoint, term)
    commit(checkpoint, outcomes, term)
    moved = all(outcome.has_rows for outcome in outcomes)
    ledger.results[plan.stream.name] = _moved(plan, checkpoint) if moved else _unmoved(plan)
    acknowledge([plan.stream.name], term)
    clean(checkpoint, term)
    return moved


def _run_in_term(term: Term, ledger: _Ledger) -> None:
    ctx = term.ctx
    holder = ctx.holder
    ended_badly = _close_the_last_run(ctx)
    ctx.store.journal.start_run(
        RunRecord(term.run_id, ctx.pipeline, "running", ctx.clock(), None, holder.host, holder.pid)
    )
    status, error = "failed", ""
    try:
        _move(term, ledger, ended_badly)
        status = _status(ledger)
        error = ledger.errors[0].message if ledger.errors else ""
    except SeamarkError as caught:
        status, error = "cancelled" if isinstance(caught, Cancelled) else "failed", caught.message
        raise
    except BaseException as caught:
        error = without_credentials(f"{type(caught).__name__}: {caught}")
        raise
    finally:
        ledger.state_version = term.state.version
        facts = {"streams": [vars(result) for result in ledger.results.values()], "state_version": term.state.version}
        ctx.store.journal.end_run(term.run_id, status, facts, error)


def _close_the_last_run(ctx: Context) -> bool:
    """Whether the run before this one ended badly. One that never said so crashed: we hold the lease, so it is over."""
    last = next(iter(ctx.store.journal.runs(ctx.pipeline, limit=1)), None)
    if last is not None and last.status == "running":
        ctx.store.journal.end_run(last.run_id, "crashed", last.result, f"process {last.pid} on {last.host} went away")
    return last is not None and last.status not in _ENDED_WELL


def _move(term: Term, ledger: _Ledger, ended_badly: bool) -> None:
    ctx = term.ctx
    plan = _recover_and_plan(term, ended_badly)
    ctx.progress.planned(plan)
    _warm_up(ctx, plan)
    for stream_plan in plan.streams:
        ctx.cancellation.heed()
        ledger.results[stream_plan.stream.name] = _unmoved(stream_plan)
        if stream_plan.problem is not None:
            ledger.errors.append(stream_plan.problem)
        elif stream_plan.runs:
            _run_or_record(stream_plan, term, ledger)
    ctx.cancellation.heed()


def _recover_and_plan(term: Term, ended_badly: bool) -> PipelinePlan:
    """What there is to do, once nothing of before is left undone and the store is known to be the tables' own."""
    try:
        recover(term, ended_badly)
        adopt(term)
        return make_plan(term.ctx, term.state)
    except StoreBehind:
        term.ctx.store.checkpoints.begin_incarnation(term.lease)
        raise


def _run_or_record(plan: StreamPlan, term: Term, ledger: _Ledger) -> None:
    """Run one stream; what only concerns it is recorded, so that the others still run."""
    ctx, name = term.ctx, plan.stream.name
    try:
        if plan.creates:
            ctx.destination.create(plan.table, plan.stream, plan.shape, ctx.pipeline, term.state.uuid)
        if plan.window is None and plan.write is Write.NOTHING:
            return
        if not run_stream(plan, term, ledger):
            raise EngineError(
                f"stream {name!r}: staged files were lost before they were published; its table has nothing of them",
                "run it again: its rows will be read again",
            )
        ctx.progress.phase(name, "done")
    except ENDS_THE_RUN:
        raise
    except SeamarkError as error:
        term.renew()  # one that was overtaken fails because its staged files were swept: that is the news
        if ctx.store.checkpoints.prepared(ctx.pipeline) is not None:
            raise
        ctx.progress.warn(f"{name}: {error.message}")
        ledger.errors.append(error)


def _warm_up(ctx: Context, plan: PipelinePlan) -> None:
    """Let Spark start while the first window is read, if anything will need it."""
    busy = [stream for stream in plan.streams if stream.runs and stream.window is not None]
    if any(needs_spark_to_publish(s) or s.estimate.rows is None or s.estimate.rows > ctx.skip_below for s in busy):
        ctx.engine.warm_up(small=all(is_small(stream.estimate) for stream in busy))


def _unmoved(plan: StreamPlan) -> StreamResult:
    text = plan.bookmark.text if plan.bookmark is not None else None
    return StreamResult(plan.stream.name, low=text, high=text)


def _moved(plan: StreamPlan, checkpoint: Checkpoint) -> StreamResult:
    before = plan.bookmark.text if plan.bookmark is not None else None
    after = plan.after.text if plan.after is not None else None
    change = checkpoint.draft.tables[0]
    return StreamResult(plan.stream.name, change.rows, change.bytes, 1, before, after)


def _status(ledger: _Ledger) -> str:
    if ledger.errors:
        return "failed"
    return "succeeded" if any(result.checkpoints for result in ledger.results.values()) else "skipped"


def _result(ctx: Context, run_id: str, ledger: _Ledger, seconds: float) -> RunResult:
    return RunResult(
        pipeline=ctx.pipeline,
        run_id=run_id,
        status=_status(ledger),
        streams=tuple(ledger.results.values()),
        state_version=ledger.state_version,
        seconds=seconds,
        spark_started=ctx.engine.started,
        error=ledger.errors[0].message if ledger.errors else "",
    )
