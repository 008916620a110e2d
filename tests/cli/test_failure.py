from __future__ import annotations

from pathlib import Path

import pytest

from seamark.cli import failure
from seamark.cli.running import exit_status
from seamark.errors import ConfigError, LeaseHeld, SourceError, UsageError


def test_an_error_is_a_line_that_says_what_and_one_that_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    failure.report("it\n  broke", "mend it")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: it broke\nhint: mend it\n"


def test_a_config_error_names_file_and_line() -> None:
    error = ConfigError("unknown key 'stram'", "did you mean 'streams'?", "shop.yaml:3")
    assert failure.document(error) == {
        "status": "failed",
        "error": "shop.yaml:3: unknown key 'stram'",
        "hint": "did you mean 'streams'?",
    }


def test_an_unexpected_error_leaves_its_traceback_in_a_file(tmp_path: Path) -> None:
    try:
        raise KeyError("postgresql://ann:hunter2@db/x")
    except KeyError as error:
        told = failure.foreseen(error, tmp_path)
    (log,) = (tmp_path / ".seamark" / "logs").iterdir()
    assert str(log) in told.hint
    assert "Traceback" not in told.message + told.hint
    assert "Traceback" in log.read_text()
    assert "hunter2" not in told.message + told.hint + log.read_text()


def test_an_unwritable_folder_does_not_hide_the_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    told = failure.foreseen(KeyError("x"), blocked)
    assert "unexpected KeyError" in told.message
    assert "error-" in told.hint


@pytest.mark.parametrize(
    "text",
    [
        "could not connect to postgresql://ann:hunter2@db:5432/x",
        "password=hunter2 host=db",
        "{'password': 'hunter2', 'user': 'ann'}",
        "Token: hunter2",
    ],
)
def test_what_looks_like_a_password_is_not_repeated(text: str) -> None:
    told = failure.without_secrets(text)
    assert "hunter2" not in told
    assert "***" in told


def test_the_exit_status_is_that_of_the_errors_where_they_agree() -> None:
    assert exit_status([None, None]) == 0
    assert exit_status([None, LeaseHeld("held")]) == 3
    assert exit_status([UsageError("no"), ConfigError("no")]) == 2
    assert exit_status([LeaseHeld("held"), SourceError("gone")]) == 1
