"""State and tables that don't belong together any more: someone deleted, restored, copied or renamed something."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.crash.case import Case
from tests.crash.conftest import Cases
from tests.crash.databases import row
from tests.crash.processes import go_on
from tests.crash.test_staged_files import newest_staged
from tests.projects import Finished


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def remove_store(case: Case) -> None:
    for file in case.store.parent.glob("state.db*"):
        file.unlink()


def back_up(case: Case) -> Path:
    backup = case.project.folder / "backup.db"
    with closing(sqlite3.connect(case.store)) as store, closing(sqlite3.connect(backup)) as copy:
        store.backup(copy)
    return backup


def put_back(case: Case, backup: Path) -> None:
    remove_store(case)
    shutil.copy(backup, case.store)


def require_refusal(done: Finished) -> None:
    assert done.status == 3, repr(done)
    assert "--full-refresh" in done.err
    assert "Traceback" not in done.err


def require_full_refresh_to_mend_it(case: Case) -> None:
    case.run("--full-refresh").ok()
    case.require_rows()
    if case.mode != "replace":
        assert case.run().ok().json["status"] == "skipped"
    case.change(version=4)
    case.run().ok()
    case.require_rows()
    status = case.look().status
    assert (status.prepared, status.lease) == (None, None)


@pytest.mark.parametrize(
    ("mode", "crashed_at"),
    [
        ("append", None),
        ("append", "prepare.after"),
        pytest.param("append", "publish.written", marks=pytest.mark.slow),
        pytest.param("merge", None, marks=pytest.mark.slow),
        pytest.param("replace", "publish.written", marks=pytest.mark.slow),
    ],
)
def test_a_state_store_that_was_deleted(cases: Cases, mode: str, crashed_at: str | None) -> None:
    """Going on from nothing would double every row, or skip those whose numbers the table has seen."""
    case = cases.loaded("sqlite", mode)
    case.change()
    if crashed_at:
        case.crash(crashed_at)
    remove_store(case)
    before = files_below(case.table)
    if mode != "replace":
        for _ in range(2):
            require_refusal(case.run())
        assert files_below(case.table) == before
    require_full_refresh_to_mend_it(case)


@pytest.mark.parametrize("store", ["deleted", pytest.param("put back", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "point", ["stage.before", *(pytest.param(p, marks=pytest.mark.slow) for p in ("prepare.after", "publish.written"))]
)
def test_killed_in_the_full_refresh_that_mends_it(cases: Cases, point: str, store: str) -> None:
    """Until it is prepared the table holds rows that the store knows nothing of; adding to them would double some."""
    case = cases.loaded("sqlite", "append")
    backup = back_up(case)
    case.change()
    if store == "put back":
        case.run().ok()
        put_back(case, backup)
        require_refusal(case.run())
    else:
        remove_store(case)
    case.crash(point, "--full-refresh")
    if point == "stage.before":
        for _ in range(2):
            require_refusal(case.run())
        case.run("--full-refresh").ok()
    else:
        case.run().ok()
    case.require_rows()
    assert case.run().ok().json["status"] == "skipped"
    case.change(version=3)
    case.run().ok()
    case.require_rows()


@pytest.mark.slow
def test_the_full_refresh_that_mends_it_loses_its_files(cases: Cases) -> None:
    """Its tombstone must not pass for rows."""
    case = cases.loaded("sqlite", "append")
    case.change()
    remove_store(case)
    case.crash("prepare.after", "--full-refresh")
    for file in newest_staged(case.table):
        file.unlink()
    for _ in range(2):
        require_refusal(case.run())
    require_full_refresh_to_mend_it(case)


@pytest.mark.parametrize("crashed_at", [None, pytest.param("publish.written", marks=pytest.mark.slow)])
def test_an_older_backup_of_the_state_store(cases: Cases, crashed_at: str | None) -> None:
    case = cases.loaded("sqlite", "append")
    backup = back_up(case)
    case.change()
    if crashed_at:
        case.crash(crashed_at)
    else:
        case.run().ok()
    case.change(version=3)
    put_back(case, backup)
    before = files_below(case.table)
    for _ in range(2):
        require_refusal(case.run())
    assert files_below(case.table) == before
    require_full_refresh_to_mend_it(case)


@pytest.mark.slow
def test_a_backup_from_the_middle_of_a_checkpoint(cases: Cases) -> None:
    """It says that a checkpoint is prepared which the table is long past."""
    case = cases.loaded("sqlite", "append")
    case.change()
    case.crash("prepare.after")
    backup = back_up(case)
    case.run().ok()
    case.change(version=3)
    case.run().ok()
    put_back(case, backup)
    before = files_below(case.table)
    for _ in range(2):
        require_refusal(case.run())
    assert files_below(case.table) == before
    require_full_refresh_to_mend_it(case)


@pytest.mark.slow
def test_a_backup_from_the_middle_of_a_checkpoint_that_is_the_tables_last(cases: Cases) -> None:
    """The table has what the backup says is prepared: nothing was lost, and recovery finds it."""
    case = cases.loaded("sqlite", "append")
    case.change()
    case.crash("publish.written")
    backup = back_up(case)
    case.run().ok()
    put_back(case, backup)
    case.require_recovery()


def another_project(cases: Cases, case: Case) -> Case:
    """One with the same pipeline name and the same tables, and a state store of its own."""
    other = cases.fresh("sqlite", case.mode)
    other.configure(destination={"type": "delta", "path": str(case.table.parent)})
    return other


def test_two_projects_with_one_pipeline_name_on_the_same_tables(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    other = another_project(cases, case)
    before = files_below(case.table)
    for _ in range(2):
        require_refusal(other.run())
    assert files_below(case.table) == before
    case.change()
    case.require_recovery()


@pytest.mark.slow
def test_a_second_project_that_takes_over_with_a_full_refresh_keeps_the_first_one_out(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    other = another_project(cases, case)
    other.database.insert([row(1000, 1)])
    other.run("--full-refresh").ok()
    before = files_below(case.table)
    case.change()
    for _ in range(2):
        require_refusal(case.run())
    assert files_below(case.table) == before


@pytest.mark.slow
@pytest.mark.parametrize("point", ["stage.after", "publish.looked"])
def test_two_projects_that_both_find_the_table_empty(cases: Cases, point: str) -> None:
    """The second takes the table over while the first is about to write its first rows, which must not get in."""
    case = cases.fresh("sqlite", "append")
    other = another_project(cases, case)
    with case.stopped(point) as first:
        other.run().ok()
        before = files_below(case.table / "_delta_log")
        go_on(first)
        out, err = first.communicate(timeout=60)
    assert first.returncode == 3, out + err
    assert "Traceback" not in err
    assert files_below(case.table / "_delta_log") == before


def test_a_pipeline_that_was_renamed(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    case.change()
    (case.project.folder / "pipelines" / "shop.yaml").unlink()
    case.name = "store"
    case.configure()
    before = files_below(case.table)
    done = case.run()
    assert done.status == 1, repr(done)
    assert "belongs to the pipeline 'shop'" in done.err
    assert "'store'" in done.err
    assert "call it by its old name" in done.err
    assert files_below(case.table) == before
    (case.project.folder / "pipelines" / "store.yaml").unlink()
    case.name = "shop"
    case.configure()
    case.require_recovery()
