"""Tells the demo's story to people; says nothing to programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from seamark.cli.demo.shop import Told
from seamark.cli.output import say, write
from seamark.cli.progress import RunProgress, WarningsOnly, shown
from seamark.cli.terminal import is_terminal, styled


class Narrator:
    def __init__(self, silent: bool) -> None:
        self.silent = silent
        self._chapter = 0

    def chapter(self, title: str, *lines: str) -> None:
        self._chapter += 1
        self.line()
        self.line(styled(f"{self._chapter}. {title}", "bold", sys.stdout))
        for line in lines:
            self.line(f"   {line}")

    def command(self, line: str) -> None:
        """What a person would type to get what follows."""
        self.line()
        self.line(styled(f"$ {line}", "cyan", sys.stdout))

    def line(self, text: str = "") -> None:
        if not self.silent:
            write(text + "\n", flush=True)

    @contextmanager
    def progress(self) -> Iterator[RunProgress]:
        with nullcontext(WarningsOnly()) if self.silent else shown(quiet=False) as progress:
            yield progress

    @contextmanager
    def building(self) -> Iterator[Told]:
        """A bar per table on a terminal, a line per table elsewhere."""
        if self.silent:
            yield lambda table, done, total: None
        elif is_terminal(sys.stderr):
            with _building_bars() as told:
                yield told
        else:
            yield _building_line


def _building_line(table: str, done: int, total: int) -> None:
    if done == total:
        say(f"   {table:<12}{total:>9,} rows")


@contextmanager
def _building_bars() -> Iterator[Told]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn

    columns = (
        TextColumn("   {task.description:<12}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:>9,.0f} rows"),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def told(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = bars.add_task(table, total=total)
            bars.update(tasks[table], completed=done)

        yield told
