"""What every store's leases promise."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest

from seamark.errors import LeaseHeld, LeaseLost
from seamark.model.state import Holder
from seamark.state.process import this_process
from seamark.testing.state_store.given import (
    LONG,
    OVER,
    PIPELINE,
    StateStoreFactory,
    at_once,
    elsewhere,
    gone,
    someone_with_our_pid,
    take,
)


class LeasesSuite:
    def test_the_first_lease_makes_the_pipeline(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        take(store)
        state = store.checkpoints.state(PIPELINE)
        assert (state.version, state.epoch, state.next_seq, state.adopted, state.streams) == (0, 1, 1, False, {})
        assert len(state.uuid) == 36
        store.leases.release(take(store, pipeline="other"))
        assert store.checkpoints.state("other").uuid != state.uuid

    def test_the_uuid_stays_with_the_pipeline(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        store.leases.release(take(store))
        uuid = store.checkpoints.state(PIPELINE).uuid
        take(store_factory(), elsewhere("ben"))
        assert store.checkpoints.state(PIPELINE).uuid == uuid

    def test_a_lease_says_what_was_taken(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, elsewhere("anna"), LONG)
        assert (lease.pipeline, lease.holder, lease.incarnation) == (PIPELINE, elsewhere("anna"), store.incarnation)
        assert lease.expires_at - lease.acquired_at == LONG
        assert store.leases.current(PIPELINE) == lease == store_factory().leases.current(PIPELINE)

    def test_a_held_lease_is_refused_and_names_the_holder(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, Holder("run-7", "another-host.example", 4711, "1"))
        with pytest.raises(LeaseHeld) as refused:
            take(store_factory(), elsewhere("ben"))
        since = lease.acquired_at.isoformat(timespec="seconds")
        for fact in ("run-7", "another-host.example", "4711", since, PIPELINE):
            assert fact in refused.value.message
        assert refused.value.hint
        assert refused.value.exit_status == 3
        assert store.leases.current(PIPELINE) == lease

    def test_pipelines_have_leases_of_their_own(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        take(store, elsewhere("anna"))
        assert take(store, elsewhere("ben"), pipeline="other").token == 1

    def test_tokens_only_grow(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        tokens = []
        for name in ("anna", "ben", "cleo"):
            lease = take(store, elsewhere(name))
            tokens.append(lease.token)
            store.leases.release(lease)
        tokens.append(take(store, elsewhere("dora"), OVER).token)
        tokens.append(take(store, gone()).token)
        lease = take(store, elsewhere("emil"))
        tokens.append(lease.token)
        store.checkpoints.begin_incarnation(lease)
        tokens.append(take(store, elsewhere("fay")).token)
        assert all(later > earlier for earlier, later in pairwise(tokens)), tokens

    def test_a_holder_may_take_its_own_lease_again(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        first, second = take(store), take(store)
        assert second.token > first.token
        with pytest.raises(LeaseLost):
            store.leases.renew(first, LONG)
        store.leases.renew(second, LONG)

    def test_an_expired_lease_is_taken_over(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        expired = take(store, elsewhere("anna"), OVER)
        assert take(store, elsewhere("ben")).token > expired.token

    def test_a_lease_expires_with_time(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, elsewhere("anna"), timedelta(seconds=0.3))
        deadline = time.monotonic() + 20
        while True:
            try:
                later = take(store, elsewhere("ben"))
                break
            except LeaseHeld:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        assert later.acquired_at >= lease.expires_at

    def test_a_dead_process_of_this_host_is_taken_over_at_once(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        dead = take(store, gone(), LONG)
        assert take(store, elsewhere("ben")).token > dead.token

    def test_a_reused_pid_is_not_mistaken_for_the_holder(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        dead = take(store, someone_with_our_pid(), LONG)
        assert take(store, elsewhere("ben")).token > dead.token

    def test_a_living_process_of_this_host_keeps_its_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        take(store, this_process("run-1"))
        with pytest.raises(LeaseHeld, match="run-1"):
            take(store, this_process("run-2"))

    def test_a_renewed_lease_lives_on(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, elsewhere("anna"), timedelta(seconds=30))
        renewed = store_factory().leases.renew(lease, LONG)
        assert (renewed.token, renewed.acquired_at, renewed.holder) == (lease.token, lease.acquired_at, lease.holder)
        assert renewed.expires_at > lease.expires_at
        assert store.leases.current(PIPELINE) == renewed

    def test_a_lease_that_was_taken_over_is_not_renewed(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lost = take(store, gone())
        current = take(store, elsewhere("ben"))
        with pytest.raises(LeaseLost):
            store.leases.renew(lost, LONG)
        assert store.leases.current(PIPELINE) == current

    def test_an_expired_lease_is_not_renewed(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        with pytest.raises(LeaseLost, match="expired"):
            store.leases.renew(take(store, ttl=OVER), LONG)

    def test_a_lease_of_an_earlier_incarnation_is_not_renewed(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        store.checkpoints.begin_incarnation(lease)
        with pytest.raises(LeaseLost):
            store.leases.renew(lease, LONG)

    def test_a_released_lease_is_free_and_stays_lost(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, elsewhere("anna"))
        store.leases.release(lease)
        assert store.leases.current(PIPELINE) is None
        with pytest.raises(LeaseLost):
            store.leases.renew(lease, LONG)
        take(store, elsewhere("ben"))

    def test_releasing_a_lost_lease_does_nothing(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lost = take(store, gone())
        current = take(store, elsewhere("ben"))
        store.leases.release(lost)
        assert store.leases.current(PIPELINE) == current
        store.leases.release(current)
        store.leases.release(current)

    def test_the_current_lease_is_told_expired_or_not(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        assert store.leases.current(PIPELINE) is None
        expired = take(store, ttl=OVER)
        assert store.leases.current(PIPELINE) == expired
        store.checkpoints.begin_incarnation(take(store))
        assert store.leases.current(PIPELINE) is None

    def test_of_many_who_want_a_lease_at_once_one_gets_it(self, store_factory: StateStoreFactory) -> None:
        stores = [store_factory() for _ in range(4)]
        for pipeline in ("p1", "p2", "p3"):
            want = [partial(take, store, elsewhere(f"h{i}"), pipeline=pipeline) for i, store in enumerate(stores)]
            results = at_once(want)
            winners = [result for result in results if not isinstance(result, Exception)]
            assert len(winners) == 1, results
            assert sum(isinstance(result, LeaseHeld) for result in results) == 3, results
            assert stores[0].leases.current(pipeline) == winners[0]
