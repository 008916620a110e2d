"""The Postgres store: its schema, its sessions and its bad days."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from pydantic import ValidationError

from seamark.errors import ConfigError, LeaseHeld, SeamarkError, StateError, StateUnavailable
from seamark.state.postgres import PostgresOptions, connector, open_postgres
from seamark.state.store import StateStore
from seamark.testing.state_store.given import PIPELINE, elsewhere, load, move, prepare, take, took
from tests.servers import PostgresServer, running_postgres
from tests.state.stores import PostgresFactory


@pytest.fixture
def factory(postgres_db: str) -> Iterator[PostgresFactory]:
    factory = PostgresFactory(postgres_db, busy_timeout=0.3)
    yield factory
    factory.close()


def open_at(url: str, **options: object) -> StateStore:
    return connector.open(PostgresOptions(url=url, **options), Path("/nowhere"))


def everything_said(error: BaseException) -> str:
    """The error with all that a traceback would print of it and of its causes."""
    said = []
    cause: BaseException | None = error
    while cause is not None:
        said += [str(cause), repr(cause), getattr(cause, "hint", "")]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(said)


def test_the_tables_live_in_their_own_schema(postgres_db: str) -> None:
    store = open_at(postgres_db, schema='team "A"')
    move(store, take(store))
    store.close()
    with psycopg.connect(postgres_db) as connection:
        found = connection.execute(
            "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
        ).fetchall()
    assert found == [('team "A"',)]


def test_two_schemas_are_two_stores(postgres_db: str) -> None:
    one, other = open_at(postgres_db), open_at(postgres_db, schema="other")
    assert one.incarnation != other.incarnation
    take(one)
    take(other)
    assert other.journal.pipelines()[0].uuid != one.journal.pipelines()[0].uuid
    one.close()
    other.close()


def test_the_location_holds_no_password(factory: PostgresFactory) -> None:
    password = re.search(":([^:@]+)@", factory.url)
    assert password is not None
    assert password[1] not in factory().location
    assert re.fullmatch(r"postgresql://seamark@127\.0\.0\.1:\d+/test_\w+ schema seamark", factory().location)


def test_options_never_show_the_url() -> None:
    options = PostgresOptions(url="postgresql://u:s3cr3t@h/d")
    assert "s3cr3t" not in repr(options) + str(options) + options.model_dump_json()
    with pytest.raises(ValidationError) as refused:
        PostgresOptions(url=["postgresql://u:s3cr3t@h/d"])
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize("password", ["s3cr3t", "with@sign", "a:b@c", "per%cent", "o'quote"])
def test_a_wrong_password_is_not_printed(postgres: PostgresServer, password: str) -> None:
    with pytest.raises(StateUnavailable) as refused:
        open_at(f"postgresql://seamark:{password}@127.0.0.1:{postgres.port}/postgres")
    assert "password authentication failed" in refused.value.message
    for part in re.split("[@:]", password):
        assert len(part) < 3 or part not in everything_said(refused.value)


def test_a_right_password_of_any_characters_opens(postgres: PostgresServer, postgres_db: str) -> None:
    password = "p@ss:w/o%?#r'd\\ \""
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS odd")
        connection.execute(psycopg.sql.SQL("CREATE ROLE odd SUPERUSER LOGIN PASSWORD {}").format(password))
    database = postgres_db.rsplit("/", 1)[1]
    store = open_at(f"postgres://odd:{quote(password, safe='')}@127.0.0.1:{postgres.port}/{database}")
    assert store.location.startswith(f"postgresql://odd@127.0.0.1:{postgres.port}/")
    store.close()


@pytest.mark.parametrize(
    "url", ["mysql://u:s3cr3t@h/d", "s3cr3t", "postgresql://u:s3cr3t@h:port/d", "postgresql://[s3cr3t"]
)
def test_a_url_of_something_else_is_refused_unprinted(url: str) -> None:
    with pytest.raises(ConfigError, match="not one of a Postgres server") as refused:
        open_at(url)
    assert "s3cr3t" not in everything_said(refused.value)


def test_a_server_that_is_not_there_is_reported(postgres: PostgresServer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers here
        port = taken.getsockname()[1]
        with pytest.raises(StateUnavailable, match=rf"127\.0\.0\.1:{port}/d .*can't be reached") as refused:
            open_at(f"postgresql://u:s3cr3t@127.0.0.1:{port}/d")
    assert "s3cr3t" not in everything_said(refused.value)
    assert refused.value.hint


def test_a_server_that_does_not_answer_is_given_up(postgres: PostgresServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(StateUnavailable, match="can't be reached"):
            open_at(f"postgresql://u:p@127.0.0.1:{silent.getsockname()[1]}/d", connect_timeout=2)


def test_a_database_that_is_not_there_is_reported(postgres: PostgresServer) -> None:
    with pytest.raises(StateUnavailable, match='database "nowhere" does not exist'):
        open_at(postgres.url("nowhere"))


def test_a_user_without_rights_is_told(postgres: PostgresServer, postgres_db: str) -> None:
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    with pytest.raises(StateUnavailable, match="refuses this user: permission denied") as refused:
        open_at(postgres_db.replace(f"seamark:{postgres.password}@", "guest:guest@"))
    assert "right" in refused.value.hint


def test_a_user_who_may_not_make_schemas_can_use_one_made_for_it(postgres: PostgresServer, postgres_db: str) -> None:
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS member")
        connection.execute("CREATE ROLE member LOGIN PASSWORD 'member'")
        connection.execute("CREATE SCHEMA seamark AUTHORIZATION member")
    store = open_at(postgres_db.replace(f"seamark:{postgres.password}@", "member:member@"))
    move(store, take(store))
    store.close()


def test_a_schema_of_something_else_is_left_alone(postgres_db: str) -> None:
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.runs (id int)")
    with pytest.raises(StateError, match=r"no Seamark state store.*runs"):
        open_at(postgres_db, schema="public")


def test_a_row_locked_by_another_session_is_waited_for_and_then_reported(factory: PostgresFactory) -> None:
    store = factory()
    lease = take(store)
    checkpoint = prepare(store, lease)
    with psycopg.connect(factory.url) as other:
        other.execute("SELECT * FROM seamark.pipelines FOR UPDATE")
        with pytest.raises(StateUnavailable, match=r"stayed locked by another session for 0\.3 s"):
            store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
        assert store.checkpoints.prepared(PIPELINE) == checkpoint
    store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])


def test_pipelines_do_not_wait_for_each_other(factory: PostgresFactory) -> None:
    store = factory()
    lease, other_lease = take(store), take(store, pipeline="other")
    with psycopg.connect(factory.url) as other:
        other.execute("SELECT * FROM seamark.pipelines WHERE pipeline = 'other' FOR UPDATE")
        assert move(store, lease).version == 1
        with pytest.raises(StateUnavailable):
            move(store, other_lease)


def test_a_session_paused_in_a_transaction_is_ended_by_the_server(factory: PostgresFactory) -> None:
    store = factory()
    with store.leases._db.writing() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar() == "30s"


def test_nothing_of_a_transaction_stays_with_its_session(factory: PostgresFactory) -> None:
    """Behind a pooler the session is someone else's the next moment."""
    store = factory()
    for i in range(10):
        move(store, take(store), load(to=i))
    with store.leases._db.reading() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "0"
        assert connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar() == 0


