"""How a run is shown while it goes on: moving bars on a terminal, a line now and then elsewhere. All on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seamark.cli import failure
from seamark.cli.terminal import clean, is_terminal
from seamark.cli.wording import count, counted, duration, size
from seamark.model.plan import PipelinePlan

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

PHASES = {
    "recover": "recovering",
    "stage": "reading",
    "prepare": "preparing",
    "publish": "publishing",
    "commit": "committing",
    "acknowledge": "acknowledging",
    "done": "done",
}
"""The steps as people read them."""
_BRIEF = frozenset({"prepare", "acknowledge"})
"""Over before anyone could read of them."""
QUIET_SECONDS = 5.0
"""Outside a terminal, how long rows may come in before another line says so."""


class WarningsOnly:
    """Says nothing but what must not be missed."""

    def planned(self, plan: PipelinePlan) -> None: ...

    def phase(self, stream: str, phase: str) -> None: ...

    def rows(self, stream: str, rows: int, bytes: int) -> None: ...

    def warn(self, message: str) -> None:
        failure.warn(message)


@dataclass
class _Moved:
    """What one stream has moved so far."""

    began: float
    rows: int = 0
    bytes: int = 0
    phase: str = ""
    said: float = field(default=0.0)

    def add(self, rows: int, bytes: int) -> None:
        self.rows += rows
        self.bytes += bytes

    def rate(self, now: float) -> str:
        elapsed = now - self.began
        return f"{count(int(self.rows / elapsed))} rows/s" if self.rows and elapsed > 0.05 else ""


class Lines:
    """A line per change of phase, and one every few seconds while rows come in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moved: dict[str, _Moved] = {}
        self._lock = threading.Lock()

    def planned(self, plan: PipelinePlan) -> None:
        _say(f"{plan.pipeline}: {plan_in_short(plan)}")

    def phase(self, stream: str, phase: str) -> None:
        with self._lock:
            moved = self._of(stream)
            if phase == moved.phase:
                return
            moved.phase, moved.said = phase, self._clock()
            if phase not in _BRIEF:
                _say(f"{stream}: {PHASES.get(phase, phase)}{self._so_far(moved) if phase != 'stage' else ''}")

    def rows(self, stream: str, rows: int, bytes: int) -> None:
        with self._lock:
            moved = self._of(stream)
            moved.add(rows, bytes)
            if moved.rows and self._clock() - moved.said >= QUIET_SECONDS:
                moved.said = self._clock()
                _say(f"{stream}: {PHASES.get(moved.phase, moved.phase)}{self._so_far(moved)}")

    def warn(self, message: str) -> None:
        failure.warn(message)

    def _of(self, stream: str) -> _Moved:
        return self._moved.setdefault(stream, _Moved(self._clock(), said=self._clock()))

    def _so_far(self, moved: _Moved) -> str:
        if not moved.rows:
            return ""
        return f", {counted(moved.rows, 'row')}, {size(moved.bytes)} in {duration(self._clock() - moved.began)}"


class LiveBars:
    """A bar per stream that will run, as long as the context is open."""

    def __init__(self) -> None:
        self._bars = _bars()
        self._tasks: dict[str, TaskID] = {}
        self._moved: dict[str, _Moved] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> LiveBars:
        self._bars.start()
        return self

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            for task in self._bars.tasks:
                if not task.finished:
                    self._bars.stop_task(task.id)
        self._bars.stop()

    def planned(self, plan: PipelinePlan) -> None:
        self._bars.console.print(clean(f"{plan.pipeline}: {plan_in_short(plan)}"), markup=False, highlight=False)
        with self._lock:
            for stream in plan.streams:
                if stream.runs:
                    self._task(stream.stream.name, stream.estimate.rows)

    def phase(self, stream: str, phase: str) -> None:
        with self._lock:
            if phase == "acknowledge" and stream not in self._tasks:
                return  # nothing of it is shown, so there is nothing to end
            task = self._task(stream)
            moved = self._moved[stream]
            if not moved.phase:
                moved.began = time.monotonic()
                self._bars.start_task(task)
            recovered = phase == "acknowledge" and not moved.rows
            moved.phase = phase
            self._bars.update(task, phase="recovered" if recovered else PHASES.get(phase, phase))
            if phase == "done" or recovered:
                self._bars.update(task, total=moved.rows or 1, completed=moved.rows or 1)
                self._bars.stop_task(task)

    def rows(self, stream: str, rows: int, bytes: int) -> None:
        with self._lock:
            task = self._task(stream)
            moved = self._moved[stream]
            moved.add(rows, bytes)
            known = self._bars.tasks[self._bars.task_ids.index(task)].total
            self._bars.update(
                task,
                completed=moved.rows,
                # One more than there is: a bar that is full counts as finished, and publishing is still to come.
                total=max(known, moved.rows + 1) if known is not None else None,
                rows=count(moved.rows) if moved.rows else "",
                size=size(moved.bytes) if moved.rows else "",
                rate=moved.rate(time.monotonic()),
            )

    def warn(self, message: str) -> None:
        self._bars.console.print(f"[yellow]warning:[/] {_escaped(clean(message))}", highlight=False)

    def _task(self, stream: str, expected: int | None = None) -> TaskID:
        if stream not in self._tasks:
            fields: dict[str, Any] = {"phase": "waiting", "rows": "", "size": "", "rate": ""}
            self._tasks[stream] = self._bars.add_task(_escaped(clean(stream)), start=False, total=expected, **fields)
            self._moved[stream] = _Moved(time.monotonic())
        return self._tasks[stream]


RunProgress = WarningsOnly | Lines | LiveBars


def shown(quiet: bool) -> AbstractContextManager[RunProgress]:
    """The progress that fits where stderr goes."""
    if quiet:
        return nullcontext(WarningsOnly())
    return LiveBars() if is_terminal(sys.stderr) else nullcontext(Lines())


def plan_in_short(plan: PipelinePlan) -> str:
    """What is about to be done, in a line."""
    busy = [stream for stream in plan.streams if stream.runs]
    if not busy:
        return f"nothing to do in {counted(len(plan.streams), 'stream')}"
    rows = [stream.estimate.rows for stream in busy]
    expected = f", about {counted(sum(r or 0 for r in rows), 'row')}" if all(r is not None for r in rows) else ""
    return f"{len(busy)} of {counted(len(plan.streams), 'stream')} to run{expected}"


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    return Bars(
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=True),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[phase]}", style="cyan"),
        TextColumn("{task.fields[rows]}", justify="right"),
        TextColumn("{task.fields[size]}", justify="right", style="dim"),
        TextColumn("{task.fields[rate]}", justify="right", style="dim"),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        refresh_per_second=8,
    )


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _say(line: str) -> None:
    try:
        sys.stderr.write(clean(line) + "\n")
        sys.stderr.flush()
    except OSError:  # nobody reads stderr any more: no reason to fail a run
        pass
