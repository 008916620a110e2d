"""Bookmarks order values as Postgres does: the same values, sorted by both."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark, BookmarkType, successor
from tests.model.examples import VALUES, instants, positions

# What Postgres can hold of each type, and how a source asks for its order.
POSTGRES: dict[BookmarkType, tuple[str, str, st.SearchStrategy[Any]]] = {
    BookmarkType.INTEGER: ("numeric", "v", st.integers(-(10**60), 10**60)),
    BookmarkType.DECIMAL: ("numeric", "v", VALUES[BookmarkType.DECIMAL]),
    BookmarkType.DATE: ("date", "v", st.dates()),
    BookmarkType.TIMESTAMP: ("timestamp", "v", st.datetimes()),
    BookmarkType.TIMESTAMPTZ: ("timestamptz", "v", instants()),
    BookmarkType.TEXT: ("text", 'v collate "C"', st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1))),
    BookmarkType.UUID: ("uuid", "v", st.uuids()),
    BookmarkType.BYTES: ("bytea", "v", st.binary()),
    BookmarkType.LOG_POSITION: ("pg_lsn", "v", positions),
}
EDGES: dict[BookmarkType, list[Any]] = {
    BookmarkType.INTEGER: [0, -1, 2**63 - 1, -(2**63), 10**60],
    BookmarkType.DECIMAL: [Decimal(text) for text in ("0", "-0.0", "1E-40", "-1E-40", "9" * 40, "1.10", "1.1", "1.09")],
    BookmarkType.DATE: [date.min, date(1970, 1, 1), date.max],
    BookmarkType.TIMESTAMP: [datetime.min, datetime(1970, 1, 1), datetime.max],
    BookmarkType.TEXT: ["", " ", "\x01", "A", "a", "B", "b", "a b", "ab", "a-b", "z", "é", "e\u0301", "\uffff", "\U00010000", "日本", "10", "9"],
}  # fmt: skip


@pytest.fixture(scope="module")
def connection(postgres: Any) -> Iterator[psycopg.Connection[Any]]:
    with postgres.database() as url, psycopg.connect(url, autocommit=True) as connection:
        yield connection


def sorted_by_postgres(connection: psycopg.Connection[Any], column: str, order: str, texts: list[str]) -> list[int]:
    """Places of `texts`, cast to the type of `column`, in Postgres' order; equal ones by place."""
    rows = connection.execute(
        f"select place from (select t::{column} as v, place from unnest(%s::text[]) with ordinality as given(t, place)) "
        f"as cast_ order by {order}, place",
        [texts],
    )
    return [row[0] - 1 for row in rows]


def sorted_here(found: list[Bookmark]) -> list[int]:
    return sorted(range(len(found)), key=lambda place: found[place])


def as_postgres_writes(kind: BookmarkType, bookmark: Bookmark) -> str:
    return "\\x" + bookmark.text if kind is BookmarkType.BYTES else bookmark.text


@pytest.mark.parametrize("kind", POSTGRES, ids=str)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_order_agrees_with_order_by(
    kind: BookmarkType, data: st.DataObject, connection: psycopg.Connection[Any]
) -> None:
    column, order, values = POSTGRES[kind]
    drawn = data.draw(st.lists(values | st.sampled_from(EDGES.get(kind, [])) if kind in EDGES else values, max_size=30))
    found = [Bookmark.of(kind, value) for value in drawn]
    texts = [as_postgres_writes(kind, bookmark) for bookmark in found]
    assert sorted_here(found) == sorted_by_postgres(connection, column, order, texts)


@pytest.mark.parametrize("kind", [k for k in POSTGRES if k not in ("integer", "decimal", "log_position")], ids=str)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_the_next_value_is_above_in_postgres_too(
    kind: BookmarkType, data: st.DataObject, connection: psycopg.Connection[Any]
) -> None:
    column, order, values = POSTGRES[kind]
    bookmark = Bookmark.of(kind, data.draw(values))
    try:
        pair = [as_postgres_writes(kind, found) for found in (successor(bookmark), bookmark)]
    except ValueError:
        return
    assert sorted_by_postgres(connection, column, order, pair) == [1, 0]


@pytest.mark.parametrize("value", ["2026-03-08 02:30:00-03:30", "2026-11-01 00:30:00-02:30", "0044-03-15 12:00:00+00"])
def test_instants_agree_across_clock_changes(value: str, connection: psycopg.Connection[Any]) -> None:
    """The server's zone is an odd one; what it says in its own zone is the same instant here."""
    there = connection.execute("select %s::timestamptz::text", [value]).fetchone()
    assert there is not None
    assert Bookmark.parse("timestamptz", there[0]) == Bookmark.parse("timestamptz", value)


@pytest.mark.parametrize("collation", ["default", "en-US-x-icu", "de-x-icu"])
def test_the_order_of_people_is_another_one(collation: str, connection: psycopg.Connection[Any]) -> None:
    """Why text is compared under "C": where a range is cut by one order and a bookmark compared by another, rows fall
    through the gap between them."""
    texts = ["B", "a", "z", "é"]
    there = sorted_by_postgres(connection, "text", f'v collate "{collation}"', texts)
    assert [texts[place] for place in there] == ["a", "B", "é", "z"]
    assert [bookmark.text for bookmark in sorted(Bookmark.of("text", text) for text in texts)] == ["B", "a", "z", "é"]


def test_a_linguistic_order_may_tie_what_is_not_equal(connection: psycopg.Connection[Any]) -> None:
    """Under such a collation there is no next value: "a-b" and "A-B" tie, so a half-open range can't take in one only."""
    connection.execute(
        "create collation if not exists loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    tied = connection.execute("select 'a-b' = 'A-B' collate loose, 'a-b' = 'A-B' collate \"C\"").fetchone()
    assert tied == (True, False)
