"""Names of streams as names of folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.destinations.delta.places import parse_staged, staged_folder, staged_path
from seamark.engine.engine import Engine
from seamark.errors import DestinationError
from seamark.model.checkpoint import Write
from seamark.testing.destination import Feed, as_set, change_of, orders
from tests.destinations.delta.tables import read_delta_rs, read_spark

ODD = ['it\'s "q" Größe 数', ".a:b#c?d&e=50%", "_tick`${HOME}[1]{b}* "]
MORE = ["a b", "_x", ".x", "a:b", "50%", "a#b?c&d=e", "tick`", "${HOME}", "~", "a[1]{b}*", "x ", "it's", '"', "数"]


def _feed(tmp_path: Path, name: str) -> Feed:
    feed = Feed(DeltaDestination(DeltaOptions(path="lake"), tmp_path))
    return replace(feed, stream=replace(feed.stream, name=name))


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", "a\\b", "a\nb", "\0", "%41", "_delta_log", "x" * 201, "ü" * 101]
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DestinationError, match="can't name a folder"):
        _feed(tmp_path, name).table  # noqa: B018 - it raises


@pytest.mark.parametrize("path", ["lake", "./lake/", "x/../lake", "/{root}/lake"])
def test_a_table_is_an_absolute_normal_path(tmp_path: Path, path: str) -> None:
    destination = DeltaDestination(DeltaOptions(path=path.replace("/{root}", str(tmp_path))), tmp_path)
    assert Feed(destination).table == str(tmp_path / "lake" / "orders")


def test_a_url_stays_one(tmp_path: Path) -> None:
    assert Feed(DeltaDestination(DeltaOptions(path="s3://bucket/lake/"), tmp_path)).table == "s3://bucket/lake/orders"


def test_a_folder_that_readers_differ_about_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DestinationError, match="readers differ"):
        Feed(DeltaDestination(DeltaOptions(path="100%25"), tmp_path)).table  # noqa: B018 - it raises


def test_staged_folders_are_told_apart() -> None:
    assert parse_staged(staged_folder("a-b", 3, 14).removeprefix("staged/"), "a-b") == (3, 14)
    assert parse_staged("a-b-3-14", "a") is None
    assert parse_staged("a-b-3-14", "b") is None


@pytest.mark.parametrize("name", ["../x", "staged/../../x", "/etc/passwd", "staged//x", "x/staged/y"])
def test_a_staged_file_is_below_the_staging_folder(name: str) -> None:
    with pytest.raises(DestinationError, match="no staged file's name"):
        staged_path("/lake/orders", name)


@pytest.mark.parametrize("name", [*ODD, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)])
def test_odd_names_work_in_delta_rs_and_in_spark(tmp_path: Path, engine: Engine, name: str) -> None:
    feed = _feed(tmp_path, name)
    feed.create()
    assert Path(feed.table).parent == tmp_path / "lake"
    first, second = (
        feed.checkpoint(1, Write.APPEND, orders(1, 2)),
        feed.checkpoint(2, Write.MERGE, orders(2, 3, item="new")),
    )
    for checkpoint in (first, second):
        assert feed.destination.publish(checkpoint, change_of(checkpoint), engine).has_rows
    expected = as_set(orders(1) + orders(2, 3, item="new"))
    assert as_set(read_delta_rs(feed.table)) == as_set(read_spark(engine.session(), feed.table)) == expected
