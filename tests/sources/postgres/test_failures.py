"""What goes wrong between us and a server is told with what to do, and never with a secret."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from seamark.errors import ConfigError, SeamarkError, SourceError, SourceUnavailable
from seamark.model.stream import Cursor
from seamark.model.window import Window
from seamark.sources.postgres import connector
from tests.servers import PostgresServer
from tests.sources.postgres.place import execute, opened, read_split, stream_of

SECRET = "s3cr3t/?#@: ü"


@contextmanager
def failing(kind: type[SeamarkError], url: str, **options: Any) -> Iterator[list[SeamarkError]]:
    with opened(url, **options) as source:
        found: list[SeamarkError] = []
        with pytest.raises(kind) as failure:
            source.shape(stream_of("t"))
        found.append(failure.value)
        shown = [str(failure.value), failure.value.message, failure.value.hint, repr(failure.value)]
        cause: BaseException | None = failure.value
        while cause is not None:
            shown.append(f"{cause!r} {cause}")
            cause = cause.__cause__
        password = urlsplit(url).password or ""
        for text in shown:
            assert not password or password not in text
            assert SECRET not in text
        yield found


def test_a_server_that_is_not_there(db: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with failing(SourceUnavailable, f"postgresql://someone:{quote(SECRET, safe='')}@127.0.0.1:{port}/shop") as errors:
        assert f"127.0.0.1:{port}" in errors[0].message
        assert "up and reachable" in errors[0].hint


def test_a_server_that_never_answers_is_given_up_on() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with failing(
            SourceUnavailable, f"postgresql://u:p4ssw0rd@127.0.0.1:{deaf.getsockname()[1]}/d", connect_timeout="2s"
        ):
            pass


def test_a_wrong_password_is_not_printed(postgres: PostgresServer, db: str) -> None:
    url = db.replace(f":{urlsplit(db).password}@", f":{quote(SECRET, safe='')}@")
    with failing(SourceError, url) as errors:
        assert "password authentication failed" in errors[0].message
        assert "user and password" in errors[0].hint
        assert type(errors[0]) is SourceError, "trying again would not help"


def test_a_database_that_is_not_there(db: str) -> None:
    with failing(SourceError, db.rsplit("/", 1)[0] + "/nowhere") as errors:
        assert '"nowhere" does not exist' in errors[0].message
        assert type(errors[0]) is SourceError


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr3t/?#@: ü@host/d",
        "postgresql://u:p%zz@host/d",
        "postgresql://u:p@host/d?nonsense=s3cr3t/?#@: ü",
    ],
)
def test_a_url_that_can_not_be_understood_is_not_quoted(url: str) -> None:
    with opened(url) as source, pytest.raises((ConfigError, SourceError)) as failure:
        source.shape(stream_of("t"))
    assert "s3cr3t" not in f"{failure.value} {failure.value.hint} {failure.value.__cause__!r}"


def test_options_show_no_password() -> None:
    options = connector.options.model_validate({"url": "postgresql://u:hunter2@h/d"})
    assert "hunter2" not in f"{options!r} {options} {options.model_dump_json()} {options.model_dump()}"


def test_readers_show_no_password_and_carry_it_all_the_same(db: str) -> None:
    execute(db, "create table t (id int8)", "insert into t values (1)")
    password = urlsplit(db).password
    assert password
    with opened(db) as source:
        stream = stream_of("t")
        with source.read(stream, source.shape(stream), Window(), 1) as reading:
            assert password not in f"{reading} {reading.reader} {reading.reader!r}"
            assert len(read_split(pickle.loads(pickle.dumps(reading.reader)), reading.splits[0])) == 1


def test_a_reader_that_can_not_connect_says_so_without_the_password(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        execute(url, "create table t (id int8)")
        password = urlsplit(url).password or ""
        with opened(url) as source:
            stream = stream_of("t")
            with source.read(stream, source.shape(stream), Window(), 1) as reading:
                execute(postgres.url(), "alter user seamark password 'changed'")
                try:
                    with pytest.raises(SourceError, match="password authentication failed") as failure:
                        read_split(reading.reader, reading.splits[0])
                finally:
                    with psycopg.connect(url.replace(password, "changed"), autocommit=True) as connection:
                        connection.execute(f"alter user seamark password '{password}'".encode())
        assert password not in f"{failure.value} {failure.value.hint} {failure.value.__cause__!r}"


def test_a_connection_cut_between_two_probes_is_unavailable_once_and_then_made_anew(db: str) -> None:
    execute(db, "create table t (id int8)")
    with opened(db) as source:
        source.shape(stream_of("t"))
        execute(db, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'seamark source'")
        with pytest.raises(SourceUnavailable):
            source.shape(stream_of("t"))
        assert source.shape(stream_of("t")).schema.names == ("id",)


def test_a_statement_that_takes_too_long_says_which_limit(db: str) -> None:
    execute(
        db,
        "create view slow as select i as id, pg_sleep(0.01)::text as pause from generate_series(1, 1000) i",
    )
    with opened(db, statement_timeout="300ms") as source:
        stream = stream_of("slow")
        with source.read(stream, source.shape(stream), Window(), 1) as reading, pytest.raises(SourceError) as failure:
            read_split(reading.reader, reading.splits[0])
    assert "statement timeout" in failure.value.message
    assert "statement_timeout" in failure.value.hint
    assert type(failure.value) is SourceError


def test_a_table_that_may_not_be_read_names_the_grant(db: str) -> None:
    execute(db, "create table t (id int8, hidden text)", "create table u (id int8)", "drop role if exists visitor",
            "create role visitor login password 'visitor'", "grant usage on schema public to visitor", "grant select (id) on t to visitor",
            "insert into t values (1, 'x')")  # fmt: skip
    parts = urlsplit(db)
    url = parts._replace(netloc=f"visitor:visitor@{parts.hostname}:{parts.port}").geturl()
    try:
        with opened(url) as source:
            with pytest.raises(SourceError, match="may not read 'hidden'") as failure:
                source.shape(stream_of("t"))
            assert "GRANT SELECT" in failure.value.hint
            with pytest.raises(SourceError, match="may not read"):
                source.shape(stream_of("u"))
            stream = stream_of("t", exclude=("hidden",))
            with source.read(stream, source.shape(stream), Window(), 1) as reading:
                assert read_split(reading.reader, reading.splits[0]) == [{"id": 1}]
    finally:
        execute(db, "drop owned by visitor", "drop role visitor")


def test_a_table_that_vanished_since_the_plan_is_named(db: str) -> None:
    execute(db, "create table t (id int8)")
    with opened(db) as source:
        stream = stream_of("t", cursor=Cursor("id"))
        shape = source.shape(stream)
        execute(db, "drop table t")
        with pytest.raises(SourceError, match=r"public\.t"):
            source.frontier(stream, shape, None)


def test_a_column_that_changed_its_type_since_the_plan_is_noticed(db: str) -> None:
    execute(db, "create table t (id int8, c int4)", "insert into t values (1, 5)")
    with opened(db) as source:
        stream = stream_of("t")
        shape = source.shape(stream)
        execute(db, "alter table t alter c type float8")
        with (
            source.read(stream, shape, Window(), 1) as reading,
            pytest.raises(SourceError, match=r"'c' of public.t arrives as double, expected int32"),
        ):
            read_split(reading.reader, reading.splits[0])


@pytest.mark.parametrize(
    ("given", "meant"),
    [("ordrs", "public.orders"), ("public.Orders", "public.orders"), ("shop.orders", "public.orders")],
)
def test_a_missing_table_names_the_nearest(db: str, given: str, meant: str) -> None:
    execute(db, "create table orders (id int8)")
    with opened(db) as source, pytest.raises(SourceError) as failure:
        source.shape(stream_of(given))
    assert repr(given) in failure.value.message
    assert meant in failure.value.message
    assert "seamark discover" in failure.value.hint


def test_an_unknown_cast_column_names_the_nearest(db: str) -> None:
    execute(db, "create table orders (id int8, amount numeric)")
    with opened(db) as source, pytest.raises(SourceError, match="'amuont'; did you mean 'amount'"):
        source.shape(stream_of("orders", cast={"amuont": "string"}))
