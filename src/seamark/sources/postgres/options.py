"""What a pipeline file may say of a Postgres source."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from seamark.config.options import Options
from seamark.config.secret import SecretUrl
from seamark.config.stream_options import Duration


class PostgresOptions(Options):
    """A Postgres database to read from."""

    url: SecretUrl = Field(
        description="`postgresql://user:password@host:port/database`, with libpq's parameters (`?sslmode=verify-full`)."
    )
    schemas: tuple[str, ...] = Field(
        (),
        description="Schemas to discover tables in, and to look in for a table named without one; by default all, and "
        "`public`.",
    )
    connect_timeout: Duration = Field(timedelta(seconds=10), description="How long to wait for a connection.")
    statement_timeout: Duration | None = Field(
        None,
        description="How long one statement may take, reading a split included; the server's own limit by default.",
    )
    ignore_sessions: tuple[str, ...] = Field(
        (),
        description="Application names of sessions that never write to these tables, such as a dashboard that stays in "
        "transactions for hours: marks don't wait for them.",
    )
    client_timestamps: bool = Field(
        False,
        description="Whether clients write the timestamps that cursors use, instead of now() on the server: such marks "
        "need a `lookback`.",
    )
    timezone: str | None = Field(
        None,
        description="The time zone in which timestamps without one were written; by default the server's own for this "
        "database.",
    )
    allow_unsafe_marks: bool = Field(
        False,
        description="Read on where no mark can be proven safe and no `lookback` is set, at the risk of missing rows "
        "that are committed late.",
    )
