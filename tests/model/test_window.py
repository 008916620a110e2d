from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark
from seamark.model.stream import NullPolicy
from seamark.model.window import Frontier, Window, next_window

policies = st.sampled_from(NullPolicy)
marks = st.none() | st.integers(-5, 20).map(lambda value: Bookmark.of("integer", value))
frontiers = st.builds(Frontier, high=marks, newest=marks, nulls=st.integers(0, 2))


def mark(value: Any, kind: str = "integer") -> Bookmark:
    return Bookmark.of(kind, value)


@given(marks, frontiers, st.none() | st.integers(0, 5), policies)
def test_a_mark_never_moves_back(
    bookmark: Bookmark | None, frontier: Frontier, lookback: int | None, nulls: NullPolicy
) -> None:
    window = next_window(bookmark, frontier, lookback, nulls)
    if window is not None and bookmark is not None:
        assert window.high is not None
        assert window.high >= bookmark
        assert window.low is not None
        assert window.low <= bookmark


@given(marks, frontiers, st.none() | st.integers(0, 5), policies)
def test_a_window_never_passes_the_safe_mark_unless_the_bookmark_has(
    bookmark: Bookmark | None, frontier: Frontier, lookback: int | None, nulls: NullPolicy
) -> None:
    window = next_window(bookmark, frontier, lookback, nulls)
    if window is not None and window.high is not None and window.high != bookmark:
        assert frontier.high is not None
        assert window.high <= frontier.high


@given(marks, st.lists(frontiers), policies)
def test_windows_tile_without_gap_or_overlap(start: Bookmark | None, seen: list[Frontier], nulls: NullPolicy) -> None:
    bookmark = start
    for frontier in seen:
        window = next_window(bookmark, frontier, nulls=nulls)
        if window is None or window.high is None:
            continue
        assert window.low == bookmark
        bookmark = window.high


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1))
def test_every_row_below_the_last_mark_is_read_once(steps: list[tuple[int, int]]) -> None:
    """A source whose mark wanders; a row may only appear at or above every mark that was given out."""
    rows: list[int] = []
    read: list[int] = []
    bookmark: Bookmark | None = None
    greatest = 0
    for distance, lead in steps:
        rows.append(greatest + distance)
        high = min(greatest + lead, 40)
        greatest = max(greatest, high)
        window = next_window(bookmark, Frontier(mark(high), newest=mark(max(rows))))
        if window is not None and window.high is not None:
            low = window.low.value if window.low is not None else -1
            read += [row for row in rows if low <= row < window.high.value]
            bookmark = window.high
    moved = bookmark.value if bookmark is not None else -1
    assert sorted(read) == sorted(row for row in rows if row < moved)


@given(marks.filter(bool), frontiers, policies)
def test_once_read_nothing_is_new(bookmark: Bookmark, frontier: Frontier, nulls: NullPolicy) -> None:
    window = next_window(bookmark, frontier, nulls=nulls)
    if window is None or window.high is None:
        return
    again = next_window(window.high, frontier, nulls=nulls)
    if again is not None:
        assert again == Window(window.high, window.high, nulls=True)
        assert nulls is NullPolicy.INCLUDE
        assert frontier.nulls > 0


@given(marks, frontiers, st.sampled_from([NullPolicy.FAIL, NullPolicy.EXCLUDE]))
def test_null_cursors_are_only_read_when_asked_for(
    bookmark: Bookmark | None, frontier: Frontier, nulls: NullPolicy
) -> None:
    window = next_window(bookmark, frontier, nulls=nulls)
    assert window is None or not window.nulls


def test_rows_with_a_null_cursor_are_a_reason_to_read() -> None:
    window = next_window(mark(7), Frontier(mark(7), newest=mark(6), nulls=1), nulls=NullPolicy.INCLUDE)
    assert window == Window(mark(7), mark(7), nulls=True)


def test_the_first_window_begins_at_the_beginning() -> None:
    assert next_window(None, Frontier(mark(7), newest=mark(6))) == Window(None, mark(7))


def test_an_empty_table_gives_no_window() -> None:
    assert next_window(None, Frontier(mark(7))) is None


