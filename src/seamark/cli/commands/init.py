"""`seamark init`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, command_app, examples

app = command_app()


class SourceKind(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark init", "a project right here"),
        ("seamark init shop --source postgres", "in a folder of its own, with a Postgres source"),
        ("seamark init --name billing", "one more pipeline in this project"),
    ),
)
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The project's folder; made if need be.")] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The pipeline's name; otherwise the folder's.")
    ] = None,
    source: Annotated[SourceKind, typer.Option("--source", help="Where rows come from.")] = SourceKind.SQLITE,
    force: Annotated[bool, typer.Option("--force", help="Write over a pipeline file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="List the files as one JSON document.")] = False,
) -> int:
    """Write a project: seamark.yaml, one pipeline file, .gitignore.

    The pipeline file explains itself line by line, and its first line makes editors complete and check it. Files that
    are there stay as they are: seamark.yaml and .gitignore always (the latter gets a line if it lacks it), the pipeline
    file unless --force is given. Nothing is connected to.
    """
    from seamark.cli.initializing import init_project

    return init_project(folder, name, source.value, force=force, as_json=as_json)
