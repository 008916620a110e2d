"""SELECT text: names and texts mean themselves, predicates stay in their parentheses."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.errors import ConfigError
from seamark.sources.names import name_part, name_parts
from seamark.sources.query import filter_predicate, literal, quoted, select, window_predicate

NAMES = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


@given(NAMES)
def test_any_name_and_any_text_mean_themselves(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = connection.execute(f"select {literal(name)} as {quoted(name)}")
    assert cursor.description[0][0] == name
    assert cursor.fetchone() == (name,)


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_a_name_is_read_back_as_it_was_written(parts: list[str]) -> None:
    assert name_parts(".".join(name_part(part) for part in parts)) == tuple(parts)


@pytest.mark.parametrize("name", ["", "a\x00b"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        quoted(name)


def rows(predicate: str) -> list[int | None]:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (c)")
    connection.executemany("insert into t values (?)", [(value,) for value in (1, 2, 3, None)])
    return [
        value
        for (value,) in connection.execute(select(["c"], "t", [predicate, filter_predicate("c is null or c > 0 --")]))
    ]


@pytest.mark.parametrize(
    ("low", "high", "nulls", "expected"),
    [
        (None, None, False, [1, 2, 3, None]),
        ("2", None, False, [2, 3]),
        (None, "3", False, [1, 2]),
        ("2", "3", False, [2]),
        ("2", "3", True, [2, None]),
        ("2", "2", True, [None]),
        (None, None, True, [None]),
    ],
)
def test_a_window_is_half_open_and_takes_nulls_only_when_asked(
    low: str | None, high: str | None, nulls: bool, expected: list[int | None]
) -> None:
    assert rows(window_predicate("c", low, high, nulls)) == expected


def test_a_filter_can_not_reach_out_of_its_parentheses() -> None:
    assert select(["1"], "t", ["a", filter_predicate("b or c -- d")]) == "SELECT 1 FROM t WHERE a AND (\nb or c -- d\n)"
    assert select(["1"], "t", ["", filter_predicate(" ")]) == "SELECT 1 FROM t"
