"""The state store in Postgres: for teams whose pipelines run on more than one host."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from seamark.config.options import Options
from seamark.errors import ConfigError, StateError, StateUnavailable
from seamark.state.store import StateStore, StateStoreConnector

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.exc import DBAPIError

    from seamark.state.database import Database

Clock = Callable[[], datetime]

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")


class PostgresOptions(Options):
    """Which server, and how long to wait for it."""

    model_config = ConfigDict(hide_input_in_errors=True, populate_by_name=True)

    url: SecretStr = Field(description="`postgresql://user:password@host:port/database`; write `${VARIABLE}` for it.")
    schema_name: str = Field(
        "seamark",
        alias="schema",
        min_length=1,
        description="The schema that holds the tables; made if it is not there.",
    )
    connect_timeout: int = Field(10, ge=1, description="Seconds to wait for a connection.")
    busy_timeout: float = Field(10.0, gt=0, description="Seconds to wait while another process holds a pipeline's row.")


def open_postgres(options: BaseModel, root: Path, clock: Clock | None = None) -> StateStore:
    """Open the store, made if it is not there.

    Leases go by the server's clock unless a `clock` is given: hosts differ in theirs, the server has one.
    """
    from seamark.state.sql import open_store

    assert isinstance(options, PostgresOptions)
    return open_store(_database(options, clock))


def _database(options: PostgresOptions, clock: Clock | None) -> Database:
    from sqlalchemy.dialects.postgresql import insert

    from seamark.state.database import Database

    url = parse_url(options.url.get_secret_value())
    location = describe(url, options.schema_name)
    return Database(
        engine=_engine(options, url),
        location=location,
        clock=_server_clock if clock is None else lambda connection: clock(),
        explain=lambda error: explain(error, location, options),
        add_if_missing=lambda connection, table, row: connection.execute(
            insert(table).values(row).on_conflict_do_nothing()
        ),
        claim=lambda connection: _claim(connection, options.schema_name),
        reads={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
        writes={"isolation_level": "READ COMMITTED", "writes": True},
        schema=options.schema_name,
    )


def parse_url(text: str) -> URL:
    """The URL's parts. Ours to take apart: other parsers split at the first `@` and put the rest of a password into
    the host's name, and so into error messages."""
    from sqlalchemy import URL

    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _bad_url() from None
    if parts.scheme not in _SCHEMES:
        raise _bad_url()
    return URL.create(
        "postgresql+psycopg",
        username=_unquoted(parts.username),
        password=_unquoted(parts.password),
        host=_host(parts),
        port=port,
        database=unquote(parts.path.removeprefix("/")) or None,
        query=dict(parse_qsl(parts.query)),
    )


def _bad_url() -> ConfigError:
    return ConfigError(
        "the state store's url is not one of a Postgres server",
        "Write postgresql://user:password@host:port/database, with %-escapes for / ? # and % in the password.",
    )


def _unquoted(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _host(parts: SplitResult) -> str | None:
    return parts.hostname


def describe(url: URL, schema: str) -> str:
    """Where the store is, without what the query of a URL may hold: passwords too."""
    user = f"{url.username}@" if url.username else ""
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{user}{url.host or ''}{port}/{url.database or ''} schema {schema}"


def _engine(options: PostgresOptions, url: URL) -> Engine:
    from sqlalchemy import create_engine, event

    settings = _settings(options)

    def begin(connection: Connection) -> None:
        # For this transaction only, and not when connecting: poolers share sessions and refuse such parameters.
        if connection.get_execution_options().get("writes"):
            connection.exec_driver_sql("SELECT " + ", ".join(f"set_config('{n}', '{v}', true)" for n, v in settings))

    engine = create_engine(
        url.update_query_dict({n: v for n, v in _connection_defaults(options).items() if n not in url.query}),
        connect_args={"prepare_threshold": None},  # a pooler may give the next transaction another session
        pool_pre_ping=True,
        hide_parameters=True,
        use_native_hstore=False,
    )
    event.listen(engine, "begin", begin)
    return engine.execution_options(schema_translate_map={None: options.schema_name})


def _settings(options: PostgresOptions) -> list[tuple[str, str | int]]:
    milliseconds = int(options.busy_timeout * 1000)
    return [
        ("lock_timeout", milliseconds),
        # A holder that is paused within a transaction must not keep its row locked for ever.
        ("idle_in_transaction_session_timeout", max(milliseconds, 30_000)),
        # Whatever the server's default is: a commit that it forgets in a crash would be a state behind its tables.
        ("synchronous_commit", "on"),
    ]


def _connection_defaults(options: PostgresOptions) -> dict[str, str]:
    """What holds unless the url says otherwise; a server that vanishes is noticed within a minute."""
    return {
        "connect_timeout": str(options.connect_timeout),
        "application_name": "seamark",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
    }


def _server_clock(connection: Connection) -> datetime:
    from sqlalchemy import func, select

    now = connection.execute(select(func.clock_timestamp())).scalar_one()
    assert isinstance(now, datetime)
    return now.astimezone(UTC)  # it comes in the session's zone


def _claim(connection: Connection, schema: str) -> None:
    """One process at a time makes or migrates the store in this schema."""
    from sqlalchemy import func, inspect, select
    from sqlalchemy.schema import CreateSchema

    key = int.from_bytes(hashlib.sha256(f"seamark state store {schema}".encode()).digest()[:8], signed=True)
    connection.execute(select(func.pg_advisory_xact_lock(key)))
    # Not IF NOT EXISTS: that needs the right to create schemas even where there is nothing to create.
    if not inspect(connection).has_schema(schema):
        connection.execute(CreateSchema(schema))


def explain(error: DBAPIError, location: str, options: PostgresOptions) -> StateError:
    """The server's error in words that say what to do. Its messages name users and hosts, never passwords."""
    cause: Any = error.orig
    state = getattr(cause, "sqlstate", None)
    text = " ".join(str(cause).split("\n")[0].split())
    if state is None:
        return StateUnavailable(
            f"the state store {location} can't be reached: {text}",
            "Nothing was changed. See that the server runs and that the url's host, user and password are right.",
        )
    if state == "55P03":
        return StateUnavailable(
            f"the state store {location} stayed locked by another session for {options.busy_timeout:g} s",
            "Nothing was changed. Try again; pg_locks names who holds the lock.",
        )
    if state.startswith(("08", "40", "53", "57", "58", "25006")):
        return StateUnavailable(f"the state store {location} is not available: {text}", "Try again later.")
    if state.startswith(("28", "42501")):
        return StateUnavailable(
            f"the state store {location} refuses this user: {text}",
            "Give the user the right to connect and to use the schema (or to create it).",
        )
    return StateError(f"the state store {location}: {text}", "Is the schema one that Seamark made?")


connector = StateStoreConnector(
    kind="postgres",
    summary="Tables in a Postgres schema: for teams and more than one host.",
    options=PostgresOptions,
    open=open_postgres,
)
