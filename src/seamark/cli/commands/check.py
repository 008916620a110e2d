"""`seamark check`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson, Pipelines, Streams

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark check", "every pipeline"),
        ("seamark check shop --stream orders", "one stream"),
        ("seamark check --json | jq '.[] | select(.level == \"error\")'", "what stands in the way"),
    ),
)
def check(ctx: typer.Context, pipelines: Pipelines = None, stream: Streams = None, as_json: AsJson = False) -> int:
    """Check whether pipelines are fit to run.

    Connects to source, destination and state store, looks at privileges and settings, and says for each stream whether
    its cursor is safe to follow there and what to use if it is not. It moves no rows and changes nothing.

    Exit status: 0 fit to run (perhaps with warnings), 1 something has to be mended first.
    """
    from seamark.cli.looking import check_pipelines

    return check_pipelines(ctx, tuple(pipelines or ()), tuple(stream or ()), as_json)
