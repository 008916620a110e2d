"""What was staged is lost or damaged before recovery publishes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.agreement import recorded_numbers
from tests.crash.conftest import Cases
from tests.crash.processes import go_on


def deleted(file: Path) -> None:
    file.unlink()


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def with_flipped_bytes(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def newest_staged(table: Path) -> list[Path]:
    folders = sorted((table / "staged").iterdir(), key=lambda folder: int(folder.name.rsplit("-", 1)[1]))
    return sorted(folders[-1].rglob("*.parquet"))


@pytest.mark.parametrize("damage", [truncated, pytest.param(deleted, marks=pytest.mark.slow)])
def test_a_staged_file_lost_while_its_own_run_is_about_to_publish(cases: Cases, damage: Callable[[Path], None]) -> None:
    case = cases.loaded("sqlite", "append")
    case.change()
    with case.stopped("prepare.after") as run:
        damage(newest_staged(case.table)[0])
        go_on(run)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 1, out + err
    assert "staged files were lost before they were published" in err
    assert "run it again" in err
    assert recorded_numbers(case.table)[-1] == 5, "a tombstone for the second checkpoint"
    case.require_recovery()


DAMAGES = (deleted, truncated, with_flipped_bytes)
QUICK = {("append", deleted), ("append", truncated), ("replace", with_flipped_bytes)}


@pytest.mark.parametrize(
    ("mode", "damage"),
    [
        pytest.param(mode, damage, marks=[] if (mode, damage) in QUICK else [pytest.mark.slow])
        for mode in ("append", "merge", "replace")
        for damage in DAMAGES
    ],
)
def test_a_staged_file_that_is_no_longer_what_was_written(
    cases: Cases, mode: str, damage: Callable[[Path], None]
) -> None:
    """Recovery leaves a tombstone instead of the rows, and the same run reads them again."""
    case = cases.loaded("sqlite", mode)
    case.change()
    case.crash("prepare.after")
    seq = case.look().status.prepared
    assert seq is not None
    damage(newest_staged(case.table)[0])
    done = case.run().ok()
    assert done.json["streams"][0]["rows"] > 0
    numbers = recorded_numbers(case.table)
    assert numbers[-2:] == [2 * seq + 1, 2 * seq + 2]
    case.require_agreement()
    case.require_recovery()
