"""The use cases that the command line, the server and Dagster share: each takes and returns model data."""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seamark import registry
from seamark.config.pipeline import PipelineConfig
from seamark.config.project import Project, SparkOptions
from seamark.errors import ConfigError, SeamarkError, UsageError
from seamark.model.nearest import or_nearest
from seamark.model.plan import PipelinePlan, StreamPlan
from seamark.model.run import RunResult, StreamResult
from seamark.model.state import HistoryEntry, PipelineRecord, State
from seamark.model.status import ConnectorInfo, PipelineListing, PipelineStatus, StreamStatus
from seamark.model.stream import Stream, TableInfo
from seamark.sources.base import Finding, Source
from seamark.sync.context import Cancellation, Context, Progress, Quiet

if TYPE_CHECKING:
    from seamark.engine.engine import Engine
    from seamark.state.store import StateStore


@dataclass(frozen=True)
class RunOptions:
    """`streams`: only these; none named means all."""

    streams: tuple[str, ...] = ()
    full_refresh: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """A run's result in any case, and the error that ended it, if one did."""

    result: RunResult
    error: SeamarkError | None = None


@dataclass(frozen=True)
class Preview:
    """The first rows of a stream, as the next run would read them."""

    stream: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass
class _Opened:
    """What stays open between the use cases of one App."""

    engine: Engine | None = None
    spark: SparkOptions | None = None
    stores: dict[str, StateStore] = field(default_factory=dict)


