"""Whether marks over a cursor can be proven safe here, and what to do where they can't. Pure: facts in, doubts out."""

from __future__ import annotations

from collections.abc import Iterator

from seamark.model.bookmark import BookmarkType
from seamark.model.stream import Cursor, Shape
from seamark.sources.doubt import NOT_NUMBERED, OUT_OF_ORDER, VIEW, Doubt, of_a_date
from seamark.sources.postgres.catalog import KINDS, Relation
from seamark.sources.postgres.connection import ServerFacts
from seamark.sources.postgres.options import PostgresOptions
from seamark.sources.query import quoted

TIMED = (BookmarkType.TIMESTAMPTZ, BookmarkType.TIMESTAMP, BookmarkType.DATE)

_LOOKBACK = "set a `lookback` that covers the longest transaction, clock differences and lag"
_REPLICA = Doubt(
    "the server is a replica, where nobody sees who is still writing", f"read from the primary, or {_LOOKBACK}", True
)
_FOREIGN = Doubt("rows of a foreign table are committed elsewhere, unseen", _LOOKBACK, True)
_MATERIALIZED = Doubt(
    "rows of a materialized view appear when it is refreshed, long after they were written",
    "read its tables, use mode replace, or set a `lookback` that covers the time between refreshes as well",
    True,
)
_SUBSCRIBED = Doubt(
    "logical replication feeds the table: its timestamps were set on another server, before rows came here",
    f"read from the publisher, or {_LOOKBACK}",
    True,
)


def doubts(
    relation: Relation, cursor: Cursor, shape: Shape, server: ServerFacts, options: PostgresOptions
) -> list[Doubt]:
    """Everything that speaks against the stream's marks, the fatal first."""
    found = list(_of_the_place(relation, server))
    if shape.cursor_type in TIMED:
        found += _of_times(relation, cursor, shape, server, options)
    elif shape.cursor_type is BookmarkType.INTEGER:
        found += _of_integers(relation, cursor)
    else:
        better = "use a timestamp that changes with the row, or an integer that only grows, if there is one"
        found.append(Doubt(f"the order of {cursor.field!r} ({shape.cursor_type}) {OUT_OF_ORDER}", better))
    return sorted(found, key=lambda doubt: not doubt.fatal)


def _of_the_place(relation: Relation, server: ServerFacts) -> Iterator[Doubt]:
    if server.in_recovery:
        yield _REPLICA
    if relation.kind == "f" or any(leaf.kind == "f" for leaf in relation.leaves):
        yield _FOREIGN
    if relation.kind == "m":
        yield _MATERIALIZED
    if relation.kind == "v":
        yield VIEW


def _of_times(
    relation: Relation, cursor: Cursor, shape: Shape, server: ServerFacts, options: PostgresOptions
) -> Iterator[Doubt]:
    if relation.subscribed:
        yield _SUBSCRIBED
    if options.client_timestamps:
        yield Doubt(
            f"clients set {cursor.field!r} (`client_timestamps: true`), by their own clocks and before they commit",
            "set a `lookback` that covers the longest transaction and clock differences",
            True,
        )
    if shape.cursor_type is not BookmarkType.TIMESTAMPTZ:
        yield Doubt(
            f"{cursor.field!r} has no time zone; it is taken to be written in {options.timezone or server.timezone}",
            "set the source's `timezone` if writers use another one; timestamptz leaves no doubt",
        )
    if shape.cursor_type is BookmarkType.DATE:
        yield of_a_date(cursor.field)


def _of_integers(relation: Relation, cursor: Cursor) -> Iterator[Doubt]:
    column = relation.column(cursor.field)
    sequence = column.sequence if column else None
    if sequence is None:
        yield Doubt(
            f"no sequence numbers {cursor.field!r}: {NOT_NUMBERED}",
            "let the database do it (GENERATED ALWAYS AS IDENTITY), or use a timestamp that changes with the row",
        )
        return
    name = f"sequence {sequence.name!r}"
    if sequence.cache > 1:
        yield Doubt(
            f"{name} has CACHE {sequence.cache}: sessions keep numbers back and use them late",
            f"ALTER SEQUENCE {quoted(sequence.name)} CACHE 1, or set a `lookback` of more numbers than they keep back",
            True,
        )
    if sequence.increment < 0 or sequence.cycles:
        what = "counts down" if sequence.increment < 0 else "starts over at its end (CYCLE)"
        yield Doubt(f"{name} {what}", "use a timestamp that changes with the row", True)
    elif sequence.increment > 1:
        yield Doubt(
            f"{name} counts by {sequence.increment}, as libraries do that fetch numbers ahead of use",
            "if yours does, set a `lookback` of more numbers than its processes keep back",
        )


def index_doubt(relation: Relation, cursor: Cursor, shape: Shape) -> Doubt | None:
    """Whether each plan has to scan the table."""
    by_bytes = shape.cursor_type is BookmarkType.TEXT
    if relation.index_on(cursor.field, by_bytes) is not None or relation.kind in "vf":
        return None
    order, collation = (" in byte order", ' COLLATE "C"') if by_bytes else ("", "")
    return Doubt(
        f"no index begins with {cursor.field!r}{order}: every plan scans the whole {KINDS[relation.kind]}",
        f"CREATE INDEX CONCURRENTLY ON {relation.sql} ({quoted(cursor.field)}{collation})",
    )
