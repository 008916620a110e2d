"""Crash points, in real processes: they are killed, stopped and failed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from seamark import crash
from seamark.errors import EngineError
from tests.servers import wait_until

SOURCES = Path(crash.__file__).parent
REACHES_TWICE = """
from seamark.crash import reach
for step in ("publish.before", "publish.after", "publish.before", "publish.after"):
    reach(step)
    print(step, flush=True)
"""


def steps(environment: dict[str, str], program: str = REACHES_TWICE) -> tuple[int, list[str], str]:
    """Run the program: its status, the steps that it survived, what it said last."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEAMARK_")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean | environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout.split(), done.stderr


def test_without_the_variables_nothing_happens() -> None:
    assert steps({}) == (0, ["publish.before", "publish.after"] * 2, "")


def test_the_process_is_killed_where_it_was_asked_to_be() -> None:
    assert steps({"SEAMARK_CRASH_AT": "publish.after"}) == (-signal.SIGKILL, ["publish.before"], "")


def test_the_nth_time_can_be_asked_for() -> None:
    status, survived, _ = steps({"SEAMARK_CRASH_AT": "publish.before#2"})
    assert (status, survived) == (-signal.SIGKILL, ["publish.before", "publish.after"])


def test_another_point_is_passed_by() -> None:
    assert steps({"SEAMARK_CRASH_AT": "commit.after", "SEAMARK_FAIL_AT": "publish", "SEAMARK_STOP_AT": ""})[0] == 0


def test_the_process_is_stopped_and_goes_on() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", REACHES_TWICE],
        env=os.environ | {"SEAMARK_STOP_AT": "publish.after#2"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        state = Path(f"/proc/{process.pid}/stat")
        wait_until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", "the process is stopped")
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out.split()) == (0, ["publish.before", "publish.after"] * 2)


def test_a_point_that_fails_fails_every_time() -> None:
    program = """
from seamark.crash import reach
from seamark.errors import EngineError
for _ in range(2):
    try:
        reach("stage.task")
    except EngineError as error:
        print(error.message.replace(" ", "_"))
"""
    assert (
        steps({"SEAMARK_FAIL_AT": "stage.task"}, program)[1]
        == ["failed_at_stage.task_because_SEAMARK_FAIL_AT_asks_for_it"] * 2
    )


@pytest.mark.parametrize(("variable", "status"), [("SEAMARK_FAIL_AT", 1), ("SEAMARK_CRASH_AT", -signal.SIGKILL)])
def test_a_marker_file_makes_it_happen_once_across_processes(tmp_path: Path, variable: str, status: int) -> None:
    asked = {variable: f"publish.before@{tmp_path / 'happened'}"}
    assert [steps(asked)[0] for _ in range(3)] == [status, 0, 0]


def test_a_task_crashes_as_the_process_that_sent_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEAMARK_CRASH_AT", "SEAMARK_STOP_AT", "SEAMARK_FAIL_AT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SEAMARK_FAIL_AT", "stage.task")
    sent = crash.variables()
    assert sent == {"SEAMARK_FAIL_AT": "stage.task"}
    monkeypatch.setenv("SEAMARK_FAIL_AT", "stage.before")
    crash.take(sent)
    with pytest.raises(EngineError):
        crash.reach("stage.task")
    crash.take({})
    crash.reach("stage.task")


def test_every_point_that_code_reaches_is_in_the_list_and_every_listed_one_is_reached() -> None:
    reached = {
        name
        for module in SOURCES.rglob("*.py")
        for name in re.findall(r"""\breach\(\s*["']([\w.]+)["']""", module.read_text(encoding="utf-8"))
    }
    assert reached == set(crash.POINTS)
