"""Merging with Spark: by key, once, and only what must be touched."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from seamark.destinations.delta import merge
from seamark.destinations.delta.connector import DeltaDestination
from seamark.destinations.delta.merge import key_bounds
from seamark.engine.engine import Engine
from seamark.errors import DestinationError, StateConflict
from seamark.model.checkpoint import Checkpoint, TableChange, Write
from seamark.model.schema import Column, DataType, Schema
from seamark.model.stream import Mode, Stream
from seamark.testing.destination import ORDERS, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import actions, commits, read_delta_rs, read_spark

Meanwhile = Callable[[str, Callable[[], object]], None]
INT64, STRING = DataType("int64"), DataType("string")


@pytest.fixture
def loaded(feed: Feed, engine: Engine) -> Feed:
    """Orders 1 to 3, in a table that has been merged into before."""
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1, 2)), engine)
    publish(feed, feed.checkpoint(2, Write.MERGE, orders(3)), engine)
    return feed


def publish(feed: Feed, checkpoint: Checkpoint, engine: Engine | NoSpark) -> Any:
    return feed.destination.publish(checkpoint, change_of(checkpoint), engine)


def test_a_repeated_merge_changes_nothing(loaded: Feed, engine: Engine) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(3, 4, item="new"))
    publish(loaded, checkpoint, engine)
    before = commits(loaded.table)
    # What is recorded is seen before Spark is asked for.
    outcome = publish(loaded, checkpoint, NoSpark())
    assert (outcome.has_rows, outcome.recorded, commits(loaded.table)) == (True, 6, before)


def test_a_merge_leaves_files_in_place_and_tells_whose_it_is(loaded: Feed, engine: Engine) -> None:
    publish(loaded, loaded.checkpoint(3, Write.MERGE, orders(1, item="new")), engine)
    changed = [action["add"] for action in actions(loaded.table) if "add" in action]
    assert sum("deletionVector" in add for add in changed) == 1
    receipt = json.loads(DeltaTable(loaded.table).history(1)[0]["userMetadata"])["seamark"]
    assert (receipt["seq"], receipt["number"], receipt["stream"]) == (3, 6, "orders")
    rows = as_set(orders(2, 3) + orders(1, item="new"))
    assert as_set(read_delta_rs(loaded.table)) == as_set(read_spark(engine.session(), loaded.table)) == rows


def test_a_merge_that_finds_nothing_to_do_still_counts(destination: DeltaDestination, engine: Engine) -> None:
    feed = Feed(
        destination,
        Stream("pairs", "pairs", Mode.MERGE, key=("a", "b")),
        Schema((Column("a", INT64), Column("b", STRING))),
    )
    feed.create()
    rows = [{"a": 1, "b": "x"}]
    publish(feed, feed.checkpoint(1, Write.APPEND, rows), engine)
    outcome = publish(feed, feed.checkpoint(2, Write.MERGE, rows), engine)
    facts = destination.facts(feed.table)
    assert facts is not None
    assert (outcome.has_rows, outcome.recorded, facts.recorded) == (True, 4, 4)
    assert read_delta_rs(feed.table) == rows


def test_columns_that_the_stream_lacks_stay_and_are_null_in_new_rows(loaded: Feed, engine: Engine) -> None:
    narrow = replace(loaded, schema=Schema(tuple(c for c in ORDERS if c.name != "item")))
    rows = [{"id": 1, "changed": 7}, {"id": 9, "changed": 8}]
    publish(narrow, narrow.checkpoint(3, Write.MERGE, rows), engine)
    expected = [{"id": 1, "item": "tea", "changed": 7}, {"id": 9, "item": None, "changed": 8}]
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(2, 3) + expected)


def test_a_merge_can_bring_a_new_column(loaded: Feed, engine: Engine) -> None:
    wide = replace(loaded, schema=Schema((*ORDERS, Column("price", INT64, comment="in cents"))))
    publish(wide, wide.checkpoint(3, Write.MERGE, [{**orders(3)[0], "price": 5}]), engine)
    expected = [row | {"price": None} for row in orders(1, 2)] + [{**orders(3)[0], "price": 5}]
    assert as_set(read_spark(engine.session(), loaded.table)) == as_set(expected)
    facts = loaded.destination.facts(loaded.table)
    assert facts is not None
    assert facts.schema.columns[-1].comment == "in cents"


def test_a_tombstone_before_the_statement_wins(loaded: Feed, engine: Engine, meanwhile: Meanwhile) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(1, 9, item="zombie"))
    meanwhile("publish.looked", lambda: loaded.destination.entomb(checkpoint, change_of(checkpoint)))
    outcome = publish(loaded, checkpoint, engine)
    assert (outcome.has_rows, outcome.recorded) == (False, 7)
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2, 3))


def test_a_merge_before_the_tombstone_stays(loaded: Feed, engine: Engine) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(9))
    publish(loaded, checkpoint, engine)
    outcome = loaded.destination.entomb(checkpoint, change_of(checkpoint))
    assert (outcome.has_rows, outcome.recorded) == (True, 6)
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2, 3, 9))


def _held(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make the next merges stop while they read their rows, with their snapshot taken, until `folder/go` is there."""
    read = merge.staged_rows

    def staged_rows(session: SparkSession, change: TableChange) -> DataFrame:
        rows = read(session, change)
        reached, go = str(folder / "reached"), str(folder / "go")

        def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import time
            from pathlib import Path

            Path(reached).touch()
            while not Path(go).exists():
                time.sleep(0.01)
            yield from batches

        return rows.mapInArrow(wait, rows.schema)

    monkeypatch.setattr(merge, "staged_rows", staged_rows)


