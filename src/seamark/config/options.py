"""The base of every options model: frozen, closed, every field described."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Options as a file gives them. Connectors derive theirs from this; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
