"""The protocol's ten rules, each shown twice: with it nothing is lost or doubled, and without it the same steps lose or
double a row. The second half is what says that the first one proves anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from seamark.destinations.delta import log, publish, staged
from seamark.errors import AdoptionRequired, ConfigError, LeaseHeld, SeamarkError, StateConflict, StoreBehind
from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft
from seamark.model.state import TableOutcome
from seamark.model.stream import Cursor, NullPolicy
from seamark.model.window import Frontier, Hold
from seamark.state import checkpoints as store_checkpoints
from seamark.state import conditions
from seamark.sync import execute, plan, recover, steps
from seamark.sync.term import holding
from tests.sync.actors import Actor, acting
from tests.sync.world import PIPELINE, TABLES, World, make_steps_of_crash_points

Patch = pytest.MonkeyPatch


@pytest.fixture
def world(tmp_path: Path, monkeypatch: Patch) -> Iterator[World]:
    make_steps_of_crash_points(monkeypatch)
    world = World(tmp_path / "world")
    world.insert(2)
    yield world
    world.close()


@pytest.fixture
def p() -> Iterator[Actor]:
    actor = Actor("P")
    yield actor
    actor.kill()


def ignore(*_: Any, **__: Any) -> None:
    """Stands in for a condition that is switched off."""


def error_of(actor: Actor) -> SeamarkError | None:
    assert actor.result is not None
    assert not isinstance(actor.result, BaseException), actor.result
    error: SeamarkError | None = actor.result[1]
    return error


def succeeds(world: World) -> None:
    _, error = world.run_alone()
    assert error is None, error


# 1. One number, taken at prepare by compare-and-set.


def overtaken_before_prepare(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("checkpoints.prepare")
    succeeds(world)
    p.finish()


def test_rule_1_prepare_of_an_overtaken_worker_is_refused(world: World, p: Actor) -> None:
    overtaken_before_prepare(world, p)
    assert isinstance(error_of(p), StateConflict)
    assert world.wrong() == ""
    assert world.settle() == ""


def test_rule_1_without_the_compare_and_set_rows_are_doubled(world: World, p: Actor, monkeypatch: Patch) -> None:
    for condition in ("require_token", "require_unexpired", "require_version"):
        monkeypatch.setattr(conditions, condition, ignore)
    monkeypatch.setattr(recover, "sweep", ignore)  # which would have taken P's files away, and so saved the day
    overtaken_before_prepare(world, p)
    assert "row 1 2 times" in world.wrong()


def test_rule_1_seq_is_never_reused_though_a_checkpoint_was_never_published(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("reach.prepare.after")
    for path in world.staged_and_unused():
        path.unlink()
    p.kill()
    before = world.state().next_seq
    assert world.settle() == ""
    seqs = {entry.seq for entry in world.store.journal.history(PIPELINE)}
    assert before - 1 not in seqs
    assert min(seqs) >= before


# 2. One constant id per table.


def publishes_once_another_store_has_adopted(world: World, p: Actor) -> None:
    """P waits with what the old store prepared while the tables are loaded anew under another store."""
    succeeds(world)
    world.insert(1)
    world.begin(p)
    p.run_to("destination.publish")
    lose_the_store(world)
    _, error = world.run_alone(full_refresh=True)
    assert error is None, error
    p.finish()


def test_rule_2_numbers_of_all_times_stand_under_one_id(world: World, p: Actor) -> None:
    publishes_once_another_store_has_adopted(world, p)
    assert world.wrong() == ""


def test_rule_2_with_an_id_per_store_rows_are_doubled(world: World, p: Actor, monkeypatch: Patch) -> None:
    monkeypatch.setattr(log, "app_id", lambda uuid: f"seamark-{uuid}-{'old' if acting() is p else 'new'}")
    monkeypatch.setattr(plan, "require_agreement", ignore)
    publishes_once_another_store_has_adopted(world, p)
    assert "row 3 2 times" in world.wrong()


# 3. Compare where you commit.


def overtaken_between_look_and_commit(world: World, p: Actor) -> None:
    """Whoever takes over finishes P's checkpoint; then a person has everything loaded again."""
    world.begin(p)
    p.run_to("reach.publish.looked")
    _, error = world.run_alone(full_refresh=True)
    assert error is None, error
    p.finish()