class App:
    """One project, opened. Nothing is connected to before a method needs it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._opened = _Opened()

    def pipelines(self) -> tuple[PipelineListing, ...]:
        """Every pipeline file of the project, those that can't be read with what is wrong with them."""
        return tuple(self._listing(name) for name in self.project.pipelines())

    def run(
        self,
        pipeline: str,
        options: RunOptions = RunOptions(),
        progress: Progress | None = None,
        cancellation: Cancellation | None = None,
    ) -> RunOutcome:
        """One run of a pipeline, by name or file. Raises ConfigError and UsageError; all else is in the outcome."""
        from seamark.sync.execute import run

        run_id = uuid.uuid4().hex[:12]
        config = self.project.load(pipeline)
        if config.stateful.ignore_new_state:
            (progress or Quiet()).warn(
                "ignore_new_state is set: this only plans, since rows never move without their state"
            )
            plan = self.plan(pipeline, options)
            streams = tuple(StreamResult(stream.stream.name) for stream in plan.streams)
            return RunOutcome(RunResult(config.name, run_id, "skipped", streams, plan.state_version, 0.0, False))
        try:
            with self._context(config, options, progress or Quiet(), cancellation or Cancellation()) as ctx:
                return RunOutcome(*run(ctx, run_id))
        except (ConfigError, UsageError):
            raise
        except SeamarkError as error:
            return RunOutcome(RunResult(config.name, run_id, "failed", (), 0, 0.0, False, error.message), error)

    def plan(self, pipeline: str, options: RunOptions = RunOptions()) -> PipelinePlan:
        """What `run` would do now; takes no lease, changes nothing."""
        from seamark.sync.plan import count_splits, make_plan, state_to_look_at

        with self._context(self.project.load(pipeline), options) as ctx:
            return count_splits(ctx, make_plan(ctx, state_to_look_at(ctx)))

    def preview(self, pipeline: str, limit: int, options: RunOptions = RunOptions()) -> tuple[Preview, ...]:
        """The first `limit` rows of each stream's next window; nothing is staged, no JVM is started."""
        from seamark.sync.plan import make_plan, state_to_look_at

        with self._context(self.project.load(pipeline), options) as ctx:
            plan = make_plan(ctx, state_to_look_at(ctx))
            for stream in plan.streams:
                if stream.problem is not None:
                    raise stream.problem
            return tuple(_preview(ctx.source, stream, limit) for stream in plan.streams)

    def status(self, pipelines: Sequence[str] = ()) -> tuple[PipelineStatus, ...]:
        """Where pipelines stand, from the state store alone; all of the project's when none is named."""
        return tuple(self._status(self.project.load(name)) for name in pipelines or self.project.pipelines())

    def check(self, pipeline: str, options: RunOptions = RunOptions()) -> list[Finding]:
        """Whether source, destination, state store and each stream are fit to run."""
        from seamark.sync.check import check

        with self._context(self.project.load(pipeline), options) as ctx:
            return check(ctx)

    def discover(self, pipeline: str, pattern: str = "*") -> list[TableInfo]:
        """The source's tables."""
        source = registry.open_source(self.project.load(pipeline))
        try:
            return source.discover(pattern)
        finally:
            source.close()

    def state_list(self) -> list[PipelineRecord]:
        """Every pipeline that the project's store knows, configured or not."""
        return self._store(None).journal.pipelines()

    def state_show(self, pipeline: str) -> State:
        """A pipeline's state; UsageError when the store has never heard of it."""
        store, name = self._store_of(pipeline)
        state = store.checkpoints.state(name)
        if not state.uuid:
            known = [record.name for record in store.journal.pipelines()]
            raise UsageError(
                f"the state store knows no pipeline {name!r}{or_nearest(name, known)}",
                "it has state from its first run on: seamark run; the store's pipelines: seamark state list",
            )
        return state

    def state_history(self, pipeline: str, stream: str | None = None, limit: int = 100) -> list[HistoryEntry]:
        """What moved a pipeline's bookmarks, newest first."""
        state = self.state_show(pipeline)
        if stream is not None and stream not in state.streams:
            raise UsageError(
                f"pipeline {state.pipeline!r} has no stream {stream!r}{or_nearest(stream, list(state.streams))}",
                f"its streams: {', '.join(sorted(state.streams)) or 'none yet'}",
            )
        return self._store_of(pipeline)[0].journal.history(state.pipeline, stream, limit)

    def connectors(self) -> tuple[ConnectorInfo, ...]:
        """Every source, destination and state store that is installed."""
        return registry.all_connectors()

    def doctor(self) -> list[Finding]:
        """Whether this machine and project have what a run needs, from Java to the pipeline files."""
        from seamark.doctor import examine

        return examine(self.project, self.pipelines(), lambda: self._store(None))

    def close(self) -> None:
        """End Spark, if it was started, and let go of the state stores."""
        if self._opened.engine is not None:
            self._opened.engine.stop()
        for store in self._opened.stores.values():
            store.close()
        self._opened = _Opened()

    @contextmanager
    def _context(
        self,
        config: PipelineConfig,
        options: RunOptions,
        progress: Progress | None = None,
        cancellation: Cancellation | None = None,
    ) -> Iterator[Context]:
        from seamark.state.process import this_process

        source = registry.open_source(config)
        try:
            streams = config.resolved(source.discover)
            _require_known(config.name, options.streams, streams)
            yield Context(
                pipeline=config.name,
                streams=streams,
                source=source,
                destination=registry.open_destination(config),
                store=self._store(config),
                engine=self._engine(config.spark),
                holder=this_process(),
                only=options.streams,
                full_refresh=options.full_refresh or config.stateful.ignore_old_state or config.stateful.force_rerun,
                use_state=config.stateful.enabled,
                skip_below=config.spark.skip_below,
                max_checkpoint_state_size=config.stateful.max_checkpoint_state_size,
                lease_ttl=config.lease_ttl,
                actor=_user(),
                progress=progress or Quiet(),
                cancellation=cancellation or Cancellation(),
            )
        finally:
            source.close()

    def _engine(self, spark: SparkOptions) -> Engine:
        """One application per process: another pipeline's other settings end it and start a new one."""
        from seamark.engine.engine import Engine

        if self._opened.engine is None or self._opened.spark != spark:
            if self._opened.engine is not None:
                self._opened.engine.stop()
            self._opened.engine, self._opened.spark = Engine(spark, self.project.root / ".seamark"), spark
        return self._opened.engine

    def _store(self, config: PipelineConfig | None) -> StateStore:
        key = config.name if config is not None and config.has_own_store else ""
        if key not in self._opened.stores:
            self._opened.stores[key] = registry.open_state_store(self.project, config)
        return self._opened.stores[key]

    def _store_of(self, pipeline: str) -> tuple[StateStore, str]:
        """A pipeline that is no longer configured still has its state, in the project's own store."""
        try:
            config = self.project.load(pipeline)
        except (ConfigError, UsageError):
            return self._store(None), pipeline
        return self._store(config), config.name

    def _listing(self, name: str) -> PipelineListing:
        try:
            config = self.project.load(name)
        except SeamarkError as error:
            return PipelineListing(name, name, problem=error.message)
        streams = tuple(spec.name for spec in config.streams)
        file = (
            str(config.file.relative_to(self.project.root))
            if config.file.is_relative_to(self.project.root)
            else str(config.file)
        )
        return PipelineListing(config.name, file, config.source.kind, config.destination.kind, streams)

    def _status(self, config: PipelineConfig) -> PipelineStatus:
        store = self._store(config)
        state = store.checkpoints.state(config.name)
        prepared = store.checkpoints.prepared(config.name)
        return PipelineStatus(
            name=config.name,
            source=config.source.kind,
            destination=config.destination.kind,
            version=state.version,
            epoch=state.epoch,
            streams=tuple(
                StreamStatus(
                    s.name, s.mode, s.cursor, b.text if (b := s.bookmark()) else None, s.rows_total, s.last_sync
                )
                for s in state.streams.values()
            ),
            last_run=next(iter(store.journal.runs(config.name, limit=1)), None),
            lease=store.leases.current(config.name),
            prepared=prepared.seq if prepared else None,
        )


def _user() -> str:
    """Who asks; in a container the user may have a number only."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def _require_known(pipeline: str, wanted: Sequence[str], streams: Sequence[Stream]) -> None:
    known = [stream.name for stream in streams]
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"pipeline {pipeline!r} has no stream {name!r}{or_nearest(name, known)}",
                f"its streams: {', '.join(known)}",
            )


def _preview(source: Source, plan: StreamPlan, limit: int) -> Preview:
    columns = plan.shape.schema.names
    rows: list[tuple[Any, ...]] = []
    if plan.window is not None and plan.runs:
        with source.read(plan.stream, plan.shape, plan.window, 1) as reading:
            for split in reading.splits:
                for batch in reading.reader(split):
                    taken = batch.slice(0, limit - len(rows))
                    rows.extend(tuple(row.values()) for row in taken.to_pylist())
                    if len(rows) >= limit:
                        return Preview(plan.stream.name, columns, tuple(rows))
    return Preview(plan.stream.name, columns, tuple(rows))
