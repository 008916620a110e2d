"""`seamark pipelines`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark pipelines", "what this project has"),
        ("seamark --project ~/etl pipelines", "what another one has"),
        ("seamark pipelines --json | jq -r '.[].pipeline'", "their names, for programs"),
    ),
)
def pipelines(ctx: typer.Context, as_json: AsJson = False) -> int:
    """List the project's pipelines and what is wrong with their files, if anything.

    Reads files only; nothing is connected to. Exit status: 0 all can be read, 2 one or more can't.
    """
    from seamark.cli.looking import list_pipelines

    return list_pipelines(ctx, as_json)
