"""Splits: the pieces of a window, and what reads one inside a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from seamark.model.window import Estimate

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Split:
    """A piece of a window that one task reads. `query` and `parameters` mean something to the source's reader only."""

    index: int
    query: str
    parameters: tuple[str | int | float | bytes | None, ...] = ()
    estimate: Estimate = Estimate()
    describes: str = ""
    """The piece in words (`ctid 0 to 4096`), for people."""


class SplitReader(Protocol):
    """Reads one split in whatever process a task runs in: picklable, and opens its own connection when called.

    Yields record batches of bounded size whose schema is exactly the stream's
    (`engine.arrow.arrow_schema(shape.schema)`). Raises SourceError; an error never holds a secret.
    """

    def __call__(self, split: Split) -> Iterator[pa.RecordBatch]: ...
