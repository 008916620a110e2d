"""Secrets: values that print as `***` wherever they end up, and are handed out only by `reveal()`."""

from __future__ import annotations

import hmac
import re
from typing import Any, Self
from urllib.parse import unquote

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

HIDDEN = "***"
_SECRET_WORD = re.compile(r"pass|pwd|secret|token|key|credential|auth", re.IGNORECASE)


class Secret:
    """A text that is never shown: str, repr, format and JSON all give `***`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one call that needs it."""
        return self._text

    @property
    def display(self) -> str:
        """What may be shown to people."""
        return HIDDEN

    def parts(self) -> tuple[str, ...]:
        """Every text that must not appear in what others say (see `redact`)."""
        return (self._text,)

    def __str__(self) -> str:
        return self.display

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.display!r})"

    def __format__(self, spec: str) -> str:
        return format(self.display, spec)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and hmac.compare_digest(self._text.encode(), other.reveal().encode())

    def __hash__(self) -> int:
        return hash((type(self), self._text))

    @classmethod
    def _validated(cls, value: Any) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise PydanticCustomError("secret_type", "expected text; put the value in quotes")
        return cls._from_text(value)

    @classmethod
    def _from_text(cls, text: str) -> Self:
        return cls(text)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        shown = core_schema.plain_serializer_function_ser_schema(lambda secret: secret.display)
        return core_schema.no_info_plain_validator_function(cls._validated, serialization=shown)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "format": "password", "writeOnly": True}


class SecretUrl(Secret):
    """A URL that may hold a password: `display` shows all of it but that."""

    __slots__ = ()

    @property
    def display(self) -> str:
        scheme, _, rest = self._text.partition("://")
        authority, tail = _split_authority(rest)
        userinfo, at, host = authority.rpartition("@")
        # A bare @ further on may end a password that holds an unescaped / ? or #: then nothing is safe to show.
        if "@" in tail or (not at and re.search(r":(?!\d*(,|$))", _without_ipv6(host))):
            return f"{scheme}://{HIDDEN}"
        user, colon, _ = userinfo.partition(":")
        return f"{scheme}://{user}{colon and ':' + HIDDEN}{at}{host}{_PARAMETER.sub(_hide_parameter, tail)}"

    def parts(self) -> tuple[str, ...]:
        rest = self._text.partition("://")[2]
        authority, tail = _split_authority(rest)
        password = authority.rpartition("@")[0].partition(":")[2]
        hidden = [match[3] for match in _PARAMETER.finditer(tail) if _SECRET_WORD.search(match[2])]
        known = [self._text, password, *hidden]
        return tuple(dict.fromkeys(text for part in known for text in (part, unquote(part)) if text))

    @classmethod
    def _from_text(cls, text: str) -> Self:
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
            raise PydanticCustomError("secret_url", "expected a URL such as scheme://user:password@host/name")
        return cls(text)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*://", "writeOnly": True}


_PARAMETER = re.compile(r"([?&;])([^=&;#]*)=([^&;#]*)")


def redact(text: str, *secrets: Secret | None) -> str:
    """`text`, which someone else wrote, without anything that is secret."""
    parts = {part for secret in secrets if secret is not None for part in secret.parts() if part}
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, HIDDEN)
    return text


def _hide_parameter(match: re.Match[str]) -> str:
    value = HIDDEN if _SECRET_WORD.search(match[2]) else match[3]
    return f"{match[1]}{match[2]}={value}"


def _split_authority(rest: str) -> tuple[str, str]:
    end = re.search(r"[/?#]", rest)
    return (rest[: end.start()], rest[end.start() :]) if end else (rest, "")


def _without_ipv6(host: str) -> str:
    return re.sub(r"\[[^\]]*\]", "", host)
