"""A publisher killed at each of its steps: whoever comes next finishes what it began."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from seamark.engine.engine import Engine
from seamark.model.checkpoint import Write
from seamark.model.schema import Column, DataType, Schema
from seamark.testing.destination import ORDERS, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import commits, read_delta_rs

PUBLISHER = """
import pickle, sys
from pathlib import Path
from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.testing.destination import NoSpark
checkpoint = pickle.loads(Path(sys.argv[1]).read_bytes())
DeltaDestination(DeltaOptions(path="lake"), Path(sys.argv[2])).publish(checkpoint, checkpoint.draft.tables[0], NoSpark())
"""


def _killed_at(point: str, checkpoint: object, tmp_path: Path) -> bool:
    """Publish in a process of its own, which dies at `point`; whether it did."""
    (tmp_path / "checkpoint").write_bytes(pickle.dumps(checkpoint))
    environment = os.environ | {"SEAMARK_CRASH_AT": point}
    command = [sys.executable, "-c", PUBLISHER, str(tmp_path / "checkpoint"), str(tmp_path)]
    return subprocess.run(command, env=environment, timeout=60).returncode == -signal.SIGKILL


@pytest.mark.parametrize("write", [Write.APPEND, Write.REPLACE])
@pytest.mark.parametrize(("point", "written"), [("publish.looked", False), ("publish.written", True)])
def test_a_killed_publisher_leaves_all_or_nothing(
    feed: Feed, tmp_path: Path, write: Write, point: str, written: bool
) -> None:
    checkpoint = feed.checkpoint(1, write, orders(1), orders(2))
    assert _killed_at(point, checkpoint, tmp_path)
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1, 2) if written else [])
    outcome = feed.destination.publish(checkpoint, change_of(checkpoint), NoSpark())
    assert (outcome.has_rows, outcome.recorded) == (True, 2)
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1, 2))
    assert commits(feed.table) == 2


@pytest.mark.parametrize("kind", ["a new column", "a wider type"])
def test_a_publisher_killed_after_it_changed_the_columns_is_finished(feed: Feed, tmp_path: Path, kind: str) -> None:
    narrow = replace(
        feed, stream=replace(feed.stream, name="n"), schema=Schema((*ORDERS, Column("n", DataType("int32"))))
    )
    narrow.create()
    first = narrow.checkpoint(1, Write.APPEND, [{**orders(1)[0], "n": 1}])
    narrow.destination.publish(first, change_of(first), NoSpark())
    wide = {
        "a new column": replace(narrow, schema=Schema((*narrow.schema, Column("new", DataType("int64"))))),
        "a wider type": replace(narrow, schema=Schema((*ORDERS, Column("n", DataType("int64"))))),
    }[kind]
    row = {**orders(2)[0], "n": 2} | ({"new": 3} if kind == "a new column" else {"n": 2**40})
    checkpoint = wide.checkpoint(2, Write.APPEND, [row])
    assert _killed_at("publish.evolved", checkpoint, tmp_path)
    old = {**orders(1)[0], "n": 1} | ({"new": None} if kind == "a new column" else {})
    assert read_delta_rs(wide.table) == [old]
    assert wide.destination.publish(checkpoint, change_of(checkpoint), NoSpark()).has_rows
    assert as_set(read_delta_rs(wide.table)) == as_set([old, row])


def test_a_merge_killed_before_its_statement_is_finished_by_the_next(
    feed: Feed, tmp_path: Path, engine: Engine
) -> None:
    first = feed.checkpoint(1, Write.APPEND, orders(1, 2))
    feed.destination.publish(first, change_of(first), NoSpark())
    checkpoint = feed.checkpoint(2, Write.MERGE, orders(2, 3, item="new"))
    assert _killed_at("publish.looked", checkpoint, tmp_path)
    feed.destination.publish(checkpoint, change_of(checkpoint), engine)
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1) + orders(2, 3, item="new"))
