"""Whether the demo's shop and its lake hold the same rows: each value of each row is compared, by none of the code that
moved them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

from seamark.cli.demo.shop import text_of


@dataclass(frozen=True)
class Agreement:
    """What comparing one table found. Keys of rows that differ are examples: there may be more."""

    table: str
    source_rows: int
    destination_rows: int
    differing: int
    example: str = ""

    @property
    def holds(self) -> bool:
        return self.differing == 0 and self.source_rows == self.destination_rows


def compare(shop: Path, lake: Path, table: str) -> Agreement:
    """Both sides sorted by id, side by side."""
    columns, source = _source_rows(shop, table)
    destination = _destination_rows(lake / table, columns)
    differing, example = 0, ""
    for here, there in zip_longest(source, destination):
        if here != there:
            differing += 1
            example = example or f"{_shown(columns, here)} in the shop, {_shown(columns, there)} in the lake"
    return Agreement(table, len(source), len(destination), differing, example)


def _source_rows(shop: Path, table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(f"file:{shop}?mode=ro", uri=True)) as connection:
        cursor = connection.execute(f"select * from {table} order by id")
        names = [column[0] for column in cursor.description]
        kinds = {row[1]: row[2] for row in connection.execute(f"pragma table_info({table})")}
        return names, list(_told_alike(cursor, [_FROM_SQLITE.get(kinds[name].split("(")[0], _same) for name in names]))


def _destination_rows(table: Path, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    import pyarrow as pa
    from deltalake import DeltaTable, QueryBuilder

    # Through its query engine: the plain reader doesn't know deletion vectors, which merges leave behind.
    listed = ", ".join(f'"{name}"' for name in columns)
    found = QueryBuilder().register("held", DeltaTable(table)).execute(f"select {listed} from held order by id")
    held = pa.table(found.read_all())
    values = [[_plain(value) for value in held.column(name).to_pylist()] for name in columns]
    return list(zip(*values, strict=True))


def _told_alike(rows: Any, tell: Sequence[Callable[[Any], Any]]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        yield tuple(say(value) for say, value in zip(tell, row, strict=True))


def _plain(value: Any) -> Any:
    """A value as the lake gives it, in the words both sides are compared in."""
    if isinstance(value, datetime):
        return text_of(value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value)
    if isinstance(value, float):
        return Decimal(repr(value)).quantize(_CENT)
    return value


def _same(value: Any) -> Any:
    return value


_CENT = Decimal("0.01")
_FROM_SQLITE: dict[str, Callable[[Any], Any]] = {
    "boolean": lambda value: None if value is None else bool(value),
    "decimal": lambda value: None if value is None else Decimal(repr(value)).quantize(_CENT),
}
"""SQLite keeps booleans as 0 and 1, decimals as binary fractions."""


def _shown(columns: Sequence[str], row: tuple[Any, ...] | None) -> str:
    if row is None:
        return "nothing"
    return "{" + ", ".join(f"{name}: {value}" for name, value in zip(columns, row, strict=True)) + "}"
