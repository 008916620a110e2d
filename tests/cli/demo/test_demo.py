"""The whole demo, on a smaller shop: two JVMs, a real kill, every row compared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from seamark.app import App
from seamark.cli.demo.agreement import Agreement
from seamark.cli.demo.folder import DemoFolder
from seamark.cli.demo.narrator import Narrator
from seamark.cli.demo.story import Story
from seamark.cli.session import project_in
from seamark.cli.stop import Stop
from tests.projects import Project


def test_the_demo_ends_in_agreement_and_leaves_a_project_to_go_on_with(project: Project) -> None:
    done = project.run("demo", "--rows", "4000", "--json").ok()
    document = done.json
    assert done.out.count("\n") == 1
    assert document["agrees"] is True
    assert set(document["tables"]) == {"customers", "orders", "order_items"}
    for table in document["tables"].values():
        assert table["source_rows"] == table["destination_rows"] > 0
        assert table["differing"] == 0
    steps = {run["step"]: run for run in document["runs"]}
    assert list(steps) == ["load", "change", "recover"]
    assert all(run["status"] == "succeeded" for run in steps.values())
    # Killed between orders and order_items: the latter is all that was left to read.
    assert [stream["name"] for stream in steps["recover"]["streams"] if stream["checkpoints"]] == ["order_items"]
    _goes_on(project)


def _goes_on(project: Project) -> None:
    """What the demo left is a project like any other."""
    folder = project.folder / "seamark-demo"
    with closing(sqlite3.connect(folder / "shop.db")) as shop, shop:
        shop.execute("insert into order_items (order_id, product, quantity, price) values (1, 'Stickers', 1, 0.5)")
    plan = project.run("--project", "seamark-demo", "plan", "--json").ok().json
    assert [stream["name"] for stream in plan["streams"] if stream["runs"]] == ["order_items"]
    assert (folder / ".seamark" / "pipeline.schema.json").is_file()


def test_a_folder_in_the_way_is_wrong_usage(project: Project) -> None:
    project.write("seamark-demo/mine.txt", "mine")
    done = project.run("demo", "--json")
    assert done.status == 2
    assert "no demo made it" in done.json["error"]
    assert (project.folder / "seamark-demo" / "mine.txt").read_text() == "mine"


def test_the_demo_agrees_only_when_every_table_does(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path)
    with closing(App(project_in(tmp_path))) as app:
        story = Story(app, folder, Narrator(silent=True), Stop())
        assert not story.agrees
        story.agreements = [Agreement("orders", 5, 5, 0), Agreement("customers", 5, 5, 0)]
        assert story.agrees
        story.agreements[1] = Agreement("customers", 5, 5, 1)
        assert not story.agrees
        story.agreements[1] = Agreement("customers", 5, 6, 0)
        assert not story.agrees
