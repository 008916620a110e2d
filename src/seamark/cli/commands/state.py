"""`seamark state …`."""

from __future__ import annotations

from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, TeachingGroup, command_app, examples
from seamark.cli.options import AsJson, Pipeline, Streams

app = command_app(
    no_args_is_help=True,
    help="Look at what pipelines remember: bookmarks, versions, history.\n\n"
    "All of this reads the state store and nothing else: no source or destination is asked, nothing is changed.",
    epilog=examples(
        ("seamark state show shop", "how far each stream has come"),
        ("seamark state history shop", "what moved it there"),
        ("seamark state list", "all that the store knows"),
    ),
)
app.info.cls = TeachingGroup


@app.command(
    "list",
    cls=TeachingCommand,
    epilog=examples(
        ("seamark state list", "every pipeline in the store"),
        ("seamark state list --json | jq -r '.[].pipeline'", "their names, for programs"),
    ),
)
def list_(ctx: typer.Context, as_json: AsJson = False) -> int:
    """List every pipeline that the state store knows, configured here or not.

    A pipeline is in the store from its first run on, under its name; one whose file is gone stays listed.
    """
    from seamark.cli.looking import list_states

    return list_states(ctx, as_json)


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark state show shop", "one pipeline"),
        ("seamark state show shop --json | jq '.streams.orders.bookmarks[0].value'", "one bookmark"),
    ),
)
def show(ctx: typer.Context, pipeline: Pipeline = None, as_json: AsJson = False) -> int:
    """Show a pipeline's state: for each stream how far its cursor has come.

    One version of the state, read in one transaction: all bookmarks of it belong together.
    """
    from seamark.cli.looking import show_state

    return show_state(ctx, pipeline, as_json)


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark state history shop", "the last changes, newest first"),
        ("seamark state history shop --stream orders --limit 5", "of one stream"),
        ("seamark state history shop --json | jq '.[0]'", "the newest, for programs"),
    ),
)
def history(
    ctx: typer.Context,
    pipeline: Pipeline = None,
    stream: Streams = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    as_json: AsJson = False,
) -> int:
    """Show what moved a pipeline's bookmarks: when, from where to where, by which run.

    Every change of every bookmark is kept, with who made it and why.
    """
    from seamark.cli.looking import show_history

    return show_history(ctx, pipeline, tuple(stream or ()), limit, as_json)
