"""A pipeline as its file describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from seamark.config.names import PIPELINE_NAME, pipeline_name
from seamark.config.options import Options
from seamark.config.problems import Problem, raise_problems
from seamark.config.reader import read_file
from seamark.config.references import References
from seamark.config.resolve import known_problems, resolve_streams
from seamark.config.spark import SparkOptions
from seamark.config.stream_options import Duration
from seamark.config.streams import read_streams
from seamark.config.tables import Discover, Item
from seamark.config.tree import MapNode, Node, Place, ScalarNode, describe, place_of
from seamark.config.validate import check, validate
from seamark.model.stream import Stream

OptionsModel = TypeVar("OptionsModel", bound=BaseModel)

Section = Any
"""Checked by hand, since what may stand there depends on its `type`."""


def _at_least_a_second(value: timedelta) -> timedelta:
    if value < timedelta(seconds=1):
        raise ValueError("shorter than 1s: no run could keep its lease")
    return value


class StatefulIngestionOptions(Options):
    """What a run does with the state; DataHub's names."""

    enabled: bool = Field(True, description="Whether bookmarks are kept at all.")
    ignore_old_state: bool = Field(
        False, description="Load everything again in every run, as if there were no state; the new state is kept."
    )
    ignore_new_state: bool = Field(
        False, description="Only plan: rows never move without the state that says so, so nothing is moved."
    )
    force_rerun: bool = Field(False, description="The same as `ignore_old_state`.")
    max_checkpoint_state_size: int = Field(
        16_777_216, gt=0, description="Bytes; a checkpoint whose state is larger fails before anything is published."
    )
    remove_stale_metadata: bool = Field(True, description="Whether what vanished from the source is marked as removed.")
    fail_safe_threshold: float = Field(
        75.0,
        ge=0,
        le=100,
        description="Per cent; a run that would remove more of what is there than this fails instead.",
    )
    lease_ttl: Annotated[Duration, AfterValidator(_at_least_a_second)] = Field(
        timedelta(seconds=30),
        description="How long a run that went silent keeps others out (on this machine: not once it is gone).",
    )
    state_provider: Section | None = Field(
        None,
        description="Where the state lives: `type`, and that provider's options; else the project's `state_store`.",
    )


class PipelineFile(Options):
    """A pipeline: one source, one destination, a set of streams."""

    pipeline: Annotated[str, AfterValidator(pipeline_name)] = Field(
        description="The pipeline's name, which state is tied to.", json_schema_extra={"pattern": PIPELINE_NAME}
    )
    source: Section = Field(description="Where rows come from: `type`, and that source's options.")
    destination: Section = Field(description="Where rows go: `type`, and that destination's options.")
    streams: Section = Field(
        description='What is moved: `"*"` for every table, a pattern, or a list of streams, table names and patterns.'
    )
    stateful_ingestion: StatefulIngestionOptions = Field(
        default_factory=StatefulIngestionOptions, description="What a run does with the state."
    )
    spark: SparkOptions | None = Field(None, description="Spark's options for this pipeline, over the project's.")


@dataclass(frozen=True)
class ConnectorConfig:
    """A `type` and options that only the connector itself can check. References are expanded when it does."""

    kind: str
    options: MapNode = field(repr=False)
    references: References = field(repr=False)
    place: Place
    section: str
    """The keys that lead here, for messages: `source`."""

    @property
    def root(self) -> Path:
        return self.references.root

    def validated(self, model: type[OptionsModel]) -> OptionsModel:
        """The options as the connector's model; ConfigError with every mistake at its line."""
        return validate(model, self.options, self.references, tuple(self.section.split(".")))


