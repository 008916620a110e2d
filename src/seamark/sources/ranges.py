"""Cutting what is to be read into pieces that together hold every row exactly once. Pure functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

ROWS_PER_SPLIT = 500_000
BYTES_PER_SPLIT = 256 << 20
SMALL = 50_000
"""Fewer rows than this are one split: starting a second task would cost more than it saves."""
MOST_SPLITS = 10_000


def pieces(rows: int | None, size: int | None, parallelism: int) -> int:
    """How many splits to cut so many rows and bytes into: bounded tasks, and all of the engine's slots at work."""
    by_rows = -(-(rows or 0) // ROWS_PER_SPLIT)
    by_size = -(-(size or 0) // BYTES_PER_SPLIT)
    wanted = max(by_rows, by_size, 1)
    if wanted == 1 and (rows or 0) < SMALL:
        return 1
    slots = max(parallelism, 1)
    return min(-(-wanted // slots) * slots, MOST_SPLITS)


def block_ranges(blocks: Sequence[int], count: int) -> list[tuple[int, int | None]]:
    """At most `count` ranges `[start, end)` of block numbers, the last one open, with about as many blocks in each.

    `blocks` are the sizes of the parts of one relation (its partitions): block 7 means block 7 of each of them.
    """
    sizes = sorted(size for size in blocks if size > 0)
    total = sum(sizes)
    starts = [0]
    for piece in range(1, count):
        start = _block_after(sizes, total * piece // count)
        if start > starts[-1]:
            starts.append(start)
    return [*pairwise(starts), (starts[-1], None)]


def _block_after(sizes: Sequence[int], wanted: int) -> int:
    """The block number below which about `wanted` blocks of all parts lie."""
    below, reached = 0, 0
    for index, size in enumerate(sizes):
        parts = len(sizes) - index
        level = (size - reached) * parts
        if below + level >= wanted:
            return reached + (wanted - below) // parts
        below, reached = below + level, size
    return reached


def value_ranges(low: int, high: int, count: int) -> list[tuple[int | None, int | None]]:
    """At most `count` ranges of about equal width, cut between `low` and `high`; the first and the last are open."""
    cuts = sorted({low + (high - low) * piece // count for piece in range(1, count)} - {low}) if high > low else []
    ends: list[int | None] = [None, *cuts, None]
    return list(pairwise(ends))
