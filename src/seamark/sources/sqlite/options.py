"""What a pipeline file may say of a SQLite source."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from seamark.config.options import Options
from seamark.config.stream_options import Duration


class SqliteOptions(Options):
    """A SQLite database file to read from; it is never written to."""

    path: str = Field(min_length=1, description="The database file, relative to the project's folder.")
    busy_timeout: Duration = Field(
        timedelta(seconds=5), description="How long to wait while another process keeps the database locked."
    )
    timezone: str | None = Field(
        None,
        description="The time zone in which timestamps without one are written; by default UTC, as of "
        "CURRENT_TIMESTAMP.",
    )
