"""What a destination is: tables that take a checkpoint's rows exactly once. Nothing here imports Arrow or Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel

from seamark.model.checkpoint import Checkpoint, TableChange
from seamark.model.schema import Schema
from seamark.model.state import TableOutcome
from seamark.model.stream import Shape, Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TableFacts:
    """A table as it is now. `recorded` is the last number under its owner's id, -1 when there is none."""

    table: str
    owner: str
    """The uuid of the pipeline that made it, which also names the id its numbers stand under; "" for a table Seamark
    did not make."""
    schema: Schema
    recorded: int
    version: int
    has_rows: bool
    partition_by: tuple[str, ...] = ()
    owner_name: str = ""


class Sessions(Protocol):
    """Gives a Spark session when one is really needed."""

    def session(self) -> SparkSession: ...


class Destination(Protocol):
    """A destination. Every method may be called again after a crash; none assumes that it is alone."""

    def table_of(self, stream: Stream) -> str:
        """The table's own name or path for `stream`, as it goes into the prepared checkpoint."""

    def facts(self, table: str) -> TableFacts | None:
        """The table now, None when there is none. Cheap: reads the log, not the data."""

    def create(self, table: str, stream: Stream, shape: Shape, pipeline: str, pipeline_uuid: str) -> None:
        """Make it, empty, with its owner (name and uuid) recorded in it; does nothing when this pipeline has made it
        already. ForeignTable when something else is there; DestinationError when the place can't be written."""

    def fit(self, table: str, shape: Shape, replacing: bool) -> Schema:
        """The schema that rows must have to be published: the stream's, checked against the table's. `replacing`:
        nothing of what is there stays, so any schema will do. SchemaConflict, naming the column and what to do, when
        they can't be brought together."""

    def check_rows(self, change: TableChange, spark: Sessions) -> None:
        """Called once all is staged, before prepare. DestinationError, naming stream, key and an example, when
        `change` can't be published with one meaning: NULL in a key, or rows of one key that nothing orders. Spark is
        only asked for when the source doesn't enforce the key."""

    def staging(self, table: str, incarnation: str, token: int, seq: int) -> tuple[str, str]:
        """(root, folder): files go to root/folder, their names in a checkpoint are relative to root."""

    def publish(self, checkpoint: Checkpoint, change: TableChange, spark: Sessions) -> TableOutcome:
        """Leave the rows of `change` in the table together with the number, once, or find that the table has moved
        past it.

        Compares where it commits: a table that has recorded this number or a higher one is left alone. StateConflict
        when it has recorded something above this checkpoint's tombstone (someone else went on).
        """

    def verify(self, change: TableChange, deep: bool) -> str:
        """Empty when every staged file is there with its size (and its digest, if `deep`); else what is wrong, in
        words."""

    def entomb(self, checkpoint: Checkpoint, change: TableChange) -> TableOutcome:
        """Record the tombstone unless the table has the rows or more; says which."""

    def entomb_number(self, table: str, pipeline_uuid: str, seen: int, number: int) -> bool:
        """Record `number` with no rows if what is recorded is still `seen`; False when it is not."""

    def undo(self, checkpoint: Checkpoint, change: TableChange) -> bool:
        """Take back precisely this checkpoint's files, where the table's format allows it; False when it can't."""

    def strays(self, table: str, incarnation: str, token: int) -> frozenset[tuple[int, int]]:
        """(token, seq) of what was staged under this incarnation by tokens older than `token`, published or not."""

    def sweep(self, table: str, incarnation: str, strays: Collection[tuple[int, int]]) -> int:
        """Delete what was staged under these, which the caller knows were never published or have been merged; files
        that the table refers to stay all the same. How many files went."""


@dataclass(frozen=True)
class DestinationConnector:
    kind: str
    summary: str
    options: type[BaseModel]
    open: Callable[[BaseModel, Path], Destination]
    capabilities: tuple[tuple[str, str], ...] = ()
