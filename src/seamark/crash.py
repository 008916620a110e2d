"""Named points where tests make the real process die, stop or fail. Without the variables they cost one dict look-up.

`SEAMARK_CRASH_AT=publish.after` kills the process with SIGKILL the first time it gets there, `SEAMARK_STOP_AT=…`
stops it (SIGSTOP), and `SEAMARK_FAIL_AT=…` raises. A name may carry `#n` for the n-th time (`commit.after#2`), and
`@file`: it happens only while that file does not exist, and makes it, so that it happens once across processes.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable

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
        if (_seen[point] == int(nth or 1) or (act is _fail and not nth)) and _is_first(marker):
            act(point)


def variables() -> dict[str, str]:
    """What asks for crashes here, to be handed on to the processes that tasks run in."""
    return {name: os.environ[name] for name in _ACTS if name in os.environ}


def take(asked: dict[str, str]) -> None:
    """In a task's process: crash as the process that sent the task was asked to, and only so."""
    if asked == variables():
        return
    _seen.clear()
    for name in _ACTS:
        os.environ.pop(name, None)
    os.environ.update(asked)


def _is_first(marker: str) -> bool:
    if not marker:
        return True
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _kill(point: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(point: str) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _fail(point: str) -> None:
    raise EngineError(f"failed at {point} because SEAMARK_FAIL_AT asks for it")


_ACTS: dict[str, Callable[[str], None]] = {
    "SEAMARK_CRASH_AT": _kill,
    "SEAMARK_STOP_AT": _stop,
    "SEAMARK_FAIL_AT": _fail,
}
