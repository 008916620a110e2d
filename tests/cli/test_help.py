from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from seamark.cli.reference import reference
from seamark.cli.root import root, root_command

REPOSITORY = Path(__file__).parent.parent.parent
COMMANDS = [
    "init",
    "demo",
    "run",
    "plan",
    "status",
    "check",
    "discover",
    "state",
    "connectors",
    "pipelines",
    "doctor",
    "schema",
]


def every_command() -> Iterator[tuple[str, Any]]:
    group = root_command()
    ctx = group.make_context("seamark", [], resilient_parsing=True)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        yield name, command
        for child, subcommand in getattr(command, "commands", {}).items():
            yield f"{name} {child}", subcommand


def example_lines() -> Iterator[tuple[str, str]]:
    for name, command in every_command():
        for line in command.epilog.splitlines():
            yield name, line


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_the_front_page_groups_all_commands_and_shows_where_to_start(runner: CliRunner) -> None:
    page = runner.invoke(root, ["--help"]).output
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", page, re.MULTILINE), name
    start = page.split("Start here:")[1].split("\n\n")[0]
    assert re.findall(r"\$ seamark (\w+)", start) == ["demo", "init", "run"]


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0]) for pair in every_command()])
def test_every_command_has_a_summary_a_paragraph_and_examples(name: str, command: Any) -> None:
    summary, _, rest = command.help.partition("\n\n")
    assert "\n" not in summary
    assert summary.endswith(".")
    assert len(summary) <= 88
    assert len(rest) > 60
    assert 2 <= len(command.epilog.splitlines()) <= 5


@pytest.mark.parametrize(("name", "line"), [pytest.param(*pair, id=pair[1]) for pair in example_lines()])
def test_every_example_is_a_command_line_that_parses(name: str, line: str) -> None:
    words = shlex.split(line.removeprefix("$ ").split("  #")[0].split(" | ")[0])
    assert words[0] == "seamark"
    group = root_command()
    ctx = group.make_context("seamark", list(words[1:]), resilient_parsing=False)
    args = [*ctx._protected_args, *ctx.args]
    command: Any = group
    while args and hasattr(command, "get_command"):
        command, args = command.get_command(ctx, args[0]), args[1:]
    assert command is not None, words
    command.make_context(words[1], args, parent=ctx)


def test_help_in_a_pipe_has_no_boxes_and_no_colours(runner: CliRunner) -> None:
    page = runner.invoke(root, ["run", "--help"]).output
    assert "\x1b" not in page
    assert not set("│─╭") & set(page)


def test_help_names_the_options_that_work_everywhere(runner: CliRunner) -> None:
    page = runner.invoke(root, ["plan", "--help"]).output
    assert "--project DIR" in page
    assert "--debug" in page


def test_the_reference_is_what_the_code_says() -> None:
    written = (REPOSITORY / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "python -m seamark.cli.reference > docs/reference/cli.md"


def test_the_reference_names_every_command_and_option() -> None:
    page = reference()
    for name, command in every_command():
        assert f" seamark {name}\n" in page
        for param in command.params:
            if not getattr(param, "hidden", False) and param.param_type_name == "option":
                assert param.opts[-1] in page
