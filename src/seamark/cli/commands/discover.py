"""`seamark discover`."""

from __future__ import annotations

from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson, Pipeline

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark discover shop", "tables, keys and what could be a cursor"),
        ("seamark discover shop --table 'public.ord*' --columns", "columns and their types too"),
        ("seamark discover shop --yaml", "streams to paste into the pipeline's file"),
        ("seamark discover shop --json | jq '.[].table'", "for programs"),
    ),
)
def discover(
    ctx: typer.Context,
    pipeline: Pipeline = None,
    table: Annotated[str, typer.Option("--table", "-t", metavar="PATTERN", help="Only tables that match.")] = "*",
    columns: Annotated[bool, typer.Option("--columns", "-c", help="Show columns and types.")] = False,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print the streams section of a pipeline file.")] = False,
    as_json: AsJson = False,
) -> int:
    """List a source's tables: keys, rows, and which columns could be a cursor.

    Needs a pipeline file with a source that can be reached; its streams don't matter, so one with `streams: "*"` will
    do. It reads the source's catalogue, not its rows, and changes nothing.
    """
    from seamark.cli.discovering import discover_tables

    return discover_tables(ctx, pipeline, table, columns=columns, as_yaml=as_yaml, as_json=as_json)
