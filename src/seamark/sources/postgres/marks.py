"""Safe marks: how far a cursor may be read so that no row below it can still appear.

- `timestamptz` that the server sets (now(), clock_timestamp(), triggers). No transaction open anywhere in the database
  may have begun before the mark, since one that has not touched the table yet may still insert its own start time:
  `high = floor(min(oldest xact_start, clock - 1 s), 1 s)`. Rounded down because columns of less precision, and
  date_trunc, put rows below the moment that they were written. A prepared transaction with a writing lock on the table
  is in no session: then the mark does not move. Marks only grow; one that would go back says that the server's clock
  did.
- `timestamp` without zone, `date`: the same moment as the wall clock of the zone shows it that they are written in (the
  option `timezone`, else the zone that sessions start with), a day's rows when the day is over. When clocks are put
  back the mark waits for the repeated hour to pass. Should the zone be wrong after all, the mark still never passes the
  newest row by more than a second.
- integers that a sequence numbers: look at the greatest value, then wait till every transaction ends that held a
  writing lock on the table or a partition then; all that can be below it is committed. `high` is the next integer.
- other types (text, uuid, decimal, bytes): like integers, with the type's next value. Their order is the user's word.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from seamark.errors import SourceError
from seamark.model.bookmark import Bookmark, BookmarkType, successor
from seamark.model.stream import Cursor, Shape, Stream
from seamark.model.window import Frontier, Hold
from seamark.sources.postgres.catalog import Relation
from seamark.sources.postgres.connection import ServerFacts, Session
from seamark.sources.postgres.doubts import TIMED, doubts
from seamark.sources.postgres.options import PostgresOptions
from seamark.sources.postgres.probes import (
    Clock,
    Newest,
    OpenTransaction,
    local_mark,
    probe_clock,
    probe_sequence,
    probe_table,
    probe_writers,
)
from seamark.sources.postgres.shape import CursorSql, cursor_sql
from seamark.sources.query import quoted

_SECOND = timedelta(seconds=1)
_PAUSE = 0.05


class Marks:
    """Makes marks for the streams of one plan."""

    def __init__(
        self,
        session: Session,
        options: PostgresOptions,
        sleep: Callable[[float], None] = time.sleep,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._options = options
        self._sleep = sleep
        self._elapsed = elapsed
        self._clock: Clock | None = None

    def frontier(self, relation: Relation, stream: Stream, shape: Shape, low: Bookmark | None) -> Frontier:
        """See `Source.frontier`. SourceError where no mark can be proven and no lookback makes up for it."""
        cursor, kind = stream.cursor, shape.cursor_type
        assert cursor is not None
        assert kind is not None
        server = self._session.facts()
        for doubt in doubts(relation, cursor, shape, server, self._options):
            if doubt.fatal:
                self._require_permission(stream, cursor, doubt.message, doubt.fix)
        one = _One(relation, stream, cursor, shape, cursor_sql(relation, cursor.field, kind), low, server)
        return self._timed(one) if kind in TIMED else self._counted(one)

    def _require_permission(self, stream: Stream, cursor: Cursor, message: str, fix: str) -> None:
        if cursor.lookback or self._options.allow_unsafe_marks:
            return
        raise SourceError(f"stream {stream.name!r}: no mark over {cursor.field!r} can be proven safe: {message}", fix)

    def _timed(self, one: _One) -> Frontier:
        """What an old look at the clock proves stays proven, so streams share one until it does not suffice."""
        deadline = self._elapsed() + one.cursor.settle.total_seconds()
        fresh = self._clock is None
        clock = self._clock or self._look(one)
        while True:
            self._require_sight(one, clock)
            probe = self._probe(one, clock)
            frontier = _timed_frontier(one, clock, probe)
            went_back = one.low is not None and _mark(one, clock, probe) < one.low
            if fresh and went_back:
                self._require_steady_clock(one, clock)
            if _passed(frontier, one.low) and (fresh or not went_back):
                return frontier
            wait = _time_to_pass(one, clock, frontier)
            left = deadline - self._elapsed()
            if fresh and (wait is None or wait > left or left <= 0):
                return frontier
            if fresh:
                self._sleep(min(max(wait or 0.0, _PAUSE), left))
            clock, fresh = self._look(one), True

    def _look(self, one: _One) -> Clock:
        clock = probe_clock(self._session, self._options.ignore_sessions)
        if one.server.in_recovery:
            clock = replace(clock, oldest=None)
        self._clock = clock
        return clock

    def _require_sight(self, one: _One, clock: Clock) -> None:
        if clock.hidden and not one.server.in_recovery:
            self._require_permission(
                one.stream,
                one.cursor,
                f"the transactions of {clock.hidden} other sessions can't be seen by the user {one.server.user}",
                f"GRANT pg_read_all_stats TO {quoted(one.server.user)} (and no session may turn track_activities off), "
                "or set a `lookback` that covers the longest transaction",
            )

    def _require_steady_clock(self, one: _One, clock: Clock) -> None:
        """Marks only grow while the server's clock does, unless an old transaction has come to light."""
        if _holder(clock) is None:
            self._require_permission(
                one.stream,
                one.cursor,
                f"the bookmark {one.low} lies ahead of the server's clock ({clock.now:%Y-%m-%d %H:%M:%S} UTC): the "
                "clock was "
                "set back, or the bookmark set by hand, and rows that are written now would be below it",
                "wait until the clock has passed it, set the bookmark back, or set a `lookback` that covers the "
                "difference",
            )

    def _probe(self, one: _One, clock: Clock | None = None) -> Newest:
        local = "NULL"
        if clock is not None and one.shape.cursor_type is not BookmarkType.TIMESTAMPTZ:
            local = local_mark(_safe_moment(clock), self._options.timezone or one.server.timezone)
        ignored = self._options.ignore_sessions
        return probe_table(self._session, one.relation, one.cursor.field, one.sql, one.stream.where, ignored, local)

    def _counted(self, one: _One) -> Frontier:
        probe = self._probe(one)
        newest = _bookmark(one, probe.text)
        if newest is None or (one.low is not None and newest < one.low):
            self._require_growing_numbers(one, newest)
            return Frontier(one.low, newest, nulls=probe.nulls)
        waiting = {writer.id: writer for writer in probe.writers}
        deadline = self._elapsed() + one.cursor.settle.total_seconds()
        pause = 0.005
        while waiting and self._elapsed() < deadline:
            self._sleep(min(pause, max(deadline - self._elapsed(), 0.0)))
            pause = min(pause * 2, _PAUSE)
            still = {writer.id for writer in probe_writers(self._session, one.relation, self._options.ignore_sessions)}
            waiting = {name: writer for name, writer in waiting.items() if name in still}
        if waiting:
            first = min(waiting.values(), key=lambda writer: writer.since or datetime.max.replace(tzinfo=UTC))
            return Frontier(one.low, newest, first.hold(f"is writing to {one.relation.label}"), probe.nulls)
        try:
            high = successor(newest, scale=one.shape.cursor_scale)
        except ValueError as error:
            raise SourceError(f"stream {one.stream.name!r}: {error}", "use another cursor") from None
        return Frontier(high, newest, nulls=probe.nulls)

    def _require_growing_numbers(self, one: _One, newest: Bookmark | None) -> None:
        """Rows right below the bookmark are gone. When the sequence started over as well, new rows would be below
        it."""
        column = one.relation.column(one.cursor.field)
        sequence = column.sequence if column else None
        if one.low is None or sequence is None or (newest is not None and newest.value == one.low.value - 1):
            return
        last = probe_sequence(self._session, sequence)
        if last is not None and last < one.low.value - 1:
            self._require_permission(
                one.stream,
                one.cursor,
                f"sequence {sequence.name!r} was set back to {last}, below the bookmark {one.low}, so new rows get "
                "numbers "
                "that were read already",
                "load the stream again with --full-refresh, or set its bookmark back",
            )


