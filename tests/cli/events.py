"""A small source of events: one append stream, whose windows are so small that no JVM is started."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.projects import Project


def add_events(project: Project, *ids: int) -> None:
    with closing(sqlite3.connect(project.folder / "source.db")) as source, source:
        source.execute("create table if not exists events (id integer primary key, what text not null)")
        source.executemany("insert into events values (?, ?)", [(number, f"event {number}") for number in ids])


def pipeline(project: Project, name: str, table: str = "events") -> Path:
    return project.pipeline(
        name,
        {"type": "sqlite", "path": "./source.db"},
        [{"name": "events", "table": table, "mode": "append", "cursor": "id"}],
        destination={"type": "delta", "path": f"./lake-{name}"},
    )
