"""Bookmarks: typed values with one canonical text and a total order that agrees with the source's own."""

from __future__ import annotations

import functools
import uuid
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from seamark.model.canonical import EXACT, KEYS, PARSERS, PRINTERS


class BookmarkType(StrEnum):
    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    TEXT = "text"
    UUID = "uuid"
    BYTES = "bytes"
    LOG_POSITION = "log_position"
    JSON = "json"


@functools.total_ordering
@dataclass(frozen=True)
class Bookmark:
    """How far a cursor has come: everything below it has been moved. `text` is canonical; build it with `parse` or
    `of`."""

    type: BookmarkType
    text: str

    @staticmethod
    def parse(kind: BookmarkType | str, text: str) -> Bookmark:
        """The bookmark that `text` names; ValueError that says what is expected when it names none."""
        kind = BookmarkType(kind)
        return Bookmark.of(kind, PARSERS[kind](text))

    @staticmethod
    def of(kind: BookmarkType | str, value: Any) -> Bookmark:
        """The bookmark of a Python value as `value` gives it; ValueError when the type can't hold it exactly."""
        kind = BookmarkType(kind)
        return Bookmark(kind, PRINTERS[kind](value))

    @property
    def value(self) -> Any:
        """The Python value: int, Decimal, date, datetime, str, UUID, bytes, or a position's text."""
        return PARSERS[self.type](self.text)

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, Bookmark) else NotImplemented

    def _key(self) -> tuple[str, Any]:
        return (self.type.value, KEYS.get(self.type, lambda value: value)(self.value))

    def __str__(self) -> str:
        return self.text


def successor(bookmark: Bookmark, *, scale: int | None = None, text_floor: str = "\x01") -> Bookmark:
    """The least value above `bookmark`, so that `[low, successor(max))` takes in `max` and nothing can slip between.

    `scale` is a decimal column's digits after the point; `text_floor` the least character that the source's text can
    hold. ValueError when there is none: the type has no next value, or this is its greatest.
    """
    if bookmark.type is BookmarkType.DECIMAL and scale is None:
        raise ValueError("a decimal with no fixed scale has no next value")
    try:
        return Bookmark.of(bookmark.type, _next(bookmark.type, bookmark.value, scale or 0, text_floor))
    except OverflowError:
        raise ValueError(f"{bookmark} is the greatest {bookmark.type}: nothing comes after it") from None


def _next(kind: BookmarkType, value: Any, scale: int, text_floor: str) -> Any:
    match kind:
        case BookmarkType.INTEGER:
            return value + 1
        case BookmarkType.DECIMAL:
            step = EXACT.scaleb(Decimal(1), -scale)
            return EXACT.add(EXACT.quantize(value, step), step)
        case BookmarkType.DATE:
            return value + timedelta(days=1)
        case BookmarkType.TIMESTAMP | BookmarkType.TIMESTAMPTZ:
            return value + timedelta(microseconds=1)
        case BookmarkType.TEXT:
            return value + text_floor
        case BookmarkType.UUID:
            if value == _GREATEST_UUID:
                raise OverflowError
            return uuid.UUID(int=value.int + 1)
        case BookmarkType.BYTES:
            return value + b"\x00"
    raise ValueError(f"a bookmark of type {kind} has no next value")


_GREATEST_UUID = uuid.UUID(int=2**128 - 1)
