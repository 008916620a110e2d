"""What every store promises about what it holds: any text, whole rows, a history that adds up, a journal."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from seamark.errors import StateCorruptionError, StateError
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Draft
from seamark.model.state import RunRecord
from seamark.testing.state_store.given import (
    PIPELINE,
    Row,
    StateStoreFactory,
    elsewhere,
    entombed,
    load,
    move,
    number,
    prepare,
    table,
    take,
    took,
    values,
)

BOOKMARKS = [
    Bookmark.parse("integer", "-170141183460469231731687303715884105728"),
    Bookmark.parse("decimal", "12.50"),
    Bookmark.parse("date", "2026-01-31"),
    Bookmark.parse("timestamp", "0001-01-01T00:00:00.000001"),
    Bookmark.parse("timestamptz", "9999-12-31T23:59:59.999999Z"),
    Bookmark.parse("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    Bookmark.parse("bytes", "00ff"),
    Bookmark.parse("log_position", "16/B374D848"),
    Bookmark.of("json", {"page": [1, None, "ü"]}),
    Bookmark.of("text", ""),
    Bookmark.of("text", 'it\'s 100% "quoted" \\ :name ü 漢字 🚢\n'),
    Bookmark.of("text", "nul\x00inside"),
    Bookmark.of("text", 'json:"quoted"'),
    Bookmark.of("text", "x" * 100_000),
]


class ContentsSuite:
    def test_every_bookmark_comes_back_as_it_was(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        changes = tuple(BookmarkChange("orders", None, b, f'{{"n":{i}}}') for i, b in enumerate(BOOKMARKS))
        state = move(store, take(store), Draft((table("orders"),), changes))
        assert state == store_factory().checkpoints.state(PIPELINE)
        assert values(state) == {("orders", change.partition): change.after for change in changes}
        assert {entry.partition: entry.after for entry in store.journal.history(PIPELINE)} == {
            change.partition: change.after for change in changes
        }

    @pytest.mark.parametrize(
        "name", ["with space", 'quo"te', "ap'os", "UPPER", "ünï", "a/b", "%s", ":name", "漢字", ""]
    )
    def test_any_name_will_do(self, store_factory: StateStoreFactory, name: str) -> None:
        store = store_factory()
        lease = take(store, elsewhere(name), pipeline=name)
        state = move(store, lease, load(stream=name, partition=name, reason=name, actor=name), run_id=name)
        assert values(state) == {(name, name): number(1)}
        assert store.leases.current(name) == lease
        assert [p.name for p in store.journal.pipelines()] == [name]
        entry = store.journal.history(name, stream=name)[0]
        assert (entry.stream, entry.actor, entry.reason, entry.run_id) == (name, name, name, name)

    @pytest.mark.parametrize("row", ["pipeline", "stream", "bookmark"])
    def test_a_damaged_row_is_reported_and_not_used(self, store_factory: StateStoreFactory, row: Row) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease)
        store_factory.damage(row, PIPELINE)
        with pytest.raises(StateCorruptionError) as reported:
            store.checkpoints.state(PIPELINE)
        assert f"{row}s" in reported.value.message
        assert PIPELINE in reported.value.message
        assert reported.value.hint
        with pytest.raises(StateCorruptionError):
            move(store, lease, load(to=2))

    @pytest.mark.parametrize("row", ["stream", "bookmark"])
    def test_a_lost_row_is_noticed(self, store_factory: StateStoreFactory, row: Row) -> None:
        store = store_factory()
        move(store, take(store))
        if row == "stream":
            store_factory.lose("bookmark", PIPELINE)
        store_factory.lose(row, PIPELINE)
        with pytest.raises(StateCorruptionError, match=PIPELINE):
            store.checkpoints.state(PIPELINE)

    def test_a_damaged_or_lost_checkpoint_is_not_finished(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        checkpoint = prepare(store, lease)
        for harm in (store_factory.damage, store_factory.lose):
            harm("checkpoint", PIPELINE)
            with pytest.raises(StateCorruptionError, match=PIPELINE):
                store.checkpoints.prepared(PIPELINE)
            with pytest.raises(StateCorruptionError, match=PIPELINE):
                store.checkpoints.commit(lease, checkpoint, took(checkpoint), [])

    def test_a_damaged_history_is_not_shown_as_if_it_were_true(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        move(store, take(store))
        store_factory.damage("history", PIPELINE)
        with pytest.raises(StateCorruptionError, match="history"):
            store.journal.history(PIPELINE)

    @pytest.mark.parametrize("seed", range(3))
    def test_history_replays_to_the_state(self, store_factory: StateStoreFactory, seed: int) -> None:
        store = store_factory()
        lease = take(store)
        choose = random.Random(seed)  # noqa: S311 - which tests to make, not a secret
        for _ in range(25):
            names = choose.sample(["orders", "items", "customers"], choose.randint(1, 3))
            changes = tuple(
                BookmarkChange(name, None, choose.choice([None, number(choose.randint(0, 4))]), f'{{"p":{p}}}')
                for name in names
                for p in choose.sample(range(3), choose.randint(0, 3))
            )
            checkpoint = prepare(store, lease, Draft(tuple(table(name) for name in names), changes))
            outcomes = [choose.choice([took, entombed])(checkpoint)[i] for i in range(len(names))]
            store.checkpoints.commit(lease, checkpoint, outcomes, [])
        replayed: dict[tuple[str, str], Bookmark] = {}
        for entry in reversed(store.journal.history(PIPELINE, limit=10_000)):
            key = (entry.stream, entry.partition)
            assert replayed.pop(key, None) == entry.before
            assert entry.before != entry.after
            if entry.after is not None:
                replayed[key] = entry.after
        assert replayed == values(store.checkpoints.state(PIPELINE))

    def test_history_says_who_what_and_why(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease, load(to=1))
        move(store, lease, load("items", to=5))
        checkpoint = prepare(store, lease, load(to=2, kind="edit", reason="ticket 12", actor="anna"), run_id="run-2")
        store.checkpoints.commit(lease, checkpoint, took(checkpoint, rows=3), [])
        newest, *older = store.journal.history(PIPELINE)
        assert (newest.version, newest.seq, newest.stream, newest.partition) == (3, checkpoint.seq, "orders", "{}")
        assert (newest.before, newest.after, newest.rows) == (number(1), number(2), 3)
        assert (newest.run_id, newest.actor, newest.reason) == ("run-2", "anna", "ticket 12")
        assert [entry.version for entry in older] == [2, 1]
        assert [entry.stream for entry in store.journal.history(PIPELINE, "items")] == ["items"]
        assert store.journal.history(PIPELINE, limit=1) == [newest]
        assert store.journal.history("other") == []

    def test_a_bookmark_that_did_not_change_makes_no_history(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        lease = take(store)
        move(store, lease, load(to=1))
        state = move(store, lease, load(to=1))
        assert state.version == 2
        assert state.stream("orders").bookmarks[0].version == 1
        assert len(store.journal.history(PIPELINE)) == 1

    def test_runs_are_remembered_newest_first(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        began = datetime(2026, 1, 31, 8, 0, 0, 123456, tzinfo=UTC)
        records = [RunRecord(f"run-{i}", PIPELINE, "running", began, None, "host", 42) for i in range(3)]
        for record in records:
            store.journal.start_run(record)
        store.journal.end_run("run-1", "failed", {"streams": [{"name": "orders", "rows": 3}]}, "out of\x00luck \ud83d")
        runs = store_factory().journal.runs(PIPELINE)
        assert [run.run_id for run in runs] == ["run-2", "run-1", "run-0"]
        assert runs[2] == records[0]
        ended = runs[1]
        assert (ended.status, ended.error, ended.started_at) == ("failed", "out of\x00luck \ud83d", began)
        assert ended.result == {"streams": [{"name": "orders", "rows": 3}]}
        assert ended.ended_at is not None
        assert abs(ended.ended_at - datetime.now(UTC)) < timedelta(minutes=5)
        assert [run.run_id for run in store.journal.runs(PIPELINE, limit=1)] == ["run-2"]
        assert store.journal.runs("other") == []

    def test_a_run_that_never_began_can_not_end(self, store_factory: StateStoreFactory) -> None:
        with pytest.raises(StateError, match="run-9"):
            store_factory().journal.end_run("run-9", "failed", {}, "")

    def test_pipelines_are_listed_by_name(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        for name in ("shop", "crm"):
            move(store, take(store, pipeline=name))
        crm, shop = store_factory().journal.pipelines()
        state = store.checkpoints.state("shop")
        assert (crm.name, shop.name) == ("crm", "shop")
        assert (shop.uuid, shop.version, shop.epoch, shop.streams) == (state.uuid, 1, 1, 1)
        assert shop.updated_at == state.stream("orders").last_sync

    def test_notes_are_kept_in_the_audit(self, store_factory: StateStoreFactory) -> None:
        store = store_factory()
        store.journal.note("anna", "reset", PIPELINE, "because", "5", "")
        store.journal.note("ben", "edit", PIPELINE, "", "", "6")
        store.journal.note("ben", "edit", "other", "", "", "7")
        newest, oldest = store_factory().journal.audit(PIPELINE)
        assert {key: oldest[key] for key in oldest if key != "at"} == {
            "actor": "anna",
            "action": "reset",
            "pipeline": PIPELINE,
            "reason": "because",
            "before": "5",
            "after": "",
        }
        assert newest["actor"] == "ben"
        assert newest["at"] >= oldest["at"]
        assert [line["actor"] for line in store.journal.audit(PIPELINE, limit=1)] == ["ben"]
