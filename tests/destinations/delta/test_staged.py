"""Staged files on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from seamark.destinations.delta.connector import DeltaDestination
from seamark.errors import DestinationError
from seamark.model.checkpoint import Write
from seamark.testing.destination import INCARNATION, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import read_delta_rs


def test_what_was_never_staged_is_no_stray(destination: DeltaDestination, feed: Feed) -> None:
    assert destination.strays(feed.table, INCARNATION, 9) == frozenset()
    assert destination.sweep(feed.table, INCARNATION, set()) == 0
    assert destination.sweep(feed.table, INCARNATION, {(1, 1)}) == 0
    assert destination.strays(str(Path(feed.table, "nowhere")), INCARNATION, 9) == frozenset()


def test_half_written_files_are_swept_with_their_folder(destination: DeltaDestination, feed: Feed) -> None:
    folder = Path(feed.table, "staged", f"{INCARNATION}-1-5")
    (folder / "deeper").mkdir(parents=True)
    (folder / "part.parquet.tmp").write_bytes(b"x")
    (folder / "deeper" / ".hidden").write_bytes(b"x")
    assert destination.sweep(feed.table, INCARNATION, {(1, 5)}) == 2
    assert not folder.exists()


def test_files_of_a_table_in_use_are_kept_whatever_their_names(destination: DeltaDestination) -> None:
    feed = Feed(destination)
    feed = replace(feed, stream=replace(feed.stream, name="a b%ü", partition_by=("item",)))
    feed.create()
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1, item="a/b c=%41") + orders(2))
    destination.publish(checkpoint, change_of(checkpoint), NoSpark())
    Path(feed.table, change_of(checkpoint).files[0].path).with_name("stray.parquet").write_bytes(b"x")
    assert destination.sweep(feed.table, INCARNATION, {(1, 1)}) == 1
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1, item="a/b c=%41") + orders(2))


def test_strays_of_other_stores_and_of_nobody_are_left_alone(destination: DeltaDestination, feed: Feed) -> None:
    for name in ("other-1-1", f"{INCARNATION}-x-1", f"{INCARNATION}-1", f"x{INCARNATION}-1-1", f"{INCARNATION}-3-1"):
        Path(feed.table, "staged", name).mkdir(parents=True)
    assert destination.strays(feed.table, INCARNATION, 3) == frozenset()
    assert destination.strays(feed.table, INCARNATION, 4) == {(3, 1)}


def test_a_checkpoint_that_names_files_elsewhere_is_refused(destination: DeltaDestination, feed: Feed) -> None:
    change = change_of(feed.checkpoint(1, Write.APPEND, orders(1)))
    outside = replace(change, files=(replace(change.files[0], path="../../secret"),))
    with pytest.raises(DestinationError, match="no staged file's name"):
        destination.verify(outside, deep=True)
