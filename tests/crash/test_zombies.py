"""A run that stands still for so long that its lease ends, and goes on when another one has gone on without it."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.crash.case import Case
from tests.crash.conftest import Cases
from tests.crash.processes import go_on
from tests.crash.test_staged_files import newest_staged
from tests.servers import wait_until

SHORT = {"lease_ttl": "3s"}


def changed(cases: Cases, mode: str = "append", source: str = "sqlite") -> Case:
    case = cases.loaded(source, mode)
    case.configure(stateful_ingestion=SHORT)
    case.change()
    return case


def let_its_lease_end(case: Case, **settings: Any) -> None:
    """Runs from here on have leases of the usual length."""
    case.configure(**settings)
    lease = case.look().status.lease
    assert lease is not None
    wait_until(lambda: datetime.now(UTC) > lease.expires_at, "the lease of the run that stands still ends")


def require_refused(run: subprocess.Popen[str], *words: str) -> None:
    """It goes on, and ends with status 3."""
    go_on(run)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 3, out + err
    assert any(word in err for word in words), err
    assert "Traceback" not in err


def require_nothing_to_do(case: Case) -> None:
    case.require_agreement()
    assert case.run().ok().json["status"] == "skipped"
    case.require_agreement()


@pytest.mark.parametrize("point", ["prepare.before", "commit.before"])
def test_a_run_paused_past_the_end_of_its_lease_is_refused(cases: Cases, point: str) -> None:
    """Even if nobody has taken over meanwhile."""
    case = changed(cases)
    with case.stopped(point) as paused:
        let_its_lease_end(case)
        require_refused(paused, "expired")
    case.require_recovery()


@pytest.mark.parametrize(
    ("mode", "point"),
    [
        ("append", "publish.looked"),
        ("append", "prepare.before"),
        pytest.param("append", "publish.before", marks=pytest.mark.slow),
        pytest.param("append", "publish.written", marks=pytest.mark.slow),
        pytest.param("append", "commit.before", marks=pytest.mark.slow),
        pytest.param("append", "stage.task", marks=pytest.mark.slow),
        pytest.param("merge", "publish.looked", marks=pytest.mark.slow),
        pytest.param("merge", "publish.evolved", marks=pytest.mark.slow),
    ],
)
def test_what_a_publisher_does_after_it_was_overtaken_has_no_effect(cases: Cases, mode: str, point: str) -> None:
    """Stopped between its look at the table and its commit, or around that; recovery does its work, and it finds out."""
    case = changed(cases, mode)
    with case.stopped(point) as zombie:
        let_its_lease_end(case)
        case.run().ok()
        case.require_agreement()
        require_refused(zombie, "lease", "another run went on")
    require_nothing_to_do(case)


@pytest.mark.parametrize(
    "mode",
    [pytest.param("append", marks=pytest.mark.slow), "replace", pytest.param("merge", marks=pytest.mark.slow)],
)
def test_a_publisher_overtaken_by_several_checkpoints(cases: Cases, mode: str) -> None:
    """What it would write is older than what the table has by now."""
    case = changed(cases, mode)
    with case.stopped("publish.looked") as zombie:
        let_its_lease_end(case)
        case.run().ok()
        case.change(version=3)
        case.run().ok()
        case.require_agreement()
        require_refused(zombie, "another run went on")
    case.require_agreement()


@pytest.mark.slow
def test_a_publisher_overtaken_in_a_state_store_on_a_server(cases: Cases, postgres_db: str) -> None:
    """Whose clock decides when a lease is over."""
    store = {"type": "postgres", "url": postgres_db}
    case = cases.fresh("sqlite", "append")
    case.configure(state_store=store)
    case.run().ok()
    case.configure(state_store=store, stateful_ingestion=SHORT)
    case.change()
    with case.stopped("publish.looked") as zombie:
        let_its_lease_end(case, state_store=store)
        case.run().ok()
        case.require_agreement()
        require_refused(zombie, "lease")
    require_nothing_to_do(case)


@pytest.mark.parametrize("mode", ["append", pytest.param("merge", marks=pytest.mark.slow)])
def test_staged_files_lost_while_the_publisher_still_lives(cases: Cases, mode: str) -> None:
    """Its commit would name files that are not there, or rows that were read again: the tombstone keeps it out."""
    case = changed(cases, mode)
    with case.stopped("publish.looked") as zombie:
        for file in newest_staged(case.table):
            file.unlink()
        let_its_lease_end(case)
        case.run().ok()
        case.require_agreement()
        require_refused(zombie, "lease", "another run went on")
    require_nothing_to_do(case)


def test_of_two_runs_at_once_one_works_and_the_other_is_told_who(cases: Cases) -> None:
    import socket

    case = cases.loaded("sqlite", "append")
    case.change()
    with case.stopped("stage.after") as first:
        lease = case.look().status.lease
        assert lease is not None
        second = case.run()
        assert second.status == 3, repr(second)
        for fact in (socket.gethostname(), f"pid {first.pid}", lease.acquired_at.isoformat(timespec="seconds")):
            assert fact in second.err
        go_on(first)
        out, err = first.communicate(timeout=60)
        assert first.returncode == 0, out + err
    require_nothing_to_do(case)
