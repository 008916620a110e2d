from __future__ import annotations

import json

import pytest

from seamark.cli.initializing import pipeline_text
from seamark.config.project import Project as Configured
from tests.projects import Project


@pytest.fixture
def empty(project: Project) -> Project:
    (project.folder / "seamark.yaml").unlink()
    return project


@pytest.mark.parametrize("source", ["sqlite", "postgres"])
def test_what_init_writes_is_a_project_that_loads(empty: Project, source: str) -> None:
    done = empty.run("init", "shop", "--source", source).ok()
    folder = empty.folder / "shop"
    config = Configured.find(folder, {"SHOP_URL": "postgresql://ann@db/shop"}).load("shop")
    assert (config.source.kind, config.destination.kind) == (source, "delta")
    assert "cd shop" in done.out
    assert ("export SHOP_URL=" in done.out) == (source == "postgres")


def test_editors_find_the_schema_in_the_first_line(empty: Project) -> None:
    empty.run("init", "shop").ok()
    first = (empty.folder / "shop/pipelines/shop.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../.seamark/pipeline.schema.json"
    schema = json.loads((empty.folder / "shop/.seamark/pipeline.schema.json").read_text())
    assert "pipeline" in schema["properties"]
    assert schema == empty.run("schema").ok().json


def test_init_never_writes_over_a_pipeline_without_force(empty: Project) -> None:
    mine = empty.write("pipelines/mine.yaml", "pipeline: mine\n")
    done = empty.run("init", "--name", "mine")
    assert done.status == 2
    assert done.err.startswith("error: pipelines/mine.yaml is there already")
    assert mine.read_text() == "pipeline: mine\n"
    empty.run("init", "--name", "mine", "--force").ok()
    assert mine.read_text() == pipeline_text("mine", "sqlite")


def test_init_adds_to_a_project_and_leaves_its_files_alone(empty: Project) -> None:
    project_file = empty.write("seamark.yaml", "spark: {master: 'local[1]'}\n")
    ignored = empty.write(".gitignore", "*.db")
    for name in ("one", "two"):
        empty.run("init", "--name", name).ok()
    assert project_file.read_text() == "spark: {master: 'local[1]'}\n"
    assert ignored.read_text() == "*.db\n.seamark/\n"
    assert [p["pipeline"] for p in empty.run("pipelines", "--json").ok().json] == ["one", "two"]


def test_init_lists_its_files_for_programs(empty: Project) -> None:
    document = empty.run("init", "shop", "--json").ok().json
    assert document["pipeline"] == "shop"
    assert document["files"] == [
        "seamark.yaml",
        ".gitignore",
        "pipelines/shop.yaml",
        ".seamark/pipeline.schema.json",
    ]


@pytest.mark.parametrize("name", ["../evil", "a b", "", "-x", "9lives"])
def test_a_name_that_is_none_is_refused(empty: Project, name: str) -> None:
    done = empty.run("init", f"--name={name}")
    assert done.status == (0 if name == "" else 2)
    assert not (empty.folder.parent / "evil.yaml").exists()


def test_a_file_in_the_way_is_told_in_words(empty: Project) -> None:
    empty.write("shop", "not a folder")
    done = empty.run("init", "shop")
    assert done.status == 2
    assert "Traceback" not in done.err
    assert "can't be written" in done.err
