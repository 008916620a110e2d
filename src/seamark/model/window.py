"""Windows: the frozen range `[low, high)` that a run reads, and what decides its ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.canonical import EXACT
from seamark.model.stream import NullPolicy


@dataclass(frozen=True)
class Window:
    """`low` is None for everything from the beginning. `high` is None where no mark bounds the rows: these are all of a
    stream without a cursor, or with `nulls` only those that no mark could bound."""

    low: Bookmark | None = None
    high: Bookmark | None = None
    nulls: bool = False
    """Whether rows with a NULL cursor belong to it."""

    def __str__(self) -> str:
        if self.high is None:
            return "rows with a NULL cursor" if self.nulls else "all rows"
        return f"[{self.low or 'beginning'}, {self.high})" + (" or NULL" if self.nulls else "")


@dataclass(frozen=True)
class Hold:
    """Who keeps the safe mark from moving further, in words, and since when."""

    reason: str
    since: datetime | None = None


@dataclass(frozen=True)
class Frontier:
    """How far it is safe to read now: no row with a cursor below `high` can still appear."""

    high: Bookmark | None
    """None: nothing can be read safely yet (an empty table, or no proven mark)."""
    newest: Bookmark | None = None
    """The greatest cursor value there is."""
    hold: Hold | None = None
    nulls: int = 0
    """Rows whose cursor is NULL (may stop counting at a bound)."""


@dataclass(frozen=True)
class Estimate:
    rows: int | None = None
    bytes: int | None = None
    exact: bool = False


def next_window(
    bookmark: Bookmark | None, frontier: Frontier, lookback: Any = None, nulls: NullPolicy = NullPolicy.FAIL
) -> Window | None:
    """The window to read now, None when nothing is new. A mark never moves back: `high` is at least the bookmark."""
    include_nulls = nulls is NullPolicy.INCLUDE and frontier.nulls > 0
    high = frontier.high
    if high is None:
        return Window(bookmark, bookmark, nulls=True) if include_nulls else None
    if bookmark is not None and high < bookmark:
        high = bookmark
    nothing_new = bookmark is not None and (
        high == bookmark or (frontier.newest is not None and frontier.newest < bookmark)
    )
    if nothing_new:
        return Window(bookmark, bookmark, nulls=True) if include_nulls else None
    if bookmark is None and frontier.newest is None:
        return Window(None, None, nulls=True) if include_nulls else None
    return Window(_look_back(bookmark, lookback), high, nulls=include_nulls)


def lookback_fits(kind: BookmarkType, lookback: Any) -> bool:
    """Whether one can go back so far: a duration from dates and times, a number from numbers, nothing from the rest."""
    if isinstance(lookback, timedelta):
        return kind in (BookmarkType.DATE, BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ)
    return not lookback or kind in (BookmarkType.INTEGER, BookmarkType.DECIMAL)


def _look_back(low: Bookmark | None, lookback: Any) -> Bookmark | None:
    if low is None or not lookback:
        return low
    if not lookback_fits(low.type, lookback):
        raise ValueError(f"a lookback of {lookback!r} does not fit a cursor of type {low.type}")
    if lookback < (timedelta(0) if isinstance(lookback, timedelta) else 0):
        raise ValueError(f"a lookback of {lookback!r} would look ahead and leave rows out")
    try:
        return Bookmark.of(low.type, _before(low, lookback))
    except OverflowError:
        return None


def _before(low: Bookmark, lookback: Any) -> Any:
    if low.type is BookmarkType.DECIMAL:
        return EXACT.subtract(low.value, lookback)
    if low.type is BookmarkType.DATE:
        return low.value - timedelta(days=-(-lookback // timedelta(days=1)))  # ten minutes ago may be yesterday
    return low.value - lookback
