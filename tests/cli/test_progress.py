from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from seamark.cli.progress import Lines, LiveBars, WarningsOnly, plan_in_short, shown
from seamark.model.window import Estimate
from tests.cli.hand_made import EVENTS, idle, plan, stream_plan


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_outside_a_terminal_there_is_a_line_per_phase(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.planned(plan())
    for phase in ("stage", "stage", "prepare", "publish", "commit", "done"):
        lines.phase("orders", phase)
        if phase == "stage":
            lines.rows("orders", 100, 2048)
            clock.now += 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "shop: 1 of 2 streams to run, about 4,200 rows",
        "orders: reading",
        "orders: publishing, 200 rows, 4.1 kB in 4.0 s",
        "orders: committing, 200 rows, 4.1 kB in 4.0 s",
        "orders: done, 200 rows, 4.1 kB in 4.0 s",
    ]


def test_rows_that_keep_coming_are_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.phase("orders", "stage")
    for _ in range(1000):
        clock.now += 0.02
        lines.rows("orders", 10, 10)
    assert 3 <= len(capsys.readouterr().err.splitlines()) <= 5


def test_warnings_come_through_when_all_else_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(quiet=True) as progress:
        assert isinstance(progress, WarningsOnly)
        progress.planned(plan())
        progress.phase("orders", "stage")
        progress.rows("orders", 1, 1)
        progress.warn("mind the gap")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "warning: mind the gap\n")


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(quiet=False) as progress:
        assert isinstance(progress, Lines)


def test_a_closed_stderr_does_not_fail_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    lines = Lines()
    lines.planned(plan())
    lines.phase("orders", "stage")
    lines.warn("nobody hears this")


def test_bars_show_phase_rows_bytes_and_rate() -> None:
    screen = io.StringIO()
    bars = LiveBars()
    bars._bars.live.console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    with bars:
        bars.planned(plan(stream_plan(), idle()))
        bars.phase("orders", "stage")
        bars._moved["orders"].began -= 10
        bars.rows("orders", 4000, 2_000_000)
        bars.phase("orders", "publish")
        bars._bars.refresh()
    drawn = screen.getvalue()
    assert "orders" in drawn
    assert "publishing" in drawn
    assert "4,000" in drawn
    assert "2.0 MB" in drawn
    assert "rows/s" in drawn


def test_a_recovered_stream_is_done_and_one_without_work_has_no_bar() -> None:
    screen = io.StringIO()
    bars = LiveBars()
    bars._bars.live.console = Console(file=screen, force_terminal=True, width=120)
    with bars:
        for phase in ("recover", "publish", "commit"):
            bars.phase("orders", phase)
        for stream in ("customers", "orders"):
            bars.phase(stream, "acknowledge")
    assert [task.finished for task in bars._bars.tasks] == [True]
    assert "recovered" in screen.getvalue()
    assert "customers" not in screen.getvalue()


def test_a_bar_of_unknown_length_and_an_unplanned_stream_do_no_harm() -> None:
    bars = LiveBars()
    bars._bars.live.console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with bars:
        bars.planned(plan(stream_plan(estimate=Estimate())))
        bars.rows("orders", 10, 10)
        bars.phase("a[bold]b", "recover")
        bars.phase("a[bold]b", "done")
        bars.phase("orders", "done")
    assert all(task.finished or task.stop_time is not None for task in bars._bars.tasks)


def test_a_plan_in_a_line() -> None:
    assert plan_in_short(plan(idle(), idle(EVENTS))) == "nothing to do in 2 streams"
    assert plan_in_short(plan(stream_plan(estimate=Estimate()), idle())) == "1 of 2 streams to run"
