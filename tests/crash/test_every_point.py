"""The real `seamark run`, killed by SIGKILL at every point it comes to; run again, nothing is lost and nothing twice."""

from __future__ import annotations

import itertools

import pytest

from seamark.crash import POINTS
from tests.crash.agreement import require_same_rows
from tests.crash.case import STREAMS
from tests.crash.conftest import Cases
from tests.crash.databases import TABLE

SOURCES = ("sqlite", "postgres")
MODES = ("append", "merge", "replace")
PUBLISHED = POINTS[POINTS.index("prepare.after") :]
"""The points that recovery passes, too."""

QUICK = {
    ("sqlite", "append"): {
        "stage.before",
        "stage.after",
        "prepare.before",
        "prepare.after",
        "publish.looked",
        "publish.after",
        "commit.before",
        "acknowledge.after",
    },
    ("postgres", "append"): {"stage.task", "publish.evolved", "publish.written", "commit.after"},
    ("sqlite", "merge"): {"publish.written"},
    ("postgres", "merge"): {"publish.evolved"},
    ("sqlite", "replace"): {"publish.before", "publish.written", "publish.evolved"},
    ("postgres", "replace"): {"prepare.after", "commit.before", "acknowledge.before"},
}
"""What is not marked slow: every point and every mode at least once."""


def matrix() -> list[object]:
    every = itertools.product(SOURCES, MODES, POINTS)
    return [
        pytest.param(source, mode, point, marks=[] if point in QUICK[source, mode] else [pytest.mark.slow])
        for source, mode, point in every
    ]


@pytest.mark.slow
def test_killed_between_two_changes_of_a_table(cases: Cases) -> None:
    """The new column is there, deletion vectors are on, and then it is killed before the rows come."""
    case = cases.loaded("sqlite", "merge")
    case.change()
    case.add_column()
    case.crash("publish.evolved#2")
    case.require_recovery()


@pytest.mark.parametrize("point", ["publish.written#2", pytest.param("prepare.after#2", marks=pytest.mark.slow)])
def test_killed_in_the_second_of_two_streams(cases: Cases, point: str) -> None:
    """What the first one moved is committed and stays; only the second has something to finish."""
    case = cases.fresh("sqlite", "append")
    second = STREAMS["append"] | {"name": "again", "table": TABLE}
    case.configure(streams=[STREAMS["append"], second])
    case.run().ok()
    case.change()
    case.crash(point)
    assert case.look().state.version == 4, "one for the first look, one for each checkpoint that was committed"
    case.require_recovery()
    require_same_rows(case.database, case.table.with_name("again"))


@pytest.mark.parametrize(
    ("mode", "point"),
    [
        ("append", "publish.looked"),
        pytest.param("append", "stage.after", marks=pytest.mark.slow),
        pytest.param("append", "publish.written", marks=pytest.mark.slow),
        pytest.param("merge", "prepare.after", marks=pytest.mark.slow),
        pytest.param("replace", "commit.before", marks=pytest.mark.slow),
    ],
)
def test_killed_in_a_full_refresh(cases: Cases, mode: str, point: str) -> None:
    """Until it is published the old rows are there, all of them; once it is prepared it will be."""
    case = cases.loaded("sqlite", mode)
    case.change()
    if point != "stage.after":
        case.moved += 50 if mode == "append" else 30
    case.crash(point, "--full-refresh")
    case.require_recovery()


def test_what_is_shown_after_a_crash(cases: Cases) -> None:
    case = cases.loaded("sqlite", "append")
    case.change()
    case.crash("publish.after")
    (status,) = case.project.run("status", "--json").ok().json
    assert (status["prepared"], status["version"], status["last_run"]["status"]) == (2, 2, "running")
    case.run().ok()
    shown = case.project.run("state", "show", case.name, "--json").ok().json
    assert shown == case.look().document
    assert shown["streams"][TABLE]["bookmarks"][0]["value"] == "3"
    history = case.project.run("state", "history", case.name, "--json").ok().json
    assert [(entry["version"], entry["from"], entry["to"], entry["rows"]) for entry in history] == [
        (3, "2", "3", 25),
        (2, None, "2", 50),
    ]
    assert case.look().status.last_run is not None


@pytest.mark.parametrize(("source", "mode", "point"), matrix())
def test_killed_at(cases: Cases, source: str, mode: str, point: str) -> None:
    case = cases.loaded(source, mode)
    case.change()
    if point == "publish.evolved":
        case.add_column()
    case.crash(point)
    case.require_recovery()


FIRST = [point for point in POINTS if point != "publish.evolved"]
FIRST_QUICK = {
    ("sqlite", "append", "stage.before"),
    ("sqlite", "merge", "publish.written"),
    ("postgres", "append", "prepare.after"),
    ("sqlite", "replace", "stage.after"),
}


@pytest.mark.parametrize(
    ("source", "mode", "point"),
    [
        pytest.param(*case, marks=[] if case in FIRST_QUICK else [pytest.mark.slow])
        for case in itertools.product(SOURCES, MODES, FIRST)
    ],
)
def test_killed_in_the_very_first_run(cases: Cases, source: str, mode: str, point: str) -> None:
    """When it starts there is neither a state store nor a table."""
    case = cases.fresh(source, mode)
    case.crash(point)
    case.require_recovery()


TWICE_QUICK = {
    ("sqlite", "append", "prepare.after", "publish.looked"),
    ("sqlite", "append", "publish.written", "commit.before"),
    ("sqlite", "replace", "publish.looked", "publish.written"),
    ("postgres", "append", "commit.before", "commit.after"),
}


def crashes_of_recovery() -> list[object]:
    """Where the run is killed, and where the one that recovers is."""
    firsts = ("prepare.after", "publish.looked", "publish.written", "commit.before")
    every = itertools.product(
        SOURCES, MODES, firsts, [p for p in PUBLISHED if p not in (*PUBLISHED[:1], "publish.evolved")]
    )
    return [
        pytest.param(*case, marks=[] if case in TWICE_QUICK else [pytest.mark.slow])
        for case in every
        if case[:2] != ("postgres", "merge") and not is_passed_by(*case[1:])
    ]


def is_passed_by(mode: str, point: str, then: str) -> bool:
    """Whether recovery finds the rows in the table, and so never comes to the points where they are written. A table
    that is replaced is written again in the same run."""
    return (
        mode != "replace"
        and point in ("publish.written", "commit.before")
        and then in ("publish.looked", "publish.written")
    )


@pytest.mark.parametrize(("source", "mode", "point", "then"), crashes_of_recovery())
def test_killed_again_while_it_recovers(cases: Cases, source: str, mode: str, point: str, then: str) -> None:
    case = cases.loaded(source, mode)
    case.change()
    case.crash(point)
    case.crash(then)
    case.require_recovery()
