"""The fixtures themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.servers import PostgresServer, ServerMissing, postgres_programs, running_postgres, wait_until


def test_every_test_gets_an_empty_database_of_its_own(postgres: PostgresServer) -> None:
    with postgres.database() as first, postgres.database() as second:
        assert first != second
        with psycopg.connect(first, autocommit=True) as connection:
            connection.execute("create table t (a int)")
        with psycopg.connect(second) as connection:
            assert connection.execute("select to_regclass('t')").fetchone() == (None,)


def test_a_database_goes_with_its_sessions_prepared_transactions_and_slots(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        idle = psycopg.connect(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create table t (a int)")
            connection.execute("select pg_create_logical_replication_slot('kept', 'pgoutput')")
            connection.execute("begin")
            connection.execute("insert into t values (1)")
            connection.execute("prepare transaction 'forgotten'")
    idle.close()
    with psycopg.connect(postgres.url()) as connection:
        name = url.rpartition("/")[2]
        assert connection.execute("select count(*) from pg_database where datname = %s", [name]).fetchone() == (0,)


def test_the_server_can_be_stopped_and_comes_back_on_its_port(postgres: PostgresServer) -> None:
    port = postgres.port
    with postgres.database():
        postgres.stop(signal.SIGQUIT)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(postgres.url())
    assert postgres.port == port
    psycopg.connect(postgres.url()).close()


def test_the_server_does_not_outlive_a_killed_test_run(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = (
        "import pathlib, signal\nfrom tests.servers import PostgresServer\n"
        "server = PostgresServer(); server.initialise(); server.start()\n"
        f"pathlib.Path({str(told)!r}).write_text(f'{{server.pid}} {{server.folder}}')\nsignal.pause()"
    )
    run = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parent.parent)
    try:
        wait_until(lambda: told.exists() and " " in told.read_text(), "the server tells its pid")
    finally:
        run.kill()
        run.wait()
    pid, folder = told.read_text().split(" ", 1)
    wait_until(lambda: not _alive(int(pid)), "the server is gone")
    subprocess.run(["rm", "-r", folder], check=True)


def test_missing_programs_name_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.servers.Path.glob", lambda self, pattern: iter(()))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ServerMissing, match="make setup"):
        postgres_programs()


def test_nothing_stays_behind() -> None:
    with running_postgres() as server:
        folder, pid = server.folder, server.pid
    assert not folder.exists()
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
