"""Bringing a store's schema up to date when it is opened. One that is up to date costs a look, and no Alembic."""

from __future__ import annotations

from importlib.metadata import version as installed

from sqlalchemy import Connection, inspect

from seamark.errors import NewerStateStore, StateError
from seamark.state.database import Database
from seamark.state.identity import schema_version, write_identity
from seamark.state.tables import SCHEMA_VERSION, metadata, store

SCRIPTS = "seamark.state:migrations"
SCRIPT_FOLDERS = ["seamark.state:migrations/versions"]


def bring_up_to_date(db: Database) -> None:
    """Make or migrate the store's tables if they need it; NewerStateStore when a newer Seamark wrote them."""
    with db.reading() as connection:
        if _is_current(db, connection):
            return
    with db.writing() as connection:
        db.claim(connection)
        # Another process may have done it while this one waited.
        if not _is_current(db, connection):
            _migrate(db, connection)
            write_identity(connection, db.clock(connection))


def _is_current(db: Database, connection: Connection) -> bool:
    tables = inspect(connection)
    if not tables.has_table(store.name, schema=db.schema):
        _require_room(db, set(tables.get_table_names(schema=db.schema)))
        return False
    found, seamark = schema_version(connection)
    if found > SCHEMA_VERSION:
        raise NewerStateStore(
            f"{db.location} was written by Seamark {seamark} (schema {found}); "
            f"this is Seamark {installed('seamark')}, which knows schemas up to {SCHEMA_VERSION}",
            f"Use Seamark {seamark} or later: pip install --upgrade seamark",
        )
    return found == SCHEMA_VERSION


def _require_room(db: Database, there: set[str]) -> None:
    taken = sorted(there & set(metadata.tables))
    if taken:
        raise StateError(
            f"{db.location} is no Seamark state store, and its tables {', '.join(taken)} are in the way of one",
            "Give the state store a place of its own.",
        )


def _migrate(db: Database, connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(folder.replace("%", "%%") for folder in SCRIPT_FOLDERS))
    config.attributes["connection"] = connection
    config.attributes["schema"] = db.schema
    command.upgrade(config, "head")
