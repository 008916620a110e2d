"""What `check` finds: whether the server lets us in, lets us see enough, and whether each stream's marks are sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from seamark.errors import SourceError, SourceUnavailable
from seamark.model.stream import Cursor, Shape, Stream
from seamark.sources.base import Finding
from seamark.sources.doubt import Doubt, of_a_key
from seamark.sources.postgres.catalog import KINDS, Relation
from seamark.sources.postgres.connection import ServerFacts, Session
from seamark.sources.postgres.doubts import TIMED, doubts, index_doubt
from seamark.sources.postgres.options import PostgresOptions
from seamark.sources.postgres.probes import Clock, probe_clock
from seamark.sources.query import quoted

LONG = 60
"""Seconds after which an open transaction is worth mentioning."""


def findings(
    session: Session,
    options: PostgresOptions,
    streams: Sequence[Stream],
    look: Callable[[Stream], tuple[Relation, Shape]],
) -> list[Finding]:
    """SourceError only when there is no connection at all."""
    server = session.facts()
    clock = probe_clock(session, options.ignore_sessions)
    found = list(_of_the_server(server, clock, options))
    for stream in streams:
        try:
            relation, shape = look(stream)
        except SourceUnavailable:
            raise
        except SourceError as error:
            found.append(Finding("error", f"stream {stream.name}", error.message, error.hint))
            continue
        found += _of_the_stream(stream, relation, shape, server, clock, options)
    return found


def _of_the_server(server: ServerFacts, clock: Clock, options: PostgresOptions) -> Iterator[Finding]:
    version = f"{server.version // 10000}.{server.version % 10000}"
    yield Finding(
        "ok", "source", f"Postgres {version}, database {server.database!r}, user {server.user!r} ({options.url})"
    )
    if server.in_recovery:
        yield Finding("warning", "source", "the server is a replica", "marks need the primary, or a `lookback`")
    oldest = clock.oldest
    if oldest is not None and oldest.since is not None and (clock.now - oldest.since).total_seconds() > LONG:
        held = oldest.hold("has a transaction open")
        yield Finding(
            "warning",
            "source",
            f"{held.reason}, since {oldest.since:%Y-%m-%d %H:%M:%S} UTC: timestamp marks can't pass that",
            "end it; or, if it never writes to these tables, name its application in `ignore_sessions`",
        )


def _of_the_stream(
    stream: Stream, relation: Relation, shape: Shape, server: ServerFacts, clock: Clock, options: PostgresOptions
) -> Iterator[Finding]:
    subject = f"stream {stream.name}"
    accepted = options.allow_unsafe_marks or (stream.cursor is not None and bool(stream.cursor.lookback))
    found = [*_of_the_table(stream, relation, shape)]
    if stream.cursor is not None:
        found += _of_the_cursor(stream.cursor, relation, shape, server, clock, options)
    if accepted or not any(doubt.fatal for doubt in found):
        cursor = f", cursor {stream.cursor.field} ({shape.cursor_type})" if stream.cursor else ""
        yield Finding("ok", subject, f"{KINDS[relation.kind]} {relation.label}, {len(shape.schema)} columns{cursor}")
    for doubt in found:
        level = "error" if doubt.fatal and not accepted else "warning"
        yield Finding(level, subject, doubt.message, doubt.fix)


def _of_the_table(stream: Stream, relation: Relation, shape: Shape) -> Iterator[Doubt]:
    if relation.row_security:
        yield Doubt(
            f"row security shows this user only some rows of {relation.label}",
            "read as a user with BYPASSRLS, unless that is what you want",
        )
    if stream.key and not shape.key_is_unique:
        yield of_a_key(stream.key)


def _of_the_cursor(
    cursor: Cursor, relation: Relation, shape: Shape, server: ServerFacts, clock: Clock, options: PostgresOptions
) -> Iterator[Doubt]:
    yield from doubts(relation, cursor, shape, server, options)
    if shape.cursor_type in TIMED and not server.sees_sessions and not server.in_recovery:
        yield _of_the_privilege(server, clock)
    if missing := index_doubt(relation, cursor, shape):
        yield missing
    column = relation.column(cursor.field)
    if column is not None and not column.not_null and relation.kind != "v":
        yield Doubt(
            f"the cursor {cursor.field!r} may be NULL; rows where it is follow `nulls: {cursor.nulls.value}`",
            f"ALTER TABLE {relation.sql} ALTER COLUMN {quoted(cursor.field)} SET NOT NULL",
        )


def _of_the_privilege(server: ServerFacts, clock: Clock) -> Doubt:
    fix = (
        f"GRANT pg_read_all_stats TO {quoted(server.user)}; or set a `lookback` that covers the longest transaction; "
        "integers numbered by a sequence need no privilege"
    )
    if clock.hidden:
        return Doubt(
            f"the user {server.user!r} may not see the transactions of {clock.hidden} other sessions: no timestamp "
            "mark can be proven safe",
            fix,
            True,
        )
    return Doubt(
        f"the user {server.user!r} sees only its own sessions: a run fails as soon as another user is connected", fix
    )
