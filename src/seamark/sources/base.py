"""What a source is: a few methods, each with its contract. Nothing here imports Arrow or Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from seamark.model.bookmark import Bookmark
from seamark.model.split import Split, SplitReader
from seamark.model.stream import Shape, Stream, TableInfo
from seamark.model.window import Estimate, Frontier, Window


@dataclass(frozen=True)
class Reading:
    """One window's splits, all of which see the same snapshot where the source has such a thing."""

    splits: tuple[Split, ...]
    reader: SplitReader


@dataclass(frozen=True)
class Finding:
    """What `check` found: level is ok, warning or error; `fix` says how to mend it."""

    level: str
    subject: str
    message: str
    fix: str = ""


class Source(Protocol):
    """A source, connected lazily: constructing one does no I/O."""

    def check(self, streams: Sequence[Stream]) -> list[Finding]:
        """Connection, privileges and settings, and for each stream whether its marks are sound here."""

    def discover(self, pattern: str = "*") -> list[TableInfo]:
        """Tables whose name matches the pattern, in order of name."""

    def shape(self, stream: Stream) -> Shape:
        """What the stream will yield; SourceError for a missing table or column (with the nearest names),
        TypeMappingError for a column with no faithful type and no `cast`, and for a cursor that can't be ordered."""

    def frontier(self, stream: Stream, shape: Shape, low: Bookmark | None) -> Frontier:
        """The safe mark now, waiting for at most `cursor.settle` while it has not passed the newest row."""

    def estimate(self, stream: Stream, window: Window) -> Estimate:
        """Rows and bytes of the window, cheaply."""

    def read(self, stream: Stream, shape: Shape, window: Window, parallelism: int) -> AbstractContextManager[Reading]:
        """Freeze what is read and cut it into splits; whatever keeps the snapshot alive is let go at exit."""

    def acknowledge(self, stream: Stream, bookmark: Bookmark | None) -> None:
        """The checkpoint up to `bookmark` is committed: let go of what was kept for it. Idempotent."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class SourceConnector:
    """How a kind of source registers: its options and a function that makes one. `root` is the project's folder."""

    kind: str
    summary: str
    options: type[BaseModel]
    open: Callable[[BaseModel, Path], Source]
    capabilities: tuple[tuple[str, str], ...] = ()
