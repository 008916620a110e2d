from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from seamark import errors
from seamark.errors import ConfigError, LeaseHeld, NewerStateStore, SeamarkError, SourceError, UsageError

ALL = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, SeamarkError)]


def test_message_and_hint_are_kept_apart() -> None:
    error = SourceError("no table public.ordres", "did you mean public.orders?")
    assert (error.message, error.hint, str(error)) == (
        "no table public.ordres",
        "did you mean public.orders?",
        "no table public.ordres",
    )


def test_a_configuration_error_says_where() -> None:
    error = ConfigError("unknown key `tabel`", "did you mean `table`?", where="pipelines/shop.yaml:7")
    assert error.message == "pipelines/shop.yaml:7: unknown key `tabel`"
    assert error.where == "pipelines/shop.yaml:7"
    assert ConfigError("no such file").message == "no such file"


@pytest.mark.parametrize(
    ("error", "status"), [(SourceError, 1), (UsageError, 2), (ConfigError, 2), (NewerStateStore, 2), (LeaseHeld, 3)]
)
def test_the_exit_status_is_the_documented_one(error: type[SeamarkError], status: int) -> None:
    assert error("").exit_status == status


@pytest.mark.parametrize("error", ALL, ids=lambda cls: cls.__name__)
def test_every_error_says_what_it_stands_for(error: type[SeamarkError]) -> None:
    assert error.__doc__
    assert error.__doc__.strip().endswith((".", ".)"))
    assert error.exit_status in (1, 2, 3, 4)


def test_every_error_is_raised_or_a_group_of_those_that_are() -> None:
    sources = Path(errors.__file__).parent
    text = "\n".join(module.read_text(encoding="utf-8") for module in sources.rglob("*.py"))
    raised = {cls for cls in ALL if re.search(rf"(?<!class )\b{cls.__name__}\(", text)}
    assert [cls.__name__ for cls in ALL if not any(issubclass(used, cls) for used in raised)] == []
