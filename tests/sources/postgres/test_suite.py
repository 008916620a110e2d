"""The Postgres source keeps what every source promises."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from seamark.sources.base import Source
from seamark.sources.postgres import connector
from seamark.testing.source import Order, SourceSuite


class PostgresPlace:
    def __init__(self, url: str) -> None:
        self.url = url
        with psycopg.connect(url) as connection:
            connection.execute("create table orders (id int8 primary key, item text, changed_at timestamptz)")
            connection.execute("create index on orders (changed_at)")

    def open(self) -> Source:
        return connector.open(connector.options.model_validate({"url": self.url}), Path())

    def put(self, rows: Sequence[Order]) -> None:
        with psycopg.connect(self.url) as connection, connection.cursor() as cursor:
            cursor.executemany(
                "insert into orders values (%s, %s, %s) "
                "on conflict (id) do update set item = excluded.item, changed_at = excluded.changed_at",
                [(row.id, row.item, row.changed_at) for row in rows],
            )


class TestPostgres(SourceSuite):
    @pytest.fixture
    def place(self, postgres_db: str) -> PostgresPlace:
        self.secret = urlsplit(postgres_db).password or ""
        return PostgresPlace(postgres_db)


class TestPostgresTable(SourceSuite):
    """The same over a partitioned table, whose cursor has no zone and no index."""

    @pytest.fixture
    def place(self, postgres_db: str) -> PostgresPlace:
        place = PostgresPlace(postgres_db)
        with psycopg.connect(postgres_db) as connection:
            connection.execute("drop table orders")
            connection.execute(
                "create table orders (id int8 primary key, item text, changed_at timestamp) partition by range (id)"
            )
            connection.execute("create table orders_1 partition of orders for values from (0) to (500)")
            connection.execute("create table orders_2 partition of orders for values from (500) to (maxvalue)")
            name = connection.info.dbname
            connection.execute(f"alter database \"{name}\" set timezone = 'UTC'")
        return place
