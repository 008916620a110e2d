"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Instant = sa.DateTime(timezone=True)
RowId = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _identity()
    _state()
    _checkpoints()
    _journal()


def _identity() -> None:
    op.create_table(
        "store",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("incarnation", sa.Text, nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("seamark_version", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
    )


def _state() -> None:
    op.create_table(
        "pipelines",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("uuid", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("next_seq", sa.BigInteger, nullable=False),
        sa.Column("prepared", sa.BigInteger),
        sa.Column("adopted_by", sa.Text),
        sa.Column("streams", sa.Integer, nullable=False),
        sa.Column("bookmarks", sa.Integer, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )
    op.create_table(
        "streams",
        sa.Column("pipeline", sa.Text, sa.ForeignKey("pipelines.pipeline"), primary_key=True),
        sa.Column("stream", sa.Text, primary_key=True),
        sa.Column("cursor", sa.Text, nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("rows_total", sa.BigInteger, nullable=False),
        sa.Column("last_sync", Instant),
        sa.Column("recorded", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )
    op.create_table(
        "bookmarks",
        sa.Column("pipeline", sa.Text, primary_key=True),
        sa.Column("stream", sa.Text, primary_key=True),
        sa.Column("partition", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["pipeline", "stream"], ["streams.pipeline", "streams.stream"]),
    )


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("pipeline", sa.Text, sa.ForeignKey("pipelines.pipeline"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("pipeline_uuid", sa.Text, nullable=False),
        sa.Column("incarnation", sa.Text, nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("has_rows", sa.Boolean, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("prepared_at", Instant, nullable=False),
        sa.Column("committed_at", Instant),
        sa.Column("draft", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("pipeline", sa.Text, sa.ForeignKey("pipelines.pipeline"), primary_key=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("incarnation", sa.Text, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("started", sa.Text, nullable=False),
        sa.Column("acquired_at", Instant, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
    )


def _journal() -> None:
    op.create_table(
        "history",
        sa.Column("pipeline", sa.Text, sa.ForeignKey("pipelines.pipeline"), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("stream", sa.Text, primary_key=True),
        sa.Column("partition", sa.Text, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("before_type", sa.Text),
        sa.Column("before", sa.Text),
        sa.Column("after_type", sa.Text),
        sa.Column("after", sa.Text),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False, unique=True),
        sa.Column("pipeline", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("ended_at", Instant),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
    )
    op.create_index("runs_of_pipeline", "runs", ["pipeline", "id"])
    op.create_table(
        "audit",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("at", Instant, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("pipeline", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
    )
    op.create_index("audit_of_pipeline", "audit", ["pipeline", "id"])
