"""Checksums of rows: made on every write, verified on every read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from sqlalchemy import Column, RowMapping, Table

from seamark.errors import StateCorruptionError

Values = Mapping[str, Any]
"""A row by the names of its columns."""


def sealed(table: Table, values: Values) -> dict[str, Any]:
    """The row with its checksum, ready to be written."""
    return {**values, "checksum": _checksum(table, values)}


def verified(table: Table, row: RowMapping) -> Values:
    """The row, if it is what was written; StateCorruptionError names it when it is not."""
    values = {str(name): value for name, value in row.items()}
    if values["checksum"] != _checksum(table, values):
        corrupt(describe(table, values) + " does not match its checksum")
    return values


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def checked_columns(table: Table) -> list[Column[Any]]:
    """All but those that are too big to be read for every look at the row; each has a digest beside it."""
    return [column for column in table.columns if column.info.get("checked", True)]


def describe(table: Table, row: Values) -> str:
    names = ", ".join(f"{column.name} {row[column.name]!r}" for column in table.primary_key)
    return f"the row of {table.name} with {names}"


def corrupt(message: str) -> NoReturn:
    raise StateCorruptionError(
        f"the state store is damaged: {message}",
        "Nothing was changed. Put a backup of the state store back; without one move the store aside, "
        "and the next run looks at the tables and says how to go on.",
    )


def _checksum(table: Table, values: Values) -> str:
    """Covers the table, every column's name and value; not NULLs, so that a migration may add a column."""
    names = (column.name for column in checked_columns(table) if column.name != "checksum")
    facts = {name: _plain(values[name]) for name in names if values[name] is not None}
    text = json.dumps([table.name, facts], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value
