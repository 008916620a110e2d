"""Several processes at one table."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.errors import ForeignTable, StateConflict
from seamark.model.checkpoint import Checkpoint, Write
from seamark.testing.destination import Feed, NoSpark, as_set, change_of, orders
from tests.destinations.delta.tables import read_delta_rs

SEQS = 20
ACTORS = 3
ROUNDS = 20


def _feed(folder: str) -> Feed:
    return Feed(DeltaDestination(DeltaOptions(path="lake"), Path(folder)))


def _publish_all(folder: str, checkpoints: list[Checkpoint], barrier: Any) -> int:
    """How many this process found or left in the table; being overtaken by the others is no fault."""
    destination, count = _feed(folder).destination, 0
    barrier.wait()
    for checkpoint in checkpoints:
        try:
            count += destination.publish(checkpoint, change_of(checkpoint), NoSpark()).has_rows
        except StateConflict:
            continue
    return count


def _resolve_each(folder: str, checkpoints: list[Checkpoint], barrier: Any, buries: bool) -> list[tuple[bool, int]]:
    destination, outcomes = _feed(folder).destination, []
    for checkpoint in checkpoints:
        barrier.wait()
        if buries:
            outcome = destination.entomb(checkpoint, change_of(checkpoint))
        else:
            outcome = destination.publish(checkpoint, change_of(checkpoint), NoSpark())
        outcomes.append((outcome.has_rows, outcome.recorded))
    return outcomes


def _create_each(folder: str, owner: str, barrier: Any) -> list[str]:
    found = []
    for number in range(ROUNDS):
        feed = replace(_feed(folder), owner=owner)
        feed = replace(feed, stream=replace(feed.stream, name=f"table-{number}"))
        barrier.wait()
        try:
            feed.create()
            found.append(owner)
        except ForeignTable:
            found.append("foreign")
    return found


def _together(act: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Each call in a process of its own, with a barrier as its last argument but for flags after it."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, ProcessPoolExecutor(len(arguments), mp_context=spawn) as pool:
        barrier = manager.Barrier(len(arguments))
        calls = [pool.submit(act, *first, barrier, *rest) for first, rest in arguments]
        return [call.result(timeout=120) for call in calls]


def test_many_publishers_leave_every_checkpoint_once(tmp_path: Path) -> None:
    feed = _feed(str(tmp_path))
    feed.create()
    checkpoints = [
        feed.checkpoint(seq, Write.APPEND, orders(2 * seq), orders(2 * seq + 1)) for seq in range(1, SEQS + 1)
    ]
    counts = _together(_publish_all, [((str(tmp_path), checkpoints), ())] * ACTORS)
    assert sum(counts) >= SEQS
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(*range(2, 2 * SEQS + 2)))
    facts = feed.destination.facts(feed.table)
    assert facts is not None
    assert facts.recorded == 2 * SEQS


def test_publishers_and_undertakers_agree_on_every_checkpoint(tmp_path: Path) -> None:
    feed = _feed(str(tmp_path))
    feed.create()
    checkpoints = [feed.checkpoint(seq, Write.APPEND, orders(seq)) for seq in range(1, SEQS + 1)]
    shared = (str(tmp_path), checkpoints)
    outcomes = _together(_resolve_each, [(shared, (False,)), (shared, (False,)), (shared, (True,))])
    assert outcomes[0] == outcomes[1] == outcomes[2]
    kept = [checkpoint.seq for checkpoint, (has_rows, _) in zip(checkpoints, outcomes[0], strict=True) if has_rows]
    assert as_set(read_delta_rs(feed.table)) == as_set(orders(*kept))
    assert [recorded for _, recorded in outcomes[0]] == [2 * c.seq + (c.seq not in kept) for c in checkpoints]


@pytest.mark.parametrize("owners", [("one", "one", "one"), ("one", "two", "three")], ids=["same", "different"])
def test_of_several_creators_one_makes_the_table(tmp_path: Path, owners: tuple[str, ...]) -> None:
    feed = _feed(str(tmp_path))
    found = _together(_create_each, [((str(tmp_path), owner), ()) for owner in owners])
    for number, outcomes in enumerate(zip(*found, strict=True)):
        facts = feed.destination.facts(str(tmp_path / "lake" / f"table-{number}"))
        assert facts is not None
        assert facts.version == 0
        assert list(outcomes) == [owner if owner == facts.owner else "foreign" for owner in owners]
