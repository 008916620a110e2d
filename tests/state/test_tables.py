"""Columns and checksums: what goes in comes out, and any change of it is noticed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, insert, select
from sqlalchemy.engine import Engine

from seamark.errors import StateCorruptionError
from seamark.state.checksum import sealed, verified
from seamark.state.tables import AnyText, UtcTime, checkpoints, metadata, streams

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text().map("json:".__add__)
ROW: dict[str, Any] = {
    "pipeline": "shop",
    "stream": "orders",
    "cursor": "id",
    "mode": "merge",
    "rows_total": 12,
    "last_sync": datetime(2026, 1, 31, 8, tzinfo=UTC),
    "recorded": 4,
}

probe = Table(
    "probe", MetaData(), Column("id", Integer, primary_key=True), Column("text", AnyText), Column("at", UtcTime)
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = create_engine("sqlite://")
    probe.metadata.create_all(engine)
    metadata.create_all(engine)
    return engine


@pytest.fixture(scope="module", autouse=True)
def _odd_zone() -> Iterator[None]:
    """This machine's zone is neither UTC nor whole hours: whoever mixes up local time and UTC is found out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "America/St_Johns")
        time.tzset()
        yield
    time.tzset()


@given(text=ANY_TEXT, at=st.datetimes(timezones=st.just(timezone(timedelta(hours=-3, minutes=-30)))))
def test_any_text_and_time_come_back(engine: Engine, text: str, at: datetime) -> None:
    if not datetime(1, 1, 2) < at.replace(tzinfo=None) < datetime(9999, 12, 30):
        return  # its UTC has no year of its own
    with engine.connect() as connection:
        connection.execute(insert(probe), {"id": 1, "text": text, "at": at})
        found = connection.execute(select(probe.c.text, probe.c.at)).one()
        assert (found.text, found.at) == (text, at)
        assert found.at.utcoffset() == timedelta(0)
        assert connection.execute(select(probe.c.id).where(probe.c.text == text)).scalar() == 1


@pytest.mark.parametrize("column", sorted(ROW))
def test_a_change_of_any_column_is_noticed(engine: Engine, column: str) -> None:
    values = sealed(streams, ROW)
    assert written(engine, values) == values
    changed = ROW[column]
    changed = changed + timedelta(microseconds=1) if column == "last_sync" else type(changed)(f"{changed}1")
    for other in [changed] + ([None] if column == "last_sync" else []):
        with pytest.raises(StateCorruptionError, match="the row of streams with pipeline 'shop"):
            written(engine, values | {column: other})


def test_a_row_with_another_rows_checksum_is_noticed(engine: Engine) -> None:
    other = sealed(streams, ROW | {"stream": "items"})
    with pytest.raises(StateCorruptionError, match="stream 'orders'"):
        written(engine, sealed(streams, ROW) | {"checksum": other["checksum"]})


def test_every_table_that_a_state_is_made_of_has_checksums() -> None:
    guarded = {table.name for table in metadata.sorted_tables if "checksum" in table.columns}
    assert guarded == {"pipelines", "streams", "bookmarks", "checkpoints", "history"}
    assert [c.name for c in checkpoints.columns if not c.info.get("checked", True)] == ["draft"]


def written(engine: Engine, values: dict[str, Any]) -> dict[str, Any]:
    with engine.connect() as connection:
        connection.execute(insert(streams), values)
        return dict(verified(streams, connection.execute(select(streams)).mappings().one()))