class _One:
    """One stream while its mark is made."""

    def __init__(
        self,
        relation: Relation,
        stream: Stream,
        cursor: Cursor,
        shape: Shape,
        sql: CursorSql,
        low: Bookmark | None,
        server: ServerFacts,
    ) -> None:
        self.relation, self.stream, self.cursor, self.shape = relation, stream, cursor, shape
        self.sql, self.low, self.server = sql, low, server


def _safe_moment(clock: Clock) -> datetime:
    """No row with a server timestamp below it can still appear."""
    safe = clock.now - _SECOND
    if clock.oldest is not None and clock.oldest.since is not None:
        safe = min(safe, clock.oldest.since)
    return safe.replace(microsecond=0)


def _timed_frontier(one: _One, clock: Clock, probe: Newest) -> Frontier:
    newest = _bookmark(one, probe.text)
    prepared = next((writer for writer in probe.writers if not writer.pid), None)
    if prepared is not None:
        return Frontier(one.low, newest, prepared.hold(f"has written to {one.relation.label}"), probe.nulls)
    high = _mark(one, clock, probe)
    if high.type is not BookmarkType.TIMESTAMPTZ:
        high = _just_above(newest, high)
    hold = None
    if newest is not None and high <= newest:
        holder = _holder(clock)
        hold = (
            holder.hold("has a transaction open")
            if holder
            else Hold(f"the newest {one.cursor.field} is {newest}, and only what lies before {high} is settled")
        )
    return Frontier(high, newest, hold, probe.nulls)


