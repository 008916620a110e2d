"""`seamark schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, command_app, examples

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark schema", "print it"),
        ("seamark schema --write", "put it where the files of `seamark init` look for it"),
    ),
)
def schema(
    ctx: typer.Context,
    write: Annotated[
        bool, typer.Option("--write", help="Write it to .seamark/pipeline.schema.json in the project instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", hidden=True)] = False,
) -> int:
    """Print the JSON Schema of pipeline files.

    Editors with a YAML language server complete and check a pipeline file whose first line is
    `# yaml-language-server: $schema=…`. It covers the connectors that are installed: write it again after installing
    another.
    """
    from seamark.cli.schemas import print_schema

    return print_schema(ctx, write)
