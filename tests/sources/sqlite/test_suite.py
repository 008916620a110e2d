"""The SQLite source keeps what every source promises, however moments are stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from seamark.sources.base import Source
from seamark.sources.sqlite import connector
from seamark.testing.source import Order, SourceSuite


def spaced(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def seconds(moment: datetime) -> int:
    return int(moment.timestamp())


class SqlitePlace:
    def __init__(self, folder: Path, declared: str, store: Callable[[datetime], Any], index: bool = True) -> None:
        self.folder, self.store = folder, store
        with closing(self.connect()) as connection:
            connection.execute(f"create table orders (id integer primary key, item text, changed_at {declared})")
            if index:
                connection.execute("create index by_change on orders (changed_at)")

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "shop.db")

    def open(self) -> Source:
        return connector.open(connector.options.model_validate({"path": "shop.db"}), self.folder)

    def put(self, rows: Sequence[Order]) -> None:
        with closing(self.connect()) as connection, connection:
            connection.executemany(
                "insert or replace into orders values (?, ?, ?)",
                [(row.id, row.item, row.changed_at and self.store(row.changed_at)) for row in rows],
            )


class TestSqlite(SourceSuite):
    settle = timedelta(seconds=1)

    @pytest.fixture(
        params=[
            ("timestamp", spaced, True),
            ("timestamptz", iso, True),
            ("datetime", seconds, True),
            ("datetime", spaced, False),
        ],
        ids=["text", "text with a zone", "seconds", "no index"],
    )
    def place(self, request: pytest.FixtureRequest, tmp_path: Path) -> SqlitePlace:
        return SqlitePlace(tmp_path, *request.param)
