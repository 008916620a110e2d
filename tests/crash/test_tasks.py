"""Tasks that read and write fail, once or always, or are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.agreement import log_of
from tests.crash.case import NO_JVM, Case
from tests.crash.conftest import Cases

IN_DRIVER = pytest.param(NO_JVM, id="driver")
IN_SPARK = pytest.param(0, id="spark")
IN_SPARK_SLOWLY = pytest.param(0, id="spark", marks=pytest.mark.slow)


def changed(cases: Cases, skip_below: int) -> Case:
    case = cases.loaded("sqlite", "append")
    case.configure(skip_below)
    case.change()
    return case


@pytest.mark.parametrize("skip_below", [IN_DRIVER, IN_SPARK_SLOWLY])
def test_a_task_that_fails_once_is_tried_again(cases: Cases, tmp_path: Path, skip_below: int) -> None:
    case = changed(cases, skip_below)
    marker = tmp_path / "failed"
    result = case.run(SEAMARK_FAIL_AT=f"stage.task@{marker}").ok().json
    assert marker.exists()
    assert (result["streams"][0]["rows"], result["spark_started"]) == (25, skip_below == 0)
    case.require_agreement()


@pytest.mark.parametrize("skip_below", [IN_DRIVER, IN_SPARK_SLOWLY])
def test_a_task_that_always_fails_publishes_nothing(cases: Cases, skip_below: int) -> None:
    case = changed(cases, skip_below)
    log, state = log_of(case.table), case.look().state
    done = case.run(SEAMARK_FAIL_AT="stage.task")
    assert done.status == 1, repr(done)
    assert "failed at stage.task" in done.err
    assert "Traceback" not in done.err
    assert log_of(case.table) == log
    assert case.look().state == state
    case.require_recovery()


@pytest.mark.parametrize("skip_below", [IN_SPARK])
def test_a_python_worker_that_is_killed_is_replaced(cases: Cases, tmp_path: Path, skip_below: int) -> None:
    case = changed(cases, skip_below)
    marker = tmp_path / "killed"
    result = case.run(SEAMARK_CRASH_AT=f"stage.task@{marker}").ok().json
    assert marker.exists()
    assert (result["streams"][0]["rows"], result["spark_started"]) == (25, True)
    case.require_recovery()


@pytest.mark.slow
def test_python_workers_that_are_killed_each_time_end_the_run(cases: Cases) -> None:
    case = changed(cases, skip_below=0)
    log = log_of(case.table)
    done = case.run(SEAMARK_CRASH_AT="stage.task")
    assert done.status == 1, repr(done)
    assert "staging failed in Spark" in done.err
    assert "Traceback" not in done.err
    assert log_of(case.table) == log
    case.require_recovery()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "replace"])
@pytest.mark.parametrize("source", ["sqlite", "postgres"])
@pytest.mark.parametrize("point", ["stage.after", "prepare.after", "publish.written", "commit.before"])
def test_killed_after_staging_in_spark_tasks(cases: Cases, source: str, mode: str, point: str) -> None:
    case = cases.loaded(source, mode)
    case.configure(skip_below=0)
    case.change()
    case.crash(point)
    case.require_recovery()
