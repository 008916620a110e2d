"""Whether a table and the state agree on what has been published: asked before anything is read."""

from __future__ import annotations

from seamark.destinations.base import TableFacts
from seamark.errors import AdoptionRequired, DestinationError, ForeignTable, StoreBehind
from seamark.model.state import State


def require_owner(pipeline: str, table: str, facts: TableFacts) -> None:
    """ForeignTable unless a pipeline of this name made the table."""
    if not facts.owner:
        raise ForeignTable(
            f"{table} exists and was not made by Seamark",
            "name the stream or the destination's path otherwise; Seamark only writes to tables that it made",
        )
    if facts.owner_name != pipeline:
        raise ForeignTable(
            f"{table} belongs to the pipeline {facts.owner_name!r}, and this is {pipeline!r}",
            "state is tied to a pipeline's name: call it by its old name, or give the new one a destination of its own",
        )


def require_agreement(
    pipeline: str, state: State, stream: str, table: str, facts: TableFacts | None, everything: bool
) -> None:
    """Raises when the table is not what the state says it is. `everything`: all of it is about to be replaced."""
    stored = state.stream(stream)
    reload = f"load it again: seamark run {pipeline} --stream {stream} --full-refresh"
    if facts is None:
        if stored.rows_total and not everything:
            raise DestinationError(
                f"{table} is gone; the state says that {stored.rows_total} rows were moved into it", reload
            )
        return
    require_owner(pipeline, table, facts)
    if facts.owner != state.uuid:
        raise AdoptionRequired(
            f"{table} belongs to another pipeline of the name {pipeline!r}, whose state is kept elsewhere",
            "use that pipeline's state store, or give this one a name or a destination of its own",
        )
    if facts.recorded > stored.recorded:
        raise StoreBehind(
            f"{table} has taken checkpoint {facts.recorded // 2}, and the state store only knows of "
            f"{max(stored.recorded, 0) // 2}: the store is an older copy",
            recovery_hint(pipeline),
        )
    if facts.has_rows and stored.last_sync is None and not everything:
        raise AdoptionRequired(
            f"{table} holds rows that this state store never saw: the full refresh that was to replace them "
            "has not come to its end",
            recovery_hint(pipeline),
        )
    if facts.recorded < stored.recorded and not everything:
        raise DestinationError(
            f"{table} was put back: it has checkpoint {max(facts.recorded, 0) // 2}, the state {stored.recorded // 2}",
            reload,
        )


def recovery_hint(pipeline: str) -> str:
    return f"put the right state store back, or load everything again: seamark run {pipeline} --full-refresh"
