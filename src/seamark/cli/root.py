"""`seamark` itself: its options, its commands by what they are for, and how every command ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.main import get_command

from seamark import __version__
from seamark.cli import failure
from seamark.cli.group import RootGroup, help_width
from seamark.cli.output import json_document, write
from seamark.cli.session import Session


class Seamark(RootGroup):
    panels: ClassVar = {
        "Begin": ("demo", "init", "doctor"),
        "Move rows": ("run", "plan", "check"),
        "Look": ("status", "state", "pipelines", "discover"),
        "Reference": ("connectors", "schema"),
    }
    first_steps = (
        "$ seamark demo           # watch it work on made-up data: load, change, crash, recover\n"
        "$ seamark init my-shop   # a project with a pipeline file to fill in\n"
        "$ seamark run            # move what is new"
    )


root = typer.Typer(cls=Seamark, rich_markup_mode=None, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"seamark {__version__}")
        raise typer.Exit


@root.callback(
    help="Moves rows from databases into tables on Spark, bit by bit as they change, and keeps a memory of what it "
    "moved that never disagrees with the data: kill it at any instant, start it again, and every row is there once."
)
def _root(
    ctx: typer.Context,
    project: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="The project's folder; otherwise the one above here that has a seamark.yaml.",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    ctx.obj = Session(project, debug)


def root_command() -> Any:
    """The whole command line as typer built it, for the reference and for tests."""
    command = get_command(root)
    command.context_settings["max_content_width"] = help_width()
    return command


def execute(arguments: Sequence[str]) -> int:
    """Run one command line to its exit status. Whatever goes wrong, it ends in lines and a number, not a traceback."""
    wants_json = "--json" in arguments
    try:
        status = root_command().main(args=list(arguments), prog_name="seamark", standalone_mode=False)
        write("", flush=True)
        return status if isinstance(status, int) else 0
    except Exception as error:  # noqa: BLE001 - this is where all of them end, each reported
        if "--debug" in arguments and not isinstance(error, typer.TyperException):
            failure.show_traceback(error)
        return _ended(error, wants_json, arguments)


def _ended(error: Exception, wants_json: bool, arguments: Sequence[str]) -> int:
    if wants_json:
        json_document(failure.document(error))
    if isinstance(error, typer.TyperException):
        return _called_wrongly(error, arguments)
    if isinstance(error, typer.Abort):
        failure.report("nothing was done, because the question was not answered with yes", "--yes answers it")
        return 1
    told = failure.foreseen(error, _folder_of(arguments))
    failure.report(told.message, told.hint)
    return told.exit_status


def _called_wrongly(error: typer.TyperException, arguments: Sequence[str]) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help(), err=True)
        return 2
    command = context.command_path if context is not None else "seamark"
    message = error.format_message().rstrip(".")
    failure.report(message[:1].lower() + message[1:], f"{command} --help shows how it is used")
    return error.exit_code


def _folder_of(arguments: Sequence[str]) -> Path:
    """The project's folder, as far as it can be told when nothing else is certain."""
    from seamark.cli.group import shared_first

    words = shared_first(arguments)
    if "--project" in words[:-1]:
        return Path(words[words.index("--project") + 1])
    return Path.cwd()
