"""Schemas: made, migrated and refused when a store is opened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

import seamark.state
from seamark.errors import NewerStateStore
from seamark.state import identity, migrate
from seamark.state.tables import SCHEMA_VERSION, metadata
from seamark.testing.state_store.given import PIPELINE, at_once, load, move, number, take, values
from tests.state.stores import PostgresFactory, SqliteFactory

Factory = SqliteFactory | PostgresFactory
OPEN_AT_ONCE = 6


@pytest.fixture(params=["sqlite", "postgres"])
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Factory]:
    if request.param == "sqlite":
        factory: Factory = SqliteFactory(tmp_path / "state.db")
    else:
        factory = PostgresFactory(request.getfixturevalue("postgres_db"))
    yield factory
    factory.close()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Seamark of the future, with one migration more."""
    monkeypatch.setattr(
        migrate, "SCRIPT_FOLDERS", [*migrate.SCRIPT_FOLDERS, str(Path(__file__).parent / "later_migrations")]
    )
    for module in (migrate, identity):
        monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)


def in_store(factory: Factory) -> str:
    return "store" if isinstance(factory, SqliteFactory) else "seamark.store"


def columns(factory: Factory, table: str) -> set[str]:
    db = factory()._db  # type: ignore[attr-defined]
    with db.reading() as connection:
        return {column["name"] for column in inspect(connection).get_columns(table, schema=db.schema)}


def test_migrations_make_exactly_the_tables_of_the_code(factory: Factory) -> None:
    db = factory()._db  # type: ignore[attr-defined]
    with db.reading() as connection:
        assert list(difference(connection, db.schema)) == []


def difference(connection: Connection, schema: str | None) -> Iterator[object]:
    """What is in the code and not in the database, or the other way round."""
    # `inspect` knows nothing of translated schemas: the code's tables are moved into the schema instead.
    from sqlalchemy import MetaData

    expected = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(expected, schema=schema)
    options = {
        "compare_type": True,
        "include_schemas": True,
        "include_name": lambda name, kind, parents: kind != "schema" or name == schema,
        "version_table_schema": schema,
    }
    context = MigrationContext.configure(connection, opts=options)
    yield from compare_metadata(context, expected)


def test_the_version_is_the_newest_migrations() -> None:
    scripts = ScriptDirectory(str(Path(seamark.state.__file__).parent / "migrations"))
    assert scripts.get_heads() == [f"{SCHEMA_VERSION:04}"]


def test_an_older_store_is_migrated_when_it_is_opened(factory: Factory, request: pytest.FixtureRequest) -> None:
    store = factory()
    lease = take(store)
    before = move(store, lease)
    request.getfixturevalue("later")
    assert "note" in columns(factory, "streams")
    migrated = factory()
    assert migrated.incarnation == before.incarnation
    assert migrated.checkpoints.state(PIPELINE) == before, "checksums of old rows still hold"
    assert migrated.leases.current(PIPELINE) == lease


def test_a_newer_store_is_refused_and_left_alone(factory: Factory) -> None:
    store = factory()
    move(store, take(store), load(to=5))
    factory.execute(f"UPDATE {in_store(factory)} SET schema_version = 7, seamark_version = '9.9'")
    with pytest.raises(NewerStateStore) as refused:
        factory()
    assert "Seamark 9.9 (schema 7)" in refused.value.message
    assert store.location in refused.value.message
    assert "upgrade" in refused.value.hint
    assert refused.value.exit_status == 2
    factory.execute(f"UPDATE {in_store(factory)} SET schema_version = {SCHEMA_VERSION}")
    assert values(factory().checkpoints.state(PIPELINE)) == {("orders", "{}"): number(5)}


def test_a_store_that_many_threads_make_at_once_is_made_once(factory: Factory) -> None:
    stores = at_once([factory] * OPEN_AT_ONCE)
    assert all(not isinstance(store, Exception) for store in stores), stores
    assert len({store.incarnation for store in stores}) == 1


def test_a_store_that_many_processes_make_at_once_is_made_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from seamark.state.sqlite import *; sys.stdin.read(1); "
        "print(connector.open(SqliteOptions(), Path(sys.argv[1])).incarnation)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(OPEN_AT_ONCE)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go")
        process.stdin.flush()
    said = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * OPEN_AT_ONCE, said
    assert len({out for out, _ in said}) == 1, said


def test_a_migration_that_fails_changes_nothing(
    factory: Factory, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = factory()
    before = move(store, take(store))
    request.getfixturevalue("later")

    def fail(*_: object) -> None:
        raise RuntimeError("out of power")

    with monkeypatch.context() as broken:
        broken.setattr(migrate, "write_identity", fail)
        with pytest.raises(RuntimeError, match="out of power"):
            factory()
    with store._db.reading() as connection:  # type: ignore[attr-defined]
        found = inspect(connection).get_columns("streams", schema=store._db.schema)  # type: ignore[attr-defined]
    assert "note" not in {column["name"] for column in found}
    assert factory().checkpoints.state(PIPELINE) == before
