"""What a SQLite database says of its tables."""

from __future__ import annotations

from dataclasses import dataclass

from seamark.errors import SourceError
from seamark.model.nearest import or_nearest
from seamark.sources.names import name_part, name_parts
from seamark.sources.query import quoted
from seamark.sources.sqlite.database import Database


@dataclass(frozen=True)
class SqliteColumn:
    name: str
    declared: str
    not_null: bool
    key_place: int
    """Its place in the primary key, from 1; 0 when it is not in it."""
    default: str


@dataclass(frozen=True)
class SqliteIndex:
    columns: tuple[str, ...]
    """"" stands for an expression."""
    unique: bool
    partial: bool
    binary: bool
    """Whether its first column sorts by bytes."""


@dataclass(frozen=True)
class Table:
    name: str
    kind: str
    """table, view or virtual."""
    has_rowid: bool
    autoincrement: bool
    columns: tuple[SqliteColumn, ...]
    indexes: tuple[SqliteIndex, ...]

    @property
    def sql(self) -> str:
        return quoted(self.name)

    @property
    def label(self) -> str:
        return name_part(self.name)

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def primary_key(self) -> tuple[str, ...]:
        parts = sorted((column for column in self.columns if column.key_place), key=lambda column: column.key_place)
        return tuple(column.name for column in parts)

    def column(self, name: str) -> SqliteColumn | None:
        return next((column for column in self.columns if column.name == name), None)

    def is_rowid(self, name: str) -> bool:
        """Whether the column is the rowid itself: numbered by SQLite, never NULL."""
        column = self.column(name)
        alone = self.primary_key == (name,) and self.has_rowid
        return alone and column is not None and column.declared.upper() == "INTEGER"

    def never_null(self, name: str) -> bool:
        """Apart from the rowid even a primary key's columns may be NULL, unless they are declared otherwise."""
        column = self.column(name)
        in_key = column is not None and column.key_place > 0
        return column is not None and (column.not_null or self.is_rowid(name) or (in_key and not self.has_rowid))

    def indexed(self, name: str, binary: bool = False) -> bool:
        """Whether ranges and the greatest value of the column are found without a scan."""
        fitting = (index for index in self.indexes if not index.partial and index.columns[0] == name)
        return self.is_rowid(name) or any(index.binary or not binary for index in fitting)


def find(database: Database, table: str) -> Table:
    """The table or view; SourceError with the nearest name when there is none."""
    known = dict(_names(database))
    for name in _readings(table):
        if name in known:
            return _table(database, name, known[name])
    raise SourceError(
        f"there is no table {table!r} in {database.path}{or_nearest(table, map(name_part, known))}",
        "`seamark discover` lists the tables; names are taken as they are, capitals included",
    )


def all_tables(database: Database) -> list[Table]:
    """Tables and views, in order of name."""
    return sorted((_table(database, name, kind) for name, kind in _names(database)), key=lambda table: table.label)


def _readings(table: str) -> list[str]:
    parts = name_parts(table)
    return [table, *([parts[-1]] if len(parts) == 1 or (len(parts) == 2 and parts[0] == "main") else [])]


def _names(database: Database) -> list[tuple[str, str]]:
    """Names and kinds; the tables that virtual tables keep their own things in are no one's to read."""
    query = """
        SELECT name, type FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"""
    return [(name, kind) for name, kind in database.rows(query, doing=f"listing the tables of {database.path}")]


def _table(database: Database, name: str, kind: str) -> Table:
    doing = f"looking up table {name}"
    columns = database.rows(
        'SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo(?) WHERE hidden <> 1', [name], doing
    )
    entries = database.rows(
        'SELECT il.name, il."unique", il.partial, ix.name, ix.coll FROM pragma_index_list(?) il, '
        "pragma_index_xinfo(il.name) ix WHERE ix.key ORDER BY il.seq, ix.seqno",
        [name],
        doing,
    )
    facts = database.rows("SELECT sql FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", [name], doing)
    without_rowid = database.rows("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [name], doing)
    return Table(
        name=name,
        kind=kind,
        has_rowid=kind == "table" and not (without_rowid and without_rowid[0][0]),
        autoincrement="AUTOINCREMENT" in (facts[0][0] or "").upper() if facts else False,
        columns=tuple(
            SqliteColumn(column, declared or "", bool(not_null), place, default or "")
            for column, declared, not_null, place, default in columns
        ),
        indexes=tuple(_indexes(entries)),
    )


def _indexes(entries: list[tuple[str, int, int, str | None, str]]) -> list[SqliteIndex]:
    grouped: dict[str, list[tuple[str, int, int, str | None, str]]] = {}
    for entry in entries:
        grouped.setdefault(entry[0], []).append(entry)
    return [
        SqliteIndex(
            columns=tuple(column or "" for _, _, _, column, _ in rows),
            unique=bool(rows[0][1]),
            partial=bool(rows[0][2]),
            binary=rows[0][4] == "BINARY",
        )
        for rows in grouped.values()
    ]
