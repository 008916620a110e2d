"""Whether staged rows can be published with one meaning."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from seamark.destinations.delta.connector import DeltaDestination
from seamark.destinations.delta.rows import ambiguous_keys, check_rows, column_has_nulls
from seamark.engine.engine import Engine
from seamark.errors import DestinationError
from seamark.model.checkpoint import Checkpoint, TableChange, Write
from seamark.model.schema import Column, DataType, Schema
from seamark.testing.destination import ORDERS, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import read_delta_rs


@pytest.fixture
def loose(feed: Feed) -> Feed:
    """A stream whose source doesn't enforce the key."""
    return replace(feed, unique_key=False)


def staged(feed: Feed, *files: list[dict[str, Any]], write: Write = Write.MERGE) -> TableChange:
    return change_of(feed.checkpoint(1, write, *files))


def test_an_enforced_key_is_checked_without_spark(feed: Feed) -> None:
    check_rows(staged(feed, orders(1, 2)), NoSpark())
    check_rows(staged(feed, orders(1), orders(1), write=Write.APPEND), NoSpark())


def test_a_stream_without_a_key_may_hold_anything(feed: Feed) -> None:
    feed = replace(feed, stream=replace(feed.stream, key=()), unique_key=False)
    check_rows(staged(feed, [{"id": None}], [{"id": None}], write=Write.REPLACE), NoSpark())


@pytest.mark.parametrize("write", [Write.MERGE, Write.APPEND, Write.REPLACE])
def test_null_in_any_key_column_is_named(feed: Feed, write: Write) -> None:
    feed = replace(feed, stream=replace(feed.stream, key=("id", "item")))
    with pytest.raises(DestinationError, match=r"'orders'.*'item' is NULL") as caught:
        check_rows(staged(feed, orders(1), orders(2, item=None), write=write), NoSpark())  # type: ignore[arg-type]
    assert "where:" in caught.value.hint


def test_null_in_a_key_that_partitions_the_table_is_found(destination: DeltaDestination) -> None:
    feed = Feed(destination)
    feed = replace(feed, stream=replace(feed.stream, key=("id", "item"), partition_by=("item",)))
    feed.create()
    assert not column_has_nulls(staged(feed, orders(1)), "item")
    assert column_has_nulls(staged(feed, orders(1), orders(2, item=None)), "item")  # type: ignore[arg-type]


def test_null_in_a_key_behind_all_statistics_is_found(destination: DeltaDestination) -> None:
    schema = Schema((*(Column(f"c{n}", DataType("int64")) for n in range(40)), Column("k.ö", DataType("string"))))
    feed = Feed(destination, schema=schema)
    feed = replace(feed, stream=replace(feed.stream, key=("k.ö",)))
    feed.create()
    for value, found in (("x", False), (None, True)):
        change = staged(feed, [{"k.ö": "y"}], [{"k.ö": value}])
        assert "k.ö" not in json.loads(change.files[0].stats)["nullCount"]
        assert column_has_nulls(change, "k.ö") is found


@pytest.mark.parametrize(
    ("rows", "example"),
    [
        (orders(1, 2, changed=1) + orders(1, changed=2), None),
        (orders(1) + orders(1), None),
        (orders(1, item="a", changed=1) + orders(1, item="b", changed=1) + orders(1, changed=2), None),
        (orders(1, item="a", changed=None) + orders(1, item="b", changed=1), None),  # type: ignore[arg-type]
        (orders(7, item="a") + orders(1) + orders(7, item="b"), "id = 7"),
        (orders(7, item="a") + orders(7, item=None), "id = 7"),  # type: ignore[arg-type]
        (orders(7, item="a", changed=None) + orders(7, item="b", changed=None), "id = 7"),  # type: ignore[arg-type]
    ],
    ids=["ordered", "the same twice", "a tie below the last", "null is first", "a tie", "a tie with null", "null ties"],
)  # fmt: skip
def test_rows_that_nothing_orders_are_found(
    loose: Feed, engine: Engine, rows: list[dict[str, Any]], example: str | None
) -> None:
    change = staged(loose, rows[:1], rows[1:])
    assert ambiguous_keys(change, engine) == example
    if example is None:
        check_rows(change, engine)


@pytest.mark.parametrize("write", [Write.MERGE, Write.REPLACE])
def test_what_is_ambiguous_says_stream_key_and_example(loose: Feed, engine: Engine, write: Write) -> None:
    feed = replace(loose, stream=replace(loose.stream, key=("id", "changed"), cursor=None))
    change = staged(feed, orders(7, item="a"), orders(7, item="b"), write=write)
    with pytest.raises(DestinationError, match=r"'orders'.*id = 7, changed = 1 and no cursor") as caught:
        check_rows(change, engine)
    assert "`key:`" in caught.value.hint


def test_rows_of_one_key_are_told_apart_by_partition(destination: DeltaDestination, engine: Engine) -> None:
    """The columns that partition the table are in no file: they must take part all the same."""
    feed = Feed(destination, schema=ORDERS, unique_key=False)
    feed = replace(feed, stream=replace(feed.stream, partition_by=("item",)))
    feed.create()
    clash = staged(feed, orders(7, item="a") + orders(7, item="b"))
    assert ambiguous_keys(clash, engine) == "id = 7"
    ordered = feed.checkpoint(1, Write.MERGE, orders(7, item="a", changed=2) + orders(7, item="b", changed=1))
    publish(destination, ordered, engine)
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(7, item="a", changed=2))


def publish(destination: DeltaDestination, checkpoint: Checkpoint, engine: Engine) -> None:
    check_rows(change_of(checkpoint), engine)
    destination.publish(checkpoint, change_of(checkpoint), engine)
