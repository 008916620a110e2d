"""What connectors there are, as far as schema and reference need to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel


class Described(Protocol):
    """A connector's description of itself."""

    @property
    def kind(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def options(self) -> type[BaseModel]: ...

    @property
    def capabilities(self) -> tuple[tuple[str, str], ...]: ...


@dataclass(frozen=True)
class Catalog:
    sources: Sequence[Described] = ()
    destinations: Sequence[Described] = ()
    state_stores: Sequence[Described] = ()
