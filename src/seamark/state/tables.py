"""The store's tables. Whoever changes one writes a migration (`migrations/versions`) and raises SCHEMA_VERSION."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.types import TypeDecorator

SCHEMA_VERSION = 1
"""What this Seamark reads and writes; the number of the newest migration."""

metadata = MetaData()


class UtcTime(TypeDecorator[datetime]):
    """An instant: `timestamptz` in Postgres, text in UTC in SQLite, which knows no zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class AnyText(TypeDecorator[str]):
    """Text of any kind. What a database can't hold (NUL, half a surrogate pair) is kept as JSON behind a prefix, so
    that no bookmark can be published and then not be committed."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or (_is_storable(value) and not value.startswith(_ESCAPED)):
            return value
        return _ESCAPED + json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or not value.startswith(_ESCAPED):
            return value
        return str(json.loads(value.removeprefix(_ESCAPED)))


_ESCAPED = "json:"


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def _checksum() -> Column[str]:
    return Column("checksum", Text, nullable=False)


_RowId = BigInteger().with_variant(Integer, "sqlite")  # only an INTEGER primary key numbers itself in SQLite

store = Table(
    "store",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("incarnation", Text, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("seamark_version", Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
)

pipelines = Table(
    "pipelines",
    metadata,
    Column("pipeline", AnyText, primary_key=True),
    Column("uuid", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("next_seq", BigInteger, nullable=False),
    Column("prepared", BigInteger),  # the seq of the one prepared checkpoint
    Column("adopted_by", Text),  # the incarnation that has looked at the pipeline's tables
    Column("streams", Integer, nullable=False),  # how many rows there must be, so that a lost one is noticed
    Column("bookmarks", Integer, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    _checksum(),
)

streams = Table(
    "streams",
    metadata,
    Column("pipeline", AnyText, ForeignKey(pipelines.c.pipeline), primary_key=True),
    Column("stream", AnyText, primary_key=True),
    Column("cursor", AnyText, nullable=False),
    Column("mode", Text, nullable=False),
    Column("rows_total", BigInteger, nullable=False),
    Column("last_sync", UtcTime),
    Column("recorded", BigInteger, nullable=False),
    _checksum(),
)

bookmarks = Table(
    "bookmarks",
    metadata,
    Column("pipeline", AnyText, primary_key=True),
    Column("stream", AnyText, primary_key=True),
    Column("partition", AnyText, primary_key=True),
    Column("type", Text, nullable=False),
    Column("value", AnyText, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("run_id", AnyText, nullable=False),
    Column("version", BigInteger, nullable=False),
    _checksum(),
    ForeignKeyConstraint(["pipeline", "stream"], [streams.c.pipeline, streams.c.stream]),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("pipeline", AnyText, ForeignKey(pipelines.c.pipeline), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("pipeline_uuid", Text, nullable=False),
    Column("incarnation", Text, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("run_id", AnyText, nullable=False),
    Column("status", Text, nullable=False),  # prepared, committed, or void: of an incarnation that is over
    Column("has_rows", Boolean, nullable=False),  # whether some table took its rows
    Column("digest", Text, nullable=False),  # of the draft, so that the checksum holds without reading it
    Column("prepared_at", UtcTime, nullable=False),
    Column("committed_at", UtcTime),
    Column("draft", Text, nullable=False, info={"checked": False}),
    _checksum(),
)

leases = Table(
    "leases",
    metadata,
    Column("pipeline", AnyText, ForeignKey(pipelines.c.pipeline), primary_key=True),
    Column("token", BigInteger, nullable=False),  # stays when the lease is given back: it only grows
    Column("incarnation", Text, nullable=False),
    Column("holder", AnyText),
    Column("host", AnyText, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("started", AnyText, nullable=False),
    Column("acquired_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
)

history = Table(
    "history",
    metadata,
    Column("pipeline", AnyText, ForeignKey(pipelines.c.pipeline), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("stream", AnyText, primary_key=True),
    Column("partition", AnyText, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("before_type", Text),
    Column("before", AnyText),
    Column("after_type", Text),
    Column("after", AnyText),
    Column("rows", BigInteger, nullable=False),
    Column("run_id", AnyText, nullable=False),
    Column("actor", AnyText, nullable=False),
    Column("reason", AnyText, nullable=False),
    Column("at", UtcTime, nullable=False),
    _checksum(),
)

runs = Table(
    "runs",
    metadata,
    Column("id", _RowId, primary_key=True),
    Column("run_id", AnyText, nullable=False, unique=True),
    Column("pipeline", AnyText, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("host", AnyText, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("result", Text, nullable=False),
    Column("error", AnyText, nullable=False),
    Index("runs_of_pipeline", "pipeline", "id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _RowId, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("actor", AnyText, nullable=False),
    Column("action", AnyText, nullable=False),
    Column("pipeline", AnyText, nullable=False),
    Column("reason", AnyText, nullable=False),
    Column("before", AnyText, nullable=False),
    Column("after", AnyText, nullable=False),
    Index("audit_of_pipeline", "pipeline", "id"),
)
