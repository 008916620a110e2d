"""Named points where tests make the real process die, stop or fail. Without the variables they cost one dict look-up.

`SEAMARK_CRASH_AT=publish.after` kills the process with SIGKILL the first time it gets there, `SEAMARK_STOP_AT=…`
stops it (SIGSTOP), and `SEAMARK_FAIL_AT=…` raises. A name may carry `#n` for the n-th time (`commit.after#2`);
`SEAMARK_FAIL_AT` may carry `@file`: it fails only while that file does not exist, and makes it, so that it fails once
across processes.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

from seamark.errors import EngineError

POINTS: tuple[str, ...] = (
    "stage.before",
    "stage.task",
    "stage.after",
    "prepare.before",
    "prepare.after",
    "publish.before",
    "publish.looked",
    "publish.evolved",
    "publish.written",
    "publish.after",
    "commit.before",
    "commit.after",
    "acknowledge.before",
    "acknowledge.after",
)

_seen: Counter[str] = Counter()


def reach(point: str) -> None:
    """Say that `point` has been reached; does nothing unless a test asked for it."""
    for variable, act in _ACTS.items():
        wanted = os.environ.get(variable)
        if wanted is None:
            continue
        name, _, marker = wanted.partition("@")
        name, _, nth = name.partition("#")
        if name != point:
            continue
        _seen[point] += 1
        if _seen[point] == int(nth or 1) or (variable == "SEAMARK_FAIL_AT" and not nth):
            act(point, marker)


def _kill(point: str, marker: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(point: str, marker: str) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _fail(point: str, marker: str) -> None:
    if marker:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    raise EngineError(f"failed at {point} because SEAMARK_FAIL_AT asks for it")


_ACTS = {"SEAMARK_CRASH_AT": _kill, "SEAMARK_STOP_AT": _stop, "SEAMARK_FAIL_AT": _fail}