def test_the_url_has_the_last_word_on_the_connection(postgres_db: str) -> None:
    store = open_at(postgres_db + "?application_name=night%20shift&options=-c%20work_mem%3D7MB")
    with store.leases._db.reading() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("SHOW application_name").scalar() == "night shift"
        assert connection.exec_driver_sql("SHOW work_mem").scalar() == "7MB"
    assert "work_mem" not in store.location
    store.close()


def test_the_servers_clock_decides_unless_one_is_given(factory: PostgresFactory) -> None:
    far = datetime(2040, 1, 1, tzinfo=UTC)
    ahead = open_postgres(PostgresOptions(url=factory.url), Path("/nowhere"), clock=lambda: far)
    lease = take(ahead, elsewhere("anna"), timedelta(seconds=30))
    assert lease.acquired_at == far
    with pytest.raises(LeaseHeld):
        take(factory(), elsewhere("ben"))
    ahead.close()


def test_a_server_that_went_away_is_unavailable_and_comes_back() -> None:
    with running_postgres() as server:
        factory = PostgresFactory(server.url(), connect_timeout=2)
        store = factory()
        lease = take(store)
        checkpoint = prepare(store, lease, load(to=4))
        server.stop(signal.SIGQUIT)
        with pytest.raises(StateUnavailable) as refused:
            store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
        assert server.password not in everything_said(refused.value)
        server.start()
        assert store.checkpoints.prepared(PIPELINE) == checkpoint
        assert store.checkpoints.commit(lease, checkpoint, took(checkpoint), []).version == 1
        factory.close()


def test_a_standby_is_not_written_to(postgres_db: str) -> None:
    store = open_at(postgres_db)
    with psycopg.connect(postgres_db, autocommit=True) as connection:
        connection.execute("ALTER ROLE seamark SET default_transaction_read_only = on")
    try:
        store.close()
        with pytest.raises(SeamarkError, match="read-only transaction") as refused:
            take(store)
        assert isinstance(refused.value, StateUnavailable)
    finally:
        with psycopg.connect(postgres_db, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER ROLE seamark RESET default_transaction_read_only")
        store.close()
