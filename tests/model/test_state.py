from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark
from seamark.model.state import NO_PARTITION, State, StoredBookmark, StreamState, partition_text
from tests.model.examples import json_values, texts

contexts = st.dictionaries(texts, json_values, max_size=5)


@given(contexts, st.randoms())
def test_a_partition_has_one_text_whatever_the_order_of_its_keys(context: dict[str, object], random: object) -> None:
    items = list(context.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    assert partition_text(dict(items)) == partition_text(context)


@given(contexts)
def test_a_partition_survives_its_text(context: dict[str, object]) -> None:
    assert json.loads(partition_text(context)) == context
    assert partition_text(json.loads(partition_text(context))) == partition_text(context)


@given(contexts, contexts)
def test_partitions_with_one_text_are_one_partition(first: dict[str, object], second: dict[str, object]) -> None:
    if partition_text(first) == partition_text(second):
        assert first == second


def test_no_partition_is_the_empty_one() -> None:
    assert partition_text({}) == NO_PARTITION
    assert partition_text({"region": "zürich", "a": 1}) == '{"a":1,"region":"zürich"}'


@pytest.mark.parametrize("context", [{"a": float("nan")}, {"a": "\ud800"}, {"a": object()}])
def test_a_partition_that_has_no_text_is_refused(context: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"JSON|Unicode"):
        partition_text(context)


def test_a_bookmark_is_found_by_its_partition() -> None:
    at = datetime(2026, 1, 31, tzinfo=UTC)
    whole, eu = Bookmark.of("integer", 1), Bookmark.of("integer", 2)
    eu_text = partition_text({"region": "eu"})
    stream = StreamState(
        "orders", bookmarks=(StoredBookmark(NO_PARTITION, whole, at, "r", 1), StoredBookmark(eu_text, eu, at, "r", 1))
    )
    assert stream.bookmark() == whole
    assert stream.bookmark(eu_text) == eu
    assert stream.bookmark("{other}") is None


def test_a_stream_that_never_ran_has_an_empty_state() -> None:
    state = State("shop", "", "incarnation")
    assert (state.version, state.epoch, state.next_seq) == (0, 1, 1)
    assert state.stream("orders") == StreamState("orders")
    assert state.stream("orders").recorded == -1
