"""`seamark doctor`."""

from __future__ import annotations

import typer

from seamark.cli.group import TeachingCommand, command_app, examples
from seamark.cli.options import AsJson

app = command_app()


@app.command(
    cls=TeachingCommand,
    epilog=examples(
        ("seamark doctor", "look at everything"),
        ("seamark doctor --json | jq '.[] | select(.level != \"ok\")'", "what is not in order"),
    ),
)
def doctor(ctx: typer.Context, as_json: AsJson = False) -> int:
    """Check this machine and this project for what a run needs.

    Python, Java, the jars of Spark and Delta, disk space, the state store, the pipeline files: each with what to do
    where something is missing. It connects to no source (`seamark check` does) and changes nothing.

    Exit status: 0 all there, 1 something is missing.
    """
    from seamark.cli.looking import show_doctor

    return show_doctor(ctx, as_json)
