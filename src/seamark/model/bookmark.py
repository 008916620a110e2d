"""Bookmarks: typed values with one canonical text and a total order that agrees with the source's own."""

from __future__ import annotations

import functools
import json
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any


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
        return Bookmark.of(kind, _PARSERS[kind](text))

    @staticmethod
    def of(kind: BookmarkType | str, value: Any) -> Bookmark:
        kind = BookmarkType(kind)
        return Bookmark(kind, _PRINTERS[kind](value))

    @property
    def value(self) -> Any:
        """The Python value: int, Decimal, date, datetime, str, UUID, bytes, or a position's text."""
        return _PARSERS[self.type](self.text)

    def __lt__(self, other: Bookmark) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[str, Any]:
        return (self.type.value, _KEYS.get(self.type, lambda value: value)(self.value))

    def __str__(self) -> str:
        return self.text


def successor(bookmark: Bookmark, *, scale: int | None = None, text_floor: str = "\x01") -> Bookmark:
    """The least value above `bookmark`, so that `[low, successor(max))` takes in `max` and nothing can slip between.

    `scale` is a decimal column's digits after the point; `text_floor` the least character that the source's text can
    hold.
    """
    value = bookmark.value
    match bookmark.type:
        case BookmarkType.INTEGER:
            return Bookmark.of(bookmark.type, value + 1)
        case BookmarkType.DECIMAL:
            if scale is None:
                raise ValueError("a decimal with no fixed scale has no next value")
            return Bookmark.of(bookmark.type, value + Decimal(1).scaleb(-scale))
        case BookmarkType.DATE:
            return Bookmark.of(bookmark.type, value + timedelta(days=1))
        case BookmarkType.TIMESTAMP | BookmarkType.TIMESTAMPTZ:
            return Bookmark.of(bookmark.type, value + timedelta(microseconds=1))
        case BookmarkType.TEXT:
            return Bookmark.of(bookmark.type, value + text_floor)
        case BookmarkType.UUID:
            return Bookmark.of(bookmark.type, uuid.UUID(int=value.int + 1))
        case BookmarkType.BYTES:
            return Bookmark.of(bookmark.type, value + b"\x00")
    raise ValueError(f"a bookmark of type {bookmark.type} has no next value")


_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")
_BINLOG = re.compile(r"([^\s/:]+)\.(\d+):(\d+)")
_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?")


def _parse_integer(text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d+\s*", text, re.ASCII):
        raise ValueError(f"{text!r} is no integer; expected digits such as 42")
    return int(text)


def _parse_decimal(text: str) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise ValueError(f"{text!r} is no decimal; expected digits such as 12.50") from None
    if not value.is_finite():
        raise ValueError(f"{text!r} is not finite; expected digits such as 12.50")
    return value


def _parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no date; expected one such as 2026-01-31") from None


def _parse_timestamp(text: str) -> datetime:
    if not _TIMESTAMP.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is no timestamp without zone; expected one such as 2026-01-31T08:00:00.000001")
    return datetime.fromisoformat(text.strip())


def _parse_timestamptz(text: str) -> datetime:
    try:
        value = datetime.fromisoformat(text.strip())
        if value.tzinfo is None:
            raise ValueError
        return value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no timestamp with a zone; expected one such as 2026-01-31T08:00:00Z") from None


def _parse_uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no uuid; expected 32 hexadecimal digits with dashes") from None


def _parse_bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError(f"{text!r} is no run of bytes; expected hexadecimal digits such as 00ff") from None


def _parse_position(text: str) -> str:
    if _LSN.fullmatch(text) or _BINLOG.fullmatch(text):
        return text
    raise ValueError(f"{text!r} is no log position; expected one such as 16/B374D848 or binlog.000003:154")


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


def _print_decimal(value: Decimal) -> str:
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _print_timestamp(value: datetime) -> str:
    if value.tzinfo is not None:
        raise ValueError(f"{value.isoformat()} has a zone; this bookmark has none")
    return value.isoformat(timespec="microseconds")


def _print_timestamptz(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} has no zone; this bookmark needs one")
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _print_position(value: str) -> str:
    if match := _LSN.fullmatch(value):
        return f"{int(match[1], 16):X}/{int(match[2], 16):X}"
    if match := _BINLOG.fullmatch(value):
        return f"{match[1]}.{match[2]}:{int(match[3])}"
    raise ValueError(f"{value!r} is no log position")


def _print_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _position_key(value: str) -> tuple[str, int, int]:
    if match := _LSN.fullmatch(value):
        return ("", int(match[1], 16), int(match[2], 16))
    match = _BINLOG.fullmatch(value)
    assert match is not None
    return (match[1], int(match[2]), int(match[3]))


_PARSERS: dict[BookmarkType, Any] = {
    BookmarkType.INTEGER: _parse_integer,
    BookmarkType.DECIMAL: _parse_decimal,
    BookmarkType.DATE: _parse_date,
    BookmarkType.TIMESTAMP: _parse_timestamp,
    BookmarkType.TIMESTAMPTZ: _parse_timestamptz,
    BookmarkType.TEXT: str,
    BookmarkType.UUID: _parse_uuid,
    BookmarkType.BYTES: _parse_bytes,
    BookmarkType.LOG_POSITION: _parse_position,
    BookmarkType.JSON: _parse_json,
}
_PRINTERS: dict[BookmarkType, Any] = {
    BookmarkType.INTEGER: lambda value: str(int(value)),
    BookmarkType.DECIMAL: _print_decimal,
    BookmarkType.DATE: lambda value: value.isoformat(),
    BookmarkType.TIMESTAMP: _print_timestamp,
    BookmarkType.TIMESTAMPTZ: _print_timestamptz,
    BookmarkType.TEXT: str,
    BookmarkType.UUID: str,
    BookmarkType.BYTES: bytes.hex,
    BookmarkType.LOG_POSITION: _print_position,
    BookmarkType.JSON: _print_json,
}
_KEYS: dict[BookmarkType, Any] = {
    BookmarkType.TEXT: lambda value: value.encode("utf-8", "surrogatepass"),
    BookmarkType.UUID: lambda value: value.int,
    BookmarkType.LOG_POSITION: _position_key,
    BookmarkType.JSON: lambda value: _print_json(value).encode(),
}
