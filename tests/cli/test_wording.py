from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from seamark.cli.wording import ago, count, counted, duration, moment, size


def test_numbers_are_grouped_and_what_is_unknown_is_said_to_be() -> None:
    assert count(1234567) == "1,234,567"
    assert count(None) == "-"
    assert counted(1, "row") == "1 row"
    assert counted(0, "row") == "0 rows"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_234_567, "1.2 MB"),
        (250_000_000, "250 MB"),
        (3e12, "3.0 TB"),
        (None, "-"),
    ],
)
def test_sizes_are_in_decimal_units(number: float | None, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "40 ms"),
        (9.94, "9.9 s"),
        (59, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7260, "2 h 1 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_moments_are_in_utc_whatever_zone_they_come_in() -> None:
    there = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert moment(there) == "2026-02-28 23:30:00Z"
    assert moment(datetime(2026, 3, 1, 1, 30)) == "2026-03-01 01:30:00Z"
    assert moment(None) == "-"


def test_how_long_ago() -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert ago(now - timedelta(minutes=3), now) == "3 min ago"
    assert ago(now - timedelta(days=2, hours=5), now) == "2 d ago"
    assert ago(now - timedelta(seconds=7), now) == "7 s ago"
    assert ago(now, now) == "just now"
    assert ago(now + timedelta(seconds=5), now) == "just now"
