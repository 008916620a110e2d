"""Hypothesis strategies for the model's data."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import BookmarkChange, Draft, StagedFile, TableChange, Write
from seamark.model.schema import SCALARS, Column, DataType, Schema, decimal, list_of

texts = st.text(st.characters(exclude_categories=["Cs"]))
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Any sign, size and exponent, negative zero among them."""
    digits = draw(st.integers(0, 10**45) | st.integers(0, 99))
    exponent = draw(st.integers(-60, 60))
    return Decimal((draw(st.integers(0, 1)), tuple(map(int, str(digits))), exponent))


@st.composite
def instants(draw: st.DrawFn) -> datetime:
    """Moments in any zone, a day clear of the calendar's ends, which not every zone can reach."""
    naive = draw(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
    return naive.replace(tzinfo=draw(zones))


positions = st.builds(lambda high, low: f"{high:X}/{low:X}", st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
binlog_positions = st.builds(
    lambda name, file, offset: f"{name}.{file:06d}:{offset}",
    st.sampled_from(["binlog", "mysql-bin", "a.b"]),
    st.integers(0, 10**7),
    st.integers(0, 2**64),
)

VALUES: dict[BookmarkType, st.SearchStrategy[object]] = {
    BookmarkType.INTEGER: st.integers() | st.integers(-(10**200), 10**200),
    BookmarkType.DECIMAL: decimals(),
    BookmarkType.DATE: st.dates(),
    BookmarkType.TIMESTAMP: st.datetimes(),
    BookmarkType.TIMESTAMPTZ: instants(),
    BookmarkType.TEXT: texts,
    BookmarkType.UUID: st.uuids(),
    BookmarkType.BYTES: st.binary(),
    BookmarkType.LOG_POSITION: positions | binlog_positions,
    BookmarkType.JSON: json_values,
}


def bookmarks(*kinds: BookmarkType) -> st.SearchStrategy[Bookmark]:
    return st.one_of(*(VALUES[kind].map(lambda value, kind=kind: Bookmark.of(kind, value)) for kind in kinds or VALUES))


decimal_types = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: decimal(p, s)))


def _struct(fields: dict[str, DataType]) -> DataType:
    return DataType("struct", fields=tuple(fields.items()))


data_types = st.recursive(
    st.sampled_from(SCALARS).map(DataType) | decimal_types,
    lambda inner: inner.map(list_of) | st.dictionaries(texts, inner, max_size=3).map(_struct),
    max_leaves=6,
)


def schemas(
    names: st.SearchStrategy[str] = texts, types: st.SearchStrategy[DataType] = data_types
) -> st.SearchStrategy[Schema]:
    column = st.builds(Column, names, types, st.booleans(), texts, texts)
    return st.lists(column, max_size=5, unique_by=lambda c: c.name).map(lambda found: Schema(tuple(found)))


staged_files = st.builds(
    StagedFile,
    path=texts,
    rows=st.integers(0, 2**63),
    bytes=st.integers(0, 2**63),
    digest=texts,
    partition=st.lists(st.tuples(texts, st.none() | texts), max_size=2).map(tuple),
    stats=texts,
    cursor_max=st.none() | texts,
)
table_changes = st.builds(
    TableChange,
    stream=texts,
    table=texts,
    write=st.sampled_from(Write),
    files=st.lists(staged_files, max_size=3).map(tuple),
    schema=schemas(),
    key=st.lists(texts, max_size=2).map(tuple),
    partition_by=st.lists(texts, max_size=2).map(tuple),
    cursor=texts,
    unique_key=st.booleans(),
)
bookmark_changes = st.builds(
    BookmarkChange,
    stream=texts,
    before=st.none() | bookmarks(),
    after=st.none() | bookmarks(),
    partition=texts,
)
drafts = st.builds(
    Draft,
    tables=st.lists(table_changes, max_size=2).map(tuple),
    bookmarks=st.lists(bookmark_changes, max_size=3).map(tuple),
    kind=texts,
    whole=st.booleans(),
    reason=texts,
    actor=texts,
)
