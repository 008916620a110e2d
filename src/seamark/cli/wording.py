"""Numbers, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

_DURATIONS = (("d", 86_400), ("h", 3_600), ("min", 60))


def count(number: int | None, unknown: str = "-") -> str:
    return unknown if number is None else f"{number:,}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: float | None, unknown: str = "-") -> str:
    """Decimal units, as disks and networks are sold."""
    if number is None:
        return unknown
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def duration(seconds: float) -> str:
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    for index, (unit, length) in enumerate(_DURATIONS):
        if seconds >= length:
            lower, lower_length = _DURATIONS[index + 1] if index + 1 < len(_DURATIONS) else ("s", 1)
            rest = int(seconds % length) // lower_length
            return f"{int(seconds) // length} {unit}" + (f" {rest} {lower}" if rest else "")
    return f"{seconds:.0f} s"


def moment(at: datetime | None, unknown: str = "-") -> str:
    """A time in UTC, to the second, sortable as text."""
    if at is None:
        return unknown
    utc = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return utc.strftime("%Y-%m-%d %H:%M:%SZ")


def ago(at: datetime | None, now: datetime | None = None, unknown: str = "-") -> str:
    """How long ago, in the largest unit that fits."""
    if at is None:
        return unknown
    elapsed = ((now or datetime.now(UTC)) - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()
    if elapsed < 2:
        return "just now"
    return " ".join(duration(float(int(elapsed))).split()[:2]).replace(".0", "") + " ago"
