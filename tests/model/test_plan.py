from __future__ import annotations

from dataclasses import replace

import pytest

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import Write
from seamark.model.plan import (
    SMALL_BYTES,
    SMALL_ROWS,
    PipelinePlan,
    StreamPlan,
    choose_write,
    is_small,
    needs_spark_to_publish,
    stage_in_driver,
)
from seamark.model.schema import Schema
from seamark.model.stream import Mode, Shape, Stream
from seamark.model.window import Estimate, Window

MERGING = StreamPlan(
    Stream("orders", "public.orders", Mode.MERGE, key=("id",)),
    Shape(Schema(), key_is_unique=True),
    runs=True,
    reason="",
    write=Write.MERGE,
    estimate=Estimate(rows=10, bytes=1000),
)
APPENDING = replace(MERGING, stream=Stream("events", "events", Mode.APPEND), write=Write.APPEND)


@pytest.mark.parametrize(
    ("mode", "starts_over", "table_has_rows", "unique_key", "write"),
    [
        (Mode.MERGE, False, True, True, Write.MERGE),
        (Mode.MERGE, False, False, True, Write.APPEND),
        (Mode.MERGE, False, False, False, Write.MERGE),
        (Mode.MERGE, True, True, True, Write.REPLACE),
        (Mode.APPEND, False, True, False, Write.APPEND),
        (Mode.APPEND, True, False, False, Write.REPLACE),
        (Mode.REPLACE, False, True, True, Write.REPLACE),
    ],
)
def test_what_rows_become(mode: Mode, starts_over: bool, table_has_rows: bool, unique_key: bool, write: Write) -> None:
    chosen = choose_write(mode, starts_over=starts_over, table_has_rows=table_has_rows, unique_key=unique_key)
    assert chosen is write


@pytest.mark.parametrize(
    ("estimate", "small"),
    [
        (Estimate(SMALL_ROWS), True),
        (Estimate(SMALL_ROWS, SMALL_BYTES), True),
        (Estimate(SMALL_ROWS + 1, 1), False),
        (Estimate(1, SMALL_BYTES + 1), False),
        (Estimate(None, 1), False),
    ],
)
def test_only_what_is_known_to_be_small_is_small(estimate: Estimate, small: bool) -> None:
    assert is_small(estimate) is small


def test_only_a_merge_or_an_unproven_key_needs_spark_to_publish() -> None:
    assert needs_spark_to_publish(MERGING)
    assert not needs_spark_to_publish(replace(MERGING, write=Write.APPEND))
    assert needs_spark_to_publish(replace(MERGING, write=Write.APPEND, shape=Shape(Schema())))
    assert not needs_spark_to_publish(APPENDING)


def test_the_driver_reads_a_small_merge_while_spark_starts() -> None:
    assert stage_in_driver(MERGING, splits=1, skip_below=0)
    assert not stage_in_driver(MERGING, splits=2, skip_below=0)
    assert not stage_in_driver(replace(MERGING, estimate=Estimate(SMALL_ROWS + 1)), splits=1, skip_below=0)


def test_the_driver_reads_an_append_only_up_to_the_bound_that_was_set() -> None:
    assert not stage_in_driver(APPENDING, splits=1, skip_below=0)
    assert stage_in_driver(APPENDING, splits=1, skip_below=10)
    assert not stage_in_driver(APPENDING, splits=1, skip_below=9)
    assert not stage_in_driver(replace(APPENDING, estimate=Estimate()), splits=1, skip_below=1_000_000)


def test_the_bookmark_afterwards_is_the_windows_end() -> None:
    low, high = Bookmark.of("integer", 3), Bookmark.of("integer", 7)
    plan = replace(MERGING, bookmark=low, window=Window(low, high))
    assert plan.after == high
    assert replace(plan, window=None).after == low
    assert replace(plan, window=Window()).after == low


def test_a_replaced_table_keeps_no_bookmark_of_before() -> None:
    plan = replace(MERGING, bookmark=Bookmark.of("integer", 3), window=Window(), write=Write.REPLACE)
    assert plan.after is None


def test_a_plan_has_work_when_one_stream_runs() -> None:
    idle = replace(MERGING, runs=False)
    assert not PipelinePlan("shop", 1, (idle,)).has_work
    assert PipelinePlan("shop", 1, (idle, MERGING)).has_work
