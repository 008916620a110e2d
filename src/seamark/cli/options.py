"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from seamark.cli.complete import pipeline_names, stream_names
from seamark.errors import UsageError

if TYPE_CHECKING:
    from seamark.app import App

AsJson = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
Pipeline = Annotated[
    str | None,
    typer.Argument(
        metavar="PIPELINE", help="A name or a file; not needed where there is only one.", autocompletion=pipeline_names
    ),
]
Pipelines = Annotated[
    list[str] | None,
    typer.Argument(metavar="PIPELINE", help="Names or files; all when none is given.", autocompletion=pipeline_names),
]
Streams = Annotated[
    list[str] | None,
    typer.Option(
        "--stream", "-s", metavar="STREAM", help="Only this stream; may be repeated.", autocompletion=stream_names
    ),
]
FullRefresh = Annotated[
    bool, typer.Option("--full-refresh", help="Read everything again and replace what is in the tables.")
]


def chosen(app: App, pipelines: Sequence[str] | None) -> list[str]:
    """The pipelines that were named, or all there are."""
    if pipelines:
        return list(dict.fromkeys(pipelines))
    # One that can't be read is known by its file: using it says what is wrong with it.
    listed = [listing.name or listing.file for listing in app.pipelines()]
    if not listed:
        raise UsageError(
            f"there is no pipeline in {app.project.root}",
            "`seamark init` writes one; --project DIR names another project; `seamark demo` shows it all",
        )
    return listed


def only_one(app: App, pipeline: str | None) -> str:
    """The pipeline that was named, or the only one there is."""
    if pipeline:
        return pipeline
    listed = chosen(app, None)
    if len(listed) > 1:
        raise UsageError(f"there are {len(listed)} pipelines here", f"name one: {', '.join(listed)}")
    return listed[0]
