from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seamark.cli.main import run
from seamark.config.project import Project as Configured
from seamark.registry import check_options
from tests.projects import Project

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ENVIRONMENT = {"HELPDESK_URL": "postgresql://ann:secret@localhost:5432/helpdesk"}


@pytest.mark.parametrize(("folder", "pipeline"), [("sqlite-to-delta", "library"), ("postgres-to-delta", "helpdesk")])
def test_an_example_loads(folder: str, pipeline: str) -> None:
    project = Configured.find(EXAMPLES / folder, ENVIRONMENT)
    assert project.pipelines() == (pipeline,)
    config = project.load(pipeline)
    check_options(config)
    assert len(config.streams) == 3


def test_every_example_is_in_the_list() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for folder in EXAMPLES.iterdir():
        if folder.is_dir():
            assert f"({folder.name}/)" in listed
            assert (folder / "README.md").is_file()


def test_what_an_example_shows_as_commands_parses(capsys: pytest.CaptureFixture[str]) -> None:
    for readme in EXAMPLES.glob("*/README.md"):
        for line in readme.read_text(encoding="utf-8").splitlines():
            if line.startswith("$ seamark "):
                words = line.split("#")[0].split()[2:]
                assert run([*words, "--help"]) == 0, line
    capsys.readouterr()


def test_the_sqlite_example_can_be_planned(project: Project) -> None:
    folder = project.folder / "example"
    shutil.copytree(EXAMPLES / "sqlite-to-delta", folder, ignore=shutil.ignore_patterns(".seamark", "lake", "*.db"))
    subprocess.run([sys.executable, "make_library.py"], cwd=folder, check=True)
    subprocess.run([sys.executable, "make_library.py", "more"], cwd=folder, check=True)
    plan = json.loads(project.run("--project", "example", "plan", "--json").ok().out)
    assert [stream["runs"] for stream in plan["streams"]] == [True, True, True]


def test_the_postgres_example_can_be_planned(project: Project, postgres_db: str) -> None:
    import psycopg

    folder = project.folder / "example"
    shutil.copytree(EXAMPLES / "postgres-to-delta", folder, ignore=shutil.ignore_patterns(".seamark", "lake"))
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        for script in ("helpdesk.sql", "a_day.sql"):
            connection.execute((folder / script).read_text(encoding="utf-8"))
    plan = project.run("--project", "example", "plan", "--json", HELPDESK_URL=postgres_db).ok().json
    assert [stream["runs"] for stream in plan["streams"]] == [True, True, True]
