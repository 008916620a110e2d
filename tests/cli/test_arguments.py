from __future__ import annotations

from pathlib import Path

import pytest

from seamark.cli.group import shared_first
from seamark.cli.running import seconds_of
from seamark.cli.terminal import has_colour
from seamark.errors import UsageError


def test_shared_options_may_stand_anywhere_before_a_double_dash() -> None:
    assert shared_first(["run", "shop", "--debug", "--project", "x"]) == ["--debug", "--project", "x", "run", "shop"]
    assert shared_first(["run", "--project=x"]) == ["--project=x", "run"]
    assert shared_first(["run", "--", "--debug"]) == ["run", "--", "--debug"]
    assert shared_first(["run", "--project"]) == ["--project", "run"]


@pytest.mark.parametrize(("text", "seconds"), [("10s", 10), ("500ms", 0.5), ("2m", 120), ("1h", 3600)])
def test_an_interval_has_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1s", "10 parsecs"])
def test_what_is_no_interval_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match="--interval"):
        seconds_of(text)


def test_no_color_turns_colours_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal, os.fdopen(master):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert has_colour(terminal)
        monkeypatch.setenv("NO_COLOR", "1")
        assert not has_colour(terminal)
    with (tmp_path / "file").open("w") as file:
        monkeypatch.delenv("NO_COLOR")
        assert not has_colour(file)
