"""Runs the real command line on a terminal of its own, as a person would see it."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

LATEST = 60.0


def _take_terminal() -> None:
    """Make stdin this session's terminal, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """`seamark …` on a pseudo-terminal; `seen` is all that it wrote, to stdout and stderr alike."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._master, slave = os.openpty()
        facts = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"} | environment
        self._process = subprocess.Popen(
            [sys.executable, "-m", "seamark.cli.main", *arguments],
            cwd=folder,
            env={key: value for key, value in os.environ.items() if key != "NO_COLOR"} | facts,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str) -> None:
        while text not in self.seen:
            assert self._read(), f"ended without {text!r}:\n{self.seen}"

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end; the exit status."""
        while self._read():
            pass
        os.close(self._master)
        return self._process.wait(LATEST)

    def _read(self) -> bool:
        deadline = time.monotonic() + LATEST
        while time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # the other end is closed
                    return False
                self.seen += data.decode(errors="replace")
                return bool(data)
        self._process.kill()
        raise AssertionError(f"nothing more came:\n{self.seen}")
