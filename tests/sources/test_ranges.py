"""Pieces hold every row exactly once, whatever the numbers."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from seamark.sources.ranges import BYTES_PER_SPLIT, ROWS_PER_SPLIT, SMALL, block_ranges, pieces, value_ranges

SIZES = st.lists(st.integers(0, 5000), max_size=6)


@given(SIZES, st.integers(1, 40))
def test_every_block_of_every_part_is_in_exactly_one_range(blocks: list[int], count: int) -> None:
    ranges = block_ranges(blocks, count)
    assert len(ranges) <= count
    assert ranges[0][0] == 0
    assert ranges[-1][1] is None, "blocks that are added meanwhile belong to the last"
    for (start, end), (following, _) in pairwise(ranges):
        assert start < (end or 0) == following


@given(SIZES.filter(lambda blocks: sum(blocks) > 200), st.integers(1, 10))
def test_ranges_of_blocks_hold_about_as_many_of_all_parts(blocks: list[int], count: int) -> None:
    ranges = block_ranges(blocks, count)
    last = max(blocks)
    held = [sum(max(0, min(size, last if end is None else end) - start) for size in blocks) for start, end in ranges]
    assert sum(held) == sum(blocks)
    assert max(held) <= sum(blocks) / count + 2 * len(blocks) + 2


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**70), st.integers(1, 50))
def test_every_value_is_in_exactly_one_range(low: int, width: int, count: int) -> None:
    ranges = value_ranges(low, low + width, count)
    assert len(ranges) <= count
    assert ranges[0][0] is None
    assert ranges[-1][1] is None
    for (_, end), (start, _) in pairwise(ranges):
        assert end == start
    inner = [start for start, _ in ranges[1:]]
    assert inner == sorted(set(inner))
    assert all(start is not None and low < start <= low + width for start in inner)


@given(st.integers(0, 10**10), st.integers(0, 2**45), st.integers(1, 64))
def test_a_split_is_bounded_and_all_slots_have_work(rows: int, size: int, parallelism: int) -> None:
    count = pieces(rows, size, parallelism)
    assert count >= 1
    if count < 10_000:
        assert rows / count <= ROWS_PER_SPLIT
        assert size / count <= BYTES_PER_SPLIT
    if rows >= SMALL and count < 10_000:
        assert count % parallelism == 0
    if rows < SMALL and size <= BYTES_PER_SPLIT:
        assert count == 1


def test_unknown_sizes_are_one_split() -> None:
    assert pieces(None, None, 8) == 1
