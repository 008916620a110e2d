"""A database that a module's tests share, empty for each of them: making one takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import PostgresServer
from tests.sources.postgres.place import execute, query


@pytest.fixture(scope="module")
def _shared(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database() as url:
        yield url


@pytest.fixture
def db(_shared: str) -> str:
    """The URL of an empty database. Tests that change the database itself take `postgres_db`."""
    for (name,) in query(_shared, "select gid from pg_prepared_xacts where database = current_database()"):
        execute(_shared, f"rollback prepared '{name}'")
    execute(_shared, "set lock_timeout = '10s'", "drop schema public cascade", "create schema public")
    return _shared
