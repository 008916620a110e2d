"""The steps of a checkpoint: stage, prepare, publish, commit, acknowledge, clean. Recovery uses the last four."""

from __future__ import annotations

from collections.abc import Sequence

from seamark.crash import reach
from seamark.engine.stage import StageJob
from seamark.errors import Cancelled, DestinationError, SchemaConflict, StateError
from seamark.model.checkpoint import BookmarkChange, Checkpoint, Draft, StagedFile, TableChange, Write, dump_draft
from seamark.model.plan import StreamPlan, stage_in_driver
from seamark.model.schema import Schema
from seamark.model.state import StreamState, TableOutcome
from seamark.model.stream import Mode
from seamark.model.window import Window
from seamark.sync.context import Context
from seamark.sync.term import Term


def stage(plan: StreamPlan, term: Term) -> TableChange:
    """Read the window and write it as files in the table's staging folder; nobody sees them yet."""
    ctx, stream = term.ctx, plan.stream
    reach("stage.before")
    ctx.progress.phase(stream.name, "stage")
    schema = ctx.destination.fit(plan.table, plan.shape, plan.write is Write.REPLACE)
    files = _read(plan, plan.window, schema, term) if plan.window is not None else ()
    reach("stage.after")
    write = plan.write if files or plan.write is Write.REPLACE else Write.NOTHING
    change = TableChange(
        stream=stream.name,
        table=plan.table,
        write=write,
        files=files,
        schema=schema,
        key=stream.key if stream.mode is Mode.MERGE else (),
        partition_by=stream.partition_by,
        cursor=stream.cursor.field if stream.cursor else "",
        mode=stream.mode.value,
        unique_key=plan.shape.key_is_unique,
    )
    ctx.destination.check_rows(change, ctx.engine)
    return change


def _read(plan: StreamPlan, window: Window, schema: Schema, term: Term) -> tuple[StagedFile, ...]:
    """The window's rows as staged files. A term that is lost meanwhile ends this: the new holder reads them anyway."""
    ctx, stream = term.ctx, plan.stream
    root, folder = ctx.destination.staging(plan.table, ctx.store.incarnation, term.lease.token, term.state.next_seq)
    with ctx.source.read(stream, plan.shape, window, ctx.engine.parallelism()) as reading:
        job = StageJob(
            splits=reading.splits,
            reader=reading.reader,
            schema=schema,
            root=root,
            folder=folder,
            partition_by=stream.partition_by,
            cursor=stream.cursor.field if stream.cursor else None,
            in_driver=stage_in_driver(plan, len(reading.splits), ctx.skip_below),
            cancelled=lambda: ctx.cancellation.requested or term.lost is not None,
            on_progress=lambda rows, size: ctx.progress.rows(stream.name, rows, size),
        )
        try:
            return ctx.engine.stage(job)
        except Cancelled:
            if term.lost is not None:
                raise term.lost from None
            raise


def prepare(change: TableChange, plan: StreamPlan, term: Term) -> Checkpoint:
    """Write the checkpoint ahead: from here on it will be finished, by this holder or by the next."""
    ctx = term.ctx
    ctx.cancellation.heed()
    reach("prepare.before")
    ctx.progress.phase(plan.stream.name, "prepare")
    draft = Draft(tables=(change,), bookmarks=_moves(plan, term), reason=plan.reason, actor=ctx.actor)
    _require_small(draft, ctx)
    checkpoint = ctx.store.checkpoints.prepare(term.lease, term.state.version, draft, term.run_id)
    reach("prepare.after")
    return checkpoint


def publish(checkpoint: Checkpoint, term: Term, deep: bool = False) -> tuple[TableOutcome, ...]:
    """Leave in every table the rows or a tombstone, whatever happened before. `deep`: compare the files' digests."""
    ctx, changes = term.ctx, checkpoint.draft.tables
    for change in changes:
        ctx.progress.phase(change.stream, "publish")
    missing = {change.stream: ctx.destination.verify(change, deep) for change in changes}
    reach("publish.before")
    if checkpoint.draft.whole and any(missing.values()):
        outcomes = tuple(_take_back(checkpoint, change, term) for change in changes)
    else:
        outcomes = tuple(_publish_table(checkpoint, change, missing[change.stream], term, deep) for change in changes)
    reach("publish.after")
    return outcomes


