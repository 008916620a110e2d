"""`seamark plan`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson, FullRefresh, Pipelines, Streams

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark plan", "every pipeline"),
        ("seamark plan shop --stream orders", "one stream"),
        ("seamark plan shop --full-refresh", "what loading it all again would read"),
        ("seamark plan --json | jq '.streams[] | {name, reason}'", "for programs"),
    ),
)
def plan(
    ctx: typer.Context,
    pipelines: Pipelines = None,
    stream: Streams = None,
    full_refresh: FullRefresh = False,
    as_json: AsJson = False,
) -> int:
    """Explain what a run would do now, and why.

    For each stream: whether it will run, the window it would read, who holds the window's end back and since when, how
    many rows and bytes to expect in how many splits, and what would be written. It asks the source a few cheap
    questions, never starts Spark, takes no lease and changes nothing.
    """
    from seamark.cli.running import RunCall, plan_pipelines

    return plan_pipelines(
        ctx,
        RunCall(
            pipelines=tuple(pipelines or ()), streams=tuple(stream or ()), full_refresh=full_refresh, as_json=as_json
        ),
    )
