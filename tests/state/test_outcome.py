"""What a commit changes, as functions of plain data."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import BookmarkChange, Draft
from seamark.model.state import State, StoredBookmark, StreamState, TableOutcome
from seamark.state.outcome import bookmarks_that_move, epoch_after, growth, streams_after, with_bookmarks
from seamark.testing.state_store.given import number, table

NOW = datetime(2026, 1, 31, tzinfo=UTC)
NAMES = st.sampled_from(["orders", "items", "everything"])
CHANGES = st.lists(
    st.builds(
        BookmarkChange,
        stream=NAMES,
        before=st.none(),
        after=st.none() | st.integers(0, 2).map(number),
        partition=st.sampled_from(["{}", '{"p":1}', '{"p":2}']),
    ),
    max_size=8,
)
OUTCOMES = st.dictionaries(st.sampled_from(["orders", "items"]), st.booleans())


def outcomes_of(has_rows: dict[str, bool]) -> list[TableOutcome]:
    return [TableOutcome(name, there, 2, rows=10 if there else 0) for name, there in has_rows.items()]


def apply(before: State, draft: Draft, outcomes: list[TableOutcome]) -> tuple[State, list[BookmarkChange]]:
    moved = bookmarks_that_move(before, draft, outcomes)
    touched = streams_after(before, outcomes, (), moved, NOW)
    after = before.streams | with_bookmarks(touched, moved, before.version + 1, "run", NOW)
    return dataclasses.replace(before, version=before.version + 1, streams=after), moved


def held(state: State) -> dict[tuple[str, str], Bookmark]:
    return {(s.name, b.partition): b.bookmark for s in state.streams.values() for b in s.bookmarks}


@given(st.lists(st.tuples(CHANGES, OUTCOMES, st.booleans()), max_size=6))
def test_what_moved_is_all_that_changed(steps: list[tuple[list[BookmarkChange], dict[str, bool], bool]]) -> None:
    state = State("shop", "u", "i")
    for changes, has_rows, whole in steps:
        before = held(state)
        state, moved = apply(state, Draft((), tuple(changes), whole=whole), outcomes_of(has_rows))
        replayed = dict(before)
        for change in moved:
            assert replayed.pop((change.stream, change.partition), None) == change.before
            assert change.before != change.after
            if change.after is not None:
                replayed[change.stream, change.partition] = change.after
        assert replayed == held(state)
        assert len(held(state)) == len(before) + growth(moved)


@given(CHANGES, OUTCOMES, st.booleans())
def test_no_bookmark_moves_past_rows_that_no_table_has(
    changes: list[BookmarkChange], has_rows: dict[str, bool], whole: bool
) -> None:
    draft = Draft((), tuple(changes), whole=whole)
    for change in bookmarks_that_move(State("shop", "u", "i"), draft, outcomes_of(has_rows)):
        assert has_rows.get(change.stream, True)
        if whole or change.stream not in has_rows:
            assert all(has_rows.values())


@given(CHANGES, OUTCOMES)
def test_a_bookmark_whose_table_has_the_rows_does_move(
    changes: list[BookmarkChange], has_rows: dict[str, bool]
) -> None:
    state, _ = apply(State("shop", "u", "i"), Draft((), tuple(changes)), outcomes_of(has_rows))
    wanted = {(c.stream, c.partition): c.after for c in changes if has_rows.get(c.stream)}
    assert {key: held(state).get(key) for key in wanted} == wanted


def test_streams_keep_what_this_does_not_touch() -> None:
    stored = StoredBookmark("{}", number(3), NOW, "run-0", 1)
    before = StreamState("orders", "id", "merge", 100, None, 2, (stored,))
    state = State("shop", "u", "i", version=1, streams={"orders": before, "items": StreamState("items")})
    after, _ = apply(state, Draft((table("orders"),), ()), [TableOutcome("orders", False, 5)])
    assert after.streams == {"orders": dataclasses.replace(before, recorded=5), "items": StreamState("items")}


@pytest.mark.parametrize(("kind", "epoch"), [("load", 3), ("reset", 4), ("rewind", 4), ("edit", 4), ("repair", 4)])
def test_the_epoch_counts_rewrites(kind: str, epoch: int) -> None:
    assert epoch_after(3, Draft((), (), kind=kind)) == epoch
