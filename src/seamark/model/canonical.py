"""The canonical text of every type of bookmark: printing a value and parsing its text are inverses.

A printer takes what drivers give for a column of that type and refuses, with ValueError, what it can't hold exactly;
a parser takes what people type, too. Keys order values as sources order them, text by its bytes (docs/adr/0002).
"""

from __future__ import annotations

import json
import operator
import re
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any

_DECIMAL_DIGITS = 150_000
"""More than any database's decimals have on either side of the point; bounds what an exponent can unfold to."""
EXACT = Context(prec=2 * _DECIMAL_DIGITS + 10, rounding=ROUND_FLOOR)
"""Decimal arithmetic that drops no digit, which Python's usual 28 would; quantize rounds towards minus infinity."""

_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")
_BINLOG = re.compile(r"([^\s/:]+)\.(\d+):(\d+)", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
_ZONE = r"( ?Z|[+-]\d\d(:?\d\d(:?\d\d(\.\d{1,6})?)?)?)"
_TIMESTAMPTZ = re.compile(_TIMESTAMP.pattern + _ZONE, re.ASCII)


def _parse_integer(text: str) -> int:
    try:
        if re.fullmatch(r"\s*[+-]?\d+\s*", text, re.ASCII):
            return int(text)
    except ValueError:  # Python's bound on how many digits it converts
        raise ValueError(f"an integer of {len(text)} digits is too long for a bookmark") from None
    raise ValueError(f"{text!r} is no integer; expected digits such as 42")


def _parse_decimal(text: str) -> Decimal:
    try:
        return _finite(Decimal(text.strip()))
    except InvalidOperation:
        raise ValueError(f"{text!r} is no decimal; expected digits such as 12.50") from None


def _parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no date; expected one such as 2026-01-31") from None


def _parse_timestamp(text: str) -> datetime:
    try:
        if _TIMESTAMP.fullmatch(text.strip()):
            return datetime.fromisoformat(text.strip())
    except ValueError:  # the 31st of February
        pass
    raise ValueError(f"{text!r} is no timestamp without zone; expected one such as 2026-01-31T08:00:00.000001")


def _parse_timestamptz(text: str) -> datetime:
    try:
        if _TIMESTAMPTZ.fullmatch(text.strip()):
            return datetime.fromisoformat(text.strip().replace(" Z", "Z")).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{text!r} is no timestamp with a zone; expected one such as 2026-01-31T08:00:00Z")


def _parse_text(text: str) -> str:
    return _print_text(text)


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
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None


def _finite(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise ValueError(f"{value} is not finite; expected digits such as 12.50")
    if len(value.as_tuple().digits) > _DECIMAL_DIGITS or (value and abs(value.adjusted()) > _DECIMAL_DIGITS):
        raise ValueError(f"a decimal of more than {_DECIMAL_DIGITS} digits is too long for a bookmark")
    return value


def _refuse(value: Any, expected: str) -> ValueError:
    return ValueError(f"{value!r} is {type(value).__name__}, expected {expected}")


def _print_integer(value: Any) -> str:
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(_finite(value))
    try:
        return str(operator.index(value))
    except TypeError:
        raise _refuse(value, "a whole number") from None
    except ValueError:  # Python's bound on how many digits it converts
        raise ValueError("the integer is too long for a bookmark") from None


def _print_decimal(value: Any) -> str:
    if not isinstance(value, int | Decimal):
        raise _refuse(value, "a decimal")
    number = _finite(Decimal(value))
    if not number:
        return "0"
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _print_date(value: Any) -> str:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _refuse(value, "a date without a time")
    return value.isoformat()


def _print_timestamp(value: Any) -> str:
    if not isinstance(value, datetime):
        raise _refuse(value, "a date with a time")
    if value.tzinfo is not None:
        raise ValueError(f"{value.isoformat()} has a zone; this bookmark has none")
    return value.isoformat(timespec="microseconds")


def _print_timestamptz(value: Any) -> str:
    if not isinstance(value, datetime):
        raise _refuse(value, "a date with a time")
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} has no zone; this bookmark needs one")
    try:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    except OverflowError:
        raise ValueError(f"{value.isoformat()} is outside the years 1 to 9999 in UTC") from None


def _print_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _refuse(value, "text")
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair: no database's text holds it, and it has no place in the order
        raise ValueError(f"{value!r} is not valid Unicode text") from None
    return value


def _print_uuid(value: Any) -> str:
    return str(value if isinstance(value, uuid.UUID) else _parse_uuid(str(value)))


def _print_bytes(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _refuse(value, "bytes")
    return value.hex()


def _print_position(value: Any) -> str:
    if match := _LSN.fullmatch(str(value)):
        return f"{int(match[1], 16):X}/{int(match[2], 16):X}"
    if match := _BINLOG.fullmatch(str(value)):
        return f"{match[1]}.{int(match[2]):06d}:{int(match[3])}"
    return _parse_position(str(value))


def _print_json(value: Any) -> str:
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return _print_text(text)


def _position_key(value: str) -> tuple[str, int, int]:
    if match := _LSN.fullmatch(value):
        return ("", int(match[1], 16), int(match[2], 16))
    match = _BINLOG.fullmatch(value)
    assert match is not None
    return (match[1], int(match[2]), int(match[3]))


PARSERS: dict[str, Callable[[str], Any]] = {
    "integer": _parse_integer,
    "decimal": _parse_decimal,
    "date": _parse_date,
    "timestamp": _parse_timestamp,
    "timestamptz": _parse_timestamptz,
    "text": _parse_text,
    "uuid": _parse_uuid,
    "bytes": _parse_bytes,
    "log_position": _parse_position,
    "json": _parse_json,
}
PRINTERS: dict[str, Callable[[Any], str]] = {
    "integer": _print_integer,
    "decimal": _print_decimal,
    "date": _print_date,
    "timestamp": _print_timestamp,
    "timestamptz": _print_timestamptz,
    "text": _print_text,
    "uuid": _print_uuid,
    "bytes": _print_bytes,
    "log_position": _print_position,
    "json": _print_json,
}
KEYS: dict[str, Callable[[Any], Any]] = {
    "text": str.encode,
    "uuid": lambda value: value.int,
    "log_position": _position_key,
    "json": lambda value: _print_json(value).encode(),
}
