"""Taking the time of functions and processes, by turns, and the memory of Python workers."""

from __future__ import annotations

import fcntl
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """Seconds of each try."""

    tries: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.tries)


@dataclass(frozen=True)
class Bench:
    """How to measure here: how often, and who else has to be kept off the machine meanwhile."""

    tries: int
    lock: Path | None = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        if self.lock is None:
            yield
            return
        with self.lock.open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def by_turns(
        self,
        contestants: Mapping[str, Callable[[int], float]],
        before: Callable[[int], None] | None = None,
        tries: int | None = None,
    ) -> dict[str, Timing]:
        """Time them one after the other, again and again, and every second time backwards: what else the machine does
        then hits all of them alike. Each gets the number of the try and says how many seconds it took."""
        seconds: dict[str, list[float]] = {name: [] for name in contestants}
        with self.alone():
            for number in range(tries or self.tries):
                if before is not None:
                    before(number)
                for name in list(contestants)[:: 1 if number % 2 == 0 else -1]:
                    seconds[name].append(contestants[name](number))
                    print(f"  {name}: {seconds[name][-1]:.2f} s", file=sys.stderr, flush=True)
        return {name: Timing(tuple(values)) for name, values in seconds.items()}


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Yields what gives the seconds since."""
    began = time.perf_counter()
    yield lambda: time.perf_counter() - began


def timed(action: Callable[[], object]) -> float:
    with stopwatch() as seconds:
        action()
        return seconds()


def process(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a process prints; it has to end well."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | (environment or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


def python_worker_peaks(ancestor: int) -> list[int]:
    """Bytes of resident memory that each Python worker below a process has had at most, and that are still alive."""
    peaks = []
    for pid in _descendants(ancestor):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        # The daemon forks the workers and does nothing itself.
        if b"pyspark.daemon" in command and _parent_is_worker_daemon(status):
            peaks.append(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10)  # type: ignore[index]
    return peaks


def _parent_is_worker_daemon(status: str) -> bool:
    parent = re.search(r"PPid:\s+(\d+)", status)
    assert parent is not None
    return b"pyspark.daemon" in Path(f"/proc/{parent[1]}/cmdline").read_bytes().replace(b"\0", b" ")


def _descendants(ancestor: int) -> Iterator[int]:
    for path in Path(f"/proc/{ancestor}/task").glob("*/children"):
        for child in path.read_text().split():
            yield int(child)
            yield from _descendants(int(child))
