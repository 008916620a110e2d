"""Making tables: whose they are, what they say of themselves, and where they can't be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pydantic import ValidationError

from seamark.destinations.delta import connector
from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.errors import DestinationError, ForeignTable, SchemaConflict
from seamark.model.schema import Column, DataType, Schema
from seamark.testing.destination import ORDERS, OWNER, Feed
from tests.destinations.delta.tables import actions


def test_a_table_describes_itself(feed: Feed) -> None:
    table = DeltaTable(feed.table)
    assert table.metadata().description == "what was ordered"
    assert [field.metadata for field in table.schema().fields] == [{"comment": "counts up"}, {}, {}]
    assert table.metadata().configuration == {"seamark.pipeline": "shop", "seamark.pipeline_uuid": OWNER}
    facts = feed.destination.facts(feed.table)
    assert facts is not None
    assert [column.comment for column in facts.schema] == ["counts up", "", ""]


def test_a_plain_table_asks_nothing_of_its_readers(feed: Feed) -> None:
    protocol = next(action["protocol"] for action in actions(feed.table) if "protocol" in action)
    assert protocol == {"minReaderVersion": 1, "minWriterVersion": 2}


def test_columns_may_be_null_whatever_the_source_says(destination: DeltaDestination) -> None:
    schema = Schema((Column("id", DataType("int64"), nullable=False), *ORDERS.columns[1:]))
    feed = Feed(destination, schema=schema)
    feed.create()
    assert all(field.nullable for field in DeltaTable(feed.table).schema().fields)


def test_table_properties_are_set(tmp_path: Path) -> None:
    options = DeltaOptions(path="lake", table_properties={"delta.logRetentionDuration": "interval 7 days", "team": "x"})
    feed = Feed(DeltaDestination(options, tmp_path))
    feed.create()
    configuration = DeltaTable(feed.table).metadata().configuration
    assert configuration["delta.logRetentionDuration"] == "interval 7 days"
    assert configuration["team"] == "x"


@pytest.mark.parametrize(
    "name",
    ["seamark.pipeline_uuid", "delta.setTransactionRetentionDuration", "delta.columnMapping.mode", "delta.appendOnly"],
)
def test_properties_that_publishing_depends_on_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        DeltaOptions(path="lake", table_properties={name: "x"})


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError):
        connector.options.model_validate({"path": "lake", "pth": "lake"})


def test_a_delta_table_of_someone_else_is_foreign(destination: DeltaDestination) -> None:
    feed = Feed(destination)
    write_deltalake(feed.table, pa.table({"id": [1]}))
    facts = destination.facts(feed.table)
    assert facts is not None
    assert (facts.owner, facts.recorded, facts.has_rows) == ("", -1, True)
    with pytest.raises(ForeignTable, match="not made by Seamark"):
        feed.create()


def test_a_folder_with_other_files_is_foreign(destination: DeltaDestination) -> None:
    feed = Feed(destination)
    Path(feed.table).mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), Path(feed.table, "part-0.parquet"))
    assert destination.facts(feed.table) is None
    with pytest.raises(ForeignTable, match=r"part-0\.parquet"):
        feed.create()
    assert not Path(feed.table, "_delta_log").exists()


def test_what_a_crash_left_in_the_folder_is_no_stranger(destination: DeltaDestination) -> None:
    feed = Feed(destination)
    Path(feed.table, "staged").mkdir(parents=True)
    Path(feed.table, "_delta_log").mkdir()
    Path(feed.table, ".crc").touch()
    feed.create()
    assert destination.facts(feed.table) is not None


@pytest.mark.parametrize("make", ["a file", "below a file", "no such device"])
def test_a_place_that_cant_be_written_is_named(tmp_path: Path, make: str) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    path = {"a file": "file", "below a file": "file/lake", "no such device": "/proc/lake"}[make]
    feed = Feed(DeltaDestination(DeltaOptions(path=path), tmp_path))
    with pytest.raises(DestinationError, match=f"{path}/orders") as caught:
        feed.create()
    assert "path:" in caught.value.hint


def test_facts_of_a_table_make_nothing(destination: DeltaDestination, tmp_path: Path) -> None:
    assert destination.facts(Feed(destination).table) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("schema", "partition_by", "says"),
    [
        (ORDERS, ("nothing",), "'nothing', which is no column"),
        (ORDERS, ("id", "item", "changed"), "every column"),
        (Schema((*ORDERS, Column("blob", DataType("binary")))), ("blob",), "'blob', which is binary"),
        (Schema((*ORDERS, Column("ID", DataType("int64")))), (), "'ID' and 'id'"),
        (Schema((*ORDERS, Column("a`b", DataType("int64")))), (), "'a`b'"),
        (Schema((*ORDERS, Column("s", DataType.parse('struct<a: int64, "A": int64>')))), (), "'A' and 'a'"),
        (Schema(), (), "no columns"),
    ],
)
def test_columns_that_a_table_cant_have_are_named(
    destination: DeltaDestination, schema: Schema, partition_by: tuple[str, ...], says: str
) -> None:
    feed = Feed(destination, schema=schema)
    feed = replace(feed, stream=replace(feed.stream, partition_by=partition_by))
    with pytest.raises(SchemaConflict, match=says):
        feed.create()
    assert destination.facts(feed.table) is None
