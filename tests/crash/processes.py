"""Looking at real processes, and stopping them, by pid."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.servers import wait_until


def status_of(pid: int) -> str:
    """The kernel's letter for what the process is doing; "" once it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[0]


def is_stopped(pid: int) -> bool:
    return status_of(pid) == "T"


def is_alive(pid: int) -> bool:
    return status_of(pid) not in ("", "Z", "X")


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, as of now."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue
        children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(folder.name))
    found, look_at = [], [pid]
    while look_at:
        below = children.get(look_at.pop(), [])
        found += below
        look_at += below
    return found


def program_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def wait_until_stopped(process: subprocess.Popen[str], timeout: float = 120) -> None:
    """Until the process has come to the point that SEAMARK_STOP_AT names."""

    def stopped() -> bool:
        if process.poll() is not None:
            out, err = process.communicate()
            raise AssertionError(f"it ended with status {process.returncode} before it was stopped\n{out}\n{err}")
        return is_stopped(process.pid)

    wait_until(stopped, "the process comes to the point where it is stopped", timeout)


def wait_until_stopped_below(process: subprocess.Popen[str], timeout: float = 120) -> list[int]:
    """The processes that this one started, once some of them have come to the point that SEAMARK_STOP_AT names."""
    wait_until(
        lambda: process.poll() is not None or any(map(is_stopped, descendants(process.pid))),
        "a task comes to the point where it is stopped",
        timeout,
    )
    found = [pid for pid in descendants(process.pid) if is_stopped(pid)]
    assert found, "it ended before a task was stopped"
    return found


def go_on(*processes: subprocess.Popen[str] | int) -> None:
    for process in processes:
        os.kill(process if isinstance(process, int) else process.pid, signal.SIGCONT)
