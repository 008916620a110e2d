"""Whether marks over a cursor can be proven safe here, and what to do where they can't. Pure: facts in, doubts out."""

from __future__ import annotations

from dataclasses import dataclass

from seamark.model.bookmark import BookmarkType
from seamark.model.stream import Cursor, Shape
from seamark.sources.postgres.catalog import KINDS, Relation
from seamark.sources.postgres.connection import ServerFacts
from seamark.sources.postgres.options import PostgresOptions

TIMED = (BookmarkType.TIMESTAMPTZ, BookmarkType.TIMESTAMP, BookmarkType.DATE)


@dataclass(frozen=True)
class Doubt:
    """Why a mark may not be safe. `fatal`: it is not, so only a lookback or the user's word lets a run go on."""

    message: str
    fix: str
    fatal: bool = False


def doubts(
    relation: Relation, cursor: Cursor, shape: Shape, server: ServerFacts, options: PostgresOptions
) -> list[Doubt]:
    """Everything that speaks against the stream's marks, the fatal first."""
    timed = shape.cursor_type in TIMED
    found = _of_the_place(relation, server)
    if timed:
        found += _of_times(relation, cursor, shape, server, options)
    elif shape.cursor_type is BookmarkType.INTEGER:
        found += _of_integers(relation, cursor)
    else:
        found.append(
            Doubt(
                f"the order of {cursor.field!r} ({shape.cursor_type}) says nothing about when rows were written: a row that "
                "sorts below the bookmark is never found",
                "use a timestamp that changes with the row, or an integer that only grows, if there is one",
            )
        )
    return sorted(found, key=lambda doubt: not doubt.fatal)


def _of_the_place(relation: Relation, server: ServerFacts) -> list[Doubt]:
    lookback = "set a `lookback` that covers the longest transaction, clock differences and lag"
    if server.in_recovery:
        return [
            Doubt(
                "the server is a replica, where nobody sees who is still writing",
                f"read from the primary, or {lookback}",
                True,
            )
        ]
    if relation.kind == "f" or any(leaf.kind == "f" for leaf in relation.leaves):
        return [Doubt("rows of a foreign table are committed elsewhere, unseen", lookback, True)]
    if relation.kind == "m":
        return [
            Doubt(
                "rows of a materialized view appear when it is refreshed, long after they were written",
                f"read its tables, use mode replace, or {lookback.replace('lag', 'the time between refreshes')}",
                True,
            )
        ]
    if relation.kind == "v":
        return [
            Doubt(
                "a view: a row may come to meet its conditions long after its cursor was set",
                "make sure that rows enter it only with a new cursor value, or read its table",
            )
        ]
    return []


def _of_times(
    relation: Relation, cursor: Cursor, shape: Shape, server: ServerFacts, options: PostgresOptions
) -> list[Doubt]:
    found = []
    if relation.subscribed:
        found.append(
            Doubt(
                "logical replication feeds the table, so its timestamps were set on another server before they came here",
                "read from the publisher, or set a `lookback` that covers the longest transaction, clock differences and lag",
                True,
            )
        )
    if options.client_timestamps:
        found.append(
            Doubt(
                f"clients set {cursor.field!r} (`client_timestamps: true`), by clocks of their own and before they commit",
                "set a `lookback` that covers the longest transaction and clock differences",
                True,
            )
        )
    if shape.cursor_type is not BookmarkType.TIMESTAMPTZ:
        zone = options.timezone or server.timezone
        found.append(
            Doubt(
                f"{cursor.field!r} has no time zone; it is taken to be written in {zone}",
                "set the source's `timezone` if writers use another one; timestamptz leaves no doubt",
            )
        )
    if shape.cursor_type is BookmarkType.DATE:
        found.append(
            Doubt(
                f"{cursor.field!r} is a date: the rows of a day are read when the day is over",
                "use a timestamp for fresher rows",
            )
        )
    return found


def _of_integers(relation: Relation, cursor: Cursor) -> list[Doubt]:
    column = relation.column(cursor.field)
    sequence = column.sequence if column else None
    if sequence is None:
        return [
            Doubt(
                f"no sequence numbers {cursor.field!r}: whoever does must give out growing numbers inside the writing transaction",
                "let the database number it (GENERATED ALWAYS AS IDENTITY), or use a timestamp that changes with the row",
            )
        ]
    found = []
    if sequence.cache > 1:
        found.append(
            Doubt(
                f"sequence {sequence.name!r} has CACHE {sequence.cache}: sessions keep numbers back and use them late",
                f'ALTER SEQUENCE "{sequence.name}" CACHE 1, or set a `lookback` of more numbers than sessions hold back',
                True,
            )
        )
    if sequence.increment < 0 or sequence.cycles:
        what = "counts down" if sequence.increment < 0 else "starts over at its end (CYCLE)"
        found.append(Doubt(f"sequence {sequence.name!r} {what}", "use a timestamp that changes with the row", True))
    elif sequence.increment > 1:
        found.append(
            Doubt(
                f"sequence {sequence.name!r} counts by {sequence.increment}, as libraries do that fetch numbers ahead of use",
                "if yours does, set a `lookback` of more numbers than its processes hold back",
            )
        )
    return found


def index_doubt(relation: Relation, cursor: Cursor, shape: Shape) -> Doubt | None:
    """Whether each plan has to scan the table."""
    by_bytes = shape.cursor_type is BookmarkType.TEXT
    if relation.index_on(cursor.field, by_bytes) is not None or relation.kind in "vf":
        return None
    collation = ' COLLATE "C"' if by_bytes else ""
    return Doubt(
        f"no index begins with {cursor.field!r}{' in byte order' if by_bytes else ''}: every plan scans the whole {KINDS[relation.kind]}",
        f'CREATE INDEX CONCURRENTLY ON {relation.sql} ("{cursor.field}"{collation})',
    )
