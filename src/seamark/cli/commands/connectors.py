"""`seamark connectors`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark connectors", "what is installed and what it can do"),
        ("seamark connectors --json | jq -r '.[] | select(.role == \"source\").type'", "for programs"),
    ),
)
def connectors(ctx: typer.Context, as_json: AsJson = False) -> int:
    """List the sources, destinations and state stores that are installed.

    Those that come with Seamark and those that other packages bring; one that can't be loaded is listed with the
    reason. Needs no project.
    """
    from seamark.cli.looking import list_connectors

    return list_connectors(ctx, as_json)
