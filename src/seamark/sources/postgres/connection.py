"""Connections to Postgres: how they are set up, the one that probes go through, and what the server is like."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import conninfo

from seamark.config.secret import SecretUrl
from seamark.errors import ConfigError, SourceError
from seamark.sources.postgres.errors import translated
from seamark.sources.postgres.options import PostgresOptions

APPLICATION = "seamark source"
"""Under this name sessions only read: marks needn't wait for them."""

SETTINGS: tuple[tuple[str, str], ...] = (
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "iso_8601"),
    ("extra_float_digits", "3"),
    ("bytea_output", "hex"),
    ("standard_conforming_strings", "on"),
    ("default_transaction_read_only", "on"),
    ("jit", "off"),
)
"""What the text of a value depends on, fixed; and what short statements do better without."""


@dataclass(frozen=True)
class ServerFacts:
    version: int
    """As the server counts it: 150004."""
    user: str
    database: str
    timezone: str
    """The zone that sessions start with in this database."""
    in_recovery: bool
    sees_sessions: bool
    """Whether the user may see what other users' sessions do (pg_read_all_stats)."""


_FACTS = """
SELECT current_setting('server_version_num')::int, current_user::text, current_database()::text,
       current_setting('TimeZone'), pg_is_in_recovery(),
       pg_has_role('pg_read_all_stats', 'USAGE')"""


def connection_text(options: PostgresOptions) -> str:
    """What libpq needs to connect, secrets included. The encoding is fixed: left alone it would be the database's."""
    try:
        return conninfo.make_conninfo(
            options.url.reveal(),
            application_name=APPLICATION,
            client_encoding="UTF8",
            connect_timeout=max(2, round(options.connect_timeout.total_seconds())),
        )
    except psycopg.Error:
        # The parser quotes the part that it stumbled over, which may be the password.
        raise ConfigError(
            "the source's url is not one that Postgres understands",
            "write postgresql://user:password@host:5432/database; in user and password, write @ : / ? # % as %40 %3A "
            "%2F %3F %23 %25",
        ) from None


def settings(statement_timeout: timedelta | None) -> tuple[tuple[str, str], ...]:
    if statement_timeout is None:
        return SETTINGS
    return (*SETTINGS, ("statement_timeout", f"{round(statement_timeout.total_seconds() * 1000)}ms"))


def set_all(values: Sequence[tuple[str, str]], local: bool) -> str:
    """The select items that make these settings; `local` to the transaction."""
    return ", ".join(f"set_config('{name}', '{value}', {str(local).lower()})" for name, value in values)


class Session:
    """One connection for probes, opened when first needed and again after it was cut. Each statement stands alone."""

    def __init__(self, options: PostgresOptions) -> None:
        self._options = options
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._facts: ServerFacts | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> SecretUrl:
        return self._options.url

    def facts(self) -> ServerFacts:
        with self._lock:
            self._connected()
            assert self._facts is not None
            return self._facts

    def rows(self, query: str, parameters: Sequence[Any] = (), doing: str = "asking Postgres") -> list[tuple[Any, ...]]:
        """All rows of one statement; SourceError or SourceUnavailable, which say what was being done."""
        with self._lock:
            connection = self._connected()
            try:
                # Parameters or a binary result keep the server to one statement: `; DROP …` is a syntax error then.
                # Without parameters a `%` in the query, such as the row filter's, means itself.
                return connection.execute(query.encode(), parameters or None, binary=not parameters).fetchall()
            except psycopg.Error as error:
                raise translated(error, doing, self.url) from error

    def row(self, query: str, parameters: Sequence[Any] = (), doing: str = "asking Postgres") -> tuple[Any, ...]:
        return self.rows(query, parameters, doing)[0]

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection, self._facts = connect(self._options)
        return self._connection


def connect(options: PostgresOptions) -> tuple[psycopg.Connection[tuple[Any, ...]], ServerFacts]:
    """A new connection, set up, and what the server says of itself; one round trip after the login."""
    doing = f"connecting to {options.url}"
    text = connection_text(options)
    try:
        connection = psycopg.connect(text, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise translated(error, doing, options.url) from None
    try:
        row = connection.execute(f"{_FACTS}, {set_all(settings(options.statement_timeout), local=False)}").fetchone()
    except psycopg.Error as error:
        connection.close()
        raise translated(error, doing, options.url) from error
    assert row is not None
    facts = ServerFacts(*row[:6])
    if facts.version < 120000:
        connection.close()
        raise SourceError(f"{options.url} is Postgres {facts.version // 10000}", "Postgres 12 or later is needed")
    return connection, facts
