"""The Postgres that everything here is read from: real settings, one table, and changes to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from tests.servers import PostgresServer

SETTINGS = {
    "shared_buffers": "2GB",
    "effective_cache_size": "6GB",
    "work_mem": "64MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "max_parallel_workers_per_gather": "2",
    "wal_level": "replica",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
}
"""fsync, full_page_writes and synchronous_commit stay on; the table fits into shared_buffers, as a warm one would."""

WARM_UP_ROWS = 60_000

_TABLE = """
CREATE TABLE {name} (
  id bigint PRIMARY KEY, customer int NOT NULL, status text NOT NULL, amount numeric(12,2) NOT NULL, note text,
  updated_at timestamptz NOT NULL)"""

_ROWS = """
INSERT INTO {name}
SELECT id, floor(random() * 250000), (ARRAY['new', 'paid', 'packed', 'shipped', 'returned'])[1 + floor(random() * 5)],
       round((random() * 9000 + 1)::numeric, 2), left(md5(random()::text), 24),
       '2024-01-01Z'::timestamptz + (id + random()) * interval '4 s'
FROM generate_series({first}::bigint, {last}::bigint) id"""
"""What can't be compressed away: an encoding that looks good on a pattern shall not look good here."""


@dataclass(frozen=True)
class Changes:
    """Rows that were updated and rows that are new, all with cursors from `since` on."""

    since: str
    updated: int
    new: int

    @property
    def rows(self) -> int:
        return self.updated + self.new


class Database:
    """Two tables: `orders` with as many rows as asked for, and `warmup`, which is small."""

    def __init__(self, url: str, rows: int) -> None:
        self.url = url
        self.rows = rows

    def fill(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT setseed(0.5)")
            for name, rows in (("orders", self.rows), ("warmup", WARM_UP_ROWS)):
                connection.execute(_TABLE.format(name=name))
                connection.execute(_ROWS.format(name=name, first=1, last=rows))
                connection.execute(f"CREATE INDEX ON {name} (updated_at)")
                connection.execute(f"VACUUM (ANALYZE, FREEZE) {name}")
            connection.execute("CHECKPOINT")

    def size(self) -> int:
        """Bytes of the table itself, without its indexes."""
        with psycopg.connect(self.url) as connection:
            (size,) = connection.execute("SELECT pg_relation_size('orders')").fetchone() or (0,)
        return int(size)

    def version(self) -> str:
        with psycopg.connect(self.url) as connection:
            return str(connection.info.parameter_status("server_version")).split()[0]

    def change(self, updated: int, new: int) -> Changes:
        """Update rows all over the table, so that every file of a copy of it is touched, and add some."""
        step = max(1, self.rows // max(updated, 1))
        with psycopg.connect(self.url) as connection:
            (since, last) = connection.execute("SELECT clock_timestamp(), max(id) FROM orders").fetchone() or ("", 0)
            connection.execute(
                "UPDATE orders SET status = 'returned', updated_at = clock_timestamp() "
                "WHERE id IN (SELECT generate_series(%s::bigint, %s::bigint, %s::bigint) LIMIT %s)",
                [step, self.rows, step, updated],
            )
            connection.execute(_ROWS.format(name="orders", first=last + 1, last=last + new))
            connection.execute("UPDATE orders SET updated_at = clock_timestamp() WHERE id > %s", [last])
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE) orders")
        return Changes(since.isoformat(), updated, new)


@contextmanager
def running(rows: int) -> Iterator[Database]:
    """A server of our own with the tables in it, gone at the end."""
    server = PostgresServer(SETTINGS)
    try:
        server.initialise()
        server.start()
        with server.database() as url:
            database = Database(url, rows)
            database.fill()
            yield database
    finally:
        server.remove()
