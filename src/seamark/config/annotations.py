"""Which models and types a model's fields lead to, for errors that know what was expected where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

from seamark.config.secret import Secret


def keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """A model's fields by the key that a file uses."""
    return {_key(name, info): info for name, info in model.model_fields.items()}


def types_at(annotation: Any, path: Sequence[str | int]) -> list[type]:
    """Every class that a value at `path` under `annotation` may be."""
    found = list(_classes(annotation))
    for step in path:
        found = [kind for parent in found for kind in _step(parent, step)]
    return [kind for kind in (get_origin(kind) or kind for kind in found) if isinstance(kind, type)]


def models_at(annotation: Any, path: Sequence[str | int]) -> list[type[BaseModel]]:
    return [kind for kind in types_at(annotation, path) if issubclass(kind, BaseModel)]


def is_secret(annotation: Any, path: Sequence[str | int]) -> bool:
    return any(issubclass(kind, (Secret, SecretStr, SecretBytes)) for kind in types_at(annotation, path))


def _key(name: str, info: FieldInfo) -> str:
    alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
    return alias or name


def _classes(annotation: Any) -> Iterator[Any]:
    """The members of unions, without their Annotated wrapping; generic aliases stay what they are."""
    if hasattr(annotation, "__metadata__"):
        yield from _classes(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for argument in get_args(annotation):
            yield from _classes(argument)
    else:
        yield annotation


def _step(parent: Any, step: str | int) -> Iterator[Any]:
    if isinstance(parent, type) and get_origin(parent) is None:
        if issubclass(parent, BaseModel) and (info := keys_of(parent).get(str(step))) is not None:
            yield from _classes(info.annotation)
        return
    arguments = [argument for argument in get_args(parent) if argument is not Ellipsis]
    if arguments:
        yield from _classes(arguments[-1])
