"""Columns that come, grow, go and change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

from seamark.destinations.delta.connector import DeltaDestination
from seamark.engine.engine import Engine
from seamark.errors import SchemaConflict
from seamark.model.checkpoint import Checkpoint, Write
from seamark.model.schema import Column, DataType, Schema
from seamark.model.stream import Shape
from seamark.testing.destination import ORDERS, Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import actions, commits, read_delta_rs, read_spark

Meanwhile = Callable[[str, Callable[[], object]], None]

WIDENINGS: list[tuple[str, str, Any, Any]] = [
    ("int8", "int16", -128, 32767),
    ("int16", "int32", 32767, 2**31 - 1),
    ("int32", "int64", -(2**31), 2**63 - 1),
    ("int32", "float64", 2**31 - 1, 0.5),
    ("float32", "float64", 0.5, 1e300),
    ("decimal(5,2)", "decimal(20,4)", Decimal("-999.99"), Decimal("9999999999999999.9999")),
    ("date", "timestamp", date(2026, 1, 31), datetime(2026, 1, 31, 8, 0, 0, 1)),
]


def publish(feed: Feed, checkpoint: Checkpoint) -> Any:
    return feed.destination.publish(checkpoint, change_of(checkpoint), NoSpark())


def typed(feed: Feed, kind: str) -> Feed:
    return replace(
        feed,
        schema=Schema(
            (Column("id", DataType("int64"), comment="counts up"), Column("v", DataType.parse(kind), comment="grows"))
        ),
    )


def columns(feed: Feed) -> list[tuple[str, str, str]]:
    facts = feed.destination.facts(feed.table)
    assert facts is not None
    return [(column.name, str(column.type), column.comment) for column in facts.schema]


@pytest.mark.parametrize(
    ("old", "new", "small", "large"), WIDENINGS, ids=[f"{old}-{new}" for old, new, *_ in WIDENINGS]
)
def test_a_wider_type_keeps_every_old_value(
    destination: DeltaDestination, engine: Engine, old: str, new: str, small: Any, large: Any
) -> None:
    narrow, wide = typed(Feed(destination), old), typed(Feed(destination), new)
    narrow.create()
    publish(narrow, narrow.checkpoint(1, Write.APPEND, [{"id": 1, "v": small}, {"id": 2, "v": None}]))
    assert destination.fit(narrow.table, wide.shape, False) == wide.schema
    outcome = publish(wide, wide.checkpoint(2, Write.APPEND, [{"id": 3, "v": large}]))
    assert (outcome.has_rows, outcome.recorded) == (True, 4)
    assert columns(wide) == [("id", "int64", "counts up"), ("v", new, "grows")]
    old_value = datetime(2026, 1, 31) if new == "timestamp" else small
    expected = as_set([{"id": 1, "v": old_value}, {"id": 2, "v": None}, {"id": 3, "v": large}])
    assert as_set(read_delta_rs(wide.table)) == as_set(read_spark(engine.session(), wide.table)) == expected


def test_a_narrower_type_is_staged_as_the_tables(destination: DeltaDestination) -> None:
    narrow, wide = typed(Feed(destination), "int32"), typed(Feed(destination), "int64")
    wide.create()
    fitted = destination.fit(wide.table, narrow.shape, False)
    assert fitted == wide.schema
    publish(wide, replace(narrow, schema=fitted).checkpoint(1, Write.APPEND, [{"id": 1, "v": 5}]))
    assert columns(wide)[1][1] == "int64"
    assert read_delta_rs(wide.table) == [{"id": 1, "v": 5}]


def test_a_widened_table_keeps_its_partitions_and_forgets_deleted_rows(destination: DeltaDestination) -> None:
    base = typed(Feed(destination), "int32")
    narrow = replace(base, schema=Schema((*base.schema, Column("day", DataType("string")))))
    narrow = replace(narrow, stream=replace(narrow.stream, partition_by=("day",)))
    narrow.create()
    DeltaTable(narrow.table).alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    rows = [{"id": 1, "v": 1, "day": "a b"}, {"id": 2, "v": 2, "day": None}, {"id": 3, "v": 3, "day": "a b"}]
    publish(narrow, narrow.checkpoint(1, Write.APPEND, rows))
    DeltaTable(narrow.table).delete("id = 3")
    wide = replace(
        narrow, schema=Schema((narrow.schema.columns[0], Column("v", DataType("int64")), narrow.schema.columns[2]))
    )
    more = {"id": 4, "v": 2**40, "day": "b"}
    publish(wide, wide.checkpoint(2, Write.APPEND, [more]))
    facts = destination.facts(wide.table)
    assert facts is not None
    assert facts.partition_by == ("day",)
    assert as_set(read_delta_rs(wide.table)) == as_set([*rows[:2], more])


def test_a_row_added_while_a_table_is_widened_is_kept(
    destination: DeltaDestination, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seamark.destinations.delta import evolve

    narrow, wide = typed(Feed(destination), "int32"), typed(Feed(destination), "int64")
    narrow.create()
    publish(narrow, narrow.checkpoint(1, Write.APPEND, [{"id": 1, "v": 1}]))
    checkpoint = wide.checkpoint(2, Write.APPEND, [{"id": 2, "v": 2}])
    cast, strangers = evolve._cast, [pa.table({"id": [9], "v": pa.array([9], pa.int32())})]

    def slow(*arguments: Any) -> Any:
        if strangers:
            write_deltalake(narrow.table, strangers.pop(), mode="append")
        return cast(*arguments)

    monkeypatch.setattr(evolve, "_cast", slow)
    publish(wide, checkpoint)
    assert as_set(read_delta_rs(wide.table)) == as_set([{"id": number, "v": number} for number in (1, 2, 9)])


def test_a_table_deleted_from_while_it_is_widened_is_looked_at_again(
    destination: DeltaDestination, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seamark.destinations.delta import evolve

    narrow, wide = typed(Feed(destination), "int32"), typed(Feed(destination), "int64")
    narrow.create()
    publish(narrow, narrow.checkpoint(1, Write.APPEND, [{"id": 1, "v": 1}, {"id": 3, "v": 3}]))
    checkpoint = wide.checkpoint(2, Write.APPEND, [{"id": 2, "v": 2}])
    cast, deletes = evolve._cast, ["id = 3"]

    def slow(*arguments: Any) -> Any:
        if deletes:
            DeltaTable(narrow.table).delete(deletes.pop())
        return cast(*arguments)

    monkeypatch.setattr(evolve, "_cast", slow)
    publish(wide, checkpoint)
    assert as_set(read_delta_rs(wide.table)) == as_set([{"id": number, "v": number} for number in (1, 2)])


def test_the_table_takes_no_feature_that_its_readers_lack(destination: DeltaDestination) -> None:
    narrow, wide = typed(Feed(destination), "int32"), typed(Feed(destination), "int64")
    narrow.create()
    publish(wide, wide.checkpoint(1, Write.APPEND, [{"id": 1, "v": 1}]))
    protocol = DeltaTable(wide.table).protocol()
    assert (protocol.min_reader_version, protocol.reader_features) == (1, None)


def test_two_publishers_that_evolve_at_once_add_a_column_once(feed: Feed, meanwhile: Meanwhile) -> None:
    wide = replace(feed, schema=Schema((*ORDERS, Column("price", DataType("int64"), comment="in cents"))))
    checkpoint = wide.checkpoint(1, Write.APPEND, [{**orders(1)[0], "price": 5}])
    meanwhile("publish.looked", lambda: publish(wide, checkpoint))
    publish(wide, checkpoint)
    assert columns(feed)[-1] == ("price", "int64", "in cents")
    assert (len(columns(feed)), commits(feed.table)) == (4, 3)
    assert read_delta_rs(feed.table) == [{**orders(1)[0], "price": 5}]


def test_a_tombstone_after_a_change_of_columns_wins(feed: Feed, meanwhile: Meanwhile) -> None:
    wide = replace(feed, schema=Schema((*ORDERS, Column("price", DataType("int64")))))
    checkpoint = wide.checkpoint(1, Write.APPEND, [{**orders(1)[0], "price": 5}])
    meanwhile("publish.evolved", lambda: feed.destination.entomb(checkpoint, change_of(checkpoint)))
    assert not publish(wide, checkpoint).has_rows
    assert read_delta_rs(feed.table) == []


def test_a_new_timestamp_without_zone_brings_its_feature(feed: Feed, engine: Engine) -> None:
    wide = replace(feed, schema=Schema((*ORDERS, Column("at", DataType.parse("list<timestamp>")))))
    rows = [{**orders(1)[0], "at": [datetime(2026, 1, 1)]}]
    publish(wide, wide.checkpoint(1, Write.APPEND, rows))
    protocol = next(action["protocol"] for action in actions(feed.table, -2) if "protocol" in action)
    assert protocol["readerFeatures"] == ["timestampNtz"]
    assert read_spark(engine.session(), feed.table) == rows


def test_a_column_the_stream_lost_is_null_in_new_rows(feed: Feed) -> None:
    narrow = replace(feed, schema=Schema(ORDERS.columns[:2]))
    assert feed.destination.fit(feed.table, narrow.shape, False) == narrow.schema
    publish(narrow, narrow.checkpoint(1, Write.APPEND, [{"id": 1, "item": "tea"}]))
    assert read_delta_rs(feed.table) == [{"id": 1, "item": "tea", "changed": None}]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"item": "binary"}, "'item' was string, is now binary"),
        ({"id": "float64"}, "'id' was int64, is now float64"),
        ({"changed": None, "modified": "int64"}, "'modified' looks like 'changed' renamed"),
        ({"id": None, "ID": "int64"}, "'id', and the stream now calls it 'ID'"),
        ({"iTem": "string"}, "'iTem' and 'item'"),
        ({"a`b": "string"}, "'a`b'"),
    ],
)
def test_what_could_lose_data_is_for_a_person_to_decide(feed: Feed, columns: dict[str, str | None], says: str) -> None:
    kinds: dict[str, str | None] = {"id": "int64", "item": "string", "changed": "int64"} | columns
    schema = Schema(tuple(Column(name, DataType.parse(kind)) for name, kind in kinds.items() if kind))
    with pytest.raises(SchemaConflict, match=says) as caught:
        feed.destination.fit(feed.table, Shape(schema), False)
    assert caught.value.hint
    other = replace(feed, schema=schema)
    checkpoint = replace_schema(feed.checkpoint(1, Write.APPEND, orders(1)), other.schema)
    with pytest.raises(SchemaConflict, match=says):
        publish(feed, checkpoint)
    assert read_delta_rs(feed.table) == []


def replace_schema(checkpoint: Checkpoint, schema: Schema) -> Checkpoint:
    change = replace(change_of(checkpoint), schema=schema)
    return replace(checkpoint, draft=replace(checkpoint.draft, tables=(change,)))


def test_a_stranger_changes_columns_between_look_and_commit(feed: Feed, meanwhile: Meanwhile) -> None:
    checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
    column = Field("theirs", PrimitiveType("string"))
    meanwhile("publish.looked", lambda: DeltaTable(feed.table).alter.add_columns([column]))
    publish(feed, checkpoint)
    assert read_delta_rs(feed.table) == [{**orders(1)[0], "theirs": None}]


def test_not_a_number_survives_widening(destination: DeltaDestination) -> None:
    narrow, wide = typed(Feed(destination), "float32"), typed(Feed(destination), "float64")
    narrow.create()
    publish(narrow, narrow.checkpoint(1, Write.APPEND, [{"id": 1, "v": math.nan}, {"id": 2, "v": -math.inf}]))
    publish(wide, wide.checkpoint(2, Write.APPEND, [{"id": 3, "v": 1.0}]))
    values = {row["id"]: row["v"] for row in read_delta_rs(wide.table)}
    assert math.isnan(values[1])
    assert (values[2], values[3]) == (-math.inf, 1.0)
