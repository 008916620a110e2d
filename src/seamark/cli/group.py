"""How commands are found and how their help looks: one page that teaches, the same on a terminal and in a pipe."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from seamark.cli.terminal import styled, width
from seamark.errors import UsageError
from seamark.model.nearest import or_nearest

if TYPE_CHECKING:
    import typer

SHARED_OPTIONS = (
    ("--project DIR", "The project's folder; otherwise the one above here that has a seamark.yaml."),
    ("--debug", "Show the full traceback of an error."),
)
"""Understood before a command's name and after it."""


def examples(*lines: tuple[str, str]) -> str:
    """The end of a command's help: command lines, and what each is for."""
    wide = max(len(command) for command, _ in lines)
    return "\n".join(f"$ {command.ljust(wide)}  # {purpose}" for command, purpose in lines)


class TeachingCommand(TyperCommand):
    """A command whose help shows its examples as they are typed."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            if listed := records(self, ctx, kind):
                formatter.write_paragraph()
                formatter.write(_title(title))
                with formatter.indentation():
                    formatter.write_dl(listed)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_shared_options(formatter)
        _write_verbatim(formatter, "Examples", self.epilog)


class TeachingGroup(TyperGroup):
    """A group of commands with examples."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        _write_commands(formatter, "Commands", self.commands.items())

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_shared_options(formatter)
        _write_verbatim(formatter, "Examples", self.epilog)


class RootGroup(TyperGroup):
    """`seamark` itself: imports a command's module when it is needed, and takes shared options anywhere."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {}
    first_steps = ""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in self.panels.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            app = importlib.import_module(f"seamark.cli.commands.{cmd_name}").app
            command = get_command(app)
            command.name = cmd_name
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            raise UsageError(
                f"there is no command {args[0]!r}{or_nearest(args[0], self.list_commands(ctx))}",
                "seamark --help lists them all",
            )
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, shared_first(args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(textwrap.fill(self.help or "", formatter.width) + "\n")
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        _write_verbatim(formatter, "Start here", self.first_steps)
        for title, names in self.panels.items():
            _write_commands(formatter, title, ((name, self.get_command(ctx, name)) for name in names))
        formatter.write_paragraph()
        formatter.write(_title("Options"))
        with formatter.indentation():
            formatter.write_dl(records(self, ctx, "option"))
        formatter.write_paragraph()
        formatter.write("seamark COMMAND --help explains a command and shows examples.\n")


def records(command: Any, ctx: Any, kind: str) -> list[tuple[str, str]]:
    """How a command's arguments or options are typed, and what each is for."""
    found = (param.get_help_record(ctx) for param in command.get_params(ctx) if param.param_type_name == kind)
    return [
        (name.split(" <list[")[0].removesuffix(" <str>").removesuffix(" <path>"), text)
        for name, text in filter(None, found)
    ]


def shared_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with those options in front that belong to `seamark` and may be typed anywhere."""
    moved: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--debug" or word.startswith("--project="):
            moved.append(word)
        elif word == "--project":
            moved += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            rest.append(word)
    return moved + rest


def _write_commands(formatter: Any, title: str, commands: Iterable[tuple[str, Any]]) -> None:
    formatter.write_paragraph()
    formatter.write(_title(title))
    with formatter.indentation():
        formatter.write_dl([(name, command.get_short_help_str(90)) for name, command in commands])


def _write_shared_options(formatter: Any) -> None:
    formatter.write_paragraph()
    formatter.write(_title("Everywhere"))
    with formatter.indentation():
        formatter.write_dl(SHARED_OPTIONS)


def _write_verbatim(formatter: Any, title: str, text: str | None) -> None:
    if text:
        formatter.write_paragraph()
        formatter.write(_title(title))
        formatter.write(textwrap.indent(text, "  ") + "\n")


def _title(text: str) -> str:
    return styled(f"{text}:", "bold", sys.stdout) + "\n"


def help_width() -> int:
    return min(width(), 110)


def command_app(**settings: Any) -> typer.Typer:
    """A Typer application with one command or a few, in this project's manner."""
    import typer

    return typer.Typer(add_completion=False, rich_markup_mode=None, cls=TeachingGroup, **settings)
