from __future__ import annotations

from pathlib import Path

import pytest

from seamark.config.project import Project, SparkOptions
from seamark.errors import ConfigError
from tests.config.files import HEAD, said, write

PIPELINE = HEAD + "streams: a\n"


def named(name: str) -> str:
    return PIPELINE.replace("shop\n", f"{name}\n", 1)


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    write(tmp_path, "seamark.yaml", "")
    write(tmp_path, "pipelines/a.yaml", named("customers"))
    write(tmp_path, "pipelines/b.yml", named("orders"))
    write(tmp_path, "pipelines/notes.txt", "no pipeline")
    return Project.find(tmp_path, {})


def test_the_root_is_the_nearest_folder_upwards_with_a_project_file(tmp_path: Path) -> None:
    write(tmp_path, "seamark.yaml", "")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert Project.find(deep).root == tmp_path
    write(tmp_path, "a/seamark.yaml", "")
    assert Project.find(deep).root == tmp_path / "a"


def test_without_a_project_file_the_root_is_the_pipeline_files_folder(tmp_path: Path) -> None:
    path = write(tmp_path, "pipelines/a.yaml", named("shop"))
    by_name = Project.find(tmp_path).load("shop")
    by_path = Project.containing(path).load(path)
    assert by_name.root == by_path.root == tmp_path / "pipelines"
    assert by_name.file == by_path.file
    assert Project.find(tmp_path).root == tmp_path / "pipelines"


def test_a_file_brings_its_own_project(tmp_path: Path, shop: Project) -> None:
    write(tmp_path, "other/seamark.yaml", "spark: {memory: 9g}")
    path = write(tmp_path, "other/x.yaml", named("x"))
    config = shop.load(path)
    assert (config.root, config.spark.memory) == (tmp_path / "other", "9g")


def test_an_empty_folder_is_a_project_without_pipelines(tmp_path: Path) -> None:
    project = Project.find(tmp_path)
    assert (project.root, project.pipelines(), project.state_store.kind, project.spark) == (
        tmp_path,
        (),
        "sqlite",
        SparkOptions(),
    )
    with pytest.raises(ConfigError, match="there is no pipeline 'x'") as caught:
        project.load("x")
    assert "seamark init" in caught.value.hint


def test_pipelines_are_known_by_the_name_in_the_file(shop: Project) -> None:
    assert shop.pipelines() == ("customers", "orders")
    assert shop.load("orders").file == shop.root / "pipelines" / "b.yml"


def test_a_pipeline_can_be_called_by_its_files_name_too(shop: Project) -> None:
    assert shop.load("b").name == "orders"


def test_a_name_goes_before_a_files_name(shop: Project) -> None:
    write(shop.root, "pipelines/c.yaml", named("a"))
    assert shop.load("a").file.name == "c.yaml"


def test_a_relative_path_is_from_here(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.root / "pipelines")
    assert shop.load("./b.yml").name == shop.load("b.yml").name == "orders"


def test_an_unknown_name_suggests_the_nearest(shop: Project) -> None:
    with pytest.raises(ConfigError, match="there is no pipeline 'odrers'") as caught:
        shop.load("odrers")
    assert caught.value.hint == "did you mean 'orders'? pipelines here: customers, orders"


def test_an_unknown_file_says_so(shop: Project) -> None:
    with pytest.raises(ConfigError, match=r"there is no file pipelines/order\.yaml") as caught:
        shop.load("pipelines/order.yaml")
    assert "did you mean 'orders'?" in caught.value.hint


def test_what_has_a_slash_is_a_path(shop: Project) -> None:
    with pytest.raises(ConfigError, match="there is no file pipelines/orders"):
        shop.load("pipelines/orders")


def test_a_file_that_can_not_be_read_is_listed_by_its_own_name(shop: Project) -> None:
    write(shop.root, "pipelines/broken.yaml", "pipeline: [\n")
    write(shop.root, "pipelines/odd.yaml", named("../odd"))
    write(shop.root, "pipelines/bare.yaml", "streams: a\n")
    assert shop.pipelines() == ("customers", "orders", "bare", "broken", "odd")
    for name in ("broken", "odd", "bare"):
        with pytest.raises(ConfigError, match=rf"{name}\.yaml:\d: "):
            shop.load(name)


@pytest.mark.parametrize("other", ["orders", "Orders"])
def test_two_files_with_one_name_are_refused(shop: Project, other: str) -> None:
    write(shop.root, "pipelines/z.yaml", "# a copy\n" + named(other))
    for name_or_path in ("orders", shop.root / "pipelines" / "z.yaml"):
        with pytest.raises(ConfigError, match=r"is also taken by .*(b\.yml|z\.yaml)") as caught:
            shop.load(name_or_path)
        assert caught.value.where.endswith(("b.yml:1", "z.yaml:2"))


def test_a_listing_needs_no_environment(shop: Project) -> None:
    write(shop.root, "pipelines/c.yaml", named("secretive").replace("shop.db", "'${NOWHERE}'"))
    assert "secretive" in shop.pipelines()
    assert shop.load("secretive").source.kind == "sqlite"


def test_what_a_project_sets(tmp_path: Path) -> None:
    write(
        tmp_path,
        "seamark.yaml",
        """
        state_store: {type: postgres, url: "${STATE_URL}"}
        spark: {master: "${MASTER}", skip_below: 1000}
        server: {port: 8080, anything: [1, 2]}
        """,
    )
    project = Project.find(tmp_path, {"MASTER": "sc://spark"})
    assert (project.state_store.kind, project.spark.master, project.spark.skip_below) == (
        "postgres",
        "sc://spark",
        1000,
    )
    assert project.server == {"port": 8080, "anything": [1, 2]}


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("sparks: {}", [(1, "unknown key 'sparks'")]),
        ("spark:\n  mastr: x", [(2, "spark: unknown key 'mastr'")]),
        ("state_store: sqlite", [(1, "state_store: expected a mapping, found text")]),
        ("state_store:\n  path: x", [(1, "state_store: 'type' is required")]),
        ("server: 5", [(1, "server: expected a mapping, found 5")]),
        (
            "spark:\n  master: ${NOWHERE}\nx: 1",
            [(2, "the environment variable NOWHERE is not set"), (3, "unknown key 'x'")],
        ),
    ],
)
def test_each_mistake_in_the_project_file_has_its_line(
    tmp_path: Path, text: str, mistakes: list[tuple[int, str]]
) -> None:
    write(tmp_path, "seamark.yaml", text)
    with pytest.raises(ConfigError) as caught:
        Project.find(tmp_path, {})
    assert [(line, message.split(" (")[0]) for line, message in said(caught.value, tmp_path)] == mistakes


def test_errors_name_files_from_here(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shop.root, "pipelines/c.yaml", "pipeline: c\nx: 1\n")
    monkeypatch.chdir(shop.root)
    with pytest.raises(ConfigError) as caught:
        shop.load("c")
    assert caught.value.where == "pipelines/c.yaml:1"
