"""The database file: opened for reading only, its errors told in our words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from seamark.errors import SourceError, SourceUnavailable
from seamark.sources.sqlite.options import SqliteOptions


class Database:
    """One connection for probes, opened when first needed. Each statement stands alone."""

    def __init__(self, options: SqliteOptions, root: Path) -> None:
        self.path = (root / options.path).absolute()
        self._timeout = options.busy_timeout.total_seconds()
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @property
    def uri(self) -> str:
        """Read-only, and nothing is created where there is no file."""
        return f"file:{quote(str(self.path))}?mode=ro"

    def rows(self, query: str, parameters: Sequence[Any] = (), doing: str = "asking SQLite") -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connected().execute(query, parameters).fetchall()
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise translated(error, doing, self.path) from error

    def row(self, query: str, parameters: Sequence[Any] = (), doing: str = "asking SQLite") -> tuple[Any, ...]:
        return self.rows(query, parameters, doing)[0]

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            if not self.path.is_file():
                raise SourceError(
                    f"there is no SQLite database at {self.path}", "check `path`; it starts at the project's folder"
                )
            self._connection = sqlite3.connect(
                self.uri, uri=True, timeout=self._timeout, isolation_level=None, check_same_thread=False
            )
        return self._connection


def translated(error: Exception, doing: str, path: Path | str) -> SourceError:
    """The error to raise for what SQLite or its driver raised while `doing`."""
    text = str(error).strip() or type(error).__name__
    if "locked" in text or "busy" in text:
        return SourceUnavailable(
            f"{doing}: another process keeps the database {path} locked",
            "run again when it has committed, or raise `busy_timeout`; in WAL mode writers don't lock readers out",
        )
    if "unable to open" in text or "readonly database" in text or "failed to open" in text:
        return SourceError(
            f"{doing}: the database {path} can't be opened for reading ({text})",
            "the file must be readable; in WAL mode the folder must be writable as well, or the -wal and -shm files "
            "be there",
        )
    if "not a database" in text or "malformed" in text:
        return SourceError(
            f"{doing}: {path} is no sound SQLite database ({text})", "check `path`; try PRAGMA integrity_check"
        )
    return SourceError(f"{doing}: {text}")
