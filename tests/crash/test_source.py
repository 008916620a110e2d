"""The source goes away while it is read."""

from __future__ import annotations

import psycopg
import pytest

from tests.crash.case import Case
from tests.crash.conftest import Cases
from tests.crash.databases import PostgresDatabase
from tests.crash.processes import go_on, wait_until_stopped_below

READERS = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ~ '^COPY'"
)
EVERYONE = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


def cut_off(case: Case, whom: str) -> None:
    assert isinstance(case.database, PostgresDatabase)
    with psycopg.connect(case.database.url) as connection:
        assert connection.execute(whom.encode()).fetchall(), "there was nobody to cut off"


def test_a_reader_that_is_cut_off_reads_again(cases: Cases) -> None:
    """The snapshot is still there, so the same rows are."""
    case = cases.fresh("postgres", "append", fill=False)
    case.fill_with_long_rows()
    with case.stopped("stage.task") as run:
        cut_off(case, READERS)
        go_on(run)
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, out + err
    case.require_agreement()


def test_a_connection_cut_mid_read_ends_the_run_and_the_next_one_completes_it(cases: Cases) -> None:
    """Readers and the session that holds their snapshot: nothing can be read on."""
    case = cases.fresh("postgres", "append", fill=False)
    case.fill_with_long_rows()
    with case.stopped("stage.task") as run:
        cut_off(case, EVERYONE)
        go_on(run)
        out, err = run.communicate(timeout=120)
    assert run.returncode == 1, out + err
    assert "things" in err
    assert "snapshot" in err or "terminat" in err
    assert "hint:" in err
    assert "Traceback" not in err
    assert case.look().state.stream("things").recorded == -1
    case.require_recovery()


@pytest.mark.slow
def test_a_connection_cut_in_a_spark_task(cases: Cases) -> None:
    case = cases.fresh("postgres", "append", fill=False)
    case.configure(skip_below=0)
    case.fill_with_long_rows()
    with case.running(SEAMARK_STOP_AT="stage.task") as run:
        tasks = wait_until_stopped_below(run)
        cut_off(case, EVERYONE)
        go_on(*tasks)
        out, err = run.communicate(timeout=120)
    assert run.returncode == 1, out + err
    assert "Traceback" not in err
    case.require_recovery()
