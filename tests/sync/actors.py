"""Actors: real runs of a pipeline in threads that move one step at a time, can be paused for ever, and die without a word.

A step is one call of the state store, the destination or the source, or one named crash point inside a call, so a test
decides every interleaving. An actor that was killed does nothing more: whatever its `finally` blocks try is refused
before it has an effect, as it would be for a process that is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_here = threading.local()
PATIENCE = 60


class Killed(BaseException):
    """Ends an actor's thread; no code under test catches it."""


class Actor:
    """One worker. `point` is where it waits; None when it has nothing to do."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.point: str | None = None
        self.result: Any = None
        self.trail: list[str] = []
        self._turn = threading.Condition()
        self._may_go = False
        self._dead = False
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def start(self, work: Callable[[], Any]) -> None:
        """Begin, and wait at the first step."""
        assert not self.busy
        self._dead, self.result, self.trail = False, None, []
        self._thread = threading.Thread(target=self._work, args=(work,), name=self.name, daemon=True)
        with self._turn:
            self._thread.start()
            self._await_step()

    def step(self) -> bool:
        """Do one step; False when that ended the work."""
        with self._turn:
            self._may_go = True
            self._turn.notify_all()
            self._await_step()
        return self.busy

    def run_to(self, point: str) -> None:
        """Step until it waits at `point`, which is then still to come."""
        while self.point != point:
            assert self.step(), f"{self.name} never came to {point}: {self.trail}"

    def finish(self) -> Any:
        while self.step():
            pass
        return self.result

    def kill(self) -> None:
        if self.busy:
            self._dead = True
            self.finish()

    def gate(self, point: str) -> None:
        """Called by the actor's own thread: wait here for one's turn."""
        with self._turn:
            if not self._dead:
                self.trail.append(point)
                self.point = point
                self._turn.notify_all()
                if not self._turn.wait_for(lambda: self._may_go, PATIENCE):
                    raise TimeoutError(f"{self.name} was left at {point}")
                self._may_go, self.point = False, None
            if self._dead:
                raise Killed

    def _work(self, work: Callable[[], Any]) -> None:
        _here.actor = self
        try:
            self.result = work()
        except Killed:
            self.result = None
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.result = error
        with self._turn:
            self._thread = None
            self.point = None
            self._turn.notify_all()

    def _await_step(self) -> None:
        done = self._turn.wait_for(
            lambda: self._thread is None or (self.point is not None and not self._may_go), PATIENCE
        )
        assert done, f"{self.name} is stuck after {self.trail[-1:]}"


def acting() -> Actor | None:
    """Whose thread this is."""
    return getattr(_here, "actor", None)


def gate_here(point: str) -> None:
    """Stands in for `seamark.crash.reach`: a step of whoever reaches it."""
    actor = acting()
    if actor is not None:
        actor.gate(point)


class Gated:
    """Anything, each of whose methods is a step of the calling actor."""

    def __init__(self, target: Any, name: str) -> None:
        self._target = target
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._target, attribute)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            gate_here(f"{self._name}.{attribute}")
            return value(*args, **kwargs)

        return call


class GatedStore:
    """A state store, each of whose transactions is a step."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.leases = Gated(store.leases, "leases")
        self.checkpoints = Gated(store.checkpoints, "checkpoints")
        self.journal = store.journal
        self.location = store.location

    @property
    def incarnation(self) -> str:
        incarnation: str = self._store.incarnation
        return incarnation
