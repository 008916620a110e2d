"""`seamark status`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson, Pipelines

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark status", "every pipeline"),
        ("seamark status shop", "one of them"),
        ("seamark status --json | jq '.[] | .last_run.status'", "for programs"),
    ),
)
def status(ctx: typer.Context, pipelines: Pipelines = None, as_json: AsJson = False) -> int:
    """Show where pipelines stand: bookmarks, rows, the last run, who is running now.

    Reads the state store and nothing else: neither sources nor destinations are asked, so it answers at once. What is
    new in a source is what `seamark plan` tells.
    """
    from seamark.cli.looking import show_status

    return show_status(ctx, tuple(pipelines or ()), as_json)
