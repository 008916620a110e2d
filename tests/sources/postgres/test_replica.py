"""On a replica nobody sees who is writing, so marks need a lookback; reading works as on the primary."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from seamark.errors import SourceError
from seamark.model.stream import Cursor
from seamark.model.window import next_window
from tests.servers import PostgresServer, _account, _as, _free_port, wait_until
from tests.sources.postgres.place import execute, opened, query, read_all, stream_of


@contextmanager
def replica(primary: PostgresServer) -> Iterator[int]:
    """A streaming replica of the whole server; its port."""
    folder = Path(tempfile.mkdtemp(prefix="seamark-replica-"))
    account = _account()
    if account is not None:
        os.chown(folder, account.pw_uid, account.pw_gid)
    data, port = folder / "data", _free_port()
    conninfo = psycopg.conninfo.make_conninfo(primary.url(), dbname="")
    try:
        subprocess.run(
            [primary.programs / "pg_basebackup", "-D", data, "-R", "-c", "fast", "-X", "stream", "-d", conninfo],
            check=True, capture_output=True, **_as(account),
        )  # fmt: skip
        command = [primary.programs / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                   "-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "max_prepared_transactions=10"]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **_as(account))
        try:
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_replica_needs_a_lookback_and_then_reads_one_snapshot(postgres: PostgresServer) -> None:
    with postgres.database() as primary:
        execute(
            primary,
            "create table t (id int8 primary key, at timestamptz not null default now() - interval '1 minute')",
            "insert into t select generate_series(1, 60000)",
            "analyze t",
        )
        with replica(postgres) as port:
            parts = urlsplit(primary)
            url = parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()

            def caught_up() -> bool:
                try:
                    return query(url, "select count(*) from t") == [(60_000,)]
                except psycopg.Error:
                    return False

            wait_until(caught_up, "the replica has the rows")
            with opened(url) as source:
                for cursor in ("at", "id"):
                    stream = stream_of("t", cursor=cursor)
                    with pytest.raises(SourceError, match="replica"):
                        source.frontier(stream, source.shape(stream), None)
                    assert any(
                        "replica" in finding.message for finding in source.check([stream]) if finding.level == "error"
                    )
                stream = stream_of("t", cursor=Cursor("at", lookback=timedelta(minutes=1)))
                window = next_window(None, source.frontier(stream, source.shape(stream), None))
                assert window is not None
                rows = read_all(source, stream, window)
            assert sorted(row["id"] for row in rows) == list(range(1, 60_001))
