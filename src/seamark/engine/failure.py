"""Errors on their way from a task to the driver: as data, so that they arrive as what they were."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seamark import errors
from seamark.errors import EngineError, SeamarkError, SourceUnavailable
from seamark.model.split import Split

_CREDENTIALS = re.compile(r"(\w+://)\S+@|((?:password|passwd|pwd|token|secret)\s*[=:]\s*)\S+", re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """A split that failed for good."""

    kind: str
    message: str
    hint: str

    def error(self) -> SeamarkError:
        kind = getattr(errors, self.kind, EngineError)
        error: SeamarkError = kind(self.message, self.hint)
        return error


def failure_of(error: BaseException, split: Split) -> Failure:
    """The error as data. What Seamark did not raise itself becomes an EngineError that names the split."""
    if isinstance(error, SeamarkError):
        known = next(base for base in type(error).__mro__ if base.__module__ == errors.__name__)
        return Failure(known.__name__, error.message, error.hint)
    piece = split.describes or f"split {split.index}"
    return Failure(
        EngineError.__name__,
        f"reading {piece} failed: {type(error).__name__}: {without_credentials(str(error))}",
        "the traceback is in Spark's log; if this comes from a connector, it should raise SourceError",
    )


def is_final(error: BaseException) -> bool:
    """Whether trying again is pointless: Seamark's own errors are, unless they say that the world may change."""
    return isinstance(error, SeamarkError) and not isinstance(error, SourceUnavailable | EngineError)


def without_credentials(text: str) -> str:
    return _CREDENTIALS.sub(lambda match: f"{match[1] or match[2]}***" + ("@" if match[1] else ""), text)
