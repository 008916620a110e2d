"""The behaviour suite of state stores on every provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seamark.testing.state_store import StateStoreSuite
from tests.state.stores import PostgresFactory, SqliteFactory


class TestSqlite(StateStoreSuite):
    @pytest.fixture
    def store_factory(self, tmp_path: Path) -> Iterator[SqliteFactory]:
        factory = SqliteFactory(tmp_path / "state.db")
        yield factory
        factory.close()


class TestPostgres(StateStoreSuite):
    @pytest.fixture
    def store_factory(self, postgres_db: str) -> Iterator[PostgresFactory]:
        factory = PostgresFactory(postgres_db)
        yield factory
        factory.close()
