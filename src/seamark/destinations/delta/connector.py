"""The Delta destination as the rest of Seamark sees it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from seamark.destinations.base import DestinationConnector, Sessions, TableFacts
from seamark.model.checkpoint import Checkpoint, TableChange
from seamark.model.schema import Schema
from seamark.model.state import TableOutcome
from seamark.model.stream import Shape, Stream

_PROPERTIES = (
    "delta.autoOptimize.autoCompact",
    "delta.autoOptimize.optimizeWrite",
    "delta.checkpointInterval",
    "delta.dataSkippingNumIndexedCols",
    "delta.dataSkippingStatsColumns",
    "delta.deletedFileRetentionDuration",
    "delta.enableChangeDataFeed",
    "delta.enableDeletionVectors",
    "delta.enableExpiredLogCleanup",
    "delta.logRetentionDuration",
    "delta.targetFileSize",
    "delta.tuneFileSizesForRewrites",
)
"""Those of Delta's own properties that change nothing about how a checkpoint is published."""


class DeltaOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, description="The folder that the tables are made in, relative to the project.")
    table_properties: dict[str, str] = Field(
        default_factory=dict, description="Table properties that new tables get, such as `delta.logRetentionDuration`."
    )

    @field_validator("table_properties")
    @classmethod
    def _harmless(cls, properties: dict[str, str]) -> dict[str, str]:
        for name in properties:
            if name.startswith("seamark."):
                raise ValueError(f"{name!r} is a property that Seamark itself keeps")
            if name.startswith("delta.") and name not in _PROPERTIES:
                raise ValueError(
                    f"{name!r} is not among Delta's properties that can be set here: {', '.join(_PROPERTIES)}"
                )
        return properties


class DeltaDestination:
    """Delta tables below one folder. Holds no connection and no state: every call looks at the table again."""

    def __init__(self, options: DeltaOptions, root: Path) -> None:
        self._options = options
        self._root = root

    def table_of(self, stream: Stream) -> str:
        from seamark.destinations.delta.places import table_folder

        return table_folder(self._options.path, self._root, stream.name)

    def facts(self, table: str) -> TableFacts | None:
        from seamark.destinations.delta.log import look

        seen = look(table)
        return seen.facts if seen else None

    def create(self, table: str, stream: Stream, shape: Shape, pipeline: str, pipeline_uuid: str) -> None:
        from seamark.destinations.delta.create import create_table

        create_table(table, stream, shape, pipeline, pipeline_uuid, self._options.table_properties)

    def fit(self, table: str, shape: Shape, replacing: bool) -> Schema:
        from seamark.destinations.delta.evolve import fit_schema

        facts = None if replacing else self.facts(table)
        return fit_schema(table, facts.schema if facts else None, shape.schema)

    def check_rows(self, change: TableChange, spark: Sessions) -> None:
        from seamark.destinations.delta.rows import check_rows

        check_rows(change, spark)

    def staging(self, table: str, incarnation: str, token: int, seq: int) -> tuple[str, str]:
        from seamark.destinations.delta.places import staged_folder

        return table, staged_folder(incarnation, token, seq)

    def publish(self, checkpoint: Checkpoint, change: TableChange, spark: Sessions) -> TableOutcome:
        from seamark.destinations.delta.publish import publish

        return publish(checkpoint, change, spark)

    def verify(self, change: TableChange, deep: bool) -> str:
        from seamark.destinations.delta.staged import verify

        return verify(change, deep)

    def entomb(self, checkpoint: Checkpoint, change: TableChange) -> TableOutcome:
        from seamark.destinations.delta.publish import entomb

        return entomb(checkpoint, change)

    def entomb_number(self, table: str, pipeline_uuid: str, seen: int, number: int) -> bool:
        from seamark.destinations.delta.publish import entomb_number

        return entomb_number(table, pipeline_uuid, seen, number)

    def undo(self, checkpoint: Checkpoint, change: TableChange) -> bool:
        from seamark.destinations.delta.publish import undo

        return undo(checkpoint, change)

    def strays(self, table: str, incarnation: str, token: int) -> frozenset[tuple[int, int]]:
        from seamark.destinations.delta.staged import strays

        return strays(table, incarnation, token)

    def sweep(self, table: str, incarnation: str, strays: Collection[tuple[int, int]]) -> int:
        from seamark.destinations.delta.staged import sweep

        return sweep(table, incarnation, strays)


def _open(options: BaseModel, root: Path) -> DeltaDestination:
    assert isinstance(options, DeltaOptions)
    return DeltaDestination(options, root)


connector = DestinationConnector(
    kind="delta",
    summary="Delta tables in a folder, written by Spark and delta-rs",
    options=DeltaOptions,
    open=_open,
    capabilities=(
        ("modes", "append, merge, replace"),
        ("fenced", "yes: the number is committed with the rows"),
        ("without a JVM", "append and replace"),
        ("schema evolution", "new columns, wider types"),
        ("undo", "appends"),
    ),
)
