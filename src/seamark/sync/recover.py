"""Recovery: the first thing that whoever gets the lease does. It finishes what was prepared and clears what was not."""

from __future__ import annotations

from seamark.errors import AdoptionRequired, LeaseLost, StateConflict, StoreBehind
from seamark.model.checkpoint import Checkpoint
from seamark.model.state import State, TableOutcome
from seamark.sync.steps import acknowledge, clean, commit, publish
from seamark.sync.tables import recovery_hint, require_owner
from seamark.sync.term import Term


def recover(term: Term, ended_badly: bool) -> None:
    """Resolve the prepared checkpoint, if there is one. `ended_badly`: the last run may have left stray files."""
    checkpoint = term.ctx.store.checkpoints.prepared(term.ctx.pipeline)
    if checkpoint is not None:
        for change in checkpoint.draft.tables:
            term.ctx.progress.phase(change.stream, "recover")
        commit(checkpoint, _resolve(checkpoint, term), term)
    if checkpoint is not None or ended_badly:
        acknowledge([stream.name for stream in term.ctx.streams], term)
        sweep(term)
    if checkpoint is not None:
        clean(checkpoint, term)


def _resolve(checkpoint: Checkpoint, term: Term) -> tuple[TableOutcome, ...]:
    try:
        return publish(checkpoint, term, deep=True)
    except LeaseLost:
        raise
    except StateConflict as error:
        raise StoreBehind(error.message, recovery_hint(term.ctx.pipeline)) from error


def sweep(term: Term) -> None:
    """Delete what older tokens staged and nobody published."""
    ctx = term.ctx
    for stream in ctx.streams:
        table = ctx.destination.table_of(stream)
        strays = ctx.destination.strays(table, ctx.store.incarnation, term.lease.token)
        if strays:
            kept = ctx.store.checkpoints.published(ctx.pipeline, strays)
            ctx.destination.sweep(table, ctx.store.incarnation, strays - kept)


def adopt(term: Term) -> None:
    """Before a store's first run of a pipeline: look at its tables, and fence off who wrote there under another."""
    ctx = term.ctx
    if term.state.adopted:
        return
    names = {stream.name: ctx.destination.table_of(stream) for stream in ctx.streams}
    found = {name: facts for name, table in names.items() if (facts := ctx.destination.facts(table)) is not None}
    for name, facts in found.items():
        require_owner(ctx.pipeline, names[name], facts)
    unseen = [name for name, facts in found.items() if facts.has_rows and not _is_reloaded(term, name)]
    owners = {facts.owner for facts in found.values()}
    if unseen:
        raise AdoptionRequired(_never_saw(term.state, names, unseen), recovery_hint(ctx.pipeline))
    if len(owners) > 1:
        raise AdoptionRequired(
            f"tables of the pipeline {ctx.pipeline!r} were made under different state stores: "
            + ", ".join(f"{facts.table} ({facts.owner})" for facts in found.values()),
            "move all but those of one store away: they are made anew",
        )
    number = _next_seq(term.state, [facts.recorded for facts in found.values()])
    for facts in found.values():
        if not ctx.destination.entomb_number(facts.table, facts.owner, facts.recorded, 2 * number + 1):
            raise AdoptionRequired(f"{facts.table} was written to while it was being adopted", "run it again")
    recorded = dict.fromkeys(found, 2 * number + 1)
    uuid = owners.pop() if owners else term.state.uuid
    term.state = ctx.store.checkpoints.adopt(term.lease, number + 1 if found else 1, recorded, uuid)


def _is_reloaded(term: Term, stream: str) -> bool:
    everything = term.ctx.full_refresh or not term.ctx.use_state
    return everything and (not term.ctx.only or stream in term.ctx.only)


def _next_seq(state: State, recorded: list[int]) -> int:
    """Above every number that a worker of another store can still hold."""
    return max([state.next_seq - 1, *(max(number, 0) // 2 for number in recorded)]) + 1


def _never_saw(state: State, names: dict[str, str], streams: list[str]) -> str:
    tables = ", ".join(names[name] for name in streams)
    return f"tables of the pipeline {state.pipeline!r} hold rows that this state store never saw: {tables}"
