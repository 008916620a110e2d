"""The commands that look: pipelines, state, history, connectors, and whether all is fit to run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

import typer

from seamark.app import App, RunOptions
from seamark.cli import failure
from seamark.cli.options import chosen, only_one
from seamark.cli.output import facts, heading, json_document, say, table
from seamark.cli.planning import brief
from seamark.cli.session import opened
from seamark.cli.terminal import is_terminal
from seamark.cli.wording import ago, count, counted, moment
from seamark.errors import ConfigError
from seamark.model.document import (
    connector_document,
    history_document,
    listing_document,
    pipeline_document,
    state_document,
    status_document,
)
from seamark.model.state import NO_PARTITION, HistoryEntry, Lease, State
from seamark.model.status import PipelineStatus, StreamStatus
from seamark.sources.base import Finding


def list_pipelines(ctx: typer.Context, as_json: bool) -> int:
    with opened(ctx) as app:
        listings = app.pipelines()
        root = app.project.root
    if as_json:
        json_document([listing_document(listing) for listing in listings])
    elif listings:
        rows = [(p.name, p.source or "-", p.destination or "-", ", ".join(p.streams) or "-", p.file) for p in listings]
        table(("pipeline", "source", "destination", "streams", "file"), rows)
    else:
        say(f"no pipelines in {root}; `seamark init` writes one")
    broken = [listing for listing in listings if listing.problem]
    for listing in broken:
        failure.report(listing.problem)
    return ConfigError.exit_status if broken else 0


def list_connectors(ctx: typer.Context, as_json: bool) -> int:
    with opened(ctx) as app:
        infos = app.connectors()
    if as_json:
        json_document([connector_document(info) for info in infos])
        return 0
    rows = [
        (
            info.role,
            info.kind,
            info.problem or info.summary,
            "; ".join(f"{name}: {value}" for name, value in info.capabilities) or "-",
        )
        for info in infos
    ]
    table(("role", "type", "what it is", "what it can do"), rows)
    return 0


def show_status(ctx: typer.Context, pipelines: Sequence[str], as_json: bool) -> int:
    with opened(ctx, pipelines) as app:
        readable, broken = _readable(app, pipelines)
        statuses = app.status(readable) if readable else ()
    if as_json:
        json_document([status_document(status) for status in statuses])
    else:
        for status in statuses:
            show_pipeline(status)
    for problem in broken:
        failure.report(problem)
    return ConfigError.exit_status if broken else 0


def _readable(app: App, pipelines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Pipelines to show, and what is wrong with those that can't be; one that was named has to be right."""
    if pipelines:
        return chosen(app, pipelines), []
    chosen(app, None)
    listings = app.pipelines()
    return [p.name for p in listings if not p.problem], [p.problem for p in listings if p.problem]


def show_pipeline(status: PipelineStatus) -> None:
    heading(f"{status.name}  {status.source} to {status.destination}, state version {status.version}")
    facts(_standing(status))
    if status.streams:
        table(
            ("stream", "mode", "cursor", "bookmark", ">rows", "last sync"), map(_stream_row, status.streams), indent=2
        )
    say()


def _standing(status: PipelineStatus) -> list[tuple[str, str]]:
    lines = []
    if status.lease is not None:
        lines.append(("held by", _holder(status.lease)))
    if status.prepared is not None:
        lines.append(
            ("unfinished", f"checkpoint {status.prepared} is prepared; the next run finishes it or takes it back")
        )
    if status.last_run is None:
        lines.append(("last run", "never"))
    else:
        run = status.last_run
        lines.append(("last run", f"{run.status}, {_when(run.ended_at or run.started_at)}"))
        if run.error:
            lines.append(("error", run.error))
    return lines


def _holder(lease: Lease) -> str:
    from seamark.state.process import is_gone

    holder = f"process {lease.holder.pid} on {lease.holder.host}, taken {_when(lease.acquired_at)}"
    return f"{holder}; it is gone, and the next run takes over" if is_gone(lease.holder) else holder


def _stream_row(stream: StreamStatus) -> tuple[str, ...]:
    bookmark = brief(stream.bookmark)
    return stream.name, stream.mode, stream.cursor or "-", bookmark, count(stream.rows_total), _when(stream.last_sync)


def _when(at: object) -> str:
    """How long ago, for a person; the time itself in a pipe."""
    from datetime import datetime

    if not isinstance(at, datetime):
        return "-"
    return ago(at) if is_terminal(sys.stdout) else moment(at)


