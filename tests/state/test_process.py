"""Processes as holders: recognised while they live, and only theirs."""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from seamark.model.state import Holder
from seamark.state import process
from seamark.state.process import is_gone, this_process
from tests.servers import wait_until

SAY_WHO_AND_WAIT = """
import sys
from seamark.state.process import this_process
holder = this_process()
print(holder.id, holder.host, holder.pid, holder.started, sep="\\t", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SAY_WHO_AND_WAIT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        yield started
        started.kill()


@pytest.fixture(params=["proc", "ps"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On systems without /proc, `ps` is asked."""
    if request.param == "ps":
        monkeypatch.setattr(process, "_start_time", process._start_time_from_ps)


def holder_of(other: subprocess.Popen[str]) -> Holder:
    assert other.stdout is not None
    id_, host, pid, _ = other.stdout.readline().rstrip("\n").split("\t")
    started = process._mark(process._start_time(int(pid)) or "")
    return Holder(id_, host, int(pid), started)


def test_this_process_is_not_gone() -> None:
    holder = this_process()
    assert (holder.host, holder.pid) == (socket.gethostname(), os.getpid())
    assert holder.started
    assert not is_gone(holder)


def test_holders_of_one_process_are_told_apart() -> None:
    assert this_process().id != this_process().id
    assert this_process("run-1").id == "run-1"
    assert this_process("run-1") == this_process("run-1")


@pytest.mark.usefixtures("_either_way")
def test_a_killed_process_is_gone_even_before_its_parent_has_noticed(other: subprocess.Popen[str]) -> None:
    holder = holder_of(other)
    assert not is_gone(holder)
    os.kill(other.pid, 9)  # and nobody waits for it: it stays in the process table
    wait_until(lambda: is_gone(holder), "a killed process is seen to be gone")
    other.wait()
    assert is_gone(holder)


@pytest.mark.usefixtures("_either_way")
def test_a_process_that_took_over_the_pid_is_another_one(other: subprocess.Popen[str]) -> None:
    holder = holder_of(other)
    ticks, _, namespace = holder.started.partition("@")
    assert is_gone(dataclasses.replace(holder, started=f"1{ticks}@{namespace}"))
    assert is_gone(dataclasses.replace(holder, started=f"1{ticks}"))
    assert not is_gone(dataclasses.replace(holder, started=""))


def test_a_start_time_is_read_past_any_program_name() -> None:
    script = """if True:
        import ctypes, sys
        print(flush=True), sys.stdin.readline()
        ctypes.CDLL(None).prctl(15, b"a) b (c")
        print(flush=True), sys.stdin.read()
    """
    if not process._PROC.joinpath("self", "stat").exists():
        pytest.skip("no /proc here")
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as odd:
        assert odd.stdout is not None
        assert odd.stdin is not None
        odd.stdout.readline()
        started = process._start_time(odd.pid)
        odd.stdin.write("\n")
        odd.stdin.flush()
        odd.stdout.readline()
        assert "a) b (c" in process._PROC.joinpath(str(odd.pid), "stat").read_text()
        assert process._start_time(odd.pid) == started
        odd.kill()


def test_processes_of_other_hosts_and_containers_can_not_be_judged() -> None:
    dead = Holder("x", socket.gethostname(), 2**22 + 1, "1")
    assert is_gone(dead)
    assert not is_gone(dataclasses.replace(dead, host="another-host.example"))
    assert not is_gone(dataclasses.replace(dead, started="1@1234"))
