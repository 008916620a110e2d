"""No room left while rows are staged. The disk is a small tmpfs in a mount namespace of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.case import Case
from tests.crash.conftest import Cases
from tests.crash.databases import TABLE, create_table
from tests.projects import Finished


class SmallDisk:
    """A tmpfs over a folder; only commands that are run through this see it."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        folder.mkdir()
        # Whoever may not mount anything may do so in a user namespace, where such are allowed.
        self._may_mount = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
        as_root = [] if self._may_mount else ["--map-root-user"]
        mount = 'mount -t tmpfs -o "size=$2" tmpfs "$1" && echo && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "--mount", *as_root, "sh", "-c", mount, "sh", str(folder), size],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline(), (
            "no tmpfs can be mounted here: let this user mount, or make user namespaces"
        )

    def run(self, *command: str | Path, cwd: Path) -> Finished:
        as_root = [] if self._may_mount else ["--user", "--preserve-credentials"]
        inside = ["nsenter", "--target", str(self._holder.pid), "--mount", *as_root]
        done = subprocess.run(
            [*inside, "sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", cwd, *command],
            capture_output=True,
            text=True,
            timeout=240,
        )
        return Finished(tuple(map(str, command)), done.returncode, done.stdout, done.stderr)

    def grow(self, size: str) -> None:
        assert self.run("mount", "-o", f"remount,size={size}", self.folder, cwd=Path("/")).status == 0

    def bring_out(self) -> None:
        """Copy what is on it to where everyone sees it."""
        shutil.copytree(f"/proc/{self._holder.pid}/root{self.folder}", self.folder, dirs_exist_ok=True)

    def remove(self) -> None:
        self._holder.kill()
        self._holder.communicate()


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[SmallDisk]:
    disk = SmallDisk(folder, size)
    try:
        yield disk
    finally:
        disk.remove()


def fill_with_incompressible_rows(case: Case) -> None:
    """Three megabytes of them."""
    create_table(case.database, keyed=False)
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)"
    case.database.execute(f"insert into {TABLE} (id, version, note) {numbers} select i, 1, randomblob(1000) from n")
    case.moved = 3000


@pytest.mark.parametrize("skip_below", [1_000_000, pytest.param(0, marks=pytest.mark.slow)], ids=["driver", "task"])
def test_no_room_left_while_staging(cases: Cases, skip_below: int) -> None:
    case = cases.fresh("sqlite", "append", fill=False)
    case.configure(skip_below)
    fill_with_incompressible_rows(case)
    command = (sys.executable, "-m", "seamark.cli.main", "run", case.name, "--json")
    with small_disk(case.table.parent, "1m") as disk:
        done = disk.run(*command, cwd=case.project.folder)
        assert done.status == 1, repr(done)
        assert f"no room left to stage files in {case.table / 'staged'}" in done.err
        assert "of 1,048,576 bytes are free" in done.err
        assert "free some space there" in done.err
        assert "Traceback" not in done.err
        disk.grow("64m")
        disk.run(*command, cwd=case.project.folder).ok()
        disk.bring_out()
    case.require_agreement()
    assert case.run().ok().json["status"] == "skipped"