@pytest.mark.parametrize("other", ["tombstone", "append", "merge"])
def test_what_is_recorded_while_a_merge_runs_wins(
    loaded: Feed, engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: str
) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(1, 9, item="zombie"))
    later = loaded.checkpoint(4, Write.APPEND, orders(4))
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        _held(patch, tmp_path)
        zombie = pool.submit(publish, loaded, checkpoint, engine)
        while not (tmp_path / "reached").exists():
            assert not zombie.done(), zombie.result()
            time.sleep(0.01)
        patch.undo()
        if other == "tombstone":
            loaded.destination.entomb(checkpoint, change_of(checkpoint))
        else:
            publish(loaded, later if other == "append" else checkpoint, engine)
        version = commits(loaded.table)
        (tmp_path / "go").touch()
        wait([zombie])
    assert commits(loaded.table) == version
    if other == "append":
        assert isinstance(zombie.exception(), StateConflict)
        assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2, 3, 4))
        return
    outcome, merged = zombie.result(), other == "merge"
    assert (outcome.has_rows, outcome.recorded) == ((True, 6) if merged else (False, 7))
    expected = orders(2, 3) + orders(1, 9, item="zombie") if merged else orders(1, 2, 3)
    assert as_set(read_delta_rs(loaded.table)) == as_set(expected)


def test_of_two_merges_at_once_one_changes_the_table(loaded: Feed, engine: Engine, meanwhile: Meanwhile) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(3, 4, item="new"))
    meanwhile("publish.looked", lambda: publish(loaded, checkpoint, engine))
    before = commits(loaded.table)
    outcome = publish(loaded, checkpoint, engine)
    assert (outcome.has_rows, outcome.recorded, commits(loaded.table)) == (True, 6, before + 1)
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2) + orders(3, 4, item="new"))


def test_a_merge_that_was_overtaken_is_refused(loaded: Feed, engine: Engine, meanwhile: Meanwhile) -> None:
    old, new = loaded.checkpoint(3, Write.MERGE, orders(1, item="old")), loaded.checkpoint(4, Write.APPEND, orders(4))
    meanwhile("publish.looked", lambda: publish(loaded, new, engine))
    with pytest.raises(StateConflict):
        publish(loaded, old, engine)
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2, 3, 4))


def test_rows_that_a_stranger_adds_meanwhile_are_merged_into(
    loaded: Feed, engine: Engine, meanwhile: Meanwhile
) -> None:
    meanwhile("publish.looked", lambda: DeltaTable(loaded.table).delete("id = 2"))
    publish(loaded, loaded.checkpoint(3, Write.MERGE, orders(2, item="new")), engine)
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 3) + orders(2, item="new"))


def test_rows_move_between_partitions(destination: DeltaDestination, engine: Engine) -> None:
    schema = Schema((*ORDERS, Column("day", DataType("date")), Column("at", DataType("timestamptz"))))
    base = Feed(destination, schema=schema)
    feed = replace(base, stream=replace(base.stream, partition_by=("day", "item")))
    feed.create()

    def rows(day: date | None, item: str | None, *ids: int) -> list[dict[str, Any]]:
        return [{"id": i, "item": item, "changed": 1, "day": day, "at": None} for i in ids]

    first = rows(date(2026, 1, 1), "a/b c=%41", 1, 2) + rows(None, None, 3)
    publish(feed, feed.checkpoint(1, Write.APPEND, first), engine)
    second = rows(date(2026, 1, 2), "ü'\"", 2, 3) + rows(None, "x", 4)
    publish(feed, feed.checkpoint(2, Write.MERGE, second), engine)
    expected = as_set(rows(date(2026, 1, 1), "a/b c=%41", 1) + second)
    assert as_set(read_delta_rs(feed.table)) == as_set(read_spark(engine.session(), feed.table)) == expected


