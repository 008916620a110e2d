"""What the tests of the Postgres source share: a source over a database, and streams read to the end."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from seamark.model.schema import DataType
from seamark.model.split import Split
from seamark.model.stream import Cursor, Mode, Shape, Stream
from seamark.model.window import Window
from seamark.sources.base import Source
from seamark.sources.postgres import connector


@contextmanager
def opened(url: str, **options: Any) -> Iterator[Source]:
    source = connector.open(connector.options.model_validate({"url": url, **options}), Path())
    try:
        yield source
    finally:
        source.close()


def execute(url: str, *statements: str) -> None:
    """Each statement commits by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        return connection.execute(statement.encode()).fetchall()


def stream_of(table: str, **rest: Any) -> Stream:
    casts = tuple((name, DataType.parse(text)) for name, text in rest.pop("cast", {}).items())
    cursor = rest.pop("cursor", None)
    cursor = Cursor(cursor) if isinstance(cursor, str) else cursor
    mode = Mode.REPLACE if cursor is None else Mode.APPEND
    return Stream(rest.pop("name", "s"), table, rest.pop("mode", mode), cursor=cursor, cast=casts, **rest)


def read_split(reader: Any, split: Split) -> list[dict[str, Any]]:
    """One split, by a reader that went to another process."""
    reader = pickle.loads(pickle.dumps(reader))
    return [row for batch in reader(split) for row in batch.to_pylist()]


def read_all(
    source: Source, stream: Stream, window: Window | None = None, shape: Shape | None = None
) -> list[dict[str, Any]]:
    shape = shape or source.shape(stream)
    with source.read(stream, shape, window or Window(), 2) as reading:
        return [row for split in reading.splits for row in read_split(reading.reader, split)]


def values(url: str, table: str = "t", column: str = "c", **rest: Any) -> tuple[str, list[Any]]:
    """(type, values in the order of the table's `n`) of one column."""
    with opened(url) as source:
        stream = stream_of(table, **rest)
        shape = source.shape(stream)
        found = shape.schema.get(column)
        assert found is not None
        rows = sorted(read_all(source, stream, shape=shape), key=lambda row: row["n"])
        return str(found.type), [row[column] for row in rows]


def fill(url: str, kind: str, literals: list[str], table: str = "t", column: str = "c") -> None:
    """A table whose column of type `kind` holds each of the literals, the first row numbered 1."""
    rows = ", ".join(f"({number}, {text})" for number, text in enumerate(literals, 1))
    execute(
        url,
        f"create table {table} (n int4, {column} {kind})",
        *([f"insert into {table} values {rows}"] if rows else []),
    )
