"""What marks are made of, asked of the server: its clock and open transactions, a table's newest row and writers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from seamark.model.window import Hold
from seamark.sources.postgres.catalog import Relation, SequenceFacts
from seamark.sources.postgres.connection import APPLICATION, Session
from seamark.sources.postgres.shape import CursorSql
from seamark.sources.query import filter_predicate, literal, quoted, select

NULLS_COUNTED = 1000
WRITING = ("RowExclusiveLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock")
"""Locks that whoever inserts holds till the end of its transaction, and the stronger ones."""


@dataclass(frozen=True)
class OpenTransaction:
    pid: int
    application: str
    user: str
    since: datetime | None
    state: str = ""
    id: str = ""
    """Its virtual transaction id; never used again while the server runs."""
    prepared: str = ""
    """The name it was prepared under, if it was: then no session has it."""

    def hold(self, doing: str) -> Hold:
        if not self.pid:
            return Hold(f"the prepared transaction {self.prepared!r} {doing}: commit it or roll it back", self.since)
        who = f"session {self.pid}" + (f" ({self.application})" if self.application else "")
        return Hold(
            f"{who} of user {self.user or 'unknown'} {doing}" + (f", {self.state} now" if self.state else ""),
            self.since,
        )


@dataclass(frozen=True)
class Clock:
    """The server's time, and the oldest transaction open in this database right after it. The order matters: what
    begins later than `now` is later than any mark made of this."""

    now: datetime
    hidden: int
    """Sessions whose transactions can't be seen, for want of privilege or since they turned track_activities off: they
    could be of any age."""
    oldest: OpenTransaction | None


@dataclass(frozen=True)
class Newest:
    """A table's greatest cursor value (as text) and how many rows have none, up to a bound."""

    text: str | None
    nulls: int
    writers: tuple[OpenTransaction, ...]
    """Who held a writing lock on the table when this was looked at."""
    local: str = ""
    """A safe mark as the wall clock of the column's zone shows it, where one was asked for."""


def probe_clock(session: Session, ignored: Sequence[str]) -> Clock:
    now, hidden, pid, application, user, since, state = session.row(
        f"""
        SELECT statement_timestamp(), hidden.count, o.pid, o.application_name, o.usename::text, o.xact_start, o.state
        FROM (SELECT count(*) FROM pg_stat_activity
              WHERE {_OTHERS} AND usesysid <> 0 AND {_counted(ignored)}
                AND (query = '<insufficient privilege>' OR state = 'disabled')) hidden
        LEFT JOIN LATERAL (
          SELECT * FROM pg_stat_activity
          WHERE {_OTHERS} AND xact_start IS NOT NULL AND {_counted(ignored)}
            AND backend_type NOT IN ('autovacuum worker', 'walsender')
          ORDER BY xact_start LIMIT 1) o ON true""",
        doing="looking for open transactions",
    )
    return Clock(now, hidden, OpenTransaction(pid, application or "", user or "", since, state or "") if pid else None)


def probe_table(
    session: Session,
    relation: Relation,
    field: str,
    cursor: CursorSql,
    where: str,
    ignored: Sequence[str],
    local: str = "NULL",
) -> Newest:
    """One statement. Its snapshot is taken before it looks at locks: a writer it does not list has ended, and whatever
    it wrote shows in any later snapshot."""
    text, nulls, writers, mark = session.row(
        f"SELECT rows.newest, rows.nulls, ({_writers(relation, ignored)}), ({local})::text "
        f"FROM ({_newest(relation, field, cursor, where)}) rows",
        doing=f"looking for new rows in {relation.label}",
    )
    return Newest(text, nulls, tuple(_transaction(facts) for facts in writers or ()), mark or "")


def probe_writers(session: Session, relation: Relation, ignored: Sequence[str]) -> tuple[OpenTransaction, ...]:
    (writers,) = session.row(
        f"SELECT ({_writers(relation, ignored)})", doing=f"looking for writers of {relation.label}"
    )
    return tuple(_transaction(facts) for facts in writers or ())


