"""A Delta destination in a folder of its own, and one stream that feeds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seamark.destinations.delta import publish
from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.testing.destination import Feed


@pytest.fixture
def destination(tmp_path: Path) -> DeltaDestination:
    return DeltaDestination(DeltaOptions(path="lake"), tmp_path)


@pytest.fixture
def feed(destination: DeltaDestination) -> Feed:
    """A stream whose table is there, empty."""
    feed = Feed(destination)
    feed.create()
    return feed


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """`meanwhile(point, act)`: somebody else acts the first time that a publisher is at the named point."""

    def arrange(point: str, act: Callable[[], object]) -> None:
        waiting = [act]

        def reach(reached: str) -> None:
            if reached == point and waiting:
                waiting.pop()()

        monkeypatch.setattr(publish, "reach", reach)

    return arrange
