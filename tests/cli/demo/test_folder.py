from __future__ import annotations

from pathlib import Path

import pytest

from seamark.cli.demo.folder import claim
from seamark.config.project import Project
from seamark.errors import UsageError


def test_an_earlier_demo_is_replaced(tmp_path: Path) -> None:
    first = claim(tmp_path / "demo", keep=False)
    first.database.write_text("old")
    again = claim(tmp_path / "demo", keep=False)
    assert again.root == first.root
    assert not again.database.exists()


def test_an_earlier_demo_is_kept_on_demand(tmp_path: Path) -> None:
    first = claim(tmp_path / "demo", keep=False)
    first.database.write_text("old")
    assert claim(tmp_path / "demo", keep=True).root == tmp_path / "demo-2"
    assert claim(tmp_path / "demo", keep=True).root == tmp_path / "demo-3"
    assert first.database.read_text() == "old"


def test_a_folder_that_no_demo_made_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="no demo made it"):
        claim(theirs, keep=False)
    assert (theirs / "thesis.txt").read_text() == "years of work"


def test_a_file_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        claim(tmp_path / "demo", keep=False)
    with pytest.raises(UsageError, match="can't be written"):
        claim(tmp_path / "demo" / "below", keep=False)


def test_the_demos_pipeline_loads(tmp_path: Path) -> None:
    folder = claim(tmp_path / "demo", keep=False)
    folder.write_project()
    config = Project.find(folder.root).load("shop")
    assert [stream.name for stream in config.streams] == ["customers", "orders", "order_items"]  # type: ignore[union-attr]
