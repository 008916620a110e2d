from __future__ import annotations

import itertools
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark, BookmarkType, successor
from tests.model.examples import VALUES, bookmarks, decimals, instants, texts

NEXT_EXISTS = tuple(
    kind for kind in BookmarkType if kind not in (BookmarkType.DECIMAL, BookmarkType.LOG_POSITION, BookmarkType.JSON)
)
each_type = pytest.mark.parametrize("kind", BookmarkType, ids=str)


# Canonical text


@each_type
@given(data=st.data())
def test_text_and_value_are_inverses(kind: BookmarkType, data: st.DataObject) -> None:
    bookmark = Bookmark.of(kind, data.draw(VALUES[kind]))
    assert Bookmark.parse(kind, str(bookmark)) == bookmark
    assert Bookmark.of(kind, bookmark.value) == bookmark
    bookmark.text.encode()


@each_type
@given(data=st.data())
def test_a_value_survives(kind: BookmarkType, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    assert Bookmark.of(kind, value).value == value


@pytest.mark.parametrize("kind", [kind for kind in BookmarkType if kind != "json"], ids=str)  # there 1 is not 1.0
@given(data=st.data())
def test_equal_values_have_one_text(kind: BookmarkType, data: st.DataObject) -> None:
    first, second = data.draw(VALUES[kind]), data.draw(VALUES[kind])
    assert (Bookmark.of(kind, first) == Bookmark.of(kind, second)) == (first == second)


@pytest.mark.parametrize(
    ("kind", "typed", "canonical"),
    [
        ("integer", " +0042 ", "42"),
        ("integer", "-0", "0"),
        ("decimal", "12.50", "12.5"),
        ("decimal", "-0.00", "0"),
        ("decimal", "1E+3", "1000"),
        ("decimal", "1e-7", "0.0000001"),
        ("decimal", "0E+99999999", "0"),
        ("date", "20260131", "2026-01-31"),
        ("timestamp", "2026-01-31 08:00", "2026-01-31T08:00:00.000000"),
        ("timestamptz", "2026-01-31 08:00:00+05:45", "2026-01-31T02:15:00.000000Z"),
        ("timestamptz", "2026-01-31T08:00:00.5-0330", "2026-01-31T11:30:00.500000Z"),
        ("timestamptz", "2026-01-31 08:00:00+00", "2026-01-31T08:00:00.000000Z"),
        ("timestamptz", "1880-01-01 00:00:00+00:19:32", "1879-12-31T23:40:28.000000Z"),
        ("text", "", ""),
        ("text", " kept as it is\\\x00\n", " kept as it is\\\x00\n"),
        ("uuid", "{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("bytes", "00 FF", "00ff"),
        ("log_position", "0016/b374d848", "16/B374D848"),
        ("log_position", "mysql-bin.3:0154", "mysql-bin.000003:154"),
        ("json", '{"b": [1, 2.50], "a": "é"}', '{"a":"é","b":[1,2.5]}'),
    ],
)
def test_what_people_type_becomes_canonical(kind: str, typed: str, canonical: str) -> None:
    assert Bookmark.parse(kind, typed).text == canonical


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("integer", "4.2", "no integer; expected digits"),
        ("integer", "٤٢", "no integer"),
        pytest.param("integer", "9" * 5000, "too long", id="integer of 5000 digits"),
        ("decimal", "twelve", "no decimal; expected"),
        ("decimal", "NaN", "not finite"),
        ("decimal", "-Infinity", "not finite"),
        ("decimal", "1E+1000000", "too long"),
        ("decimal", "1E-1000000", "too long"),
        ("date", "2026-02-30", "no date; expected one such as"),
        ("timestamp", "2026-02-30T00:00:00", "no timestamp without zone; expected"),
        ("timestamp", "2026-01-31T08:00:00Z", "no timestamp without zone; expected"),
        ("timestamp", "2026-01-31T08:00:00.1234567", "no timestamp without zone; expected"),
        ("timestamptz", "2026-01-31T08:00:00", "no timestamp with a zone; expected"),
        ("timestamptz", "2026-01-31T08:00:00.1234567Z", "no timestamp with a zone; expected"),
        ("timestamptz", "0001-01-01T00:00:00+14:00", "no timestamp with a zone; expected"),
        ("text", "half \ud800 of a pair", "not valid Unicode"),
        ("uuid", "6ba7b810", "no uuid; expected"),
        ("bytes", "0g", "no run of bytes; expected"),
        ("log_position", "16-B374D848", "no log position; expected one such as"),
        ("json", "{", "not JSON"),
        ("json", "NaN", "not JSON"),
        pytest.param("json", "[" * 100_000, "not JSON", id="json nested too deep"),
        ("json", '"\\ud800"', "not valid Unicode"),
        ("number", "1", "not a valid BookmarkType"),
    ],
)
def test_text_that_names_no_value_is_refused(kind: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bookmark.parse(kind, text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", 1.5),
        ("integer", Decimal("1.5")),
        ("integer", "1"),
        ("integer", Decimal("1E+5000")),
        ("decimal", 0.1),
        ("decimal", Decimal("NaN")),
        ("decimal", Decimal("1E+1000000")),
        ("date", datetime(2026, 1, 31, 8)),
        ("date", "2026-01-31"),
        ("timestamp", date(2026, 1, 31)),
        ("timestamp", datetime(2026, 1, 31, tzinfo=UTC)),
        ("timestamptz", datetime(2026, 1, 31)),
        ("timestamptz", datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))),
        ("timestamptz", datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))),
        ("text", b"bytes"),
        ("text", "\udfff"),
        ("uuid", 5),
        ("bytes", "00ff"),
        ("log_position", 154),
        ("json", float("inf")),
        ("json", object()),
        ("json", {1: 1, "1": 2}),
    ],
)
def test_a_value_that_does_not_fit_is_refused_rather_than_bent(kind: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|too long|zone|outside|JSON|Unicode|finite"):
        Bookmark.of(kind, value)


def test_what_drivers_give_is_taken() -> None:
    assert Bookmark.of("integer", Decimal("42.00")).text == "42"
    assert Bookmark.of("decimal", 5).text == "5"
    assert Bookmark.of("bytes", memoryview(b"\x00\xff")).text == "00ff"
    assert Bookmark.of("uuid", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8").text == "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


# Order


@given(bookmarks(), bookmarks())
def test_any_two_bookmarks_compare_one_way(first: Bookmark, second: Bookmark) -> None:
    assert [first < second, first == second, first > second].count(True) == 1
    assert (first <= second) == (first < second or first == second)


@each_type
@given(data=st.data())
def test_order_is_transitive_and_of_the_type(kind: BookmarkType, data: st.DataObject) -> None:
    found = data.draw(st.lists(bookmarks(kind), min_size=3, max_size=3))
    for first, second, third in itertools.permutations(found):
        assert not (first < second and second < third) or first < third


@pytest.mark.parametrize("kind", [kind for kind in BookmarkType if kind not in ("json", "log_position")], ids=str)
@given(data=st.data())
def test_order_is_that_of_the_values(kind: BookmarkType, data: st.DataObject) -> None:
    first: Any = data.draw(VALUES[kind])
    second: Any = data.draw(VALUES[kind])
    assert (Bookmark.of(kind, first) < Bookmark.of(kind, second)) == (first < second)


@given(st.lists(bookmarks(), max_size=8).flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_sorting_does_not_depend_on_where_it_starts(found: tuple[list[Bookmark], list[Bookmark]]) -> None:
    assert sorted(found[0]) == sorted(found[1])


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("integer", "9", "10"),
        ("decimal", "-2", "-1.5"),
        ("timestamptz", "2026-01-31T23:00:00-05:00", "2026-02-01T05:00:00Z"),
        ("text", "Z", "a"),
        ("text", "z", "é"),
        ("text", "\uffff", "\U00010000"),
        ("text", "", "\x00"),
        ("bytes", "ff", "ff00"),
        ("log_position", "9/FFFFFFFF", "A/0"),
        ("log_position", "binlog.999999:9", "binlog.1000000:4"),
        ("log_position", "binlog.000003:99", "binlog.000003:100"),
    ],
)
def test_order_by_example(kind: str, low: str, high: str) -> None:
    assert Bookmark.parse(kind, low) < Bookmark.parse(kind, high)


def test_a_bookmark_does_not_compare_with_its_text() -> None:
    with pytest.raises(TypeError):
        sorted([Bookmark.of("text", "a"), "b"])
    assert Bookmark.of("text", "a") != "a"


# The next value


@pytest.mark.parametrize("kind", NEXT_EXISTS, ids=str)
@given(data=st.data())
def test_nothing_lies_between_a_value_and_the_next(kind: BookmarkType, data: st.DataObject) -> None:
    bookmark, other = data.draw(bookmarks(kind)), data.draw(bookmarks(kind))
    floor = "\x00" if kind is BookmarkType.TEXT else "\x01"
    try:
        following = successor(bookmark, text_floor=floor)
    except ValueError:
        assert bookmark >= other
        return
    assert bookmark < following
    assert not bookmark < other < following


@pytest.mark.parametrize(
    ("kind", "text", "following"),
    [
        ("integer", "-1", "0"),
        ("date", "2028-02-28", "2028-02-29"),
        ("timestamp", "2026-12-31T23:59:59.999999", "2027-01-01T00:00:00.000000"),
        ("text", "", "\x01"),
        ("text", "a\uffff", "a\uffff\x01"),
        ("bytes", "ff", "ff00"),
        ("uuid", "00000000-0000-0000-ffff-ffffffffffff", "00000000-0000-0001-0000-000000000000"),
    ],
)
def test_the_next_value_by_example(kind: str, text: str, following: str) -> None:
    assert successor(Bookmark.parse(kind, text)).text == following


@given(texts.filter(lambda text: "\x00" not in text), texts.filter(lambda text: "\x00" not in text))
def test_nothing_lies_between_where_text_holds_no_nul(text: str, tail: str) -> None:
    bookmark = Bookmark.of("text", text)
    following = successor(bookmark)
    for other in (text + tail, tail, text + "\x01", text[:-1]):
        assert not bookmark < Bookmark.of("text", other) < following


@given(decimals(), st.integers(-5, 40), st.integers())
def test_the_next_decimal_is_the_next_multiple_of_its_scale(value: Decimal, scale: int, steps: int) -> None:
    bookmark = Bookmark.of("decimal", value)
    following = successor(bookmark, scale=scale)
    unit = Decimal((0, (1,), -scale))
    numerator, denominator = (following.value).as_integer_ratio()
    unit_numerator, unit_denominator = unit.as_integer_ratio()
    multiple, rest = divmod(numerator * unit_denominator, denominator * unit_numerator)
    assert rest == 0
    assert bookmark < following
    assert (
        Bookmark.of("decimal", Decimal((int(multiple <= 0), tuple(map(int, str(abs(multiple - 1)))), -scale)))
        <= bookmark
    )


def test_the_next_decimal_keeps_all_forty_digits() -> None:
    wide = Bookmark.of("decimal", Decimal("9" * 36 + ".99"))
    assert successor(wide, scale=2).text == "1" + "0" * 36
    assert successor(Bookmark.of("decimal", Decimal("1" * 38 + ".00")), scale=2).text == "1" * 38 + ".01"


@given(instants())
def test_the_next_instant_is_a_microsecond_later(moment: datetime) -> None:
    assert successor(Bookmark.of("timestamptz", moment)).value - moment == timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("kind", "greatest"),
    [
        ("date", date.max),
        ("timestamp", datetime.max),
        ("timestamptz", datetime.max.replace(tzinfo=UTC)),
        ("uuid", uuid.UUID(int=2**128 - 1)),
    ],
)
def test_the_greatest_value_has_no_next(kind: str, greatest: Any) -> None:
    with pytest.raises(ValueError, match="the greatest"):
        successor(Bookmark.of(kind, greatest))


@pytest.mark.parametrize(("kind", "text"), [("decimal", "1"), ("log_position", "16/B374D848"), ("json", "{}")])
def test_a_type_without_steps_has_no_next(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match="no next value"):
        successor(Bookmark.parse(kind, text))
