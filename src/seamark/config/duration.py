"""Durations as people write them: `500ms`, `30s`, `10m`, `2h`, `1d`."""

from __future__ import annotations

import re
from datetime import timedelta

UNITS: dict[str, timedelta] = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
    "us": timedelta(microseconds=1),
}
PATTERN = r"[0-9]+ ?(d|h|m|s|ms|us)"


def parse_duration(text: str) -> timedelta:
    """The duration that `text` names; ValueError when it names none."""
    match = re.fullmatch(PATTERN, text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no duration; expected one such as 500ms, 30s, 10m, 2h or 1d")
    try:
        return int(re.sub(r"\D", "", match[0])) * UNITS[match[1]]
    except (OverflowError, ValueError):
        raise ValueError(f"{text!r} is longer than a duration can be") from None


def print_duration(duration: timedelta) -> str:
    """The shortest text that `parse_duration` reads as `duration`, which must not be negative."""
    unit = next(name for name, size in UNITS.items() if not duration % size)
    return f"{duration // UNITS[unit]}{unit}" if duration else "0s"
