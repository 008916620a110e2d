"""The state store can't be reached or written while a run needs it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.crash.conftest import Cases
from tests.crash.processes import go_on
from tests.servers import PostgresServer

IMPATIENT = {"type": "sqlite", "busy_timeout": 0.3}


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Another process writes to the file and does not end its transaction."""
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("begin exclusive")
        yield
        connection.execute("rollback")


def test_a_locked_state_store_is_said_and_nothing_is_begun(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    case.configure(state_store=IMPATIENT)
    case.change()
    with locked(case.store):
        done = case.run()
    assert done.status == 1, repr(done)
    assert "stayed locked by another process" in done.err
    assert str(case.store) in done.err
    assert "Traceback" not in done.err
    case.require_recovery()


@pytest.mark.parametrize(
    "point", ["prepare.before", "commit.before", pytest.param("stage.before", marks=pytest.mark.slow)]
)
def test_a_state_store_locked_in_the_middle_of_a_run(cases: Cases, point: str) -> None:
    """For longer than the run waits: it ends, and what it had begun is for the next one to finish."""
    case = cases.loaded("sqlite", "append")
    case.configure(state_store=IMPATIENT)
    case.change()
    with case.stopped(point) as run, locked(case.store):
        go_on(run)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 1, out + err
    assert "stayed locked by another process" in err
    assert "Traceback" not in err
    case.require_recovery()


def test_an_unreachable_state_store(cases: Cases, postgres: PostgresServer, postgres_db: str) -> None:
    """Its server is stopped after the rows were published and before that was noted, and started again later."""
    case = cases.fresh("sqlite", "append")
    case.configure(state_store={"type": "postgres", "url": postgres_db})
    case.run().ok()
    case.change()
    with case.stopped("commit.before") as run:
        postgres.stop()
        try:
            go_on(run)
            out, err = run.communicate(timeout=60)
            while_down = case.run()
        finally:
            postgres.start()
    assert run.returncode == 1, out + err
    assert while_down.status == 1, repr(while_down)
    for said in (err, while_down.err):
        assert "the state store postgresql://" in said
        assert postgres.password not in said
        assert "hint:" in said
        assert "Traceback" not in said
    case.require_recovery()
