"""How `seamark run` runs: which pipelines, in turn, once or again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import typer

from seamark.app import App, RunOptions, RunOutcome
from seamark.cli import failure
from seamark.cli.options import chosen
from seamark.cli.output import heading, json_document, json_line, say, table
from seamark.cli.planning import brief, show_plan
from seamark.cli.progress import shown
from seamark.cli.session import opened
from seamark.cli.stop import Stop, stopping
from seamark.cli.terminal import can_ask
from seamark.cli.wording import count, counted, duration, size
from seamark.errors import Cancelled, SeamarkError, StateConflict, UsageError
from seamark.model.document import plan_document
from seamark.model.run import RunResult


@dataclass(frozen=True)
class RunCall:
    """`seamark run` as it was typed."""

    pipelines: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    full_refresh: bool = False
    dry_run: bool = False
    preview: int | None = None
    follow: bool = False
    interval: str = "10s"
    yes: bool = False
    quiet: bool = False
    as_json: bool = False
    debug: bool = False

    @property
    def options(self) -> RunOptions:
        return RunOptions(self.streams, self.full_refresh)


def run_pipelines(ctx: typer.Context, call: RunCall) -> int:
    """The exit status of the whole call."""
    pause = seconds_of(call.interval)
    if call.follow and (call.dry_run or call.preview):
        raise UsageError("--follow runs for real; --dry-run and --preview don't", "leave one of them out")
    if call.dry_run:
        return plan_pipelines(ctx, call)
    if call.preview:
        return _preview_pipelines(ctx, call, call.preview)
    if call.full_refresh and not call.yes and can_ask():
        _confirm(ctx, call)
    stop = Stop()
    with stopping(stop), opened(ctx, call.pipelines) as app:
        names = _names(app, call)
        if call.follow:
            return _follow(app, names, call, pause, stop)
        return _run_once(app, names, call, stop)


def plan_pipelines(ctx: typer.Context, call: RunCall) -> int:
    with opened(ctx, call.pipelines) as app:
        plans = [app.plan(name, call.options) for name in _names(app, call)]
    if call.as_json:
        documents = [plan_document(plan) for plan in plans]
        json_document(documents[0] if len(plans) == 1 else documents)
    else:
        for plan in plans:
            show_plan(plan)
        if call.dry_run:
            say("nothing was changed (--dry-run)")
    return exit_status([stream.problem for plan in plans for stream in plan.streams])


def _names(app: App, call: RunCall) -> list[str]:
    names = chosen(app, call.pipelines)
    if call.streams and len(names) > 1:
        raise UsageError(f"--stream needs one pipeline, and there are {len(names)}", f"name one: {', '.join(names)}")
    return names


def seconds_of(text: str) -> float:
    from seamark.config.duration import parse_duration

    try:
        return parse_duration(text).total_seconds()
    except ValueError as error:
        raise UsageError(f"--interval: {error}", "write it such as 10s, 500ms, 2m or 1h") from None


def exit_status(errors: Sequence[SeamarkError | None]) -> int:
    """That of the errors where they agree, 1 where they don't."""
    statuses = {error.exit_status for error in errors if error is not None}
    return 0 if not statuses else statuses.pop() if len(statuses) == 1 else 1


def _run_once(app: App, names: Sequence[str], call: RunCall, stop: Stop) -> int:
    outcomes: list[RunOutcome] = []
    for name in names:
        outcome = _one_run(app, name, call, stop)
        outcomes.append(outcome)
        if not call.as_json:
            show_result(outcome)
        if stop.requested:
            break
    if call.as_json:
        documents = [outcome.result.to_json() for outcome in outcomes]
        json_document(documents[0] if len(names) == 1 else documents)
    return exit_status([outcome.error for outcome in outcomes])


def _follow(app: App, names: Sequence[str], call: RunCall, pause: float, stop: Stop) -> int:
    """Run until asked to stop. A run that fails is tried again: a source may come back."""
    while True:
        failed = False
        for name in names:
            outcome = _one_run(app, name, call, stop)
            if call.as_json:
                json_line(outcome.result.to_json())
            elif outcome.result.status != "skipped":
                show_result(outcome)
            if stop.requested:
                return exit_status([outcome.error])
            failed |= outcome.error is not None
            if outcome.error is not None and outcome.error.exit_status == UsageError.exit_status:
                return UsageError.exit_status
        if stop.wait(pause):
            return 0
        if not failed:
            call = replace(call, full_refresh=False)


def _one_run(app: App, name: str, call: RunCall, stop: Stop) -> RunOutcome:
    """One run and its errors told. Whatever ended it is an outcome too, so that the other pipelines still run."""
    try:
        with shown(call.quiet or call.as_json) as progress:
            outcome = app.run(name, call.options, progress, stop)
    except Exception as error:  # noqa: BLE001 - reported, and the exit status says so
        if call.debug:
            failure.show_traceback(error)
        told = failure.foreseen(error, app.project.root)
        result = RunResult(name, "", "failed", (), 0, 0.0, spark_started=False, error=told.message)
        outcome = RunOutcome(result, told)
    if outcome.error is not None:
        failure.report(outcome.error.message, outcome.error.hint)
    return outcome


def show_result(outcome: RunOutcome) -> None:
    result = outcome.result
    status = "stopped" if isinstance(outcome.error, Cancelled) else result.status
    ending = "nothing to do" if status == "skipped" else status
    heading(f"{result.pipeline}: {ending} in {duration(result.seconds)}, state version {result.state_version}")
    moved = [stream for stream in result.streams if stream.checkpoints]
    if moved:
        rows = [(s.name, count(s.rows), size(s.bytes), brief(s.low), brief(s.high)) for s in moved]
        table(("stream", ">rows", ">bytes", "from", "to"), rows, indent=2)
    if moved and len(moved) < len(result.streams):
        say(f"  {counted(len(result.streams) - len(moved), 'stream')} had nothing new")


def _preview_pipelines(ctx: typer.Context, call: RunCall, limit: int) -> int:
    with opened(ctx, call.pipelines) as app:
        previews = [preview for name in _names(app, call) for preview in app.preview(name, limit, call.options)]
    if call.as_json:
        json_document([{"stream": p.stream, "columns": p.columns, "rows": p.rows} for p in previews])
        return 0
    for preview in previews:
        heading(f"{preview.stream}: the first {counted(len(preview.rows), 'row')} of the next run")
        if preview.rows:
            table(preview.columns, [[_cell(value) for value in row] for row in preview.rows], indent=2)
    return 0


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    return value.hex() if isinstance(value, bytes) else str(value)


def _confirm(ctx: typer.Context, call: RunCall) -> None:
    """Ask before everything is read again; typer.Abort when the answer isn't yes."""
    with opened(ctx, call.pipelines) as app:
        plans = []
        for name in _names(app, call):
            try:
                plans.append(app.plan(name, call.options))
            except StateConflict as error:  # what the refresh is there to mend
                typer.confirm(f"{error.message}; load all of {name} again?", abort=True, err=True)
    for plan in plans:
        rows = [stream.estimate.rows for stream in plan.streams if stream.runs]
        known = sum(row for row in rows if row is not None)
        about = f"about {counted(known, 'row')}" if None not in rows else "all rows"
        streams = ", ".join(stream.stream.name for stream in plan.streams)
        typer.confirm(
            f"{plan.pipeline}: read {about} of {streams} again and replace their tables?", abort=True, err=True
        )