@dataclass(frozen=True)
class PipelineConfig:
    """One pipeline file, read and checked; the connectors' own options are checked when they are opened."""

    name: str
    file: Path
    place: Place
    """Where the file says the name."""
    root: Path
    """Relative paths start here."""
    source: ConnectorConfig
    destination: ConnectorConfig
    state_store: ConnectorConfig
    has_own_store: bool
    """Whether the file names its `state_provider`; else the store is the project's."""
    streams: tuple[Item, ...]
    stateful: StatefulIngestionOptions
    spark: SparkOptions

    @property
    def lease_ttl(self) -> timedelta:
        return self.stateful.lease_ttl

    def resolved(self, discover: Discover) -> tuple[Stream, ...]:
        """The streams with their defaults; `discover` (a source's) is asked only for patterns and bare table names."""
        return resolve_streams(self.streams, discover)


@dataclass(frozen=True)
class Defaults:
    """What a project gives its pipelines."""

    references: References
    state_store: ConnectorConfig
    spark: SparkOptions


def read_pipeline(file: Path, shown: str, defaults: Defaults) -> PipelineConfig:
    """The pipeline in `file`, which errors call `shown`; ConfigError with every mistake in order of line."""
    tree = read_file(file, shown)
    problems: list[Problem] = []
    checked = check(PipelineFile, _checked_elsewhere(tree, defaults.references, problems), problems)
    source = read_connector(tree.get("source"), "source", defaults.references, problems)
    destination = read_connector(tree.get("destination"), "destination", defaults.references, problems)
    store = _own_store(tree, defaults.references, problems)
    items = _items(tree, defaults.references, problems)
    raise_problems(problems)
    assert checked is not None
    assert source is not None
    assert destination is not None
    return PipelineConfig(
        name=checked.pipeline,
        file=file,
        place=place_of(tree, "pipeline"),
        root=defaults.references.root,
        source=source,
        destination=destination,
        state_store=store or defaults.state_store,
        has_own_store=store is not None,
        streams=items,
        stateful=checked.stateful_ingestion,
        spark=checked.spark.over(defaults.spark) if checked.spark else defaults.spark,
    )


def read_connector(
    node: Node | None, section: str, references: References, problems: list[Problem]
) -> ConnectorConfig | None:
    """The connector that a section names, its options left for later; None when there is a mistake or no section."""
    if node is None:
        return None
    if not isinstance(node, MapNode):
        hint = "such as `{type: sqlite}`: a mapping with `type`"
        problems.append(Problem(node.place, f"{section}: expected a mapping, found {describe(node)}", hint))
        return None
    kind = node.get("type")
    kind = references.expand(kind, problems) if kind is not None else None
    if not isinstance(kind, ScalarNode) or not isinstance(kind.value, str) or not kind.value:
        place = place_of(node, "type")
        hint = "`seamark connectors` lists the kinds there are"
        problems.append(
            Problem(
                place, f"{section}: 'type' is required" if kind is None else f"{section}.type: expected a kind", hint
            )
        )
        return None
    return ConnectorConfig(kind.value, node.without("type"), references, place_of(node, "type"), section)


def _checked_elsewhere(tree: MapNode, references: References, problems: list[Problem]) -> MapNode:
    """The file with blanks where a section is read by hand. The name stays unexpanded: any environment must know it."""
    entries = dict(tree.entries)
    for key in ("source", "destination", "streams"):
        if key in entries:
            entries[key] = ScalarNode(entries[key].place, None)
    stateful = entries.get("stateful_ingestion")
    if isinstance(stateful, MapNode):
        entries["stateful_ingestion"] = stateful.without("state_provider")
    for key in entries.keys() - {"pipeline"}:
        entries[key] = references.expand(entries[key], problems)
    return MapNode(tree.place, entries, tree.key_places)


def _own_store(tree: MapNode, references: References, problems: list[Problem]) -> ConnectorConfig | None:
    stateful = tree.get("stateful_ingestion")
    if not isinstance(stateful, MapNode):
        return None
    return read_connector(stateful.get("state_provider"), "stateful_ingestion.state_provider", references, problems)


def _items(tree: MapNode, references: References, problems: list[Problem]) -> tuple[Item, ...]:
    node = tree.get("streams")
    if node is None:
        return ()
    items = read_streams(references.expand(node, problems), problems)
    problems += known_problems(items)
    return items
