"""`seamark demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seamark.cli.group import TeachingCommand, command_app, examples

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark demo", "about a minute; its files stay in ./seamark-demo"),
        ("seamark demo --dir /tmp/shop --rows 1000000", "elsewhere, and more of it"),
        ("seamark demo --json | jq .agrees", "for programs"),
    ),
)
def demo(
    folder: Annotated[
        Path | None, typer.Option("--dir", metavar="DIR", help="Where its files go.", show_default="./seamark-demo")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep what an earlier demo left, and take a new folder beside it.")
    ] = False,
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", min=100, help="About how many rows the shop has.")
    ] = 200_000,
    as_json: Annotated[bool, typer.Option("--json", help="Only one JSON document, at the end.")] = False,
) -> int:
    """Watch it work on made-up data: load, change, crash, recover, compare.

    Builds a small shop in SQLite, moves it to Delta tables, changes it, moves what changed, kills a run half way (a
    real process, kill -9), recovers, and compares every row of both sides. It uses the same commands that you would
    type, and shows them. Nothing outside its own folder is touched; an earlier demo's folder is replaced.

    Exit status: 0 source and destination agree, 1 they don't or a step failed.
    """
    from seamark.cli.demo.performing import perform

    return perform(folder, keep, rows, as_json)
