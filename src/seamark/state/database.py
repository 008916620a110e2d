"""One database behind the store: short transactions, its errors in our words, and the clock that leases go by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Table, bindparam, insert, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from seamark.errors import StateError, StateUnavailable


@dataclass(frozen=True)
class Database:
    """What the providers differ in. `explain` words a driver's error; it never repeats a password or a parameter."""

    engine: Engine
    location: str
    clock: Callable[[Connection], datetime]
    explain: Callable[[DBAPIError], StateError]
    add_if_missing: Callable[[Connection, Table, Mapping[str, Any]], Any]
    claim: Callable[[Connection], None]
    """Called first in a transaction that may create or migrate the store: lets one process at a time go on."""
    reads: Mapping[str, Any] = field(default_factory=dict)
    """Execution options that make a transaction see one snapshot."""
    writes: Mapping[str, Any] = field(default_factory=dict)
    guard: AbstractContextManager[Any] = field(default_factory=nullcontext)
    """Held during every transaction; a lock where all threads share one connection."""
    schema: str | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one snapshot and writes nothing."""
        with self._explained(), self.guard, self.engine.connect() as connection:
            connection = connection.execution_options(**self.reads)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or has never been."""
        with self._explained(), self.guard, self.engine.connect() as connection:
            connection = connection.execution_options(**self.writes)
            with connection.begin():
                yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self.explain(error) from error
        except NoFreeConnection as error:
            raise StateUnavailable(
                f"{self.location}: all connections of this process are busy", "Run fewer pipelines at once."
            ) from error


def put(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], there: set[tuple[Any, ...]]) -> None:
    """Write whole rows; `there` are the primary keys, in the table's order of columns, of those to be replaced."""
    keys = [column.name for column in table.primary_key]
    old = [row for row in rows if tuple(row[name] for name in keys) in there]
    new = [row for row in rows if tuple(row[name] for name in keys) not in there]
    if new:
        connection.execute(insert(table), new)
    if old:
        values: dict[str, Any] = {c.name: bindparam(f"new_{c.name}") for c in table.columns if c.name not in keys}
        same = (table.c[name] == bindparam(f"key_{name}") for name in keys)
        named = [
            {(f"key_{name}" if name in keys else f"new_{name}"): value for name, value in row.items()} for row in old
        ]
        connection.execute(update(table).where(*same).values(values), named)
