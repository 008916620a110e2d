"""SQLite as a source."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from seamark.sources.base import Source, SourceConnector
from seamark.sources.sqlite.options import SqliteOptions


def _open(options: BaseModel, root: Path) -> Source:
    from seamark.sources.sqlite.source import SqliteSource

    assert isinstance(options, SqliteOptions)
    return SqliteSource(options, root)


connector = SourceConnector(
    kind="sqlite",
    summary="Tables and views of a SQLite database file, opened for reading only.",
    options=SqliteOptions,
    open=_open,
    capabilities=(
        ("modes", "merge, append, replace"),
        ("cursors", "timestamps, integers, dates, text, blobs"),
        ("safe marks", "rowids; timestamps once they have settled"),
        ("splits", "one for each window"),
        ("snapshot", "one statement for each window"),
    ),
)
