"""What every store's checkpoints promise: prepare, commit and the state that follows."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from seamark.errors import LeaseLost, StateConflict, StateError
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Draft
from seamark.model.state import State, StreamState, TableOutcome
from seamark.state.store import StateStore
from seamark.testing.state_store.given import (
    OVER,
    PIPELINE,
    StateStoreFactory,
    at_once,
    elsewhere,
    entombed,
    gone,
    load,
    move,
    number,
    prepare,
    table,
    take,
    took,
    values,
)

TWO_STREAMS = Draft(
    tables=(table("orders"), table("items")),
    bookmarks=(BookmarkChange("orders", None, number(5)), BookmarkChange("items", None, number(6))),
)


def nothing_changed(store: StateStore, before: State) -> bool:
    return store.checkpoints.state(PIPELINE) == before


class PrepareSuite:
    def test_a_pipeline_that_never_ran_has_version_0_and_no_uuid(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        assert store.checkpoints.state(PIPELINE) == State(PIPELINE, "", store.incarnation)
        assert store.checkpoints.prepared(PIPELINE) is None
        assert store.journal.pipelines() == []

    def test_a_prepared_checkpoint_is_what_anyone_can_finish(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        changes = (
            BookmarkChange("orders", number(1), number(2)),
            BookmarkChange("orders", None, Bookmark.of("json", {"page": None}), '{"area":"süd"}'),
            BookmarkChange("orders", Bookmark.of("text", "a"), None, '{"area":"nord"}'),
        )
        draft = Draft((table("orders"),), changes, kind="load", whole=True, reason="because", actor="anna")
        checkpoint = store.checkpoints.prepare(lease, 0, draft, "run-1")
        state = store.checkpoints.state(PIPELINE)
        assert (checkpoint.pipeline, checkpoint.pipeline_uuid) == (PIPELINE, state.uuid)
        assert (checkpoint.incarnation, checkpoint.token) == (lease.incarnation, lease.token)
        assert (checkpoint.seq, checkpoint.run_id, checkpoint.draft) == (1, "run-1", draft)
        assert store_factory().checkpoints.prepared(PIPELINE) == checkpoint

    def test_preparing_moves_no_bookmark(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        before = move(store, lease, load(to=1))
        prepare(store, lease, load(to=2))
        assert store.checkpoints.state(PIPELINE) == dataclasses.replace(before, next_seq=before.next_seq + 1)

    def test_a_number_is_never_used_twice(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        seqs = []
        for finish in (took, entombed, took):
            lease = take(store)
            checkpoint = prepare(store, lease)
            seqs.append(checkpoint.seq)
            assert store.checkpoints.state(PIPELINE).next_seq == checkpoint.seq + 1
            store.checkpoints.commit(lease, checkpoint, finish(checkpoint), [])
        lease = take(store)
        seqs.append(prepare(store, lease).seq)
        store.checkpoints.begin_incarnation(lease)
        seqs.append(prepare(store, take(store)).seq)
        assert seqs == [1, 2, 3, 4, 5]

    def test_prepare_refuses_a_state_that_has_moved_on(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        before = move(store, lease)
        for version in (before.version - 1, before.version + 1):
            with pytest.raises(StateConflict) as refused:
                store.checkpoints.prepare(lease, version, load(to=9), "run-2")
            assert str(before.version) in refused.value.message
            assert refused.value.hint
        assert store.checkpoints.prepared(PIPELINE) is None
        assert nothing_changed(store, before)

    def test_prepare_refuses_while_another_checkpoint_is_prepared(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        first = prepare(store, lease)
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(StateConflict, match="checkpoint 1 "):
            prepare(store, lease, load(to=9))
        assert store.checkpoints.prepared(PIPELINE) == first
        assert nothing_changed(store, before)

    def test_prepare_refuses_a_lost_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lost = take(store, gone())
        take(store, elsewhere("ben"))
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(LeaseLost):
            prepare(store, lost)
        assert nothing_changed(store, before)

    def test_prepare_refuses_a_lease_that_was_given_back(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        store.leases.release(lease)
        with pytest.raises(LeaseLost):
            prepare(store, lease)

    def test_prepare_refuses_an_expired_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store, ttl=OVER)
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(LeaseLost, match="expired"):
            prepare(store, lease)
        assert nothing_changed(store, before)

    def test_a_renewed_lease_prepares_by_its_new_expiry(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        store.leases.renew(lease, OVER)
        with pytest.raises(LeaseLost, match="expired"):
            prepare(store, lease)

    def test_prepare_refuses_a_lease_of_an_earlier_incarnation(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        store.checkpoints.begin_incarnation(lease)
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(LeaseLost):
            prepare(store, lease)
        assert nothing_changed(store, before)

    def test_prepare_refuses_a_pipeline_the_store_does_not_know(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = dataclasses.replace(take(store), pipeline="unknown")
        with pytest.raises(LeaseLost):
            prepare(store, lease)

    def test_of_two_who_prepare_at_once_one_does(self, store_factory: StateStoreFactory) -> None:
        one, other = store_factory(), store_factory()
        lease = take(one)
        for turn in range(5):
            version = one.checkpoints.state(PIPELINE).version
            results = at_once(
                [partial(store.checkpoints.prepare, lease, version, load(), "run") for store in (one, other)]
            )
            winners = [result for result in results if not isinstance(result, Exception)]
            assert len(winners) == 1, results
            assert any(isinstance(result, StateConflict) for result in results), results
            assert one.checkpoints.prepared(PIPELINE) == winners[0]
            assert winners[0].seq == turn + 1
            one.checkpoints.commit(lease, winners[0], took(winners[0]), [])


class CommitSuite:
    def test_a_commit_moves_the_bookmarks(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        before = store.checkpoints.state(PIPELINE)
        checkpoint = prepare(store, lease, load(to=7), run_id="run-7")
        facts = [StreamState("orders", cursor="updated_at", mode="merge", rows_total=99, recorded=99)]
        state = store.checkpoints.commit(lease, checkpoint, took(checkpoint, rows=12), facts)
        assert state == store_factory().checkpoints.state(PIPELINE)
        assert (state.version, state.epoch, state.uuid) == (before.version + 1, 1, before.uuid)
        assert store.checkpoints.prepared(PIPELINE) is None
        stream = state.stream("orders")
        assert (stream.cursor, stream.mode, stream.rows_total) == ("updated_at", "merge", 12)
        assert stream.recorded == checkpoint.number
        stored = stream.bookmarks[0]
        assert (stored.bookmark, stored.partition, stored.run_id, stored.version) == (number(7), "{}", "run-7", 1)
        assert stream.last_sync == stored.updated_at
        assert abs(stored.updated_at - datetime.now(UTC)) < timedelta(minutes=5)

    def test_versions_grow_by_one(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        assert [move(store, lease, load(to=i)).version for i in range(4)] == [1, 2, 3, 4]

    def test_an_entombed_stream_stays_where_it_was(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        before = move(store, lease, load(to=1))
        checkpoint = prepare(store, lease, load(to=2))
        state = store.checkpoints.commit(lease, checkpoint, entombed(checkpoint), [])
        assert state.version == before.version + 1
        assert values(state) == values(before)
        assert state.stream("orders") == dataclasses.replace(before.stream("orders"), recorded=checkpoint.tombstone)
        assert len(store.journal.history(PIPELINE)) == 1

    def test_each_stream_moves_by_its_own_outcome(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease, TWO_STREAMS)
        outcomes = [took(checkpoint)[0], entombed(checkpoint)[1]]
        state = store.checkpoints.commit(lease, checkpoint, outcomes, [])
        assert values(state) == {("orders", "{}"): number(5)}
        assert state.stream("items").recorded == checkpoint.tombstone
        assert (state.stream("items").last_sync, state.stream("items").rows_total) == (None, 0)

    def test_all_or_nothing_means_nothing_when_one_table_lacks_the_rows(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        whole = dataclasses.replace(TWO_STREAMS, whole=True)
        checkpoint = prepare(store, lease, whole)
        state = store.checkpoints.commit(lease, checkpoint, [took(checkpoint)[0], entombed(checkpoint)[1]], [])
        assert values(state) == {}
        assert len(values(move(store, lease, whole))) == 2

    def test_a_bookmark_with_no_table_moves_when_every_table_has_the_rows(
        self, store_factory: StateStoreFactory
    ) -> None:
        store = store_factory()
        lease = take(store)
        extra = BookmarkChange("everything", None, Bookmark.of("json", {"page": 2}))
        draft = dataclasses.replace(TWO_STREAMS, bookmarks=(*TWO_STREAMS.bookmarks, extra))
        checkpoint = prepare(store, lease, draft)
        state = store.checkpoints.commit(lease, checkpoint, [took(checkpoint)[0], entombed(checkpoint)[1]], [])
        assert ("everything", "{}") not in values(state)
        assert values(move(store, lease, draft))["everything", "{}"] == extra.after
        alone = Draft((), (BookmarkChange("everything", extra.after, number(3)),), kind="edit")
        assert values(move(store, lease, alone))["everything", "{}"] == number(3)

    def test_partitions_have_bookmarks_of_their_own(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease, load(to=1, partition='{"area":"a"}'))
        state = move(store, lease, load(to=2, partition='{"area":"b"}'))
        assert values(state) == {("orders", '{"area":"a"}'): number(1), ("orders", '{"area":"b"}'): number(2)}
        assert [b.version for b in state.stream("orders").bookmarks] == [1, 2]
        assert state.stream("orders").rows_total == 20

    def test_a_bookmark_can_be_removed(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease, load(to=1))
        nothing = Draft((table("orders"),), (BookmarkChange("orders", number(1), None),), kind="reset")
        assert values(move(store, lease, nothing)) == {}
        assert values(move(store, lease, nothing)) == {}
        assert values(move(store, lease, load(to=3))) == {("orders", "{}"): number(3)}

    def test_the_epoch_counts_what_was_not_a_load(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        kinds = ("load", "reset", "load", "rewind", "edit")
        assert [move(store, lease, load(to=i, kind=k)).epoch for i, k in enumerate(kinds)] == [1, 2, 2, 3, 4]

    def test_facts_for_people_need_no_table(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease)
        facts = [StreamState("items", cursor="id", mode="append")]
        state = store.checkpoints.commit(lease, checkpoint, took(checkpoint), facts)
        assert (state.stream("items").cursor, state.stream("items").mode) == ("id", "append")
        assert state.stream("items").recorded == -1

    def test_another_holder_can_finish_a_checkpoint(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        checkpoint = prepare(store, take(store, gone()))
        lease = take(store, elsewhere("ben"))
        found = store_factory().checkpoints.prepared(PIPELINE)
        assert found == checkpoint
        assert values(store.checkpoints.commit(lease, found, took(found), [])) == {("orders", "{}"): number(1)}

    def test_holders_that_take_turns_build_on_each_other(self, store_factory: StateStoreFactory) -> None:
        stores = [store_factory() for _ in range(3)]
        for turn in range(9):
            store = stores[turn % 3]
            lease = take(store, elsewhere(f"h{turn % 3}"))
            checkpoint = store.checkpoints.prepare(lease, turn, load(to=turn, partition=f"p{turn % 4}"), "run")
            state = store.checkpoints.commit(lease, checkpoint, took(checkpoint, rows=1), [])
            assert state == stores[turn % 2].checkpoints.state(PIPELINE) == store_factory().checkpoints.state(PIPELINE)
            store.leases.release(lease)
        assert state.stream("orders").rows_total == 9
        assert [b.bookmark for b in state.stream("orders").bookmarks] == [number(n) for n in (8, 5, 6, 7)]

    def test_commit_refuses_a_lost_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lost = take(store, gone())
        checkpoint = prepare(store, lost)
        take(store, elsewhere("ben"))
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(LeaseLost):
            store.checkpoints.commit(lost, checkpoint, took(checkpoint), [])
        assert store.checkpoints.prepared(PIPELINE) == checkpoint
        assert nothing_changed(store, before)

    def test_commit_refuses_an_expired_lease(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease)
        lease = store.leases.renew(lease, OVER)
        with pytest.raises(LeaseLost, match="expired"):
            store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
        assert store.checkpoints.prepared(PIPELINE) == checkpoint

    def test_commit_refuses_a_lease_of_an_earlier_incarnation(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease)
        store.checkpoints.begin_incarnation(lease)
        with pytest.raises(LeaseLost):
            store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])
        assert values(store.checkpoints.state(PIPELINE)) == {}

    def test_commit_refuses_a_checkpoint_that_is_no_longer_the_prepared_one(
        self, store_factory: StateStoreFactory
    ) -> None:
        store = store_factory()
        lease = take(store)
        first = prepare(store, lease, load(to=1))
        store.checkpoints.commit(lease, first, took(first), [])
        before = store.checkpoints.state(PIPELINE)
        with pytest.raises(StateConflict):
            store.checkpoints.commit(lease, first, took(first), [])
        assert nothing_changed(store, before)
        second = prepare(store, lease, load(to=2))
        with pytest.raises(StateConflict):
            store.checkpoints.commit(lease, first, took(first), [])
        assert store.checkpoints.prepared(PIPELINE) == second

    def test_commit_needs_to_know_what_every_table_holds(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease, TWO_STREAMS)
        with pytest.raises(StateError, match="items"):
            store.checkpoints.commit(lease, checkpoint, took(checkpoint)[:1], [])
        assert store.checkpoints.prepared(PIPELINE) == checkpoint

    def test_of_two_who_commit_at_once_one_does(self, store_factory: StateStoreFactory) -> None:
        one, other = store_factory(), store_factory()
        lease = take(one)
        for turn in range(5):
            checkpoint = prepare(one, lease, load(to=turn))
            outcomes = took(checkpoint)
            results = at_once(
                [partial(store.checkpoints.commit, lease, checkpoint, outcomes, []) for store in (one, other)]
            )
            assert sum(isinstance(result, State) for result in results) == 1, results
            assert sum(isinstance(result, StateConflict) for result in results) == 1, results
            state = one.checkpoints.state(PIPELINE)
            assert (state.version, state.stream("orders").rows_total) == (turn + 1, 10 * (turn + 1))

    def test_a_reader_sees_one_version(self, store_factory: StateStoreFactory) -> None:
        """Two streams move together; whoever reads meanwhile never sees one of them ahead."""
        writer, reader = store_factory(), store_factory()
        lease = take(writer)
        rounds = 30

        def both(to: int) -> Draft:
            changes = tuple(BookmarkChange(name, None, number(to)) for name in ("orders", "items"))
            return Draft((table("orders"), table("items")), changes)

        def write() -> int:
            return [move(writer, lease, both(i)).version for i in range(rounds)][-1]

        def read() -> list[State]:
            seen = [reader.checkpoints.state(PIPELINE)]
            while seen[-1].version < rounds:
                seen.append(reader.checkpoints.state(PIPELINE))
            return seen

        written, seen = at_once([write, read])
        assert written == rounds
        for state in seen:
            assert state.stream("orders").bookmark() == state.stream("items").bookmark()
            assert all(bookmark.version == state.version for s in state.streams.values() for bookmark in s.bookmarks)

    def test_outcomes_may_be_of_tables_that_hold_more(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease)
        outcomes = [TableOutcome("orders", False, recorded=41)]
        assert store.checkpoints.commit(lease, checkpoint, outcomes, []).stream("orders").recorded == 41
