"""A behaviour suite for destinations: subclass it, give it the `subject` fixture, and pytest does the rest.

class TestMine(DestinationSuite):
    @pytest.fixture
    def subject(self, tmp_path):
        return Subject(MyDestination(tmp_path), read=lambda table: ...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seamark.destinations.base import Destination, Sessions
from seamark.errors import DestinationError, ForeignTable, SchemaConflict, StateConflict
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft, StagedFile, TableChange, Write
from seamark.model.schema import Column, DataType, Schema
from seamark.model.split import Split
from seamark.model.stream import Cursor, Mode, Shape, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Row = dict[str, Any]

INCARNATION = "0c9f2a"
PIPELINE = "shop"
OWNER = "6e1c0d1e-0000-4000-8000-000000000001"

INT64, STRING = DataType("int64"), DataType("string")
ORDERS = Schema((Column("id", INT64, comment="counts up"), Column("item", STRING), Column("changed", INT64)))


class NoSpark:
    """For what must work without Spark: asking for a session fails the test."""

    def session(self) -> SparkSession:
        raise AssertionError("asked for Spark")


@dataclass(frozen=True)
class Subject:
    """What the suite tries out. `read` gives a table's rows as anyone else would read them, in any order."""

    destination: Destination
    read: Callable[[str], list[Row]]
    sessions: Sessions = field(default_factory=NoSpark)
    merges: bool = True
    undoes_appends: bool = True


@dataclass(frozen=True)
class _Rows:
    """Rows from memory, as a source's reader would yield them. Missing values are NULL."""

    schema: Schema
    rows: tuple[tuple[tuple[str, Any], ...], ...]

    def __call__(self, split: Split) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from seamark.engine.arrow import arrow_schema

        if self.rows:
            rows = [{c.name: dict(row).get(c.name) for c in self.schema} for row in self.rows]
            yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(self.schema))


@dataclass(frozen=True)
class Feed:
    """One stream of a pipeline and what it publishes: builds checkpoints as a run would."""

    destination: Destination
    stream: Stream = Stream("orders", "orders", Mode.MERGE, key=("id",), cursor=Cursor("changed"))  # noqa: RUF009
    schema: Schema = ORDERS
    unique_key: bool = True
    owner: str = OWNER
    incarnation: str = INCARNATION
    token: int = 1

    @property
    def table(self) -> str:
        return self.destination.table_of(self.stream)

    @property
    def shape(self) -> Shape:
        return Shape(self.schema, key_is_unique=self.unique_key, comment="what was ordered")

    def create(self) -> None:
        self.destination.create(self.table, self.stream, self.shape, PIPELINE, self.owner)

    def stage(self, seq: int, *files: Sequence[Row]) -> tuple[StagedFile, ...]:
        """Each sequence of rows becomes the file or files of one split."""
        from seamark.engine.stage import StageJob, stage_here

        root, folder = self.destination.staging(self.table, self.incarnation, self.token, seq)
        schema = self.destination.fit(self.table, self.shape, True)
        staged: list[StagedFile] = []
        for rows in files:
            reader = _Rows(schema, tuple(tuple(row.items()) for row in rows))
            job = StageJob(
                (Split(len(staged), ""),), reader, schema, root, folder, self.stream.partition_by, in_driver=True
            )
            staged.extend(stage_here(job))
        return tuple(staged)

    def checkpoint(self, seq: int, write: Write, *files: Sequence[Row], schema: Schema | None = None) -> Checkpoint:
        change = TableChange(
            stream=self.stream.name,
            table=self.table,
            write=write,
            files=self.stage(seq, *files),
            schema=schema or self.schema,
            key=self.stream.key,
            partition_by=self.stream.partition_by,
            cursor=self.stream.cursor.field if self.stream.cursor else "",
            unique_key=self.unique_key,
        )
        moved = BookmarkChange(self.stream.name, None, Bookmark.of(BookmarkType.INTEGER, seq))
        return Checkpoint(
            PIPELINE, self.owner, self.incarnation, self.token, seq, f"run-{seq}", Draft((change,), (moved,))
        )