def test_no_safe_mark_gives_no_window() -> None:
    assert next_window(mark(3), Frontier(None, newest=mark(9))) is None


def test_a_mark_that_went_back_gives_no_window() -> None:
    assert next_window(mark(9), Frontier(mark(7), newest=mark(8))) is None


def test_no_row_at_or_above_the_bookmark_gives_no_window() -> None:
    assert next_window(mark(9), Frontier(mark(12), newest=mark(8))) is None


@pytest.mark.parametrize(
    ("bookmark", "lookback", "low"),
    [
        (mark(10), 3, mark(7)),
        (mark(10), None, mark(10)),
        (mark(10), 0, mark(10)),
        (mark(Decimal("9" * 40 + ".5"), "decimal"), 1, mark(Decimal("9" * 39 + "8.5"), "decimal")),
        (mark(date(2026, 1, 31), "date"), timedelta(days=1), mark(date(2026, 1, 30), "date")),
        (mark(date(2026, 1, 31), "date"), timedelta(minutes=10), mark(date(2026, 1, 30), "date")),
        (mark(date(2026, 1, 31), "date"), timedelta(hours=25), mark(date(2026, 1, 29), "date")),
        (mark(datetime(2026, 1, 31), "timestamp"), timedelta(seconds=1), mark(datetime(2026, 1, 30, 23, 59, 59), "timestamp")),
        (mark(datetime(1, 1, 2), "timestamp"), timedelta(days=400), None),
        (mark(datetime(1, 1, 1, tzinfo=UTC), "timestamptz"), timedelta(seconds=1), None),
        (mark(date.min, "date"), timedelta(days=1), None),
    ],
)  # fmt: skip
def test_a_lookback_reads_again_from_further_back(bookmark: Bookmark, lookback: Any, low: Bookmark | None) -> None:
    frontier = Frontier(Bookmark.of(bookmark.type, bookmark.value + _step(bookmark)))
    window = next_window(bookmark, frontier, lookback)
    assert window is not None
    assert window.low == low
    assert window.high == frontier.high


@pytest.mark.parametrize(
    ("bookmark", "lookback", "message"),
    [
        (mark(10), timedelta(minutes=1), "does not fit a cursor of type integer"),
        (mark(date(2026, 1, 31), "date"), 3, "does not fit a cursor of type date"),
        (mark(datetime(2026, 1, 31), "timestamp"), 3, "does not fit a cursor of type timestamp"),
        (mark("a", "text"), 1, "does not fit a cursor of type text"),
        (mark(10), -1, "look ahead"),
        (mark(date(2026, 1, 31), "date"), -timedelta(days=1), "look ahead"),
    ],
)
def test_a_lookback_that_makes_no_sense_is_refused(bookmark: Bookmark, lookback: Any, message: str) -> None:
    above = "b" if bookmark.type == "text" else bookmark.value + _step(bookmark)
    with pytest.raises(ValueError, match=message):
        next_window(bookmark, Frontier(Bookmark.of(bookmark.type, above)), lookback)


def _step(bookmark: Bookmark) -> Any:
    return 1 if bookmark.type in ("integer", "decimal") else timedelta(days=1)


def test_a_new_row_exactly_at_the_bookmark_is_read() -> None:
    """The bookmark is the end of a half-open window: what lies on it has not been moved."""
    assert next_window(mark(9), Frontier(mark(12), newest=mark(9))) == Window(mark(9), mark(12))


def test_without_a_safe_mark_only_rows_with_a_null_cursor_are_read() -> None:
    window = next_window(None, Frontier(None, newest=mark(9), nulls=1), nulls=NullPolicy.INCLUDE)
    assert window == Window(None, None, nulls=True)


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(), "all rows"),
        (Window(nulls=True), "rows with a NULL cursor"),
        (Window(None, mark(7)), "[beginning, 7)"),
        (Window(mark(3), mark(7), nulls=True), "[3, 7) or NULL"),
    ],
)
def test_a_window_in_words(window: Window, text: str) -> None:
    assert str(window) == text