def probe_sequence(session: Session, sequence: SequenceFacts) -> int | None:
    """The last number that a sequence gave out; None when it gave out none yet, or the user may not know."""
    (last,) = session.row(
        f"SELECT CASE WHEN has_sequence_privilege({sequence.oid}, 'USAGE, SELECT') "
        f"THEN pg_sequence_last_value({sequence.oid}) END",
        doing=f"looking at sequence {sequence.name}",
    )
    return last if last is None else int(last)


def local_mark(instant: datetime, zone: str) -> str:
    """SQL for the least reading that a wall clock in `zone` can show at `instant` or in the day after it.

    When clocks are put back, an hour of readings comes twice: until it is over for good nothing in it is safe. Zones
    change at whole quarters of an hour."""
    start = f"{literal(instant.isoformat())}::timestamptz"
    return f"""
        SELECT min(moment AT TIME ZONE {literal(zone)}) FROM (
          SELECT {start} AS moment UNION ALL
          SELECT generate_series(to_timestamp(ceil(extract(epoch FROM {start}) / 900) * 900), {start} + interval '26
          hours', interval '15 minutes')) moments"""


_OTHERS = "datname = current_database() AND pid <> pg_backend_pid()"


def _counted(ignored: Sequence[str]) -> str:
    names = ", ".join(literal(name) for name in (APPLICATION, *ignored))
    return f"coalesce(application_name, '') NOT IN ({names})"


def _newest(relation: Relation, field: str, cursor: CursorSql, where: str) -> str:
    """With an index two short look-ups, else one pass. The filter counts for NULLs only: a newest row that it leaves
    out moves the mark on over nothing."""
    column = relation.column(field)
    name = quoted(field)
    null = " AND ".join(filter(None, (f"{name} IS NULL", filter_predicate(where))))
    nullable = column is None or not column.not_null
    if not cursor.indexed:
        nulls = f"count(*) FILTER (WHERE {null})" if nullable else "0"
        return select([f"{cursor.newest} AS newest", f"{nulls} AS nulls"], relation.sql)
    nulls = (
        f"(SELECT count(*) FROM ({select(['1'], relation.sql, [null])} LIMIT {NULLS_COUNTED}) n)" if nullable else "0"
    )
    return f"SELECT ({cursor.newest_by_index(relation.sql, name)}) AS newest, {nulls} AS nulls"


def _writers(relation: Relation, ignored: Sequence[str]) -> str:
    modes = ", ".join(literal(mode) for mode in WRITING)
    # Who writes to a view's tables is not followed: any table's writer counts.
    first_user_oid = 16384
    tables = f"l.relation >= {first_user_oid}"
    if relation.kind in "rp":
        tables = (
            f"l.relation IN (WITH RECURSIVE tree(oid) AS (SELECT {relation.oid}::oid UNION SELECT h.inhrelid FROM tree "
            "JOIN pg_inherits h ON h.inhparent = tree.oid) SELECT oid FROM tree)"
        )
    return f"""
        SELECT json_agg(DISTINCT jsonb_build_array(coalesce(l.pid, 0), coalesce(a.application_name, ''),
                 coalesce(a.usename::text, p.owner::text, ''),
                 extract(epoch FROM coalesce(a.xact_start, p.prepared)), coalesce(a.state, ''), l.virtualtransaction,
                 coalesce(p.gid, '')))
        FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        LEFT JOIN pg_locks x ON l.pid IS NULL AND x.pid IS NULL AND x.locktype = 'transactionid'
          AND x.virtualtransaction = l.virtualtransaction
        LEFT JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
        WHERE l.locktype = 'relation' AND l.granted AND l.mode IN ({modes})
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND l.pid IS DISTINCT FROM pg_backend_pid() AND {tables}
          AND (a.pid IS NULL OR {_counted(ignored)})"""


def _transaction(facts: Sequence[object]) -> OpenTransaction:
    pid, application, user, since, state, virtual_id, gid = facts
    begun = datetime.fromtimestamp(float(str(since)), UTC) if since is not None else None
    return OpenTransaction(int(str(pid)), str(application), str(user), begun, str(state), str(virtual_id), str(gid))
