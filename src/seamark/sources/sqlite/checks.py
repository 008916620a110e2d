"""What `check` finds: whether the file can be read, and what each stream's marks rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from seamark.errors import SourceError, SourceUnavailable
from seamark.model.bookmark import BookmarkType
from seamark.model.stream import Shape, Stream
from seamark.sources.base import Finding
from seamark.sources.sqlite.catalog import Table
from seamark.sources.sqlite.database import Database
from seamark.sources.sqlite.marks import TIMED


def findings(
    database: Database, streams: Sequence[Stream], look: Callable[[Stream], tuple[Table, Shape]]
) -> list[Finding]:
    """SourceError only when the database can't be read at all."""
    (version,) = database.row("SELECT sqlite_version()")
    (mode,) = database.row("PRAGMA journal_mode", doing=f"opening {database.path}")
    found = [Finding("ok", "source", f"{database.path}, journal mode {mode}, SQLite {version}")]
    if mode != "wal":
        found.append(
            Finding(
                "warning",
                "source",
                f"in journal mode {mode} a reader keeps writers waiting, and a writer the reader",
                "PRAGMA journal_mode = wal, once, by whoever writes",
            )
        )
    for stream in streams:
        try:
            table, shape = look(stream)
        except SourceUnavailable:
            raise
        except SourceError as error:
            found.append(Finding("error", f"stream {stream.name}", error.message, error.hint))
            continue
        cursor = f", cursor {stream.cursor.field} ({shape.cursor_type})" if stream.cursor else ""
        what = f"{table.kind} {table.label}, {len(shape.schema)} columns{cursor}"
        found.append(Finding("ok", f"stream {stream.name}", what))
        found += [
            Finding("warning", f"stream {stream.name}", message, fix) for message, fix in _doubts(stream, table, shape)
        ]
    return found


def _doubts(stream: Stream, table: Table, shape: Shape) -> Iterator[tuple[str, str]]:
    if stream.key and not shape.key_is_unique:
        key = ", ".join(stream.key)
        yield (
            f"nothing in the database keeps the key ({key}) unique and not NULL",
            "a primary key or a unique index over NOT NULL columns",
        )
    if stream.cursor is None:
        return
    field, settle = stream.cursor.field, stream.cursor.settle.total_seconds()
    if shape.cursor_type in TIMED:
        yield (
            f"SQLite can't say who is writing: a row whose transaction takes longer than {settle:g} s to commit after "
            f"{field!r} was set may be missed",
            "set the cursor's `settle` above the longest transaction, or a `lookback`",
        )
    if shape.cursor_type is BookmarkType.DATE:
        yield (
            f"{field!r} is a date: the rows of a day are read when the day is over",
            "use a timestamp for fresher rows",
        )
    if shape.cursor_type is BookmarkType.INTEGER and table.is_rowid(field) and not table.autoincrement:
        yield (
            f"without AUTOINCREMENT SQLite gives the {field!r} of deleted last rows out again: such a row is below the bookmark",
            "declare it INTEGER PRIMARY KEY AUTOINCREMENT, or don't delete",
        )
    elif shape.cursor_type is BookmarkType.INTEGER and not table.is_rowid(field):
        yield (
            f"SQLite does not number {field!r}: whoever does must give out growing numbers inside the writing transaction",
            "use the INTEGER PRIMARY KEY, or a timestamp that changes with the row",
        )
    elif shape.cursor_type in (BookmarkType.TEXT, BookmarkType.BYTES):
        yield (
            f"the order of {field!r} ({shape.cursor_type}) says nothing about when rows were written: a row that sorts below "
            "the bookmark is never found",
            "use a timestamp that changes with the row, if there is one",
        )
    if table.kind == "view":
        yield (
            "a view: a row may come to meet its conditions long after its cursor was set",
            "make sure that rows enter it only with a new cursor value, or read its table",
        )
    elif not table.indexed(field, binary=shape.cursor_type is not BookmarkType.INTEGER):
        yield (
            f"no index begins with {field!r}: every plan scans the whole table",
            f'CREATE INDEX … ON {table.sql} ("{field}")',
        )