def test_rule_3_a_commit_builds_on_the_look(world: World, p: Actor) -> None:
    overtaken_between_look_and_commit(world, p)
    assert isinstance(error_of(p), StateConflict)
    assert world.settle() == ""


def test_rule_3_with_the_handle_opened_anew_rows_are_doubled(world: World, p: Actor, monkeypatch: Patch) -> None:
    commit = log.commit

    def on_a_new_handle(seen: log.Look, *rest: Any, **named: Any) -> None:
        again = log.look(seen.table)
        assert again is not None
        commit(again, *rest, **named)

    monkeypatch.setattr(publish, "commit", on_a_new_handle)
    overtaken_between_look_and_commit(world, p)
    assert "row 1 2 times" in world.wrong()


# 4. Resolve, never just discard.


def resolved_while_the_files_were_out_of_sight(world: World, p: Actor) -> None:
    """As on a file system that answers late: the files come back once recovery has given them up."""
    world.begin(p)
    p.run_to("destination.publish")
    hidden = world.staged_and_unused()
    for path in hidden:
        path.rename(path.with_suffix(".hidden"))
    q = Actor("Q")
    world.expire_leases()
    world.begin(q)
    q.run_to("reach.commit.after")
    q.kill()
    for path in hidden:
        path.with_suffix(".hidden").rename(path)
    p.finish()


def test_rule_4_what_is_given_up_gets_a_tombstone(world: World, p: Actor) -> None:
    resolved_while_the_files_were_out_of_sight(world, p)
    assert world.wrong() == ""
    assert world.settle() == ""


def test_rule_4_without_tombstones_rows_appear_that_the_state_gave_up(
    world: World, p: Actor, monkeypatch: Patch
) -> None:
    def discard(checkpoint: Any, change: Any) -> TableOutcome:
        return TableOutcome(change.stream, has_rows=False, recorded=-1)

    monkeypatch.setattr(publish, "entomb", discard)
    resolved_while_the_files_were_out_of_sight(world, p)
    assert "row 1 1 times" in world.wrong()


# 5. State operations are checkpoints.


