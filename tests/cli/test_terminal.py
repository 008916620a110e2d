from __future__ import annotations

import pytest

from tests.cli.events import add_events
from tests.cli.terminals import Terminal
from tests.projects import Project


def test_a_person_sees_colours_and_a_table(events: Project) -> None:
    events.run("run").ok()
    terminal = Terminal(events.folder, "status")
    assert terminal.end() == 0
    assert "\x1b[1m" in terminal.seen
    assert "───" in terminal.seen
    assert "ago" in terminal.seen or "just now" in terminal.seen


def test_no_color_is_respected(events: Project) -> None:
    events.run("run").ok()
    for command in (("status",), ("--help",), ("run",), ("run", "--nope")):
        terminal = Terminal(events.folder, *command, NO_COLOR="1")
        terminal.end()
        assert "\x1b[3" not in terminal.seen, command


def test_progress_moves_on_a_terminal(events: Project) -> None:
    terminal = Terminal(events.folder, "run")
    assert terminal.end() == 0
    assert "shop: 1 of 1 stream to run" in terminal.seen
    assert "━" in terminal.seen
    assert "done" in terminal.seen
    assert "succeeded" in terminal.seen
    assert "\x1b[?25h" in terminal.seen  # the cursor is back


def test_a_document_is_indented_for_people(events: Project) -> None:
    terminal = Terminal(events.folder, "pipelines", "--json")
    assert terminal.end() == 0
    assert '\n    "pipeline": "shop"' in terminal.seen.replace("\r", "")


@pytest.mark.parametrize(("answer", "status", "rows"), [("n\n", 1, 1), ("y\n", 0, 4)])
def test_a_full_refresh_asks_and_names_the_rows(events: Project, answer: str, status: int, rows: int) -> None:
    events.run("run").ok()
    add_events(events, 4)
    terminal = Terminal(events.folder, "run", "--full-refresh")
    terminal.wait_for("[y/N]")
    assert "shop: read about 4 rows of events again and replace their tables?" in terminal.seen.replace("\r\n", "")
    terminal.type(answer)
    assert terminal.end() == status
    assert ("nothing was done" in terminal.seen) == (status == 1)
    if status:
        result = events.run("run", "--json").ok().json
        assert result["streams"][0]["rows"] == rows


def test_yes_answers_the_question_beforehand(events: Project) -> None:
    events.run("run").ok()
    terminal = Terminal(events.folder, "run", "--full-refresh", "--yes")
    assert terminal.end() == 0
    assert "[y/N]" not in terminal.seen


def test_ctrl_c_on_a_terminal_reaches_the_run(events: Project) -> None:
    terminal = Terminal(events.folder, "run", "--follow")
    terminal.wait_for("succeeded")
    terminal.type("\x03")
    assert terminal.end() in (0, 1)
    assert "stopping after the current checkpoint" in terminal.seen


def test_the_history_has_a_line_per_entry_on_a_terminal(events: Project) -> None:
    events.run("run").ok()
    terminal = Terminal(events.folder, "state", "history")
    assert terminal.end() == 0
    lines = terminal.seen.replace("\r", "").strip().split("\n")
    assert len(lines) == 3  # titles, a rule, the entry
    assert "…" in lines[2] or "it has not been loaded yet" in lines[2]
