"""How a cursor's column is compared in SQLite, whatever form its values have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.window import Window
from seamark.sources.query import literal, quoted, window_predicate
from seamark.sources.sqlite.catalog import Table
from seamark.sources.sqlite.types import has_zone


class Form(Enum):
    """What a column of moments holds."""

    TEXT = "text"
    SECONDS = "integer"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PADDING = "0000-00-00 00:00:00.000000"


@dataclass(frozen=True)
class CursorSql:
    """`column` holds values of `kind`. Moments are compared as text of one form, since '…T08:00', '… 08:00:00' and
    '… 08:00:00.000' are one moment and three texts; the day that each begins with lets an index find them."""

    column: str
    kind: BookmarkType
    indexed: bool
    form: Form = Form.TEXT

    @property
    def moments(self) -> bool:
        return self.kind in (BookmarkType.TIMESTAMP, BookmarkType.TIMESTAMPTZ)

    @property
    def expression(self) -> str:
        """SQL for the value that is compared."""
        if self.moments and self.form is Form.TEXT:
            return _utc(self.column) if self.kind is BookmarkType.TIMESTAMPTZ else _padded(self.column)
        return self.column

    def within(self, window: Window) -> str:
        low = self.literal(window.low) if window.low else None
        high = self.literal(window.high) if window.high else None
        exact = window_predicate(self.expression, low, high, window.nulls)
        if window.nulls or not (self.moments and self.form is Form.TEXT) or not exact:
            return exact
        days = [f"{self.column} >= {literal(_day(window.low, -1))}"] if window.low else []
        days += [f"{self.column} < {literal(_day(window.high, 2))}"] if window.high else []
        return " AND ".join([*(day for day in days if not day.endswith("''")), exact])

    def literal(self, bookmark: Bookmark) -> str:
        match self.kind:
            case BookmarkType.INTEGER:
                return f"({bookmark.text})"
            case BookmarkType.BYTES:
                return f"x'{bookmark.text}'"
        if not self.moments:
            return literal(bookmark.text)
        if self.form is Form.SECONDS:
            since = bookmark.value.replace(tzinfo=UTC) - _EPOCH
            seconds, rest = divmod(since, timedelta(seconds=1))
            return f"({seconds}.{rest // timedelta(microseconds=1):06d})" if since >= timedelta(0) else f"({seconds})"
        return literal(bookmark.text.replace("T", " ").removesuffix("Z"))

    def bookmark(self, value: object) -> Bookmark:
        """The bookmark of a value of `expression`; ValueError for one that is none."""
        if isinstance(value, bytes):
            return Bookmark.of(self.kind, value)
        if self.moments and isinstance(value, int):
            moment = _EPOCH + timedelta(seconds=value)
            return Bookmark.of(
                self.kind, moment if self.kind is BookmarkType.TIMESTAMPTZ else moment.replace(tzinfo=None)
            )
        return Bookmark.parse(self.kind, f"{value}Z" if self.kind is BookmarkType.TIMESTAMPTZ else str(value))

    @property
    def storage(self) -> str:
        """The typeof() that every value must have, or the values' order means nothing."""
        match self.kind:
            case BookmarkType.INTEGER:
                return "integer"
            case BookmarkType.BYTES:
                return "blob"
        return self.form.value if self.moments else "text"


def cursor_sql(table: Table, field: str, kind: BookmarkType, form: Form = Form.TEXT) -> CursorSql:
    by_bytes = kind not in (BookmarkType.INTEGER, BookmarkType.BYTES)
    column = quoted(field) + (" COLLATE BINARY" if by_bytes else "")
    return CursorSql(column, kind, table.indexed(field, binary=by_bytes), form)


def _padded(text: str) -> str:
    """SQL: ISO text without a zone, up to the microsecond."""
    return f"substr(replace({text}, 'T', ' ') || substr('{_PADDING}', length({text}) + 1), 1, 26)"


def _utc(text: str) -> str:
    """SQL: ISO text, with a zone or in UTC, as the text of the moment in UTC."""
    local = f"substr({text}, 1, length({text}) - 6)"
    moved = f"datetime(substr({local}, 1, 19) || substr({text}, -6)) || substr({local}, 20)"
    trimmed = f"CASE WHEN {text} LIKE '%Z' THEN rtrim({text}, 'Zz ') WHEN {has_zone(text)} THEN {moved} ELSE {text} END"
    return _padded(f"({trimmed})")


def _day(bookmark: Bookmark, days: int) -> str:
    """The day so many days away, as text; "" beyond the calendar."""
    try:
        return str((bookmark.value + timedelta(days=days)).date())
    except OverflowError:
        return ""
