"""Postgres as a source."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from seamark.sources.base import Source, SourceConnector
from seamark.sources.postgres.options import PostgresOptions


def _open(options: BaseModel, root: Path) -> Source:
    from seamark.sources.postgres.source import PostgresSource

    assert isinstance(options, PostgresOptions)
    return PostgresSource(options)


connector = SourceConnector(
    kind="postgres",
    summary="Tables and views of a Postgres database, read in parallel from one snapshot.",
    options=PostgresOptions,
    open=_open,
    capabilities=(
        ("modes", "merge, append, replace"),
        ("cursors", "timestamps, integers, dates, decimals, text, uuid, bytes"),
        ("safe marks", "timestamps that the server sets; integers that a sequence numbers"),
        ("splits", "blocks of the table, ranges of the cursor or of an integer key"),
        ("snapshot", "one for all splits of a window"),
    ),
)
