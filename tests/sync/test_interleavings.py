"""Any interleaving of workers, crashes, takeovers, resets, lost files and old backups keeps data and state in agreement."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamark.errors import AdoptionRequired, LeaseHeld, SeamarkError
from tests.sync.actors import Actor
from tests.sync.world import Outcome, World, make_steps_of_crash_points

WORKERS = ("P", "Q")
TURNING_POINTS = (
    "checkpoints.adopt",
    "checkpoints.prepare",
    "destination.publish",
    "reach.publish.looked",
    "reach.publish.written",
    "checkpoints.commit",
    "destination.strays",
    "destination.sweep",
)
"""Where being overtaken matters most; generated steps alone seldom stop just there."""
workers = st.sampled_from(WORKERS)


class Interleavings(RuleBasedStateMachine):
    """Workers are the product's own runs; a step is one transaction, one table commit or one look."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        make_steps_of_crash_points(self.patch)
        self.world = World(Path(tempfile.mkdtemp(prefix="seamark-play-")))
        self.actors = {name: Actor(name) for name in WORKERS}
        self.version = 0
        self.backup: Path | None = None
        self.put_back = False
        self.lost_late = False

    @initialize(rows=st.integers(1, 3))
    def rows_to_begin_with(self, rows: int) -> None:
        self.world.insert(rows)

    @rule(name=workers, point=st.sampled_from(TURNING_POINTS), reset=st.booleans())
    def go_on_to(self, name: str, point: str, reset: bool) -> None:
        """One who is idle begins a run; with `reset` one in which a person has everything loaded again."""
        actor = self.actors[name]
        if not actor.busy:
            self.world.begin(actor, full_refresh=reset)
        else:
            actor.step()
        while actor.busy and actor.point != point:
            actor.step()
        self.look_at(actor)

    @rule(name=workers, steps=st.integers(1, 60))
    def go_on(self, name: str, steps: int) -> None:
        actor = self.actors[name]
        for _ in range(steps if actor.busy else 0):
            if not actor.step():
                break
        self.look_at(actor)

    @rule(name=workers, point=st.sampled_from(TURNING_POINTS), reset=st.booleans(), rows=st.integers(0, 1))
    def is_overtaken_at(self, name: str, point: str, reset: bool, rows: int) -> None:
        """Paused there while others finish and more rows arrive, then resumed as a zombie."""
        self.world.insert(rows)
        self.go_on_to(name, point, reset=False)
        self.somebody_takes_over_and_finishes(full_refresh=reset)
        self.go_on(name, steps=100)

    @rule(name=workers, point=st.sampled_from(TURNING_POINTS[2:]), seed=st.integers(0, 1000), zombie=st.booleans())
    def files_are_lost_at(self, name: str, point: str, seed: int, zombie: bool) -> None:
        """The worker is killed there, or paused and resumed once somebody else has resolved its checkpoint."""
        self.world.insert(1)
        self.go_on_to(name, point, reset=False)
        if not zombie:
            self.kill(name)
        self.a_staged_file_is_lost(seed)
        self.somebody_takes_over_and_finishes(full_refresh=False)
        self.go_on(name, steps=100)

    @rule(full_refresh=st.booleans())
    def somebody_takes_over_and_finishes(self, full_refresh: bool) -> None:
        """After everybody's lease has expired; who held one is paused and goes on later."""
        self.judge(self.world.run_alone(full_refresh))

    @rule(name=workers)
    def kill(self, name: str) -> None:
        self.actors[name].kill()

    @rule()
    def leases_expire(self) -> None:
        self.world.expire_leases()

    @rule(rows=st.integers(1, 2))
    def rows_arrive(self, rows: int) -> None:
        self.world.insert(rows)

    @rule(seed=st.integers(0, 1000))
    def a_staged_file_is_lost(self, seed: int) -> None:
        if files := self.world.staged_and_unused():
            # Lost between a worker's last look at its files and its commit is lost after publishing: nothing can help.
            self.lost_late |= any(
                (actor.point or "").startswith(("destination.publish", "reach.publish"))
                for actor in self.actors.values()
            )
            random.Random(seed).choice(files).unlink()

    @rule()
    def back_up(self) -> None:
        self.backup = self.world.back_up()

    @precondition(lambda self: self.backup is not None)
    @rule()
    def an_old_backup_is_put_back(self) -> None:
        """With every worker dead, as whoever does that would see to."""
        for actor in self.actors.values():
            actor.kill()
        assert self.backup is not None
        self.world.put_back(self.backup)
        self.put_back = True

    def look_at(self, actor: Actor) -> None:
        """A worker that ended must have ended with a result, and errors only of the kinds that interference explains."""
        if actor.busy or actor.result is None:
            return
        outcome, actor.result = actor.result, None
        assert not isinstance(outcome, BaseException), outcome
        self.judge(outcome)

    def judge(self, outcome: Outcome) -> None:
        _, error = outcome
        assert error is None or isinstance(error, SeamarkError), error
        if self.put_back and isinstance(error, AdoptionRequired):
            return
        if error is None and not isinstance(error, LeaseHeld):
            self.put_back = False

    @invariant()
    def data_and_state_agree(self) -> None:
        if not self.put_back and not self.lost_late:
            assert self.world.wrong() == ""

    @invariant()
    def versions_grow_by_one_at_a_time(self) -> None:
        version = self.world.state().version
        if not self.put_back:
            assert version >= self.version
        self.version = version

    @invariant()
    def history_gives_the_state(self) -> None:
        assert self.world.history_replays()

    def teardown(self) -> None:
        try:
            for actor in self.actors.values():
                actor.kill()
            if not self.lost_late:
                assert self.world.settle() == ""
        finally:
            self.patch.undo()
            self.world.close()


# 40 examples by default, 400 in the thorough profile: each is a good half second of real commits.
Interleavings.TestCase.settings = settings(max_examples=settings.default.max_examples * 2 // 5, stateful_step_count=30)
TestInterleavings = Interleavings.TestCase
