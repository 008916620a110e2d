"""A case: a project with one pipeline of one stream, its source, and what must hold once a run has ended well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.crash import agreement
from tests.crash.agreement import Looked
from tests.crash.databases import LATER_COLUMN, TABLE, Database, create_table, row, update
from tests.crash.processes import wait_until_stopped
from tests.projects import Finished, Project

NO_JVM = 1_000_000
"""Windows of up to so many rows need no JVM, unless they are merged."""

ACKNOWLEDGE = ("acknowledge.before", "acknowledge.after")

STREAMS: dict[str, dict[str, Any]] = {
    "append": {"name": TABLE, "mode": "append", "cursor": "version"},
    "merge": {"name": TABLE, "mode": "merge", "key": ["id"], "cursor": "version"},
    "replace": {"name": TABLE, "mode": "replace"},
}


class Case:
    def __init__(self, project: Project, database: Database, mode: str, name: str = "shop") -> None:
        self.project = project
        self.database = database
        self.mode = mode
        self.name = name
        self.moved = 0
        """Rows that runs have to move in all, where each moves only what is new."""
        self.keeps_merged_files = False
        """Whether a run died between its commit and the deletion of what it had merged, which VACUUM does then."""

    @property
    def table(self) -> Path:
        return self.project.folder / "lake" / TABLE

    @property
    def store(self) -> Path:
        return self.project.folder / ".seamark" / "state.db"

    def configure(self, skip_below: int = NO_JVM, state_store: dict[str, Any] | None = None, **pipeline: Any) -> None:
        """Write the project's files; more of the pipeline's by keyword."""
        project = {"spark": {"skip_below": skip_below}} | ({"state_store": state_store} if state_store else {})
        self.project.write("seamark.yaml", yaml.safe_dump(project))
        streams = pipeline.pop("streams", [STREAMS[self.mode]])
        self.project.pipeline(self.name, self.database.source, streams, **pipeline)

    def fill(self) -> None:
        """Make the source's table, with what the first run finds in it. Without a key there are rows that are the same
        in every value."""
        create_table(self.database, keyed=self.mode != "append")
        rows = [row(number, 1) for number in range(40)]
        self._insert(rows + rows[:10] if self.mode == "append" else rows)

    def change(self, version: int = 2) -> None:
        """Change the source after it was loaded as far as the mode can follow: it inserts, updates, deletes."""
        new = [row(number, version) for number in range(version * 100, version * 100 + 20)]
        self._insert(new + new[:5] if self.mode == "append" else new)
        if self.mode != "append":
            changed = [row(number, version) for number in range(3, 40, 4)]
            update(self.database, changed)
            self.moved += len(changed)
        if self.mode == "replace":
            self.database.execute(f"delete from {TABLE} where id % 4 = 2")

    def fill_with_long_rows(self, count: int = 130) -> None:
        """A megabyte each: more than a task gathers before it writes, so that it writes while it still reads. For Postgres."""
        create_table(self.database, keyed=self.mode != "append")
        rows = f"select i, 1, repeat(md5(i::text), 31250) from generate_series(1, {count}) i"
        self.database.execute(f"insert into {TABLE} (id, version, name) {rows}")
        self.moved += count

    def add_column(self) -> None:
        name, kind = LATER_COLUMN
        self.database.execute(f"alter table {TABLE} add column {name} {kind}")
        self.database.execute(f"update {TABLE} set {name} = '2024-03-01 12:00:00.000001' where version > 1")

    def run(self, *arguments: str, **environment: str) -> Finished:
        return self.project.run("run", self.name, "--json", *arguments, **environment)

    def crash(self, point: str, *arguments: str) -> None:
        """Run, and be killed there. A point that is never reached fails the test."""
        self.keeps_merged_files = self.mode == "merge" and point in ("commit.after", *ACKNOWLEDGE)
        done = self.run(*arguments, SEAMARK_CRASH_AT=point)
        assert done.status == -signal.SIGKILL, f"was not killed at {point}: {done!r}"

    @contextmanager
    def running(self, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """A run in the background, as if it had a terminal of its own; it does not outlive the block."""
        process = subprocess.Popen(
            [sys.executable, "-m", "seamark.cli.main", "run", self.name, "--json"],
            cwd=self.project.folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    @contextmanager
    def stopped(self, point: str) -> Iterator[subprocess.Popen[str]]:
        """A run that stands still there, until someone lets it go on."""
        with self.running(SEAMARK_STOP_AT=point) as process:
            wait_until_stopped(process)
            yield process

    def look(self) -> Looked:
        return Looked(self.project.folder, self.name)

    def require_rows(self) -> None:
        """Source and destination hold the same rows."""
        agreement.require_same_rows(self.database, self.table)

    def require_agreement(self) -> None:
        """Source, destination and state agree, and nothing is left over."""
        self.require_rows()
        looked = self.look()
        agreement.require_fitting_state(looked, self.table, TABLE, STREAMS[self.mode].get("cursor", ""))
        agreement.require_unbroken_history(looked)
        moved = agreement.rows_added(self.table) if self.mode == "replace" else self.moved
        assert looked.state.stream(TABLE).rows_total == moved
        if not self.keeps_merged_files:
            agreement.require_no_strays(self.table)

    def require_recovery(self) -> None:
        """The next run puts all right, and the one after it finds nothing more to do."""
        self.run().ok()
        self.require_agreement()
        again = self.run().ok().json
        if self.mode == "replace":
            assert again["streams"][0]["rows"] > 0
        else:
            assert (again["status"], again["streams"][0]["rows"], again["spark_started"]) == ("skipped", 0, False)
        self.require_agreement()

    def _insert(self, rows: list[tuple[Any, ...]]) -> None:
        self.database.insert(rows)
        self.moved += len(rows)