def test_a_merge_never_opens_files_outside_the_range_of_its_keys(feed: Feed, engine: Engine) -> None:
    first = feed.checkpoint(1, Write.APPEND, orders(*range(10)), orders(100))
    publish(feed, first, engine)
    far = Path(feed.table, change_of(first).files[0].path)
    away = far.rename(far.with_suffix(".away"))
    publish(feed, feed.checkpoint(2, Write.MERGE, orders(100, 200, item="new")), engine)
    away.rename(far)
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(*range(10)) + orders(100, 200, item="new"))


@pytest.mark.parametrize(
    ("kind", "values", "bounds"),
    [
        ("int64", [3, -5, 9], ("-5", "9")),
        ("date", [date(2026, 2, 1), date(2025, 1, 1)], ("DATE'2025-01-01'", "DATE'2026-02-01'")),
        ("string", ["b", "a:1"], ("'a:1'", "'b'")),
        ("string", ["it's", "b"], None),
        ("string", ["b\\", "c"], None),
        ("float64", [1.5], None),
    ],
)
def test_the_range_of_keys_is_known_where_it_can_be_written(
    destination: DeltaDestination, kind: str, values: list[Any], bounds: tuple[str, str] | None
) -> None:
    feed = Feed(
        destination, Stream("t", "t", Mode.MERGE, key=("k",)), Schema((Column("k", DataType(kind)), Column("v", INT64)))
    )
    feed.create()
    checkpoint = feed.checkpoint(1, Write.MERGE, *([{"k": value, "v": 1}] for value in values))
    assert key_bounds(change_of(checkpoint)) == ({"k": bounds} if bounds else {})


def test_odd_column_names_are_merged(destination: DeltaDestination, engine: Engine) -> None:
    odd = "a,b=(c);{} \"x'.ß"
    schema = Schema((Column("The Id", INT64), Column(odd, STRING), Column("${x}", STRING), Column("select", STRING)))
    feed = Feed(destination, Stream("odd", "odd", Mode.MERGE, key=("The Id",)), schema)
    feed.create()

    def row(number: int, text: str) -> dict[str, Any]:
        return {"The Id": number, odd: text, "${x}": text, "select": text}

    publish(feed, feed.checkpoint(1, Write.APPEND, [row(1, "a"), row(2, "b")]), engine)
    publish(feed, feed.checkpoint(2, Write.MERGE, [row(2, "c"), row(3, "d")]), engine)
    expected = as_set([row(1, "a"), row(2, "c"), row(3, "d")])
    assert as_set(read_delta_rs(feed.table)) == as_set(read_spark(engine.session(), feed.table)) == expected
    feed = replace(feed, unique_key=False)
    publish(feed, feed.checkpoint(3, Write.REPLACE, [row(5, "e"), row(5, "e")]), engine)
    assert read_delta_rs(feed.table) == read_spark(engine.session(), feed.table) == [row(5, "e")]


def test_duplicate_keys_that_the_source_denied_are_named(loaded: Feed, engine: Engine) -> None:
    checkpoint = loaded.checkpoint(3, Write.MERGE, orders(1, item="this") + orders(1, item="that"))
    with pytest.raises(DestinationError) as caught:
        publish(loaded, checkpoint, engine)
    assert "not unique" in caught.value.hint
    assert "at org.apache" not in caught.value.message
    assert as_set(read_delta_rs(loaded.table)) == as_set(orders(1, 2, 3))


def test_a_replacement_keeps_the_last_row_of_each_key(loaded: Feed, engine: Engine) -> None:
    feed = replace(loaded, unique_key=False, schema=Schema((*ORDERS, Column("price", INT64, comment="in cents"))))
    rows = [row | {"price": 1} for row in orders(1, 2, item="old", changed=1) + orders(2, item="new", changed=2)]
    checkpoint = feed.checkpoint(3, Write.REPLACE, rows)
    feed.destination.check_rows(change_of(checkpoint), engine)
    for _ in range(2):
        outcome = publish(feed, checkpoint, engine)
        assert (outcome.has_rows, outcome.recorded) == (True, 6)
        assert as_set(read_delta_rs(feed.table)) == as_set([rows[0], rows[2]])
    facts = feed.destination.facts(feed.table)
    assert facts is not None
    assert (facts.owner_name, facts.schema.columns[-1].comment, facts.schema.columns[0].comment) == (
        "shop", "in cents", "counts up",
    )  # fmt: skip


def test_a_tombstone_keeps_such_a_replacement_out(loaded: Feed, engine: Engine, meanwhile: Meanwhile) -> None:
    feed = replace(loaded, unique_key=False)
    checkpoint = feed.checkpoint(3, Write.REPLACE, orders(1, changed=1) + orders(1, changed=2))
    meanwhile("publish.looked", lambda: feed.destination.entomb(checkpoint, change_of(checkpoint)))
    assert not publish(feed, checkpoint, engine).has_rows
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1, 2, 3))
