from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, SecretStr, field_validator

from seamark.config.options import Options
from seamark.config.secret import Secret
from seamark.config.validate import validate
from seamark.errors import ConfigError
from tests.config.files import tree


class Color(StrEnum):
    RED = "red"
    GREEN = "green"


class Inner(Options):
    size: int = Field(3, ge=1)
    color: Color = Color.RED
    kind: Literal["plain", "fancy"] = "plain"


class Outer(Options):
    name: str = Field(description="What it is called.")
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()
    by_name: dict[str, Inner] = Field(default_factory=dict)
    maybe: Annotated[Inner | None, Field()] = None
    either: int | list[int] = 0
    flag: bool = False
    ratio: float = 1.0
    words: list[str] = Field(default_factory=list)
    schema_: str = Field("", alias="schema")
    secret: SecretStr | None = None

    @field_validator("words")
    @classmethod
    def _no_empty_words(cls, value: list[str]) -> list[str]:
        if "" in value:
            raise ValueError("an empty word says nothing")
        return value


def refusal(text: str, model: type[BaseModel] = Outer) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        validate(model, tree(text), path=("top",))
    return caught.value


def test_what_fits_is_the_model() -> None:
    model = validate(Outer, tree("name: a\nmany: [{size: 5}]\nby_name: {x: {color: green}}\nschema: s\nflag: yes"))
    assert (model.name, model.many[0].size, model.by_name["x"].color, model.schema_, model.flag) == (
        "a",
        5,
        Color.GREEN,
        "s",
        True,
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("name: a\nflga: true", "a.yaml:2: top: unknown key 'flga'", "did you mean 'flag'?"),
        ("name: a\nschem: x", "a.yaml:2: top: unknown key 'schem'", "did you mean 'schema'?"),
        ("name: a\nzzz: x", "a.yaml:2: top: unknown key 'zzz'", "known: name, inner, many"),
        ("name: a\ninner:\n  sise: 4", "a.yaml:3: top.inner: unknown key 'sise'", "did you mean 'size'?"),
        ("name: a\nmany:\n  - size: 4\n  - sise: 4", "a.yaml:4: top.many[1]: unknown key 'sise'", "did you mean 'size'?"),
        ("name: a\nby_name:\n  x:\n    sise: 4", "a.yaml:4: top.by_name.x: unknown key 'sise'", "did you mean 'size'?"),
        ("name: a\nmaybe:\n  sise: 4", "a.yaml:3: top.maybe: unknown key 'sise'", "did you mean 'size'?"),
        ("flag: true", "a.yaml:1: top: 'name' is required", "What it is called."),
        ("name: 5", "a.yaml:1: top.name: expected text, found a number", "put the value in quotes"),
        ("name: true", "a.yaml:1: top.name: expected text, found true or false", "put the value in quotes"),
        ("name:", "a.yaml:1: top.name: expected text, found nothing", ""),
        ("name: [a]", "a.yaml:1: top.name: expected text, found a list", ""),
        ("name: a\ninner: 5", "a.yaml:2: top.inner: expected a mapping, found 5", ""),
        ("name: a\nmany: x", "a.yaml:2: top.many: expected a list, found 'x'", ""),
        ("name: a\nby_name: [x]", "a.yaml:2: top.by_name: expected a mapping, found a list", ""),
        ("name: a\ninner: {size: big}", "a.yaml:2: top.inner.size: expected a whole number, found 'big'", ""),
        ("name: a\ninner: {size: 1.5}", "a.yaml:2: top.inner.size: expected a whole number, found 1.5", ""),
        ("name: a\ninner:\n  size: 0", "a.yaml:3: top.inner.size: input should be greater than or equal to 1", ""),
        ("name: a\nratio: much", "a.yaml:2: top.ratio: expected a number, found 'much'", ""),
        ("name: a\nflag: maybe", "a.yaml:2: top.flag: expected true or false, found 'maybe'", ""),
        ("name: a\ninner: {color: gren}", "a.yaml:2: top.inner.color: 'gren' is none of the choices", "did you mean 'green'?"),
        ("name: a\ninner: {kind: fanzy}", "a.yaml:2: top.inner.kind: 'fanzy' is none of the choices", "did you mean 'fancy'?"),
        ("name: a\nwords:\n  - a\n  - 5", "a.yaml:4: top.words[1]: expected text, found a number", "quotes"),
        ("name: a\nwords: ['']", "a.yaml:2: top.words: an empty word says nothing", ""),
    ],
)  # fmt: skip
def test_each_mistake_has_its_line_its_path_and_a_hint(text: str, message: str, hint: str) -> None:
    error = refusal(text)
    assert error.message == message
    assert error.where == message.split(": ")[0]
    assert hint in error.hint


def test_all_mistakes_are_reported_in_order_of_line() -> None:
    error = refusal("""
        zzz: 1
        flag: maybe
        inner:
          kind: x
        many:
          - size: 0
    """)
    lines = [line.split(": ")[0] for line in error.message.split(";\n")]
    assert lines == ["a.yaml:1", "a.yaml:1", "a.yaml:2", "a.yaml:4", "a.yaml:6"]
    assert error.where == "a.yaml:1"


class Two(Options):
    one: str
    two: str


def test_every_missing_key_is_named() -> None:
    assert refusal("{}", Two).message == "a.yaml:1: top: 'one' is required;\na.yaml:1: top: 'two' is required"


def test_branches_of_a_union_complain_once() -> None:
    assert refusal("name: a\neither: {}").message.count("a.yaml:2") == 1


def test_pydantics_own_secrets_are_not_shown_either() -> None:
    assert "7355608" not in refusal("name: a\nsecret: 7355608").message


class Login(Options):
    password: Secret | None = None


def test_a_secret_is_not_offered_as_a_slip() -> None:
    assert "hunter2" not in refusal("passwrd: hunter2", Login).message
