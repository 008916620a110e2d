"""What `check` finds: whether the file can be read, and what each stream's marks rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from seamark.errors import SourceError, SourceUnavailable
from seamark.model.bookmark import BookmarkType
from seamark.model.stream import Cursor, Shape, Stream
from seamark.sources.base import Finding
from seamark.sources.doubt import NOT_NUMBERED, OUT_OF_ORDER, VIEW, Doubt, of_a_date, of_a_key
from seamark.sources.query import quoted
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
            Finding("warning", f"stream {stream.name}", doubt.message, doubt.fix)
            for doubt in _doubts(stream, table, shape)
        ]
    return found


def _doubts(stream: Stream, table: Table, shape: Shape) -> Iterator[Doubt]:
    if stream.key and not shape.key_is_unique:
        yield of_a_key(stream.key)
    if stream.cursor is None:
        return
    if shape.cursor_type is BookmarkType.INTEGER:
        yield from _of_integers(stream.cursor, table)
    elif shape.cursor_type in TIMED:
        yield from _of_times(stream.cursor, shape)
    else:
        better = "use a timestamp that changes with the row, if there is one"
        yield Doubt(f"the order of {stream.cursor.field!r} ({shape.cursor_type}) {OUT_OF_ORDER}", better)
    if table.kind == "view":
        yield VIEW
    elif not table.indexed(stream.cursor.field, binary=shape.cursor_type is not BookmarkType.INTEGER):
        yield Doubt(
            f"no index begins with {stream.cursor.field!r}: every plan scans the whole table",
            f"CREATE INDEX … ON {table.sql} ({quoted(stream.cursor.field)})",
        )


def _of_times(cursor: Cursor, shape: Shape) -> Iterator[Doubt]:
    yield Doubt(
        f"SQLite can't say who is writing: a row that is committed more than {cursor.settle.total_seconds():g} s after "
        f"its {cursor.field!r} was taken may be missed",
        "set the cursor's `settle` above the longest transaction, or a `lookback`",
    )
    if shape.cursor_type is BookmarkType.DATE:
        yield of_a_date(cursor.field)


def _of_integers(cursor: Cursor, table: Table) -> Iterator[Doubt]:
    if not table.is_rowid(cursor.field):
        yield Doubt(
            f"SQLite does not number {cursor.field!r}: {NOT_NUMBERED}",
            "use the INTEGER PRIMARY KEY, or a timestamp that changes with the row",
        )
    elif not table.autoincrement:
        yield Doubt(
            f"without AUTOINCREMENT SQLite gives out the {cursor.field!r} of deleted last rows again, below the mark",
            "declare it INTEGER PRIMARY KEY AUTOINCREMENT, or don't delete",
        )
