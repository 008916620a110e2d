"""Whether source, destination and state agree: every value of every row, every number, every bookmark."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from seamark.app import App
from seamark.config.project import Project
from seamark.model.document import state_document
from seamark.model.state import HistoryEntry, State
from seamark.model.status import PipelineStatus
from tests.crash.databases import Database, Row


class Looked:
    """What the state store says of a pipeline."""

    def __init__(self, folder: Path, pipeline: str) -> None:
        app = App(Project.find(folder))
        try:
            self.state: State = app.state_show(pipeline)
            self.history: list[HistoryEntry] = app.state_history(pipeline, limit=1000)[::-1]
            (self.status,) = app.status([pipeline])
        finally:
            app.close()

    status: PipelineStatus

    @property
    def document(self) -> dict[str, Any]:
        """What `state show --json` prints."""
        return state_document(self.state)


def rows_of(table: Path) -> tuple[tuple[str, ...], Counter[Row]]:
    """The columns of a Delta table, and how often each row stands in it."""
    import pyarrow
    from deltalake import DeltaTable, QueryBuilder

    held = pyarrow.table(QueryBuilder().register("held", DeltaTable(table)).execute("select * from held").read_all())
    values = [[_told_alike(value) for value in column.to_pylist()] for column in held.columns]
    return tuple(held.column_names), Counter(zip(*values, strict=True)) if held.num_rows else Counter()


def log_of(table: Path) -> list[dict[str, Any]]:
    """The actions of a Delta table's log, in order."""
    files = sorted((table / "_delta_log").glob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def recorded_numbers(table: Path) -> list[int]:
    """What checkpoints wrote into the table: 2·seq for rows, 2·seq+1 for a tombstone."""
    return [action["txn"]["version"] for action in log_of(table) if "txn" in action]


def require_same_rows(database: Database, table: Path) -> None:
    """The destination is the source: each row as often, with the same values."""
    names, here = database.select()
    columns, there = rows_of(table)
    assert columns == names
    missing, surplus = here - there, there - here
    assert not missing, f"{missing.total()} rows are not in the destination, such as {next(iter(missing))}"
    assert not surplus, f"{surplus.total()} rows should not be in the destination, such as {next(iter(surplus))}"


def require_fitting_state(looked: Looked, table: Path, stream: str, cursor: str) -> None:
    """The state says what the table holds, and nothing is left half done."""
    state = looked.state.stream(stream)
    assert looked.status.prepared is None, "a checkpoint is still prepared"
    assert looked.status.lease is None, "the lease was not given back"
    assert looked.status.last_run is not None
    assert looked.status.last_run.status in ("succeeded", "skipped")
    numbers = recorded_numbers(table)
    assert numbers == sorted(set(numbers)), f"numbers only grow: {numbers}"
    assert state.recorded == numbers[-1], "the state and the table name different checkpoints as the last"
    if cursor:
        names, rows = rows_of(table)
        newest = max(values[names.index(cursor)] for values in rows)
        (bookmark,) = looked.document["streams"][stream]["bookmarks"]
        assert bookmark["value"] == str(newest + 1)
        assert bookmark["partition"] == {}


def require_unbroken_history(looked: Looked) -> None:
    """A version for each checkpoint and one for the first look at the tables; replayed, history gives the state."""
    state, replayed = looked.state, {}
    assert state.version == state.next_seq, "the version does not grow by one with each checkpoint"
    versions = [entry.version for entry in looked.history]
    assert versions == sorted(set(versions))
    for entry in looked.history:
        key = entry.stream, entry.partition
        assert replayed.get(key) == entry.before, f"version {entry.version} does not go on from where it was"
        assert entry.after is not None
        replayed[key] = entry.after
    there = {(s.name, b.partition): b.bookmark for s in state.streams.values() for b in s.bookmarks}
    assert replayed == there


def require_no_strays(table: Path) -> None:
    """No staged file stays that was never published."""
    added = {unquote(action["add"]["path"]) for action in log_of(table) if "add" in action}
    staged = {str(path.relative_to(table)) for path in (table / "staged").rglob("*") if path.is_file()}
    assert staged <= added, f"left behind: {sorted(staged - added)}"


def rows_added(table: Path) -> int:
    """Rows in all files that checkpoints ever added."""
    adds = [action["add"] for action in log_of(table) if "add" in action]
    return sum(json.loads(add["stats"])["numRecords"] for add in adds)


def _told_alike(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
