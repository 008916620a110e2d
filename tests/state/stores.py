"""Stores under test: a SQLite file or a Postgres schema, opened as often as a test likes and harmed behind its back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import psycopg

from seamark.state.postgres import PostgresOptions, open_postgres
from seamark.state.sqlite import SqliteOptions, open_sqlite
from seamark.state.store import StateStore
from seamark.testing.state_store import Row

Clock = Callable[[], datetime]

DAMAGE: dict[Row, str] = {
    "pipeline": "UPDATE {schema}pipelines SET version = version + 1",
    "stream": "UPDATE {schema}streams SET rows_total = rows_total + 1",
    "bookmark": "UPDATE {schema}bookmarks SET value = '999'",
    "checkpoint": "UPDATE {schema}checkpoints SET draft = replace(draft, 'rows', 'sour')",
    "history": "UPDATE {schema}history SET \"after\" = '999'",
}


class SqliteFactory:
    def __init__(self, path: Path, clock: Clock | None = None, **options: object) -> None:
        self.path = path
        self._clock = clock
        self._options = SqliteOptions(path=str(path), **({"fsync": False} | options))
        self._opened: list[StateStore] = []

    def __call__(self) -> StateStore:
        clock = {} if self._clock is None else {"clock": self._clock}
        self._opened.append(open_sqlite(self._options, Path("/nowhere"), **clock))
        return self._opened[-1]

    def damage(self, row: Row, pipeline: str) -> None:
        self.execute(DAMAGE[row].format(schema="") + " WHERE pipeline = ?", pipeline)

    def lose(self, row: Row, pipeline: str) -> None:
        self.execute(f"DELETE FROM {table(row)} WHERE pipeline = ?", pipeline)

    def execute(self, statement: str, *parameters: object) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            assert connection.execute(statement, parameters).rowcount

    def close(self) -> None:
        for store in self._opened:
            store.close()


class PostgresFactory:
    def __init__(self, url: str, clock: Clock | None = None, **options: object) -> None:
        self.url = url
        self._clock = clock
        self._options = PostgresOptions(url=url, **options)
        self._opened: list[StateStore] = []

    def __call__(self) -> StateStore:
        self._opened.append(open_postgres(self._options, Path("/nowhere"), clock=self._clock))
        return self._opened[-1]

    def damage(self, row: Row, pipeline: str) -> None:
        self.execute(DAMAGE[row].format(schema="seamark.") + " WHERE pipeline = %s", pipeline)

    def lose(self, row: Row, pipeline: str) -> None:
        self.execute(f"DELETE FROM seamark.{table(row)} WHERE pipeline = %s", pipeline)

    def execute(self, statement: str, *parameters: object) -> None:
        with psycopg.connect(self.url) as connection:
            assert connection.execute(statement, parameters).rowcount  # type: ignore[arg-type]

    def close(self) -> None:
        for store in self._opened:
            store.close()


def table(row: Row) -> str:
    return "history" if row == "history" else f"{row}s"
