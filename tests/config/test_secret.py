from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator

from seamark.config.options import Options
from seamark.config.secret import Secret, SecretUrl, redact
from seamark.config.validate import validate
from seamark.errors import ConfigError
from tests.config.files import tree

WORD = "hunter2-c0rrect-h0rse"


class Login(Options):
    user: str = ""
    password: Secret | None = Field(None)
    url: SecretUrl | None = Field(None)
    tokens: tuple[Secret, ...] = ()


def everything_said_of(value: Any) -> str:
    said = [
        str(value),
        repr(value),
        f"{value}",
        f"{value!r:>50}",
        "%s" % (value,),  # noqa: UP031
        f"{[value]}",
        f"{ ({'k': value}) }",
    ]
    if isinstance(value, BaseModel):
        said += [value.model_dump_json(), json.dumps(value.model_dump(mode="json")), str(value.model_dump())]
    said.append(orjson.dumps({"v": value}, default=str).decode())
    return "\n".join(said)


def test_a_secret_is_revealed_only_when_asked() -> None:
    secret = Secret(WORD)
    assert secret.reveal() == WORD
    assert (str(secret), repr(secret), f"{secret:>5}") == ("***", "Secret('***')", "  ***")
    assert WORD not in everything_said_of(secret)


def test_a_model_with_secrets_never_shows_them() -> None:
    login = Login(password=Secret(WORD), url=SecretUrl(f"postgresql://u:{WORD}@h/db"), tokens=(Secret(WORD),))
    assert WORD not in everything_said_of(login)
    assert json.loads(login.model_dump_json())["url"] == "postgresql://u:***@h/db"


def test_secrets_travel_to_tasks() -> None:
    assert pickle.loads(pickle.dumps(Secret(WORD))).reveal() == WORD
    assert copy.deepcopy(SecretUrl(f"a://u:{WORD}@h")).reveal() == f"a://u:{WORD}@h"


def test_secrets_compare_by_what_they_hold() -> None:
    assert Secret(WORD) == Secret(WORD)
    assert hash(Secret(WORD)) == hash(Secret(WORD))
    assert Secret(WORD) != Secret("other")
    assert Secret(WORD) != WORD
    assert Secret("a://b") != SecretUrl("a://b")
    assert not Secret("")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://user:pass@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user@host:5432/db", "postgresql://user@host:5432/db"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("postgresql://:pass@host/db", "postgresql://:***@host/db"),
        ("postgresql://user:@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user:p@ss:w@host/db", "postgresql://user:***@host/db"),
        ("postgresql://u:pass@[::1]:5432/db", "postgresql://u:***@[::1]:5432/db"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
        ("postgresql://h1:5432,h2:5433/db", "postgresql://h1:5432,h2:5433/db"),
        ("postgresql:///db?host=/run&user=u&password=pass", "postgresql:///db?host=/run&user=u&password=***"),
        ("mysql://u:pass@h/db?ssl_key=pass&charset=utf8", "mysql://u:***@h/db?ssl_key=***&charset=utf8"),
        ("mssql+odbc://u:pass@h/db;Password=pass;x=1", "mssql+odbc://u:***@h/db;Password=***;x=1"),
        # Passwords that should have been escaped: rather nothing than a part of them.
        ("postgresql://user:pa/ss@host/db", "postgresql://***"),
        ("postgresql://user:pa?ss@host/db", "postgresql://***"),
        ("postgresql://user:pa#ss@host/db", "postgresql://***"),
        ("postgresql://user:p@s/s@host/db", "postgresql://***"),
        ("sqlite:///data/shop.db", "sqlite:///data/shop.db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert SecretUrl(url).display == shown


@given(
    st.text(min_size=4, alphabet=st.characters(codec="utf-8", exclude_characters="*")),
    st.sampled_from(["", "?a=b", "/x"]),
)
def test_no_password_is_ever_shown_in_a_url(password: str, tail: str) -> None:
    url = SecretUrl(f"postgresql://user:{password}@host/db{tail}")
    shown = url.display.removeprefix("postgresql://user:").replace("@host/db", "")
    assert password not in shown
    assert url.reveal() == f"postgresql://user:{password}@host/db{tail}"


def test_what_others_say_is_redacted() -> None:
    url = SecretUrl("postgresql://user:p%40ss-w0rd@host/db")
    foreign = (
        'connection to postgresql://user:p%40ss-w0rd@host/db failed: password "p@ss-w0rd" (p%40ss-w0rd) wrong, key k1'
    )
    assert redact(foreign, url, Secret("k1"), None) == 'connection to *** failed: password "***" (***) wrong, key ***'


def test_a_value_of_the_wrong_kind_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Login, tree("user: a\npassword: 7355608\nurl: [a]\n"))
    assert "7355608" not in str(caught.value)
    assert "a.yaml:2: password: expected text; put the value in quotes" in caught.value.message
    assert "a.yaml:3: url: expected text" in caught.value.message


def test_a_url_that_is_none_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Login, tree(f"url: user:{WORD}@host/db"))
    assert WORD not in caught.value.message + caught.value.hint
    assert caught.value.message.startswith("a.yaml:1: url: expected a URL")


def test_pydantic_itself_shows_no_secret() -> None:
    with pytest.raises(ValidationError) as caught:
        Login.model_validate({"url": SecretUrl(f"a://u:{WORD}@h"), "user": 1})
    assert WORD not in str(caught.value)


class Careless(Login):
    foreign: SecretStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _quote_everything(cls, value: Any) -> Any:
        raise ValueError(f"I do not like {value}")


def test_a_careless_validator_does_not_leak_what_is_secret() -> None:
    text = f"user: joe\npassword: {WORD}\nurl: postgresql://u:{WORD}x@h/db\ntokens: [{WORD}y]\nforeign: {WORD}z\n"
    with pytest.raises(ConfigError) as caught:
        validate(Careless, tree(text))
    assert "hunter2" not in caught.value.message
    assert "***z" not in caught.value.message
    assert "joe" in caught.value.message
