"""What the tests of the SQLite source share."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from seamark.model.schema import DataType
from seamark.model.stream import Cursor, Mode, Shape, Stream
from seamark.model.window import Window
from seamark.sources.base import Source
from seamark.sources.sqlite import connector


@contextmanager
def opened(path: Path, **options: Any) -> Iterator[Source]:
    source = connector.open(connector.options.model_validate({"path": path.name, **options}), path.parent)
    try:
        yield source
    finally:
        source.close()


def execute(path: Path, *statements: str | tuple[str, Sequence[Any]]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            text, parameters = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(text, parameters)


def stream_of(table: str, **rest: Any) -> Stream:
    casts = tuple((name, DataType.parse(text)) for name, text in rest.pop("cast", {}).items())
    cursor = rest.pop("cursor", None)
    cursor = Cursor(cursor) if isinstance(cursor, str) else cursor
    mode = Mode.REPLACE if cursor is None else Mode.APPEND
    return Stream(rest.pop("name", "s"), table, rest.pop("mode", mode), cursor=cursor, cast=casts, **rest)


def read_all(
    source: Source, stream: Stream, window: Window | None = None, shape: Shape | None = None
) -> list[dict[str, Any]]:
    shape = shape or source.shape(stream)
    with source.read(stream, shape, window or Window(), 2) as reading:
        reader = pickle.loads(pickle.dumps(reading.reader))
        return [row for split in reading.splits for batch in reader(split) for row in batch.to_pylist()]


def values(path: Path, **rest: Any) -> tuple[str, list[Any]]:
    """(type, values in order of rowid) of the column c of t."""
    with opened(path) as source:
        stream = stream_of("t", **rest)
        shape = source.shape(stream)
        found = shape.schema.get("c")
        assert found is not None
        rows = sorted(read_all(source, stream, shape=shape), key=lambda row: row["n"])
        return str(found.type), [row["c"] for row in rows]


def fill(path: Path, declared: str, stored: Sequence[Any]) -> None:
    execute(path, f"create table t (n integer primary key, c {declared})",
            *[("insert into t (c) values (?)", (value,)) for value in stored])  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shop.db"
