"""`seamark run`."""

from __future__ import annotations

from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson, FullRefresh, Pipelines, Streams
from seamark.cli.session import session_of

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark run", "move what is new, in every pipeline"),
        ("seamark run shop --stream orders", "one stream of one pipeline"),
        ("seamark run shop --dry-run", "what it would do"),
        ("seamark run shop --follow --interval 30s", "again every 30 seconds, Spark kept warm"),
        ("seamark run shop --json | jq .streams", "for programs"),
    ),
)
def run(
    ctx: typer.Context,
    pipelines: Pipelines = None,
    stream: Streams = None,
    full_refresh: FullRefresh = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan; change nothing.")] = False,
    preview: Annotated[
        int | None,
        typer.Option("--preview", metavar="N", min=1, help="Show the first N rows of each stream; change nothing."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Run again and again in one process, until Ctrl-C.")] = False,
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="The pause between runs with --follow.")
    ] = "10s",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before a full refresh.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; warnings and errors only.")] = False,
    as_json: AsJson = False,
) -> int:
    """Move what is new from source to destination.

    Plans, reads, and publishes each stream's new rows, then notes how far it came. What a killed run left behind is
    finished or taken back first, so every row arrives once. Nothing new: it ends within a second and Spark never
    starts. It never changes the source.

    Ctrl-C stops after the current checkpoint. Exit status: 0 done, 1 the run failed or was stopped, 2 wrong usage or
    configuration, 3 another run holds the lease or the state has moved on.
    """
    from seamark.cli.running import RunCall, run_pipelines

    return run_pipelines(
        ctx,
        RunCall(
            pipelines=tuple(pipelines or ()),
            streams=tuple(stream or ()),
            full_refresh=full_refresh,
            dry_run=dry_run,
            preview=preview,
            follow=follow,
            interval=interval,
            yes=yes,
            quiet=quiet,
            as_json=as_json,
            debug=session_of(ctx).debug,
        ),
    )
