"""A behaviour suite for sources: subclass it, give it the `place` fixture, and pytest does the rest.

class TestMine(SourceSuite):
    @pytest.fixture
    def place(self, tmp_path):
        return MyPlace(tmp_path)
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.stream import Cursor, Mode, NullPolicy, Shape, Stream
from seamark.model.window import Window, next_window
from seamark.sources.base import Source

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = "orders"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Order:
    """A row of the table that the suite reads."""

    id: int
    item: str | None
    changed_at: datetime | None


class Place(Protocol):
    """Where a source's rows come from. The table `orders` is empty at first: `id`, an integer key that the source
    enforces; `item`, a text that may be NULL; `changed_at`, an instant or (in UTC) a timestamp without zone, that may
    be NULL."""

    def open(self) -> Source:
        """A source that reads the place; the suite closes it."""

    def put(self, rows: Sequence[Order]) -> None:
        """Insert the rows, or replace those with the same id, and commit."""


def rows_of(source: Source, stream: Stream, shape: Shape, window: Window, parallelism: int = 2) -> list[dict[str, Any]]:
    """Every row of a window, each split read by a reader that went to another process."""
    from seamark.engine.arrow import arrow_schema

    found: list[dict[str, Any]] = []
    with source.read(stream, shape, window, parallelism) as reading:
        assert [split.index for split in reading.splits] == list(range(len(reading.splits)))
        reader = pickle.loads(pickle.dumps(reading.reader))  # noqa: S301 - our own, a moment ago
        for split in reading.splits:
            batch: pa.RecordBatch
            for batch in reader(split):
                assert batch.schema.equals(arrow_schema(shape.schema)), "a batch has exactly the declared schema"
                found += batch.to_pylist()
    return found


def make_rows(first: int, last: int, start: datetime = LONG_AGO) -> list[Order]:
    """Rows a second apart, every tenth without an item."""
    return [
        Order(number, None if number % 10 == 0 else f"item {number}", start + timedelta(seconds=number))
        for number in range(first, last + 1)
    ]


class SourceSuite:
    """What every source promises. `secret` is a text of its configuration that must not show up anywhere, `settle` how
    long planning may wait for a new row."""

    secret: str = ""
    settle: timedelta = timedelta(seconds=3)

    @pytest.fixture
    def source(self, place: Place) -> Iterator[Source]:
        source = place.open()
        yield source
        source.close()

    @pytest.fixture
    def stream(self) -> Stream:
        return Stream(TABLE, TABLE, Mode.MERGE, ("id",), Cursor("changed_at", settle=self.settle))

    def test_opening_does_no_work_and_closing_twice_is_fine(self, place: Place) -> None:
        source = place.open()
        source.close()
        source.close()

    def test_discovery_finds_the_table_its_key_and_its_cursors(self, source: Source) -> None:
        (table,) = [table for table in source.discover(f"*{TABLE}") if table.name.endswith(TABLE)]
        assert table.schema.names == ("id", "item", "changed_at")
        assert table.key == ("id",)
        assert "changed_at" in [candidate.field for candidate in table.cursors]
        assert source.discover("no such table*") == []

    def test_a_discovered_name_is_one_that_a_stream_can_use(self, source: Source, stream: Stream) -> None:
        (table,) = [table for table in source.discover(f"*{TABLE}") if table.name.endswith(TABLE)]
        assert source.shape(replace(stream, table=table.name)).schema.names == table.schema.names

    def test_the_shape_has_the_columns_the_cursor_and_the_key(self, source: Source, stream: Stream) -> None:
        shape = source.shape(stream)
        assert shape.schema.names == ("id", "item", "changed_at")
        assert shape.cursor_type in (BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ)
        assert shape.key_is_unique
        assert not source.shape(replace(stream, key=("item",))).key_is_unique

    def test_columns_can_be_selected_and_excluded(self, source: Source, stream: Stream) -> None:
        plain = replace(stream, cursor=None, mode=Mode.REPLACE)
        assert source.shape(replace(plain, key=(), columns=("item",))).schema.names == ("item",)
        assert source.shape(replace(plain, columns=("item",))).schema.names == ("id", "item")
        assert source.shape(replace(plain, exclude=("item",))).schema.names == ("id", "changed_at")

    def test_a_missing_table_names_the_nearest(self, source: Source, stream: Stream) -> None:
        with pytest.raises(SourceError, match=TABLE):
            source.shape(replace(stream, table="ordres"))

    @pytest.mark.parametrize("what", ["columns", "exclude", "key"])
    def test_a_missing_column_names_the_nearest(self, source: Source, stream: Stream, what: str) -> None:
        with pytest.raises(SourceError, match="changed_at"):
            source.shape(replace(stream, **{what: ("changed_on",)}))  # type: ignore[arg-type]

    def test_a_missing_cursor_names_the_nearest(self, source: Source, stream: Stream) -> None:
        with pytest.raises(SourceError, match="changed_at"):
            source.shape(replace(stream, cursor=Cursor("changed_on")))

    def test_an_empty_table_has_nothing_new(self, source: Source, stream: Stream) -> None:
        shape = source.shape(stream)
        frontier = source.frontier(stream, shape, None)
        assert frontier.newest is None
        assert next_window(None, frontier) is None
        assert rows_of(source, stream, shape, Window()) == []

    def test_everything_is_read_once_whatever_the_parallelism(
        self, place: Place, source: Source, stream: Stream
    ) -> None:
        place.put(make_rows(1, 2500))
        shape = source.shape(stream)
        for parallelism in (1, 2, 7):
            rows = rows_of(source, stream, shape, Window(), parallelism)
            assert sorted(row["id"] for row in rows) == list(range(1, 2501))
        by_id = {row["id"]: row for row in rows}
        assert by_id[10]["item"] is None
        assert by_id[11]["item"] == "item 11"
        assert by_id[11]["changed_at"].replace(tzinfo=UTC) == LONG_AGO + timedelta(seconds=11)

    def test_a_window_takes_in_its_low_end_and_not_its_high_one(
        self, place: Place, source: Source, stream: Stream
    ) -> None:
        place.put(make_rows(1, 20))
        shape = source.shape(stream)
        low, high = _bookmark(shape, 5), _bookmark(shape, 15)
        assert _ids(rows_of(source, stream, shape, Window(low, high))) == list(range(5, 15))
        assert _ids(rows_of(source, stream, shape, Window(None, high))) == list(range(1, 15))
        assert rows_of(source, stream, shape, Window(low, low)) == []

    def test_windows_follow_each_other_without_a_gap(self, place: Place, source: Source, stream: Stream) -> None:
        bookmark, found = None, []
        for first in (1, 11, 21):
            place.put(make_rows(first, first + 9))
            shape = source.shape(stream)
            frontier = source.frontier(stream, shape, bookmark)
            window = next_window(bookmark, frontier)
            assert window is not None, "rows from long ago are settled"
            found += _ids(rows_of(source, stream, shape, window))
            # Rows come in with old times here, which a real mark need not foresee: go on from the newest row instead.
            bookmark = _bookmark(shape, first + 10)
        assert found == list(range(1, 31))

    def test_a_new_row_is_readable_within_the_settling_time(self, place: Place, source: Source, stream: Stream) -> None:
        place.put([Order(1, "new", datetime.now(UTC))])
        shape = source.shape(stream)
        began = time.monotonic()
        window = next_window(None, source.frontier(stream, shape, None))
        assert time.monotonic() - began < self.settle.total_seconds() + 3
        assert window is not None
        assert _ids(rows_of(source, stream, shape, window)) == [1]

    def test_nothing_new_is_told_without_waiting(self, place: Place, source: Source, stream: Stream) -> None:
        place.put(make_rows(1, 5))
        shape = source.shape(stream)
        low = _bookmark(shape, 6)
        began = time.monotonic()
        assert next_window(low, source.frontier(stream, shape, low)) is None
        assert time.monotonic() - began < 2

    def test_rows_without_a_cursor_are_counted_and_read_only_when_asked_for(
        self, place: Place, source: Source, stream: Stream
    ) -> None:
        place.put([*make_rows(1, 5), Order(6, "when?", None)])
        shape = source.shape(stream)
        frontier = source.frontier(stream, shape, None)
        assert frontier.nulls == 1
        low, high = _bookmark(shape, 5), _bookmark(shape, 100)
        assert _ids(rows_of(source, stream, shape, Window(low, high))) == [5]
        assert _ids(rows_of(source, stream, shape, Window(low, high, nulls=True))) == [5, 6]
        assert _ids(rows_of(source, stream, shape, Window(low, low, nulls=True))) == [6]
        assert _ids(rows_of(source, stream, shape, Window(None, None, nulls=True))) == [6]
        window = next_window(None, frontier, nulls=NullPolicy.INCLUDE)
        assert window is not None
        assert _ids(rows_of(source, stream, shape, window)) == [1, 2, 3, 4, 5, 6]

    def test_an_estimate_is_about_right(self, place: Place, source: Source, stream: Stream) -> None:
        place.put(make_rows(1, 1000))
        shape = source.shape(stream)
        window = Window(_bookmark(shape, 101), _bookmark(shape, 10_000))
        estimate = source.estimate(stream, window)
        if estimate.exact:
            assert estimate.rows == 900
        source.estimate(stream, Window())

    def test_what_a_split_describes_and_a_reader_shows_holds_no_secret(
        self, place: Place, source: Source, stream: Stream
    ) -> None:
        place.put(make_rows(1, 5))
        with source.read(stream, source.shape(stream), Window(), 2) as reading:
            shown = f"{reading!r} {reading.reader} {reading.splits} {source.check([stream])}"
        assert not self.secret or self.secret not in shown

    def test_check_has_nothing_against_the_stream(self, source: Source, stream: Stream) -> None:
        findings = source.check([stream])
        assert {finding.level for finding in findings} <= {"ok", "warning", "error"}
        assert [finding for finding in findings if finding.level == "error"] == []
        assert any(stream.name in finding.subject for finding in findings)

    def test_check_tells_what_is_wrong_with_a_stream(self, source: Source, stream: Stream) -> None:
        findings = source.check([replace(stream, name="wrong", table="ordres"), stream])
        wrong = [finding for finding in findings if finding.level == "error"]
        assert [finding.subject for finding in wrong] == ["stream wrong"]

    def test_acknowledging_can_be_repeated(self, place: Place, source: Source, stream: Stream) -> None:
        place.put(make_rows(1, 5))
        bookmark = _bookmark(source.shape(stream), 3)
        source.acknowledge(stream, bookmark)
        source.acknowledge(stream, bookmark)
        source.acknowledge(stream, None)


def _bookmark(shape: Shape, seconds: int) -> Bookmark:
    moment = LONG_AGO + timedelta(seconds=seconds)
    assert shape.cursor_type is not None
    zoned = shape.cursor_type is BookmarkType.TIMESTAMPTZ
    return Bookmark.of(shape.cursor_type, moment if zoned else moment.replace(tzinfo=None))


def _ids(rows: Sequence[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in rows)
