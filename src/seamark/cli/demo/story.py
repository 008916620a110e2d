"""The demo from beginning to end: build, load, change, crash, recover, and compare every row."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seamark.app import App, RunOutcome
from seamark.cli.demo.agreement import Agreement, compare
from seamark.cli.demo.changes import Changed, a_day_passes, an_hour_passes
from seamark.cli.demo.folder import DemoFolder
from seamark.cli.demo.narrator import Narrator
from seamark.cli.demo.shop import build
from seamark.cli.looking import show_bookmarks, show_changes, show_pipeline
from seamark.cli.output import table
from seamark.cli.planning import show_plan
from seamark.cli.running import show_result
from seamark.cli.stop import Stop
from seamark.cli.wording import count, counted, duration
from seamark.errors import SeamarkError, StateError
from seamark.model.run import RunResult

PIPELINE = "shop"
TABLES = ("customers", "orders", "order_items")
CRASH_AT = "publish.after"
"""The worst moment there is: the rows are in the table, and the state doesn't know it yet."""


@dataclass
class Story:
    """What has happened so far."""

    app: App
    folder: DemoFolder
    narrator: Narrator
    stop: Stop
    began: float = field(default_factory=time.monotonic)
    results: list[tuple[str, RunResult]] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return bool(self.agreements) and all(agreement.holds for agreement in self.agreements)

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder.root),
            "agrees": self.agrees,
            "tables": {
                a.table: {
                    "source_rows": a.source_rows,
                    "destination_rows": a.destination_rows,
                    "differing": a.differing,
                }
                for a in self.agreements
            },
            "runs": [{"step": step} | result.to_json() for step, result in self.results],
            "seconds": round(time.monotonic() - self.began, 3),
        }


def tell(story: Story, rows: int) -> None:
    _build(story, rows)
    for step in (_load, _change, _crash, _recover, _rest, _look, _compare, _what_next):
        story.stop.heed()
        step(story)


def _build(story: Story, rows: int) -> None:
    narrator = story.narrator
    narrator.chapter("A small shop in SQLite", f"about {count(rows)} rows in {_here(story.folder.database)}")
    with narrator.building() as told:
        build(story.folder.database, rows, _now(), told)


def _load(story: Story) -> None:
    story.narrator.chapter(
        "The first load, into Delta tables", "the pipeline is pipelines/shop.yaml; Spark starts now, once"
    )
    story.narrator.command("seamark run")
    _run(story, "load")


def _change(story: Story) -> None:
    changed = a_day_passes(story.folder.database, _now)
    story.changed.append(changed)
    story.narrator.chapter(
        "A day passes",
        f"{counted(changed.new_orders, 'new order')} with {counted(changed.new_items, 'item')}, "
        f"{changed.late_orders} of them reported late by a till that was offline;",
        f"{counted(changed.orders_moved_on, 'order')} paid, shipped or delivered, "
        f"{counted(changed.customers_moved, 'customer')} moved, "
        f"{counted(changed.customers_deleted, 'customer')} marked deleted",
    )
    story.narrator.command("seamark plan")
    plan = story.app.plan(PIPELINE)
    if not story.narrator.silent:
        show_plan(plan)
    story.narrator.command("seamark run")
    _run(story, "change")


def _crash(story: Story) -> None:
    changed = an_hour_passes(story.folder.database, _now)
    story.changed.append(changed)
    story.narrator.chapter(
        "A run is killed half way",
        f"{counted(changed.new_orders, 'order')} more, with {counted(changed.new_items, 'item')}; "
        "a run of its own is killed (kill -9)",
        "at the worst moment: rows are in a table, and the state doesn't know it yet",
    )
    story.narrator.command(f"SEAMARK_CRASH_AT={CRASH_AT} seamark run")
    status = _run_a_child(story, SEAMARK_CRASH_AT=CRASH_AT)
    story.stop.heed()
    if status != -signal.SIGKILL:
        raise StateError(f"the run that was to be killed ended with status {status}", "look at what it said above")
    story.narrator.line("killed")
    story.narrator.command("seamark status")
    if not story.narrator.silent:
        show_pipeline(story.app.status([PIPELINE])[0])