def _holder(clock: Clock) -> OpenTransaction | None:
    """Whose transaction keeps the mark below what the clock allows."""
    oldest = clock.oldest
    return oldest if oldest and oldest.since and oldest.since < clock.now - _SECOND else None


def _mark(one: _One, clock: Clock, probe: Newest) -> Bookmark:
    """What the clock and the open transactions prove safe."""
    if one.shape.cursor_type is BookmarkType.TIMESTAMPTZ:
        return Bookmark.of(BookmarkType.TIMESTAMPTZ, _safe_moment(clock))
    moment = Bookmark.parse(BookmarkType.TIMESTAMP, probe.local)
    dated = one.shape.cursor_type is BookmarkType.DATE
    return Bookmark.of(BookmarkType.DATE, moment.value.date()) if dated else moment


def _just_above(newest: Bookmark | None, mark: Bookmark) -> Bookmark:
    """The mark, but no more than a second (or a day) above the newest row: no harm done should the zone be wrong."""
    if newest is None:
        return mark
    value = newest.value
    try:
        limit = (
            value + timedelta(days=1) if newest.type is BookmarkType.DATE else value.replace(microsecond=0) + _SECOND
        )
    except OverflowError:
        return mark
    return min(mark, Bookmark.of(newest.type, limit))


def _passed(frontier: Frontier, low: Bookmark | None) -> bool:
    """Whether waiting would bring nothing: there is nothing new, or all that there is can be read."""
    newest, high = frontier.newest, frontier.high
    if newest is None or (low is not None and newest < low):
        return True
    return high is not None and high > newest


def _time_to_pass(one: _One, clock: Clock, frontier: Frontier) -> float | None:
    """Seconds till the mark can pass the newest row if nobody holds it; None where it is a matter of days."""
    newest = frontier.newest
    if newest is None or newest.type is BookmarkType.DATE:
        return None
    if newest.type is BookmarkType.TIMESTAMPTZ:
        at: datetime = newest.value
    else:
        if frontier.high is None:
            return 0.0
        at = _safe_moment(clock) + (newest.value - frontier.high.value)
    return max(0.0, (at.replace(microsecond=0) + 2 * _SECOND - clock.now).total_seconds())


def _bookmark(one: _One, text: str | None) -> Bookmark | None:
    """The newest value; SourceError for one that has no place in an order, such as infinity."""
    if text is None:
        return None
    try:
        assert one.shape.cursor_type is not None
        return Bookmark.parse(one.shape.cursor_type, text)
    except ValueError as error:
        raise SourceError(
            f"stream {one.stream.name!r}: the greatest {one.cursor.field!r} in {one.relation.label} is {text}, which "
            f"can't be a bookmark: {error}",
            "rows with such a value are never below any mark: correct them, or use another cursor",
        ) from None
