from __future__ import annotations

import pytest

from seamark.cli.planning import explain, show_plan
from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.checkpoint import Write
from seamark.model.plan import PipelinePlan, StreamPlan
from seamark.model.window import Estimate, Window
from tests.cli.hand_made import COUNTRIES, EVENTS, HIGH, LOW, broken, idle, plan, stream_plan


def said(stream: StreamPlan) -> dict[str, str]:
    return dict(explain(stream))


def test_a_stream_that_runs_says_why_what_and_where_to() -> None:
    words = said(stream_plan())
    assert words["runs"] == f"there are rows from {LOW} on"
    assert words["reads"] == f"{LOW} <= updated_at < {HIGH}"
    assert words["expects"] == "about 4,200 rows, 1.1 MB in 4 splits"
    assert words["writes"] == "merges into /lake/orders by id"


def test_who_holds_the_mark_back_and_since_when() -> None:
    assert said(stream_plan())["held back"].startswith(
        "session 4711 (psql, idle in transaction), since 2026-03-01 11:57:00Z ("
    )


def test_a_table_that_is_not_there_is_announced() -> None:
    assert (
        said(stream_plan(creates=True, write=Write.APPEND))["writes"] == "appends to /lake/orders, which is made first"
    )


def test_an_idle_stream_says_why_and_nothing_of_writes() -> None:
    assert said(idle()) == {"rests": "nothing new since 17"}


def test_a_stream_that_cannot_run_says_what_to_do() -> None:
    assert said(broken()) == {"can't run": "stream 'events': there is no column 'idd'", "to do": "did you mean 'id'?"}


def test_null_cursors_are_part_of_the_window() -> None:
    words = said(stream_plan(window=Window(LOW, HIGH, nulls=True)))
    assert words["reads"].endswith(", and rows whose updated_at is NULL")
    assert said(stream_plan(window=Window(LOW, LOW, nulls=True)))["reads"] == "rows whose updated_at is NULL"


def test_a_whole_table_is_all_rows() -> None:
    words = said(
        stream_plan(
            stream=COUNTRIES, window=Window(), bookmark=None, write=Write.REPLACE, estimate=Estimate(9, exact=True)
        )
    )
    assert words["reads"] == "all rows"
    assert words["expects"] == "9 rows in 4 splits"
    assert words["writes"] == "replaces all of /lake/orders"


def test_unknown_estimates_are_not_made_up() -> None:
    words = said(stream_plan(estimate=Estimate()))
    assert words["expects"].startswith("an unknown number of rows")


def test_warnings_are_all_told() -> None:
    lines = list(explain(stream_plan(warnings=("one", "two"))))
    assert [text for name, text in lines if name == "warning"] == ["one", "two"]


def test_a_plan_in_a_pipe_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    show_plan(plan())
    out = capsys.readouterr().out
    assert out.startswith("shop, state version 3: 1 of 2 streams to run, about 4,200 rows\n")
    assert "  orders  merge by id, cursor updated_at, from public.orders\n" in out
    assert "  events  append, cursor id, from public.events\n" in out
    assert "\x1b" not in out
    assert not set("│─┃━╭╰") & set(out)


def test_a_plan_without_work_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_plan(PipelinePlan("shop", 3, (idle(),)))
    assert "nothing to do in 1 stream" in capsys.readouterr().out


def test_a_window_from_the_beginning_has_no_lower_end() -> None:
    high = Bookmark.of(BookmarkType.INTEGER, 18)
    words = said(stream_plan(stream=EVENTS, window=Window(None, high), bookmark=None, write=Write.APPEND))
    assert words["reads"] == "id < 18"
