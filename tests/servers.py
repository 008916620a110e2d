"""Real servers for tests, started on free loopback ports and stopped by pid."""

from __future__ import annotations

import ctypes
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "logical",
    "max_prepared_transactions": "10",
    "max_connections": "200",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # Neither UTC nor whole hours: whoever mixes up local time and UTC is found out.
    "timezone": "America/St_Johns",
}


class ServerMissing(Exception):
    """The programs of a server are not installed."""


def postgres_programs() -> Path:
    """The folder with initdb and postgres, the newest version first."""

    def version(folder: Path) -> int:
        return int(found[0]) if (found := re.findall(r"\d+", folder.parent.name)) else 0

    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version, reverse=True)
    folders += [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for folder in folders:
        if os.access(folder / "initdb", os.X_OK) and os.access(folder / "postgres", os.X_OK):
            return folder
    raise ServerMissing(
        "no Postgres server found under /usr/lib/postgresql or on the PATH: `make setup` installs Debian's, "
        "elsewhere install Postgres 13 or later yourself"
    )


class PostgresServer:
    """A Postgres of our own in a temporary folder. Its text collates as en-US people sort, not as bytes do (see
    docs/adr/0002), and its clock is set to an odd zone, so that tests notice code which leans on the usual settings."""

    user = "seamark"

    def __init__(self, settings: Mapping[str, str] = SETTINGS) -> None:
        self.programs = postgres_programs()
        self.settings = settings
        self.password = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="seamark-postgres-"))
        self.port = 0
        self._process: subprocess.Popen[Any] | None = None
        self._count = 0

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def initialise(self) -> None:
        account = _account()
        if account is not None:
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        password_file.chmod(0o644)
        command: list[str | Path] = [
            self.programs / "initdb",
            "-D",
            self.folder / "data",
            "-U",
            self.user,
            "-A",
            "scram-sha-256",
        ]
        command += ["--pwfile", password_file, "-E", "UTF8", "--no-sync", *_collation(self.programs)]
        done = subprocess.run(command, **_as(account), capture_output=True, text=True, check=False)
        password_file.unlink()
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr.strip()}")

    def start(self) -> None:
        """Start it, on the port of before if there was one, and wait until it answers."""
        fixed = self.port
        for _ in range(5):
            self.port = fixed or _free_port()
            command: list[str | Path] = [self.programs / "postgres", "-D", self.folder / "data", "-p", str(self.port)]
            for name, value in self.settings.items():
                command += ["-c", f"{name}={value}"]
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    command, **_as(_account()), stdout=log, stderr=log, start_new_session=True, preexec_fn=_die_with_us
                )
            if self._answers(timeout=30):
                return
        raise RuntimeError(f"Postgres does not start:\n{(self.folder / 'log').read_text(errors='replace')[-4000:]}")

    def _answers(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self._process is not None and self._process.poll() is None:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return True
            except psycopg.OperationalError:
                time.sleep(0.05)
        return False

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: fast shutdown, sessions are cut off; SIGQUIT: as if it had crashed."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=20)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a fresh database, dropped at the end whoever is still connected."""
        self._count += 1
        name = f"test_{os.getpid()}_{self._count}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(
                sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template))
            )
        try:
            yield self.url(name)
        finally:
            self._drop(name)

    def _drop(self, name: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self.start()  # a test stopped it; the next one needs it
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            for (gid,) in connection.execute("select gid from pg_prepared_xacts where database = %s", [name]):
                connection.execute(sql.SQL("rollback prepared {}").format(sql.Literal(gid)))
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(active_pid) from pg_replication_slots where database = %s and active",
                [name],
            )
            connection.execute(
                "select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = %s", [name]
            )
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        server.initialise()
        server.start()
        yield server
    finally:
        server.remove()


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 30, pause: float = 0.05) -> None:
    """Poll until `condition()` holds; AssertionError that says what did not happen."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}")
        time.sleep(pause)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _collation(programs: Path) -> list[str]:
    version = subprocess.run([programs / "initdb", "--version"], capture_output=True, text=True, check=True).stdout
    major = int(re.findall(r"\d+", version)[0])
    return ["--locale", "C.UTF-8", *(["--locale-provider", "icu", "--icu-locale", "en-US"] if major >= 15 else [])]


def _account() -> pwd.struct_passwd | None:
    """Whom Postgres runs as: it refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServerMissing("Postgres does not run as root and there is no user `postgres`: `make setup` makes one")


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    if account is None:
        return {"cwd": "/"}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": [], "cwd": "/"}


def _die_with_us() -> None:
    """Linux sends the server SIGINT when the test run is gone, however it went."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        _LIBC.prctl(pr_set_pdeathsig, signal.SIGINT)


_LIBC = ctypes.CDLL(None)
