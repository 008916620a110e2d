"""Publishing without Spark: once, whoever else is at it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake
from deltalake.exceptions import DeltaError

from seamark.destinations.delta.connector import DeltaDestination
from seamark.destinations.delta.log import Moved, look_at_own, looked_at
from seamark.destinations.delta.receipt import BOOKMARKS_LIMIT
from seamark.errors import DestinationError, ForeignTable, SchemaConflict, StateConflict
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft, Write
from seamark.model.schema import Column, DataType
from seamark.model.schema import Schema as Columns
from seamark.testing.destination import INCARNATION, ORDERS, OWNER, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import actions, commits, read_delta_rs

Meanwhile = Callable[[str, Callable[[], object]], None]


def publish(feed: Feed, checkpoint: Checkpoint) -> Any:
    return feed.destination.publish(checkpoint, change_of(checkpoint), NoSpark())


def recorded(feed: Feed) -> int:
    facts = feed.destination.facts(feed.table)
    assert facts is not None
    return facts.recorded


def test_staged_files_become_the_tables_own_under_relative_names(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1), orders(2))
    publish(feed, checkpoint)
    added = [action["add"] for action in actions(feed.table) if "add" in action]
    assert [add["path"] for add in added] == [file.path for file in change_of(checkpoint).files]
    assert all(add["path"].startswith(f"staged/{INCARNATION}-1-1/") for add in added)
    assert [add["stats"] for add in added] == [file.stats for file in change_of(checkpoint).files]
    assert [json.loads(add["stats"])["numRecords"] for add in added] == [1, 1]
    assert [action["txn"] for action in actions(feed.table) if "txn" in action] == [
        {"appId": f"seamark-{OWNER}", "version": 2}
    ]


def test_a_commit_tells_whose_it_is_and_what_it_justifies(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    publish(feed, checkpoint)
    receipt = json.loads(DeltaTable(feed.table).history(1)[0]["userMetadata"])["seamark"]
    assert receipt == {
        "pipeline": "shop",
        "pipeline_uuid": OWNER,
        "incarnation": INCARNATION,
        "run_id": "run-1",
        "stream": "orders",
        "seq": 1,
        "number": 2,
        "digest": change_of(checkpoint).digest,
        "bookmarks": [{"stream": "orders", "partition": "{}", "type": "integer", "text": "1"}],
    }


def test_a_commit_stays_small_whatever_the_bookmarks(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    large = Bookmark.of(BookmarkType.TEXT, "x" * (BOOKMARKS_LIMIT + 1))
    draft = Draft(checkpoint.draft.tables, (BookmarkChange("orders", None, large),))
    publish(feed, replace(checkpoint, draft=draft))
    text = DeltaTable(feed.table).history(1)[0]["userMetadata"]
    assert len(text) < 1000
    assert json.loads(text)["seamark"]["bookmarks"] is None


@pytest.mark.parametrize("other", [Write.APPEND, Write.REPLACE])
def test_of_two_publishers_of_one_checkpoint_one_writes(feed: Feed, meanwhile: Meanwhile, other: Write) -> None:
    checkpoint = feed.checkpoint(1, other, orders(1))
    twin: list[Any] = []
    meanwhile("publish.looked", lambda: twin.append(publish(feed, checkpoint)))
    outcome = publish(feed, checkpoint)
    assert (outcome.has_rows, twin[0].has_rows) == (True, True)
    assert read_delta_rs(feed.table) == orders(1)
    assert commits(feed.table) == 2


@pytest.mark.parametrize("write", [Write.APPEND, Write.REPLACE, Write.NOTHING])
def test_a_tombstone_between_look_and_commit_wins(feed: Feed, meanwhile: Meanwhile, write: Write) -> None:
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1)))
    checkpoint = feed.checkpoint(2, write, orders(2))
    meanwhile("publish.looked", lambda: feed.destination.entomb(checkpoint, change_of(checkpoint)))
    outcome = publish(feed, checkpoint)
    assert (outcome.has_rows, outcome.recorded) == (False, 5)
    assert read_delta_rs(feed.table) == orders(1)


def test_a_later_checkpoint_between_look_and_commit_wins(feed: Feed, meanwhile: Meanwhile) -> None:
    old, new = feed.checkpoint(1, Write.APPEND, orders(1)), feed.checkpoint(2, Write.APPEND, orders(2))
    meanwhile("publish.looked", lambda: publish(feed, new))
    with pytest.raises(StateConflict):
        publish(feed, old)
    assert read_delta_rs(feed.table) == orders(2)


def test_other_files_under_the_same_number_between_look_and_commit_are_noticed(
    feed: Feed, meanwhile: Meanwhile
) -> None:
    one = feed.checkpoint(1, Write.APPEND, orders(1))
    other = replace(feed, incarnation="restored").checkpoint(1, Write.APPEND, orders(2))
    meanwhile("publish.looked", lambda: publish(feed, other))
    with pytest.raises(StateConflict, match="other files"):
        publish(feed, one)


def test_a_strangers_rows_between_look_and_commit_do_not_stand_in_the_way(feed: Feed, meanwhile: Meanwhile) -> None:
    rows = pa.Table.from_pylist(orders(7))
    meanwhile("publish.looked", lambda: write_deltalake(feed.table, rows, mode="append"))
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1)))
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(1, 7))


def test_a_replacement_looks_again_when_rows_are_deleted_meanwhile(feed: Feed, meanwhile: Meanwhile) -> None:
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1)))
    meanwhile("publish.looked", lambda: DeltaTable(feed.table).delete("id = 1"))
    publish(feed, feed.checkpoint(2, Write.REPLACE, orders(2)))
    assert read_delta_rs(feed.table) == orders(2)


def test_a_table_deleted_between_prepare_and_publish_is_missed_by_name(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    shutil.rmtree(feed.table)
    with pytest.raises(DestinationError, match="orders is gone"):
        publish(feed, checkpoint)


def test_a_table_someone_else_made_instead_is_left_alone(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    shutil.rmtree(feed.table)
    DeltaTable.create(feed.table, Schema.from_arrow(pa.schema([("id", pa.int64())])))
    with pytest.raises(ForeignTable):
        publish(feed, checkpoint)
    with pytest.raises(ForeignTable):
        feed.destination.entomb(checkpoint, change_of(checkpoint))


def test_a_reader_sees_all_of_a_replacement_or_none(feed: Feed) -> None:
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1, 2), orders(3)))
    before = DeltaTable(feed.table)
    publish(feed, feed.checkpoint(2, Write.REPLACE, orders(8), orders(9)))
    assert as_set(pa.table(before.scan().read_all()).to_pylist()) == as_set(orders(1, 2, 3))
    last = actions(feed.table)
    assert (sum("remove" in a for a in last), sum("add" in a for a in last), sum("txn" in a for a in last)) == (2, 2, 1)


def test_a_reader_never_sees_half_of_a_replacement(feed: Feed) -> None:
    publish(feed, feed.checkpoint(1, Write.REPLACE, orders(1, 2, item="1"), orders(3, item="1")))
    seen: list[list[str]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append([row["item"] for row in read_delta_rs(feed.table)])

    reader = threading.Thread(target=read)
    reader.start()
    for seq in range(2, 22):
        publish(feed, feed.checkpoint(seq, Write.REPLACE, orders(1, 2, item=str(seq)), orders(3, item=str(seq))))
    done.set()
    reader.join()
    assert len({tuple(items) for items in seen}) > 1
    assert all(len(items) == 3 and len(set(items)) == 1 for items in seen)


def test_replacing_by_the_same_columns_is_no_change_of_schema(feed: Feed) -> None:
    publish(feed, feed.checkpoint(1, Write.REPLACE, orders(1)))
    assert not any("metaData" in action for action in actions(feed.table))


def test_a_replacement_can_bring_the_first_timestamp_without_zone(feed: Feed) -> None:
    schema = Columns((Column("id", DataType("int64")), Column("at", DataType("timestamp"))))
    publish(feed, replace(feed, schema=schema).checkpoint(1, Write.REPLACE, [{"id": 1, "at": None}]))
    protocol = DeltaTable(feed.table).protocol()
    assert "timestampNtz" in (protocol.reader_features or ())
    assert "timestampNtz" in (protocol.writer_features or ())
    assert read_delta_rs(feed.table) == [{"id": 1, "at": None}]


def test_a_change_of_partitions_needs_a_new_table(feed: Feed) -> None:
    other = replace(feed, stream=replace(feed.stream, partition_by=("item",)))
    checkpoint = other.checkpoint(1, Write.APPEND, orders(1))
    with pytest.raises(SchemaConflict, match="partitioned by"):
        feed.destination.check_rows(change_of(checkpoint), NoSpark())
    with pytest.raises(SchemaConflict, match="partitioned by"):
        publish(feed, checkpoint)


def test_partitioned_rows_are_appended_and_replaced(destination: DeltaDestination) -> None:
    schema = Columns((*ORDERS, Column("day", DataType("date"))))
    base = Feed(destination, schema=schema)
    feed = replace(base, stream=replace(base.stream, partition_by=("day", "item")))
    feed.create()
    rows = [
        {"id": number, "item": item, "changed": 1, "day": day}
        for number, (item, day) in enumerate(
            [("a/b c=%41", None), (None, date(2026, 1, 2)), ("ü'\"", date(2026, 1, 2))]
        )
    ]
    publish(feed, feed.checkpoint(1, Write.APPEND, rows))
    facts = destination.facts(feed.table)
    assert facts is not None
    assert facts.partition_by == ("day", "item")
    assert as_set(read_delta_rs(feed.table)) == as_set(rows)
    publish(feed, feed.checkpoint(2, Write.REPLACE, rows[:1]))
    assert as_set(read_delta_rs(feed.table)) == as_set(rows[:1])


def test_ids_that_expire_are_refused(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    DeltaTable(feed.table).alter.set_table_properties(
        {"delta.setTransactionRetentionDuration": "interval 1 days"}, raise_if_not_exists=False
    )
    for act in (lambda: feed.destination.facts(feed.table), lambda: publish(feed, checkpoint)):
        with pytest.raises(DestinationError, match="forgets") as caught:
            act()
        assert "UNSET TBLPROPERTIES" in caught.value.hint


def test_a_feature_that_delta_rs_cant_write_is_named(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    features = ["typeWidening"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    Path(feed.table, "_delta_log", f"{1:020}.json").write_text(json.dumps({"protocol": protocol}))
    with pytest.raises(DestinationError, match=r"(?i)typeWidening") as caught:
        publish(feed, checkpoint)
    assert "feature" in caught.value.hint


def test_an_append_that_others_changed_since_is_not_taken_back(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1, 2))
    publish(feed, checkpoint)
    DeltaTable(feed.table).delete("id = 1")
    assert not feed.destination.undo(checkpoint, change_of(checkpoint))
    assert recorded(feed) == 2


def test_a_replacement_is_not_taken_back(feed: Feed) -> None:
    checkpoint = feed.checkpoint(1, Write.REPLACE, orders(1))
    publish(feed, checkpoint)
    assert not feed.destination.undo(checkpoint, change_of(checkpoint))


def test_the_number_survives_the_logs_own_checkpoints(feed: Feed) -> None:
    DeltaTable(feed.table).alter.set_table_properties({"delta.checkpointInterval": "5"})
    for seq in range(1, 13):
        publish(feed, feed.checkpoint(seq, Write.APPEND, orders(seq)))
    assert list(Path(feed.table, "_delta_log").glob("*.checkpoint.parquet"))
    assert recorded(feed) == 24
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(*range(1, 13)))


def test_a_small_append_takes_milliseconds(feed: Feed) -> None:
    took = []
    for seq in range(1, 8):
        checkpoint = feed.checkpoint(seq, Write.APPEND, orders(seq))
        started = time.perf_counter()
        publish(feed, checkpoint)
        took.append(time.perf_counter() - started)
    assert min(took) < 0.1


def test_an_error_after_someone_committed_is_a_reason_to_look_again(feed: Feed) -> None:
    """It may have been this very commit, and what failed is something that delta-rs does after it."""
    seen = look_at_own(feed.table, OWNER)
    with pytest.raises(DestinationError, match=r"orders: the disk is full") as caught, looked_at(seen):
        raise DeltaError("the disk\n is full")
    assert caught.value.hint
    publish(feed, feed.checkpoint(1, Write.APPEND, orders(1)))
    with pytest.raises(Moved), looked_at(seen):
        raise DeltaError("the disk is full")
