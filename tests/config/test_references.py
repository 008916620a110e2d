from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seamark.config.options import Options
from seamark.config.problems import Problem
from seamark.config.references import MAX_FILE_BYTES, References
from seamark.config.secret import Secret
from seamark.config.tree import plain
from seamark.config.validate import validate
from seamark.errors import ConfigError
from tests.config.files import tree


def expanded(value: str, environment: Mapping[str, str] | None = None, root: Path = Path("/nowhere")) -> Any:
    problems: list[Problem] = []
    found = plain(References(root, environment or {}).expand(tree(f"a: {value}"), problems))
    assert problems == []
    return found["a"]


def refusal(value: str, environment: Mapping[str, str] | None = None, root: Path = Path("/nowhere")) -> Problem:
    problems: list[Problem] = []
    References(root, environment or {}).expand(tree(f"x: 1\na: {value}"), problems)
    assert [problem.place.line for problem in problems] == [2]
    return problems[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("${A}", "one"),
        ("x-${A}-${B}", "x-one-two"),
        ('"${A}"', "one"),
        ("${EMPTY}", ""),
        ("${NONE:-fallback}", "fallback"),
        ("${EMPTY:-fallback}", "fallback"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("${A:-fallback}", "one"),
        ("$A", "$A"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
        ("$${A} is ${A}", "${A} is one"),
        ("a$$b", "a$$b"),
        ("${NESTED}", "${A}"),
    ],
)
def test_references_in_values(value: str, text: str) -> None:
    assert expanded(value, {"A": "one", "B": "two", "EMPTY": "", "NESTED": "${A}"}) == text


def test_what_a_variable_gives_stays_text() -> None:
    assert expanded("${PORT}", {"PORT": "0123"}) == "0123"


def test_references_everywhere_below() -> None:
    problems: list[Problem] = []
    node = References(Path("/nowhere"), {"A": "one"}).expand(tree("a: [{b: '${A}'}, '${A}']\n'${A}': 1"), problems)
    assert plain(node) == {"a": [{"b": "one"}, "one"], "${A}": 1}


def test_a_missing_variable_is_named_with_how_to_set_it() -> None:
    problem = refusal("${SHOP_URL}")
    assert problem.message == "the environment variable SHOP_URL is not set"
    assert "export SHOP_URL=" in problem.hint


@pytest.mark.parametrize("value", ["${A", "x ${", "${}", "${1A}", "${A-b}", "${A B}", "${A:?}", "'${file:}'"])
def test_a_reference_that_is_none_is_refused(value: str) -> None:
    problem = refusal(value, {"A": "one"})
    assert problem.hint


def test_a_bad_reference_does_not_show_what_follows() -> None:
    assert "hunter2" not in refusal("'${A:+hunter2}'").message


def test_a_files_text_without_its_line_end(tmp_path: Path) -> None:
    for name, raw in {
        "unix": b"one\n",
        "dos": b"one\r\n",
        "bare": b"one",
        "two": b"one\n\n",
        "space": b" one \n",
    }.items():
        (tmp_path / name).write_bytes(raw)
    found = {name: expanded(f"${{file:{name}}}", root=tmp_path) for name in ("unix", "dos", "bare", "two", "space")}
    assert found == {"unix": "one", "dos": "one", "bare": "one", "two": "one\n", "space": " one "}
    assert expanded(f"x${{file:{tmp_path}/unix}}y") == "xoney"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    problem = refusal("${file:secrets/shop}", root=tmp_path)
    assert "${file:secrets/shop}: No such file" in problem.message
    assert str(tmp_path / "secrets" / "shop") in problem.hint


def test_a_file_that_can_be_no_value_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "big").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert "UTF-8" in refusal("${file:binary}", root=tmp_path).message
    assert "larger" in refusal("${file:big}", root=tmp_path).message
    assert "can't read" in refusal("${file:.}", root=tmp_path).message


class Login(Options):
    user: str = ""
    port: int = 0
    password: Secret | None = None


def test_what_a_reference_gave_is_in_no_error(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("hunter2-port\n")
    references = References(tmp_path, {"EXTRA": "hunter2-extra"})
    with pytest.raises(ConfigError) as caught:
        validate(Login, tree("port: '${file:port}'\npassword: ['${EXTRA}']\nextra: ${EXTRA}"), references)
    assert "hunter2" not in caught.value.message + caught.value.hint
    assert "a.yaml:1: port: expected a whole number, found what ${file:port} gave" in caught.value.message


def test_numbers_and_booleans_may_come_from_the_environment() -> None:
    assert validate(Login, tree("port: ${PORT}"), References(Path("/nowhere"), {"PORT": "5432"})).port == 5432


def test_a_value_whose_reference_led_nowhere_is_complained_of_once() -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Login, tree("port: ${PORT}\nuser: 5\n"), References(Path("/nowhere"), {}))
    assert caught.value.message.count("a.yaml:1") == 1
    assert "a.yaml:2: user: expected text, found a number" in caught.value.message


def test_the_environment_does_not_show_in_a_repr() -> None:
    assert "hunter2" not in repr(References(Path(), {"A": "hunter2"}))