def paused_publisher(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("destination.publish")


def test_rule_5_a_reset_is_a_checkpoint_that_paused_publishers_run_into(world: World, p: Actor) -> None:
    paused_publisher(world, p)
    _, error = world.run_alone(full_refresh=True)
    assert error is None
    p.finish()
    assert world.wrong() == ""


def test_rule_5_after_a_bare_write_of_state_a_paused_publishers_rows_appear(world: World, p: Actor) -> None:
    paused_publisher(world, p)
    world.expire_leases()
    with sqlite3.connect(world.folder / "state.db") as db:
        db.execute("update pipelines set prepared = null, checksum = checksum")
    p.finish()
    with pytest.raises(SeamarkError):  # the checksum notices such a write, which is as good as refusing it
        world.wrong()
    assert world.counts("left")[1] == 1


# 6. Only the holder cleans, and only what older tokens staged.


def cleans_up_after_being_overtaken(world: World, p: Actor) -> None:
    """P is paused just before it clears stray files; Q, with a newer token, stages and is about to publish."""
    crashed = Actor("C")
    world.begin(crashed)
    crashed.run_to("reach.stage.after")
    crashed.kill()
    world.expire_leases()
    world.begin(p)
    p.run_to("destination.strays")
    world.expire_leases()
    q = Actor("Q")
    world.begin(q)
    q.run_to("checkpoints.prepare")
    p.run_to("checkpoints.prepare")
    q.run_to("destination.verify")
    q.finish()
    assert error_of(q) is None


def test_rule_6_files_of_newer_tokens_are_left_alone(world: World, p: Actor) -> None:
    cleans_up_after_being_overtaken(world, p)
    assert world.settle() == ""


def test_rule_6_without_it_a_cleaner_deletes_what_is_about_to_be_published(
    world: World, p: Actor, monkeypatch: Patch
) -> None:
    strays = staged.strays
    monkeypatch.setattr(staged, "strays", lambda table, incarnation, token: strays(table, incarnation, 1_000_000))
    with pytest.raises(AssertionError):
        cleans_up_after_being_overtaken(world, p)


def test_rule_6_a_refused_worker_deletes_nothing(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("checkpoints.commit")
    succeeds(world)
    p.finish()
    assert isinstance(error_of(p), StateConflict)
    assert world.wrong() == ""


# 7. A new or restored store adopts first.


def lose_the_store(world: World) -> None:
    world.store.close()
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    world.open_store()


def test_rule_7_a_new_store_stops_at_tables_with_rows(world: World) -> None:
    succeeds(world)
    lose_the_store(world)
    _, error = world.run_alone()
    assert isinstance(error, AdoptionRequired)
    assert error.exit_status == 3
    assert "--full-refresh" in error.hint
    assert world.settle() == ""


def test_rule_7_without_it_publishes_are_skipped_as_already_there(world: World, monkeypatch: Patch) -> None:
    succeeds(world)
    uuid = world.state().uuid
    world.insert(1)
    lose_the_store(world)

    def adopt_blindly(term: Any) -> None:
        term.state = world.store.checkpoints.adopt(term.lease, 1, {}, uuid)

    monkeypatch.setattr(execute, "adopt", adopt_blindly)
    monkeypatch.setattr(plan, "require_agreement", ignore)
    monkeypatch.setattr(publish, "_require_same_files", ignore)
    world.run_alone()
    assert "row 3 0 times" in world.wrong()


def test_rule_7_an_older_copy_of_the_store_is_noticed(world: World) -> None:
    succeeds(world)
    copy = world.back_up()
    world.insert(1)
    succeeds(world)
    world.put_back(copy)
    world.insert(1)
    incarnation = world.store.incarnation
    _, error = world.run_alone()
    assert isinstance(error, StoreBehind)
    assert world.store.incarnation != incarnation
    _, error = world.run_alone()
    assert isinstance(error, AdoptionRequired)
    assert world.settle() == ""


def test_rule_7_an_older_copy_with_a_prepared_checkpoint_is_noticed(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("reach.prepare.after")
    copy = world.back_up()
    p.finish()
    world.insert(1)
    succeeds(world)
    world.put_back(copy)
    _, error = world.run_alone()
    assert isinstance(error, StoreBehind)
    assert world.settle() == ""


def test_rule_7_workers_of_the_old_store_are_fenced_off(world: World, p: Actor) -> None:
    succeeds(world)
    world.insert(1)
    world.begin(p)
    p.run_to("destination.publish")
    lose_the_store(world)
    _, error = world.run_alone(full_refresh=True)
    assert error is None, error
    p.finish()
    assert world.settle() == ""


# 8. What a commit carries.


def another_draft_under_the_same_number(world: World, p: Actor) -> SeamarkError | None:
    """Two copies of one store each publish their next checkpoint."""
    succeeds(world)
    copy = world.back_up()
    world.insert(1)
    succeeds(world)
    world.put_back(copy)
    world.insert(1)
    world.expire_leases()
    world.begin(p)
    p.finish()
    return error_of(p)


def test_rule_8_already_there_with_other_files_is_an_error(world: World, p: Actor, monkeypatch: Patch) -> None:
    monkeypatch.setattr(plan, "require_agreement", ignore)
    assert isinstance(another_draft_under_the_same_number(world, p), StateConflict)


def test_rule_8_without_the_digest_a_row_is_lost(world: World, p: Actor, monkeypatch: Patch) -> None:
    monkeypatch.setattr(plan, "require_agreement", ignore)
    monkeypatch.setattr(publish, "_require_same_files", ignore)
    assert another_draft_under_the_same_number(world, p) is None
    assert "row 4 0 times" in world.wrong()


# 9. Prepared files are final.


def recovered_under_another_configuration(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("reach.prepare.after")
    p.kill()
    only_right = tuple(replace(stream, where="id > 1") for stream in world.streams if stream.name == "right")
    _, error = world.run_alone(streams=only_right)
    assert error is None, error


def test_rule_9_recovery_publishes_what_was_prepared_whatever_the_file_says_now(world: World, p: Actor) -> None:
    recovered_under_another_configuration(world, p)
    assert world.counts("left") == {1: 1, 2: 1}
    assert world.counts("right") == {2: 1}


def test_rule_9_reading_again_under_the_new_configuration_would_lose_the_stream(
    world: World, p: Actor, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(recover, "recover", ignore)
    monkeypatch.setattr(execute, "recover", ignore)
    monkeypatch.setattr(store_checkpoints.conditions, "require_nothing_prepared", ignore)
    recovered_under_another_configuration(world, p)
    assert world.counts("left") != {1: 1, 2: 1}


# 10. Leases.


def test_rule_10_a_second_run_is_refused_and_told_who_holds_it(world: World, p: Actor) -> None:
    world.begin(p)
    p.run_to("reach.stage.before")
    q = Actor("Q")
    world.begin(q)
    q.finish()
    error = error_of(q)
    assert isinstance(error, LeaseHeld)
    assert error.exit_status == 3
    assert "host-P" in error.message
    assert "1" in error.message
    p.finish()
    assert error_of(p) is None
    assert world.settle() == ""


@pytest.mark.parametrize(
    "point",
    [
        "checkpoints.prepare",
        "destination.publish",
        "reach.publish.looked",
        "reach.publish.written",
        "checkpoints.commit",
    ],
)
def test_rule_10_a_paused_holder_has_no_effect_or_that_of_recovery(world: World, p: Actor, point: str) -> None:
    world.begin(p)
    p.run_to(point)
    succeeds(world)
    world.insert(1)
    p.finish()
    assert isinstance(error_of(p), StateConflict)
    assert world.wrong() == ""
    assert world.settle() == ""


def test_rule_10_without_expiry_in_the_conditions_a_paused_holder_still_commits(
    world: World, p: Actor, monkeypatch: Patch
) -> None:
    """Nobody took over, so no harm is done: expiry is there so that a holder can't count on that."""
    world.begin(p)
    p.run_to("checkpoints.commit")
    world.expire_leases()
    p.finish()
    assert error_of(p) is not None
    monkeypatch.setattr(conditions, "require_unexpired", ignore)
    q = Actor("Q")
    world.begin(q)
    q.run_to("checkpoints.commit")
    world.expire_leases()
    q.finish()
    assert error_of(q) is None


# A checkpoint with one state for several tables (rule 4, its last sentence).


def half_published(world: World, lost: str) -> Checkpoint:
    """The worker died once `left` had its rows; then the files for `lost` vanished."""
    succeeds(world)
    world.insert(1)
    ctx = world.context("C", full_refresh=False)
    world.expire_leases()
    with holding(ctx, "run-c") as term:
        plans = plan.make_plan(ctx, term.state).streams
        changes = tuple(steps.stage(each, term) for each in plans)
        moves = tuple(BookmarkChange(each.stream.name, each.bookmark, each.after) for each in plans)
        draft = Draft(changes, moves, whole=True)
        checkpoint = ctx.store.checkpoints.prepare(term.lease, term.state.version, draft, "run-c")
        ctx.destination.publish(checkpoint, changes[0], ctx.engine)
    for change in changes:
        for file in change.files if change.stream == lost else ():
            (Path(change.table) / file.path).unlink()
    return checkpoint


def test_a_whole_checkpoint_is_finished_in_all_tables(world: World) -> None:
    half_published(world, lost="")
    assert world.counts("left")[3] == 1
    assert world.counts("right")[3] == 0
    ctx = world.context("D", full_refresh=False)
    with holding(ctx, "run-d") as term:
        recover.recover(term, ended_badly=True)
    assert world.wrong() == ""
    assert world.counts("right")[3] == 1


def test_a_whole_checkpoint_that_can_not_be_finished_is_taken_back_everywhere(world: World) -> None:
    half_published(world, lost="right")
    ctx = world.context("D", full_refresh=False)
    with holding(ctx, "run-d") as term:
        recover.recover(term, ended_badly=True)
    assert world.counts("left")[3] == 0
    assert world.wrong() == ""
    assert world.settle() == ""


def test_without_all_or_nothing_one_table_would_be_ahead_of_the_one_state(world: World, monkeypatch: Patch) -> None:
    checkpoint = half_published(world, lost="right")
    monkeypatch.setattr(steps, "_take_back", steps._entomb)
    ctx = world.context("D", full_refresh=False)
    with holding(ctx, "run-d") as term:
        recover.recover(term, ended_badly=True)
    assert checkpoint.draft.whole
    assert world.counts("left")[3] != world.counts("right")[3]


# A full refresh of a table that has become empty.


def empty_the_source(world: World) -> None:
    with closing(sqlite3.connect(world.source_file)) as db, db:
        for table in TABLES:
            db.execute(f"delete from {table}")


def test_rows_that_come_while_an_emptied_table_is_reloaded_are_not_doubled(world: World, p: Actor) -> None:
    succeeds(world)
    empty_the_source(world)
    world.head = 0
    world.begin(p, full_refresh=True)
    p.run_to("reach.stage.before")
    world.insert(2)
    p.finish()
    assert error_of(p) is None
    assert world.wrong() == ""
    assert world.settle() == ""


def test_a_full_refresh_of_an_emptied_table_empties_it_and_forgets_the_bookmark(world: World) -> None:
    succeeds(world)
    empty_the_source(world)
    _, error = world.run_alone(full_refresh=True)
    assert error is None
    assert not world.counts("left")
    assert world.state().stream("left").bookmark() is None


# What recovery must not be misled by.


def test_recovery_notes_the_cursor_that_the_checkpoint_was_prepared_under(world: World, p: Actor) -> None:
    """Or a bookmark of one cursor would be taken for one of another of the same type, and rows be skipped."""
    with closing(sqlite3.connect(world.source_file)) as db, db:
        db.execute("alter table left add column other integer")
        db.execute("update left set other = id - 2")
    world.begin(p)
    p.run_to("reach.prepare.after")
    p.kill()
    other = tuple(replace(s, cursor=Cursor("other")) if s.name == "left" else s for s in world.streams)
    result, error = world.run_alone(streams=other)
    assert isinstance(error, ConfigError)
    assert "'other'" in error.message
    assert [stream.name for stream in result.streams] == ["left", "right"]
    assert world.counts("left") == {1: 1, 2: 1}
    assert world.counts("right") == {1: 1, 2: 1}


def test_a_checkpoint_that_its_table_can_no_longer_take_does_not_block_the_pipeline(world: World, p: Actor) -> None:
    succeeds(world)
    world.insert(1)
    world.begin(p)
    p.run_to("reach.prepare.after")
    p.kill()
    text = pa.table({"id": pa.array(["1", "2"])})
    table = DeltaTable(str(world.table("left")))
    write_deltalake(table, text, mode="overwrite", schema_mode="overwrite")
    world.run_alone()
    assert world.store.checkpoints.prepared(PIPELINE) is None
    _, error = world.run_alone(full_refresh=True)
    assert error is None
    assert world.settle() == ""


def test_a_plan_beside_a_run_does_not_take_the_store_for_an_old_copy(world: World, p: Actor) -> None:
    succeeds(world)
    world.insert(1)
    world.begin(p)
    p.run_to("reach.commit.before")
    ctx = world.context("looker", full_refresh=False)
    looked = plan.make_plan(ctx, plan.state_to_look_at(ctx))
    assert [stream.problem for stream in looked.streams] == [None, None]
    with pytest.raises(StoreBehind):
        plan.make_plan(ctx, world.state())
    p.finish()
    assert world.settle() == ""


def test_a_full_refresh_that_a_writer_holds_back_is_refused_and_replaces_nothing(
    world: World, monkeypatch: Patch
) -> None:
    succeeds(world)
    ctx = world.context("held", full_refresh=True)
    held = Frontier(None, Bookmark.of("integer", 3), Hold("a session has a transaction open"), nulls=1)
    monkeypatch.setattr(type(ctx.source), "frontier", lambda *_: held)
    streams = tuple(replace(s, cursor=Cursor("id", nulls=NullPolicy.INCLUDE)) for s in world.streams)
    result, error = world.run_alone(full_refresh=True, streams=streams)
    assert result.status == "failed"
    assert error is not None
    assert "a session has a transaction open" in error.message
    assert world.counts("left") == {1: 1, 2: 1}