def list_states(ctx: typer.Context, as_json: bool) -> int:
    with opened(ctx) as app:
        records = app.state_list()
    if as_json:
        json_document([pipeline_document(record) for record in records])
    elif records:
        rows = [(r.name, str(r.version), str(r.epoch), str(r.streams), moment(r.updated_at)) for r in records]
        table(("pipeline", ">version", ">epoch", ">streams", "updated"), rows)
    else:
        say("the state store knows no pipeline yet: `seamark run` moves the first rows")
    return 0


def show_state(ctx: typer.Context, pipeline: str | None, as_json: bool) -> int:
    with opened(ctx, [pipeline] if pipeline else []) as app:
        state = app.state_show(only_one(app, pipeline))
    if as_json:
        json_document(state_document(state))
    else:
        show_bookmarks(state)
    return 0


def show_bookmarks(state: State) -> None:
    heading(f"{state.pipeline}  version {state.version}, epoch {state.epoch}")
    rows = []
    for stream in state.streams.values():
        stored = stream.bookmarks
        name, total, last = stream.name, count(stream.rows_total), _when(stream.last_sync)
        if not stored:
            rows.append((name, stream.cursor or "-", "-", "-", "-", total, last))
        for b in stored:
            partition = "-" if b.partition == NO_PARTITION else b.partition
            rows.append((name, stream.cursor or "-", partition, brief(b.bookmark), b.bookmark.type.value, total, last))
    partitioned = any(row[2] != "-" for row in rows)
    columns = ("stream", "cursor", "partition", "bookmark", "type", ">rows", "last sync")
    kept = [at for at, column in enumerate(columns) if partitioned or column != "partition"]
    table([columns[at] for at in kept], [[row[at] for at in kept] for row in rows], indent=2)


def show_history(ctx: typer.Context, pipeline: str | None, streams: Sequence[str], limit: int, as_json: bool) -> int:
    with opened(ctx, [pipeline] if pipeline else []) as app:
        name = only_one(app, pipeline)
        per_stream = [app.state_history(name, stream, limit) for stream in streams or (None,)]
    entries = sorted((e for listed in per_stream for e in listed), key=lambda e: (-e.version, e.stream))[:limit]
    if as_json:
        json_document([history_document(entry) for entry in entries])
    else:
        show_changes(entries)
    return 0


def show_changes(entries: Sequence[HistoryEntry]) -> None:
    """Entries of the history. On a terminal without what only programs look for."""
    told = [
        (
            str(e.version),
            _when(e.at),
            e.stream,
            brief(e.before),
            brief(e.after),
            count(e.rows),
            e.actor,
            e.reason,
            e.run_id,
        )
        for e in entries
    ]
    columns = (">version", "at", "stream", "from", "to", ">rows", "by", "why…", "run")
    shown = len(columns) - 1 if is_terminal(sys.stdout) else len(columns)
    table(columns[:shown], [row[:shown] for row in told])


def check_pipelines(ctx: typer.Context, pipelines: Sequence[str], streams: Sequence[str], as_json: bool) -> int:
    with opened(ctx, pipelines) as app:
        names = chosen(app, pipelines)
        found = {name: app.check(name, RunOptions(tuple(streams))) for name in names}
    if as_json:
        json_document(
            [{"pipeline": name} | asdict(finding) for name, findings in found.items() for finding in findings]
        )
    else:
        for name, findings in found.items():
            heading(name)
            _show_findings(findings)
    return _findings_status([finding for findings in found.values() for finding in findings])


def show_doctor(ctx: typer.Context, as_json: bool) -> int:
    with opened(ctx) as app:
        findings = app.doctor()
    if as_json:
        json_document([asdict(finding) for finding in findings])
    else:
        _show_findings(findings)
    return _findings_status(findings)


def _show_findings(findings: Sequence[Finding]) -> None:
    table(("", "what", "found"), [(f.level, f.subject, f.message) for f in findings], indent=2)
    to_mend = [finding for finding in findings if finding.level != "ok"]
    if any(finding.fix for finding in to_mend):
        say()
    for finding in to_mend:
        if finding.fix:
            facts([(finding.subject, finding.fix)])
    errors = sum(finding.level == "error" for finding in findings)
    warnings = len(to_mend) - errors
    say(f"  {counted(errors, 'error')}, {counted(warnings, 'warning')}" if to_mend else "  all in order")


def _findings_status(findings: Sequence[Finding]) -> int:
    return 1 if any(finding.level == "error" for finding in findings) else 0
