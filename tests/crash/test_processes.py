"""A run that is killed takes its Spark with it."""

from __future__ import annotations

import pytest

from tests.crash.conftest import Cases
from tests.crash.processes import descendants, go_on, is_alive, program_of, wait_until_stopped_below
from tests.servers import wait_until

SOON = 10.0


def require_gone(pids: list[int]) -> None:
    wait_until(
        lambda: not any(is_alive(pid) for pid in pids),
        f"gone: {[program_of(pid)[:100] for pid in pids if is_alive(pid)]}",
        SOON,
    )


def test_kill_leaves_no_jvm_and_no_python_worker(cases: Cases) -> None:
    """Killed when its tasks are done and their workers wait for more."""
    case = cases.loaded("sqlite", "append")
    case.configure(skip_below=0)
    case.change()
    with case.stopped("prepare.before") as run:
        below = descendants(run.pid)
        programs = " ".join(program_of(pid) for pid in below)
        assert "java" in programs
        assert "pyspark.daemon" in programs
        run.kill()
        run.communicate()
        require_gone(below)
    case.configure()
    case.require_recovery()


@pytest.mark.slow
def test_kill_while_the_jvm_starts(cases: Cases) -> None:
    case = cases.loaded("sqlite", "merge")
    case.change()
    with case.running() as run:
        wait_until(lambda: bool(descendants(run.pid)), "the JVM starts", pause=0.01)
        below = descendants(run.pid)
        run.kill()
        run.communicate()
        require_gone(below)
    case.require_recovery()


@pytest.mark.slow
def test_kill_while_tasks_read(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    case.configure(skip_below=0)
    case.change()
    with case.running(SEAMARK_STOP_AT="stage.task") as run:
        tasks = wait_until_stopped_below(run)
        below = descendants(run.pid)
        run.kill()
        run.communicate()
        go_on(*tasks)
        require_gone(below)
    case.configure()
    case.require_recovery()
