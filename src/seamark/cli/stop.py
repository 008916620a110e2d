"""Ctrl-C: the first one asks a run to stop where nothing is lost, the second ends it at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from seamark.cli.failure import INTERRUPTED
from seamark.cli.terminal import is_terminal
from seamark.sync.context import Cancellation

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop(Cancellation):
    """A wish to stop that also wakes whoever waits for the next run."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = threading.Event()

    def request(self) -> None:
        super().request()
        self._asked.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but not past the wish to stop; whether there is one."""
        return self._asked.wait(seconds)


@contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """While this is open SIGINT and SIGTERM go to `stop`. Only the main thread can set handlers; elsewhere it does
    nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.requested:
            _end_at_once()
        stop.request()
        _tell("\nstopping after the current checkpoint; press again to end at once\n")

    before = {number: signal.signal(number, asked) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_at_once() -> None:
    """As safe as a power cut, which the next run recovers from: no clean-up, no waiting for Spark."""
    if is_terminal(sys.stderr):
        _tell("\x1b[?25h\n")  # a progress display has hidden the cursor
    os._exit(INTERRUPTED)


def _tell(text: str) -> None:
    """Unbuffered: a handler may interrupt a write that holds the buffer's lock."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), text.encode())
