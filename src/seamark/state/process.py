"""Processes as holders of leases: who we are, and whether another holder's process is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import uuid
from pathlib import Path

from seamark.model.state import Holder

_PROC = Path("/proc")
_DEAD = ("Z", "X")
"""A killed process that its parent has not waited for still has a pid, but it will never do anything again."""


def this_process(id: str = "") -> Holder:
    """This process as a holder; `id` tells apart holders within it and is made up when not given."""
    pid = os.getpid()
    return Holder(id or uuid.uuid4().hex, socket.gethostname(), pid, _mark(_start_time(pid) or ""))


def is_gone(holder: Holder) -> bool:
    """Whether the holder's process is certainly no more: of this host, and no process has that pid and start time.

    False when that can't be told from here; its lease then ends by expiry.
    """
    if holder.host != socket.gethostname():
        return False
    started, _, namespace = holder.started.partition("@")
    if namespace and namespace != _pid_namespace():
        return False  # a container's pids mean nothing in another one, even where both have the same host name
    if not _exists(holder.pid):
        return True
    now = _start_time(holder.pid)
    return now is not None and (now == "" or (started != "" and now != started))


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start_time(pid: int) -> str | None:
    """When the process started, in whatever unit this system has; "" for a dead one, None when it can't be read."""
    if (_PROC / "self" / "stat").exists():
        return _start_time_from_proc(pid)
    return _start_time_from_ps(pid)


def _start_time_from_proc(pid: int) -> str | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold anything, spaces and parentheses too.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _DEAD else fields[19]


def _start_time_from_ps(pid: int) -> str | None:
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    except OSError:
        return None
    state, _, started = done.stdout.strip().partition(" ")
    return "" if state[:1] in _DEAD else " ".join(started.split()) or None


def _mark(started: str) -> str:
    namespace = _pid_namespace()
    return f"{started}@{namespace}" if namespace else started


def _pid_namespace() -> str:
    try:
        return (_PROC / "self" / "ns" / "pid").readlink().name.strip("pid:[]")
    except OSError:
        return ""