def _recover(story: Story) -> None:
    story.narrator.chapter(
        "The next run recovers", "it looks at what the table holds, finishes that, then goes on from there"
    )
    story.narrator.command("seamark run")
    _run(story, "recover")


def _rest(story: Story) -> None:
    story.narrator.chapter(
        "Nothing new", "a process of its own: it asks the source, finds nothing, and never starts Spark"
    )
    story.narrator.command("seamark run")
    began = time.monotonic()
    status = _run_a_child(story)
    story.stop.heed()
    if status != 0:
        raise StateError(f"a run with nothing to do ended with status {status}", "look at what it said above")
    story.narrator.line(f"({duration(time.monotonic() - began)} from the first to the last instant of the process)")


def _look(story: Story) -> None:
    if story.narrator.silent:
        return
    story.narrator.chapter("What is remembered")
    story.narrator.command("seamark state show shop")
    show_bookmarks(story.app.state_show(PIPELINE))
    story.narrator.command("seamark state history shop")
    show_changes(story.app.state_history(PIPELINE))


def _compare(story: Story) -> None:
    story.narrator.chapter("Do source and destination agree?", "every value of every row, on both sides")
    story.agreements = [compare(story.folder.database, story.folder.lake, name) for name in TABLES]
    if story.narrator.silent:
        return
    rows = [
        (a.table, count(_moved(story, a.table)), count(a.source_rows), count(a.destination_rows), count(a.differing))
        for a in story.agreements
    ]
    table(("table", ">rows moved", ">in the shop", ">in the lake", ">different"), rows, indent=3)
    for agreement in story.agreements:
        if agreement.example:
            story.narrator.line(f"   {agreement.table}: {agreement.example}")
    story.narrator.line()
    story.narrator.line("   they agree" if story.agrees else "   THEY DIFFER")


def _what_next(story: Story) -> None:
    folder = shlex.quote(_here(story.folder.root))
    narrator = story.narrator
    narrator.line()
    narrator.line(f"That took {duration(time.monotonic() - story.began)}. All of it is in {folder}; what next?")
    narrator.line(f"  cd {folder}")
    narrator.line("  seamark plan                      # after you changed shop.db: sqlite3 shop.db")
    narrator.line("  cat pipelines/shop.yaml           # a whole pipeline")
    narrator.line("  ls lake/orders                    # a Delta table: any reader of Delta will do")
    narrator.line("  seamark init ../mine --source postgres   # one of your own")


def _run(story: Story, step: str) -> RunOutcome:
    with story.narrator.progress() as progress:
        outcome = story.app.run(PIPELINE, progress=progress, cancellation=story.stop)
    story.results.append((step, outcome.result))
    if outcome.error is not None:
        raise outcome.error
    if not story.narrator.silent:
        show_result(outcome)
    return outcome


def _run_a_child(story: Story, **environment: str) -> int:
    """`seamark run` in a process of its own, told line by line; its exit status, negative for a signal."""
    child = subprocess.Popen(
        [sys.executable, "-m", "seamark.cli.main", "run", PIPELINE],
        cwd=story.folder.root,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            story.narrator.line(line.rstrip("\n"))
        return child.wait()
    finally:
        if child.poll() is None:
            child.kill()


def _moved(story: Story, name: str) -> int:
    return story.app.state_show(PIPELINE).stream(name).rows_total


def _here(path: Path) -> str:
    """A path as one would type it from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def failed(error: SeamarkError, story: Story) -> Sequence[str]:
    """What to tell when the story breaks off."""
    return (error.message, error.hint or f"what was done so far is in {_here(story.folder.root)}")
