"""The state store in a SQLite file: the default, nothing to install and nothing to run."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from seamark.config.options import Options
from seamark.errors import StateCorruptionError, StateError, StateUnavailable
from seamark.state.store import StateStore, StateStoreConnector

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.exc import DBAPIError

    from seamark.state.database import Database

MEMORY = ":memory:"

Clock = Callable[[], datetime]


class SqliteOptions(Options):
    """Where the file is and how careful to be with it."""

    path: str = Field(
        ".seamark/state.db",
        description="The file, relative to the project's root; `:memory:` keeps nothing once the store is closed.",
    )
    busy_timeout: float = Field(5.0, ge=0, description="Seconds to wait while another process writes to it.")
    fsync: bool = Field(True, description="Whether a commit waits for the disk; only tests do without.")


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_sqlite(options: BaseModel, root: Path, clock: Clock = utc_now) -> StateStore:
    """Open the store in the file, made if it is not there. The clock is this host's: SQLite serves one host only."""
    from seamark.state.sql import open_store

    assert isinstance(options, SqliteOptions)
    path = options.path if options.path == MEMORY else str(root / options.path)
    if path != MEMORY:
        _make_folder(Path(path).parent)
    return open_store(_database(options, path, clock))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateUnavailable(
            f"the state store's folder {folder} can't be made: {error.strerror}",
            "Make it yourself, or set `state_store.path` to a place where this user may write.",
        ) from error


def _database(options: SqliteOptions, path: str, clock: Clock) -> Database:
    from sqlalchemy.dialects.sqlite import insert

    from seamark.state.database import Database

    return Database(
        engine=_engine(options, path),
        location=path,
        clock=lambda connection: clock(),
        explain=lambda error: explain(error, path, options.busy_timeout),
        add_if_missing=lambda connection, table, row: connection.execute(
            insert(table).values(row).on_conflict_do_nothing()
        ),
        claim=lambda connection: None,  # BEGIN IMMEDIATE has the file to itself already
        reads={"begin": "BEGIN"},
        writes={"begin": "BEGIN IMMEDIATE"},
        guard=threading.RLock() if path == MEMORY else nullcontext(),
    )


def _engine(options: SqliteOptions, path: str) -> Engine:
    from sqlalchemy import URL, Connection, QueuePool, StaticPool, create_engine, event

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    engine = create_engine(
        URL.create("sqlite", database=path),
        creator=lambda: connect(path, options.busy_timeout, options.fsync),
        poolclass=StaticPool if path == MEMORY else QueuePool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", begin)
    return engine


def connect(path: str, busy_timeout: float, fsync: bool) -> sqlite3.Connection:
    """A connection that begins transactions only when told to, and shares the file with other processes."""
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'OFF'}")
        _use_wal(connection, time.monotonic() + busy_timeout)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Switch to write-ahead logging. While another process does the same SQLite refuses without waiting its timeout."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def explain(error: DBAPIError, path: str, busy_timeout: float) -> StateError:
    """SQLite's error in words that say what to do."""
    cause: Any = error.orig
    name = str(getattr(cause, "sqlite_errorname", ""))
    if _is_busy(cause):
        return StateUnavailable(
            f"the state store {path} stayed locked by another process for {busy_timeout:g} s",
            f"Nothing was changed. Try again; if it stays locked, `fuser {path}` names who has it open.",
        )
    if name.startswith("SQLITE_NOTADB"):
        return StateError(f"{path} is no SQLite database", "Move it away, or set `state_store.path` to another file.")
    if name.startswith("SQLITE_CORRUPT"):
        return StateCorruptionError(
            f"the state store {path} is damaged: {cause}",
            "Put a backup of it back; without one move it aside (with its -wal and -shm files), and the next run looks "
            "at the tables and says how to go on.",
        )
    if name.startswith("SQLITE_FULL"):
        return StateUnavailable(f"the disk of the state store {path} is full", "Nothing was changed; make room.")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
        return StateUnavailable(
            f"the state store {path} can't be opened for writing: {cause}",
            "See that this user may write to the file and to its folder, and that the disk is sound.",
        )
    return StateError(f"the state store {path}: {cause}", "Is the file a state store that Seamark made?")


def _is_busy(error: Any) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


connector = StateStoreConnector(
    kind="sqlite",
    summary="A file beside the project: the default; one host, any number of processes.",
    options=SqliteOptions,
    open=open_sqlite,
)
