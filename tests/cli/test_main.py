"""The real command line in a process of its own: exit statuses, streams, and what is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from seamark import __version__
from tests.projects import Project

HEAVY = ("pyspark", "pyarrow", "deltalake", "pandas", "delta", "adbc_driver_manager")
IMPORTS = (
    "import sys; from seamark.cli.main import run; status = run(sys.argv[1:]); "
    "print('imported', *sorted(m for m in sys.modules if '.' not in m), file=sys.stderr); sys.exit(status)"
)


def imported(project: Project, *arguments: str) -> set[str]:
    """The top-level modules that a command leaves imported."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *arguments], cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()[1:])


def test_version(project: Project) -> None:
    assert project.run("--version").ok().out == f"seamark {__version__}\n"
    assert project.run("--debug", "--version").ok().out == f"seamark {__version__}\n"


def test_version_imports_next_to_nothing(project: Project) -> None:
    modules = imported(project, "--version")
    assert not modules & {*HEAVY, "typer", "rich", "pydantic", "sqlalchemy", "yaml"}


@pytest.mark.parametrize("command", ["status", "pipelines", "state list"])
def test_looking_imports_neither_spark_nor_arrow(project: Project, command: str) -> None:
    source = {"type": "sqlite", "path": "x.db"}
    project.pipeline("shop", source, [{"name": "events", "mode": "append", "cursor": "id"}])
    assert not imported(project, *command.split(), "--json") & set(HEAVY)


def test_plain_output_does_not_need_rich(project: Project) -> None:
    project.pipeline("shop", {"type": "sqlite", "path": "x.db"}, [{"name": "events", "mode": "append", "cursor": "id"}])
    assert "rich" not in imported(project, "status")


def test_an_unknown_command_suggests_the_nearest(project: Project) -> None:
    done = project.run("statsu")
    assert done.status == 2
    assert done.out == ""
    assert done.err.splitlines() == [
        "error: there is no command 'statsu'; did you mean 'status'?",
        "hint: seamark --help lists them all",
    ]


def test_an_unknown_option_is_wrong_usage(project: Project) -> None:
    done = project.run("run", "--strem", "x")
    assert done.status == 2
    assert done.err.splitlines()[0].startswith("error: no such option: --strem")
    assert done.err.splitlines()[1] == "hint: seamark run --help shows how it is used"


def test_wrong_usage_with_json_is_a_document_too(project: Project) -> None:
    done = project.run("plan", "--json", "--nope")
    assert done.status == 2
    assert "--nope" in json.loads(done.out)["error"]


def test_no_command_shows_the_help_and_is_wrong_usage(project: Project) -> None:
    done = project.run()
    assert done.status == 2
    assert "Start here:" in done.err


@pytest.mark.parametrize("command", ["schema", "connectors"])
def test_a_reader_that_leaves_is_no_error(project: Project, command: str) -> None:
    process = project.start(command)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_produced(project: Project, shell: str) -> None:
    done = project.run("--version", _SEAMARK_COMPLETE=f"source_{shell}")
    # A typed --version takes the short way; the scripts never add it.
    assert done.ok().out.startswith("seamark ")
    script = subprocess.run(
        [sys.executable, "-m", "seamark.cli.main"],
        env=os.environ | {"_SEAMARK_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "_SEAMARK_COMPLETE=complete_" + shell in script


def complete(project: Project, line: str) -> list[str]:
    """What bash would offer for the last word of `line`."""
    words = line.split(" ")
    done = project.run(_SEAMARK_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    return done.ok().out.split()


def test_completion_knows_commands_pipelines_and_streams(project: Project) -> None:
    for name, streams in (("shop", ["orders", "order_items"]), ("crm", ["people"])):
        project.pipeline(name, {"type": "sqlite", "path": "x.db"}, [{"name": stream} for stream in streams])
    project.write("pipelines/broken.yaml", "pipeline: [")
    assert complete(project, "seamark st") == ["status", "state"]
    assert complete(project, "seamark run ") == ["crm", "shop"]
    assert complete(project, "seamark run shop ") == ["crm"]
    assert complete(project, "seamark run shop --stream o") == ["order_items", "orders"]
    assert complete(project, "seamark run --stream ") == ["order_items", "orders", "people"]
    assert complete(project, "seamark state show s") == ["shop"]
