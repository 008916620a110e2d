"""The compare-and-set: every condition is needed, and each is the one that refuses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from seamark.errors import StateConflict
from seamark.state import conditions
from seamark.state.store import StateStore
from seamark.testing.state_store.given import elsewhere, gone, load, move, prepare, take, took
from tests.state.stores import SqliteFactory


@pytest.fixture
def store(tmp_path: Path) -> StateStore:
    return SqliteFactory(tmp_path / "state.db")()


def overtaken(store: StateStore) -> None:
    lost = take(store, gone())
    take(store, elsewhere("ben"))
    prepare(store, lost)


def same_token_of_someone_else(store: StateStore) -> None:
    lease = take(store, elsewhere("ben"))
    prepare(store, dataclasses.replace(lease, holder=elsewhere("anna")))


def expired(store: StateStore) -> None:
    lease = take(store)
    store.leases.renew(lease, -timedelta(seconds=1))
    prepare(store, lease)


def another_incarnation(store: StateStore) -> None:
    lease = take(store)
    store.checkpoints.begin_incarnation(lease)
    prepare(store, lease)


def stale_version(store: StateStore) -> None:
    lease = take(store)
    move(store, lease)
    store.checkpoints.prepare(lease, 0, load(), "run")


def something_prepared(store: StateStore) -> None:
    lease = take(store)
    prepare(store, lease)
    prepare(store, lease)


def no_longer_prepared(store: StateStore) -> None:
    lease = take(store)
    first = prepare(store, lease)
    store.checkpoints.commit(lease, first, took(first), [])
    second = prepare(store, lease)
    store.checkpoints.commit(lease, first, took(first), [])
    assert store.checkpoints.prepared(second.pipeline) is None, "the second one was committed as if it were the first"


CASES: list[tuple[str, Callable[[StateStore], None]]] = [
    ("require_token", overtaken),
    ("require_token", same_token_of_someone_else),
    ("require_unexpired", expired),
    ("require_incarnation", another_incarnation),
    ("require_version", stale_version),
    ("require_nothing_prepared", something_prepared),
    ("require_prepared", no_longer_prepared),
]


@pytest.mark.parametrize(("condition", "break_it"), CASES, ids=[f"{c}-{f.__name__}" for c, f in CASES])
def test_each_condition_is_the_one_that_refuses(
    store: StateStore, monkeypatch: pytest.MonkeyPatch, condition: str, break_it: Callable[[StateStore], None]
) -> None:
    """With all conditions the act is refused; with this one switched off, and no other, it goes through."""
    with pytest.raises(StateConflict):
        break_it(store)
    _start_afresh(store)
    monkeypatch.setattr(conditions, condition, lambda *_: None)
    break_it(store)


def test_every_condition_is_tried() -> None:
    assert {name for name in vars(conditions) if name.startswith("require_")} == {condition for condition, _ in CASES}


def _start_afresh(store: StateStore) -> None:
    """Finish what the refused act left behind and give the lease back."""
    current = store.leases.current("shop")
    lease = take(store, current.holder) if current else take(store)
    checkpoint = store.checkpoints.prepared("shop")
    if checkpoint is not None:
        store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
    store.leases.release(lease)