def commit(checkpoint: Checkpoint, outcomes: Sequence[TableOutcome], term: Term) -> None:
    """Make the state say what the tables hold."""
    ctx = term.ctx
    reach("commit.before")
    moved = {outcome.stream for outcome in outcomes if outcome.has_rows}
    facts = []
    for change in checkpoint.draft.tables:
        ctx.progress.phase(change.stream, "commit")
        if change.stream in moved:
            facts.append(StreamState(change.stream, cursor=change.cursor, mode=change.mode))
    before = term.state
    term.state = ctx.store.checkpoints.commit(term.lease, checkpoint, outcomes, facts)
    assert term.state.version > before.version
    reach("commit.after")


def acknowledge(streams: Sequence[str], term: Term) -> None:
    """Tell the source how far it is committed. Idempotent, so that a crash before it only delays it."""
    ctx = term.ctx
    reach("acknowledge.before")
    for stream in ctx.streams:
        if stream.name in streams:
            ctx.progress.phase(stream.name, "acknowledge")
            ctx.source.acknowledge(stream, term.state.stream(stream.name).bookmark())
    reach("acknowledge.after")


def clean(checkpoint: Checkpoint, term: Term) -> None:
    """Delete the files that were merged: their rows stand in others now. What was appended is the table's own."""
    for change in checkpoint.draft.tables:
        if change.write is Write.MERGE:
            staged = [(checkpoint.token, checkpoint.seq)]
            term.ctx.destination.sweep(change.table, checkpoint.incarnation, staged)


def _publish_table(
    checkpoint: Checkpoint, change: TableChange, missing: str, term: Term, recovering: bool
) -> TableOutcome:
    """What a table can no longer take ends the run that made it; recovery gives it up, or nothing would ever go on."""
    try:
        if not missing:
            return term.ctx.destination.publish(checkpoint, change, term.ctx.engine)
    except SchemaConflict as error:
        if not recovering:
            raise
        missing = error.message
    except DestinationError as error:
        if not recovering or term.ctx.destination.facts(change.table) is not None:
            raise
        missing = error.message
    term.ctx.progress.warn(f"{change.stream}: {missing}; the rows will be read again")
    return _entomb(checkpoint, change, term)


def _entomb(checkpoint: Checkpoint, change: TableChange, term: Term) -> TableOutcome:
    """A table that is gone needs no tombstone: nobody can publish to it, and one made anew has no rows."""
    if term.ctx.destination.facts(change.table) is None:
        return TableOutcome(change.stream, has_rows=False, recorded=-1)
    return term.ctx.destination.entomb(checkpoint, change)


def _take_back(checkpoint: Checkpoint, change: TableChange, term: Term) -> TableOutcome:
    """A checkpoint that is all or nothing can't be finished: leave none of it."""
    outcome = _entomb(checkpoint, change, term)
    if outcome.has_rows and not term.ctx.destination.undo(checkpoint, change):
        raise StateError(
            f"checkpoint {checkpoint.seq} is in {change.table}; it can't be finished in the others nor taken back",
            f"load everything again: seamark run {checkpoint.pipeline} --full-refresh",
        )
    recorded = checkpoint.tombstone if outcome.has_rows else outcome.recorded
    return TableOutcome(change.stream, has_rows=False, recorded=recorded)


def _moves(plan: StreamPlan, term: Term) -> tuple[BookmarkChange, ...]:
    """What becomes of the stream's bookmark; what it was is asked of the state, since a full refresh plans without."""
    before = term.state.stream(plan.stream.name).bookmark()
    return () if before == plan.after else (BookmarkChange(plan.stream.name, before, plan.after),)


def _require_small(draft: Draft, ctx: Context) -> None:
    size = len(dump_draft(Draft(tables=(), bookmarks=draft.bookmarks)))
    if size > ctx.max_checkpoint_state_size:
        raise StateError(
            f"the checkpoint's state takes {size} bytes; max_checkpoint_state_size is {ctx.max_checkpoint_state_size}",
            "nothing was published; raise stateful_ingestion.max_checkpoint_state_size or keep less in the state",
        )
