"""The two kinds of source database, holding the same table, and what stands in it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg import sql

Row = tuple[Any, ...]

TABLE = "things"
COLUMNS = {
    "id": "bigint not null",
    "version": "bigint not null",
    "name": "text",
    "amount": "numeric(12,2)",
    "ratio": "double precision",
    "paid": "boolean",
    "seen": "timestamptz",
    "note": "bytea",
}
LATER_COLUMN = ("due", "timestamp")
"""Of a type that a Delta table has to be changed for."""
NAMES = ("plain", "", None, "naïve ' \" \\ \n % 𝄞", "NULL")


def row(id: int, version: int) -> Row:
    """A row whose every value depends on both."""
    return (
        id,
        version,
        None if NAMES[id % 5] is None else f"{NAMES[id % 5]} {version}",
        None if id % 7 == 6 else Decimal(id * 100 + version) / 100,
        (id + version) / 7,
        None if id % 3 == 2 else (id + version) % 2 == 0,
        datetime(2024, 2, 29, 23, 59, 59, 999_999, UTC) + timedelta(hours=id, microseconds=version),
        None if id % 11 == 10 else bytes([id % 256, 0, version % 256]),
    )


class Database(Protocol):
    """Where rows come from; every call is a transaction of its own."""

    @property
    def source(self) -> dict[str, str]:
        """What a pipeline file says of it."""

    def execute(self, statement: str) -> None: ...

    def insert(self, rows: Iterable[Row]) -> None:
        """Into the table, whose columns they have from the left."""

    def select(self) -> tuple[tuple[str, ...], Counter[Row]]:
        """Its columns, and how often each row stands in it."""


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def source(self) -> dict[str, str]:
        return {"type": "sqlite", "path": str(self.path)}

    def execute(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)

    def insert(self, rows: Iterable[Row]) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            for values in rows:
                marks = ", ".join("?" * len(values))
                connection.execute(f"insert into {TABLE} values ({marks})", [_as_sqlite(value) for value in values])

    def select(self) -> tuple[tuple[str, ...], Counter[Row]]:
        with closing(sqlite3.connect(self.path)) as connection:
            cursor = connection.execute(f"select * from {TABLE}")
            names = tuple(column[0] for column in cursor.description)
            tell = [_FROM_SQLITE.get(name, _same) for name in names]
            return names, Counter(
                tuple(None if value is None else say(value) for say, value in zip(tell, values, strict=True))
                for values in cursor
            )


class PostgresDatabase:
    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]

    @property
    def source(self) -> dict[str, str]:
        return {"type": "postgres", "url": self.url}

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode())

    def insert(self, rows: Iterable[Row]) -> None:
        with psycopg.connect(self.url) as connection:
            for values in rows:
                marks = sql.SQL(", ").join([sql.Placeholder()] * len(values))
                connection.execute(sql.SQL("insert into {} values ({})").format(sql.Identifier(TABLE), marks), values)

    def select(self) -> tuple[tuple[str, ...], Counter[Row]]:
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(sql.SQL("select * from {}").format(sql.Identifier(TABLE)))
            names = tuple(column.name for column in cursor.description or ())
            return names, Counter(tuple(_told_alike(value) for value in values) for values in cursor)


def create_table(database: Database, keyed: bool) -> None:
    columns: Sequence[str] = [f"{name} {kind}" for name, kind in COLUMNS.items()]
    database.execute(f"create table {TABLE} ({', '.join([*columns, *(['primary key (id)'] if keyed else [])])})")


def update(database: Database, rows: Iterable[Row]) -> None:
    """Put these in place of the rows with their ids."""
    rows = list(rows)
    database.execute(f"delete from {TABLE} where id in ({', '.join(str(values[0]) for values in rows)})")
    database.insert(rows)


def _as_sqlite(value: Any) -> Any:
    if isinstance(value, Decimal | datetime):
        return str(value)
    return value


def _told_alike(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value


def _same(value: Any) -> Any:
    return value


_FROM_SQLITE = {
    "amount": lambda value: Decimal(repr(value)).quantize(Decimal("0.01")),
    "paid": bool,
    "seen": datetime.fromisoformat,
    "due": datetime.fromisoformat,
}
"""SQLite keeps decimals as binary fractions, booleans as 0 and 1, times as text."""
