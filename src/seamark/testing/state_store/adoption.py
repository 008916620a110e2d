"""What every store promises about adoption, incarnations and what was published."""

from __future__ import annotations

import pytest

from seamark.errors import LeaseLost, StateConflict
from seamark.testing.state_store.given import (
    OVER,
    PIPELINE,
    StateStoreFactory,
    elsewhere,
    entombed,
    load,
    move,
    prepare,
    take,
    took,
    values,
)


class AdoptionSuite:
    def test_adopting_notes_what_the_tables_hold(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        assert not store.checkpoints.state(PIPELINE).adopted
        state = store.checkpoints.adopt(lease, 20, {"orders": 39, "items": -1}, "uuid-of-the-tables")
        assert (state.adopted, state.next_seq, state.uuid, state.version) == (True, 20, "uuid-of-the-tables", 1)
        assert {name: stream.recorded for name, stream in state.streams.items()} == {"orders": 39, "items": -1}
        assert state == store_factory().checkpoints.state(PIPELINE)
        assert prepare(store, lease).seq == 20

    def test_adopting_never_lowers_the_number(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease)
        before = move(store, lease)
        after = store.checkpoints.adopt(lease, 1, {"orders": 5}, before.uuid)
        assert after.next_seq == before.next_seq == 3
        assert after.version == before.version + 1
        assert values(after) == values(before)
        assert (after.stream("orders").recorded, after.stream("orders").rows_total) == (5, 20)

    def test_until_rows_are_committed_what_an_adopted_table_holds_is_not_this_stores(
        self, store_factory: StateStoreFactory
    ) -> None:
        store = store_factory()
        lease = take(store)
        before = move(store, lease)
        adopted = store.checkpoints.adopt(lease, 1, {"orders": 5}, before.uuid)
        assert (before.stream("orders").last_sync is None, adopted.stream("orders").last_sync) == (False, None)
        assert store_factory().checkpoints.state(PIPELINE).stream("orders").last_sync is None
        assert move(store, lease).stream("orders").last_sync is not None

    def test_adopting_takes_the_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        expired = take(store, ttl=OVER)
        with pytest.raises(LeaseLost):
            store.checkpoints.adopt(expired, 5, {}, "u")
        lost = take(store, ttl=OVER)
        current = take(store, elsewhere("ben"))
        with pytest.raises(LeaseLost):
            store.checkpoints.adopt(lost, 5, {}, "u")
        store.checkpoints.begin_incarnation(current)
        with pytest.raises(LeaseLost):
            store.checkpoints.adopt(current, 5, {}, "u")
        assert not store.checkpoints.state(PIPELINE).adopted

    def test_adopting_waits_for_what_is_prepared(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        prepare(store, lease)
        with pytest.raises(StateConflict):
            store.checkpoints.adopt(lease, 5, {}, "u")

    def test_a_new_incarnation_voids_every_lease_and_prepared_checkpoint(
        self, store_factory: StateStoreFactory
    ) -> None:
        store, other = store_factory(), store_factory()
        leases = {name: take(store, pipeline=name) for name in (PIPELINE, "other")}
        for lease in leases.values():
            store.checkpoints.adopt(lease, 1, {}, "u")
            move(store, lease, load(to=3))
        prepared = {name: prepare(store, lease) for name, lease in leases.items()}
        before = store.incarnation
        other.checkpoints.begin_incarnation(leases[PIPELINE])
        assert store.incarnation == other.incarnation != before
        for name, lease in leases.items():
            assert store.checkpoints.prepared(name) is None
            assert store.leases.current(name) is None
            with pytest.raises(LeaseLost):
                store.checkpoints.commit(lease, prepared[name], took(prepared[name]), [])
            state = store.checkpoints.state(name)
            assert (state.adopted, state.incarnation) == (False, store.incarnation)
            assert (state.next_seq, len(values(state))) == (3, 1)

    def test_the_next_holder_goes_on_in_the_new_incarnation(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        old = take(store)
        stale = prepare(store, old)
        store.checkpoints.begin_incarnation(old)
        lease = take(store, elsewhere("ben"))
        assert (lease.incarnation, lease.token) == (store.incarnation, old.token + 1)
        with pytest.raises(StateConflict):
            store.checkpoints.commit(lease, stale, took(stale), [])
        store.checkpoints.adopt(lease, 9, {"orders": 17}, store.checkpoints.state(PIPELINE).uuid)
        assert prepare(store, lease).seq == 9

    def test_only_the_holder_begins_an_incarnation(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        before = store.incarnation
        expired = take(store, ttl=OVER)
        with pytest.raises(LeaseLost):
            store.checkpoints.begin_incarnation(expired)
        lease = take(store, elsewhere("ben"))
        checkpoint = prepare(store, lease)
        with pytest.raises(LeaseLost):
            store.checkpoints.begin_incarnation(expired)
        assert store.incarnation == before
        assert store.checkpoints.prepared(PIPELINE) == checkpoint
        store.checkpoints.begin_incarnation(lease)
        with pytest.raises(LeaseLost):
            store.checkpoints.begin_incarnation(lease)

    def test_a_new_incarnation_is_noted(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        before = store.incarnation
        store.checkpoints.begin_incarnation(take(store))
        line = store.journal.audit(PIPELINE)[0]
        assert (line["before"], line["after"]) == (before, store.incarnation)

    def test_the_incarnation_stays_when_the_store_is_opened_again(self, store_factory: StateStoreFactory) -> None:
        assert store_factory().incarnation == store_factory().incarnation

    def test_published_is_what_is_prepared_or_in_a_table(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        assert store.checkpoints.published(PIPELINE, {(1, 1)}) == frozenset()
        in_table = prepare(store, lease)
        store.checkpoints.commit(lease, in_table, took(in_table), [])
        in_none = prepare(store, lease)
        store.checkpoints.commit(lease, in_none, entombed(in_none), [])
        waiting = prepare(store, lease)
        pairs = [(c.token, c.seq) for c in (in_table, in_none, waiting)]
        strangers = [(lease.token, 99), (lease.token + 1, in_table.seq)]
        found = store.checkpoints.published(PIPELINE, [*pairs, *strangers])
        assert found == {pairs[0], pairs[2]}
        assert store.checkpoints.published(PIPELINE, [pairs[2]]) == {pairs[2]}
        assert store.checkpoints.published(PIPELINE, []) == frozenset()
        assert store.checkpoints.published("other", pairs) == frozenset()

    def test_published_answers_for_many(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        move(store, take(store))
        candidates = {(1, seq) for seq in range(1, 2500)}
        assert store.checkpoints.published(PIPELINE, candidates) == {(1, 1)}
