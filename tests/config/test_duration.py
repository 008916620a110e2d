from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.config.duration import parse_duration, print_duration


@given(st.timedeltas(min_value=timedelta(0)))
def test_what_is_printed_reads_back(duration: timedelta) -> None:
    assert parse_duration(print_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("10m", timedelta(minutes=10)),
        ("2h", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        ("500ms", timedelta(milliseconds=500)),
        ("30s", timedelta(seconds=30)),
        ("7us", timedelta(microseconds=7)),
        ("0s", timedelta(0)),
        (" 10 m ", timedelta(minutes=10)),
    ],
)
def test_durations_as_people_write_them(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text",
    ["", "10", "m", "-5m", "1.5h", "10 weeks", "10M", "1h30m", "1_0s", "\u0665m", "9999999999999d", "9" * 9999 + "s"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "90s"), (5400, "90m"), (86400, "1d"), (0, "0s"), (0.0015, "1500us")]
)
def test_the_largest_unit_that_fits_is_printed(seconds: float, text: str) -> None:
    assert print_duration(timedelta(seconds=seconds)) == text
