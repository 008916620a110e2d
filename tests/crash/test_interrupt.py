"""Ctrl-C: the checkpoint is finished or was never begun, the status is 1, and the next run goes on from there."""

from __future__ import annotations

import os
import signal

import pytest

from tests.crash.case import Case
from tests.crash.conftest import Cases
from tests.crash.processes import go_on, wait_until_stopped_below
from tests.projects import Finished


def interrupted_at(case: Case, point: str) -> Finished:
    """A run that is interrupted just there, as Ctrl-C does it: every process that the terminal knows gets the signal."""
    with case.stopped(point) as run:
        os.killpg(run.pid, signal.SIGINT)
        go_on(run)
        out, err = run.communicate(timeout=120)
    return Finished(("run",), run.returncode, out, err)


def require_stopped(case: Case, done: Finished) -> None:
    assert done.status == 1, repr(done)
    assert "stopping after the current checkpoint" in done.err
    assert "was stopped" in done.err
    assert "run it again" in done.err
    assert "Traceback" not in done.err
    status = case.look().status
    assert status.prepared is None
    assert status.lease is None
    assert status.last_run is not None
    assert status.last_run.status == "cancelled"


@pytest.mark.parametrize("point", ["stage.task", pytest.param("stage.after", marks=pytest.mark.slow)])
def test_before_prepare_it_abandons_the_checkpoint(cases: Cases, point: str) -> None:
    case = cases.loaded("sqlite", "append")
    case.change()
    version = case.look().state.version
    require_stopped(case, interrupted_at(case, point))
    assert case.look().state.version == version
    case.require_recovery()


def test_in_the_middle_of_reading_it_leaves_no_file_behind(cases: Cases) -> None:
    case = cases.fresh("postgres", "append", fill=False)
    case.fill_with_long_rows()
    require_stopped(case, interrupted_at(case, "stage.task"))
    assert [path for path in (case.table / "staged").rglob("*") if path.is_file()] == []
    case.require_recovery()


@pytest.mark.parametrize(
    ("mode", "point"),
    [
        ("append", "prepare.after"),
        pytest.param("append", "publish.written", marks=pytest.mark.slow),
        pytest.param("append", "commit.after", marks=pytest.mark.slow),
        pytest.param("merge", "prepare.after", marks=pytest.mark.slow),
        pytest.param("replace", "prepare.after", marks=pytest.mark.slow),
    ],
)
def test_once_prepared_it_finishes_the_checkpoint(cases: Cases, mode: str, point: str) -> None:
    case = cases.loaded("sqlite", mode)
    case.change()
    version = case.look().state.version
    done = interrupted_at(case, point)
    require_stopped(case, done)
    assert done.json["streams"][0]["checkpoints"] == 1
    case.require_rows()
    assert case.look().state.version == version + 1
    case.require_recovery()


@pytest.mark.slow
def test_while_spark_tasks_read(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    case.configure(skip_below=0)
    case.change()
    with case.running(SEAMARK_STOP_AT="stage.task") as run:
        tasks = wait_until_stopped_below(run)
        os.killpg(run.pid, signal.SIGINT)
        go_on(*tasks)
        out, err = run.communicate(timeout=120)
    require_stopped(case, Finished(("run",), run.returncode, out, err))
    case.require_recovery()