def orders(*ids: int, item: str = "tea", changed: int = 1) -> list[Row]:
    return [{"id": number, "item": item, "changed": changed} for number in ids]


def change_of(checkpoint: Checkpoint) -> TableChange:
    return checkpoint.draft.tables[0]


def as_set(rows: Sequence[Row]) -> list[tuple[tuple[str, Any], ...]]:
    """Rows without their order, but with how often each is there."""
    return sorted((tuple(sorted(row.items())) for row in rows), key=repr)


class DestinationSuite:
    """What `seamark.destinations.base.Destination` promises."""

    @pytest.fixture
    def subject(self) -> Subject:
        raise NotImplementedError("give the suite a fixture `subject`")

    @pytest.fixture
    def feed(self, subject: Subject) -> Feed:
        """A stream whose table is there, empty."""
        feed = Feed(subject.destination)
        feed.create()
        return feed

    def publish(self, subject: Subject, checkpoint: Checkpoint) -> Any:
        return subject.destination.publish(checkpoint, change_of(checkpoint), subject.sessions)

    # Making tables

    def test_there_are_no_facts_of_a_table_that_is_not_there(self, subject: Subject) -> None:
        assert subject.destination.facts(Feed(subject.destination).table) is None

    def test_a_new_table_names_its_owner_and_is_empty(self, subject: Subject, feed: Feed) -> None:
        facts = subject.destination.facts(feed.table)
        assert facts is not None
        assert (facts.owner, facts.owner_name, facts.recorded, facts.has_rows) == (OWNER, PIPELINE, -1, False)
        assert [(c.name, c.type) for c in facts.schema] == [(c.name, c.type) for c in ORDERS]
        assert subject.read(feed.table) == []

    def test_making_a_table_again_changes_nothing(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        before = subject.destination.facts(feed.table)
        feed.create()
        assert subject.destination.facts(feed.table) == before

    def test_another_pipelines_table_is_foreign(self, subject: Subject, feed: Feed) -> None:
        with pytest.raises(ForeignTable, match="orders"):
            replace(feed, owner="someone-else").create()

    def test_a_checkpoint_of_another_pipeline_is_refused(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
        with pytest.raises(ForeignTable):
            self.publish(subject, replace(checkpoint, pipeline_uuid="someone-else"))
        assert subject.read(feed.table) == []

    # Publishing once

    def test_appended_rows_and_their_number_are_there_together(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, orders(1, 2), orders(3))
        outcome = self.publish(subject, checkpoint)
        facts = subject.destination.facts(feed.table)
        assert facts is not None
        assert (outcome.stream, outcome.has_rows, outcome.recorded, outcome.rows) == ("orders", True, 2, 3)
        assert (facts.recorded, facts.has_rows) == (2, True)
        assert as_set(subject.read(feed.table)) == as_set(orders(1, 2, 3))

    @pytest.mark.parametrize("write", [Write.APPEND, Write.REPLACE, Write.NOTHING])
    def test_publishing_again_is_publishing_once(self, subject: Subject, feed: Feed, write: Write) -> None:
        checkpoint = feed.checkpoint(1, write, *([] if write is Write.NOTHING else [orders(1)]))
        first = self.publish(subject, checkpoint)
        rows = subject.read(feed.table)
        again = self.publish(subject, checkpoint)
        assert (again.has_rows, again.recorded) == (first.has_rows, first.recorded) == (True, 2)
        assert subject.read(feed.table) == rows

    def test_a_window_without_rows_only_moves_the_number(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        outcome = self.publish(subject, feed.checkpoint(2, Write.NOTHING))
        facts = subject.destination.facts(feed.table)
        assert (outcome.has_rows, outcome.recorded, facts and facts.recorded) == (True, 4, 4)
        assert subject.read(feed.table) == orders(1)

    def test_replacing_leaves_only_the_new_rows(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1, 2)))
        self.publish(subject, feed.checkpoint(2, Write.REPLACE, orders(3)))
        assert subject.read(feed.table) == orders(3)
        self.publish(subject, feed.checkpoint(3, Write.REPLACE))
        assert subject.read(feed.table) == []

    def test_replacing_may_change_every_column(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        schema = Schema((Column("id", STRING), Column("price", INT64)))
        self.publish(subject, replace(feed, schema=schema).checkpoint(2, Write.REPLACE, [{"id": "a", "price": 3}]))
        assert subject.read(feed.table) == [{"id": "a", "price": 3}]

    def test_a_merge_updates_by_key_and_inserts_the_rest(self, subject: Subject, feed: Feed) -> None:
        self._need_merge(subject)
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1, 2)))
        checkpoint = feed.checkpoint(2, Write.MERGE, orders(2, 3, item="coffee"))
        for _ in range(2):
            outcome = self.publish(subject, checkpoint)
            assert (outcome.has_rows, outcome.recorded) == (True, 4)
            assert as_set(subject.read(feed.table)) == as_set(orders(1) + orders(2, 3, item="coffee"))

    def test_of_several_rows_with_one_key_the_last_by_cursor_wins(self, subject: Subject, feed: Feed) -> None:
        self._need_merge(subject)
        feed = replace(feed, unique_key=False)
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1, item="old")))
        late, early = orders(1, 2, item="late", changed=9), orders(1, 2, item="early", changed=8)
        checkpoint = feed.checkpoint(2, Write.MERGE, late, early + late)
        subject.destination.check_rows(change_of(checkpoint), subject.sessions)
        self.publish(subject, checkpoint)
        assert as_set(subject.read(feed.table)) == as_set(late)

    # Fences

    def test_a_tombstone_keeps_the_rows_out(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
        buried = subject.destination.entomb(checkpoint, change_of(checkpoint))
        zombie = self.publish(subject, checkpoint)
        assert (buried.has_rows, buried.recorded) == (zombie.has_rows, zombie.recorded) == (False, 3)
        assert subject.read(feed.table) == []

    def test_a_tombstone_after_the_rows_says_that_they_are_there(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, orders(1))
        self.publish(subject, checkpoint)
        outcome = subject.destination.entomb(checkpoint, change_of(checkpoint))
        assert (outcome.has_rows, outcome.recorded) == (True, 2)

    def test_a_table_that_went_on_refuses_what_came_before(self, subject: Subject, feed: Feed) -> None:
        old = feed.checkpoint(1, Write.APPEND, orders(1))
        self.publish(subject, feed.checkpoint(2, Write.APPEND, orders(2)))
        with pytest.raises(StateConflict, match="2"):
            self.publish(subject, old)
        with pytest.raises(StateConflict, match="2"):
            subject.destination.entomb(old, change_of(old))
        assert subject.read(feed.table) == orders(2)

    def test_the_same_number_with_other_files_is_refused(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        with pytest.raises(StateConflict):
            self.publish(subject, replace(feed, incarnation="other").checkpoint(1, Write.APPEND, orders(1)))
        assert subject.read(feed.table) == orders(1)

    def test_a_number_alone_is_recorded_only_over_the_one_that_was_seen(self, subject: Subject, feed: Feed) -> None:
        assert subject.destination.entomb_number(feed.table, OWNER, -1, 9)
        assert not subject.destination.entomb_number(feed.table, OWNER, -1, 11)
        facts = subject.destination.facts(feed.table)
        assert facts is not None
        assert (facts.recorded, facts.has_rows) == (9, False)
        with pytest.raises(StateConflict):
            self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))

    def test_an_append_can_be_taken_back_and_never_comes_again(self, subject: Subject, feed: Feed) -> None:
        if not subject.undoes_appends:
            pytest.skip("this destination takes nothing back")
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        checkpoint = feed.checkpoint(2, Write.APPEND, orders(2), orders(3))
        self.publish(subject, checkpoint)
        for _ in range(2):
            assert subject.destination.undo(checkpoint, change_of(checkpoint))
            assert subject.read(feed.table) == orders(1)
        outcome = self.publish(subject, checkpoint)
        assert (outcome.has_rows, outcome.recorded) == (False, 5)

    # Columns

    def test_a_new_column_is_added_and_null_before(self, subject: Subject, feed: Feed) -> None:
        self.publish(subject, feed.checkpoint(1, Write.APPEND, orders(1)))
        wider = replace(feed, schema=Schema((*ORDERS, Column("price", INT64))))
        assert subject.destination.fit(feed.table, wider.shape, False) == wider.schema
        self.publish(subject, wider.checkpoint(2, Write.APPEND, [{**orders(2)[0], "price": 5}]))
        assert as_set(subject.read(feed.table)) == as_set(
            [{**orders(1)[0], "price": None}, {**orders(2)[0], "price": 5}]
        )

    def test_a_column_that_changes_its_type_is_a_conflict(self, subject: Subject, feed: Feed) -> None:
        other = Shape(Schema((Column("id", INT64), Column("item", INT64), Column("changed", INT64))))
        with pytest.raises(SchemaConflict, match=r"item.*string.*int64"):
            subject.destination.fit(feed.table, other, False)
        assert subject.destination.fit(feed.table, other, True) == other.schema

    def test_null_in_a_key_is_refused_before_anything_is_prepared(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, [{"id": None, "item": "tea", "changed": 1}])
        with pytest.raises(DestinationError, match="'id' is NULL"):
            subject.destination.check_rows(change_of(checkpoint), subject.sessions)

    def test_rows_of_one_key_that_nothing_orders_are_refused(self, subject: Subject, feed: Feed) -> None:
        self._need_merge(subject)
        feed = replace(feed, unique_key=False)
        clash = orders(1, 7, item="this") + orders(7, item="that")
        for fed in (feed, replace(feed, stream=replace(feed.stream, cursor=None))):
            checkpoint = fed.checkpoint(1, Write.MERGE, clash)
            with pytest.raises(DestinationError, match=r"orders.*id = 7"):
                subject.destination.check_rows(change_of(checkpoint), subject.sessions)

    # Staged files

    def test_lost_and_damaged_files_are_noticed(self, subject: Subject, feed: Feed) -> None:
        checkpoint = feed.checkpoint(1, Write.APPEND, orders(1), orders(2))
        change = change_of(checkpoint)
        assert subject.destination.verify(change, deep=True) == ""
        path = Path(subject.destination.staging(feed.table, INCARNATION, 1, 1)[0], change.files[1].path)
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        assert "bytes" in subject.destination.verify(change, deep=False)
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert subject.destination.verify(change, deep=False) == ""
        assert "SHA-256" in subject.destination.verify(change, deep=True)
        path.unlink()
        assert "gone" in subject.destination.verify(change, deep=False)

    def test_only_what_nobody_published_is_swept(self, subject: Subject, feed: Feed) -> None:
        published = feed.checkpoint(1, Write.APPEND, orders(1))
        self.publish(subject, published)
        lost = feed.checkpoint(2, Write.APPEND, orders(2), orders(3))
        others = replace(feed, incarnation="other").checkpoint(3, Write.APPEND, orders(4))
        newer = replace(feed, token=2).checkpoint(4, Write.APPEND, orders(5))
        destination = subject.destination
        assert destination.strays(feed.table, INCARNATION, 1) == frozenset()
        assert destination.strays(feed.table, INCARNATION, 2) == {(1, 1), (1, 2)}
        # Even told to delete what was published, it keeps what the table refers to.
        assert destination.sweep(feed.table, INCARNATION, {(1, 1), (1, 2)}) == 2
        assert destination.verify(change_of(published), deep=True) == ""
        assert "gone" in destination.verify(change_of(lost), deep=False)
        assert destination.verify(change_of(others), deep=True) == destination.verify(change_of(newer), deep=True) == ""
        assert destination.strays(feed.table, INCARNATION, 2) <= {(1, 1)}
        assert subject.read(feed.table) == orders(1)

    def _need_merge(self, subject: Subject) -> None:
        if not subject.merges:
            pytest.skip("this destination doesn't merge")
