"""From declared SQLite types to ours. SQLite lets any value into almost any column, so each value's own type is looked
at while it is read: what does not fit is an error that names the row, the value and the choice, never a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seamark.model.bookmark import BookmarkType
from seamark.model.schema import DataType, decimal
from seamark.sources.query import quoted
from seamark.sources.selection import impossible_cast, unfaithful
from seamark.sources.sqlite.catalog import SqliteColumn, Table


@dataclass(frozen=True)
class TypeRow:
    """A line of the documented mapping."""

    source: str
    ours: str
    note: str = ""


TYPE_MAPPING: tuple[TypeRow, ...] = (
    TypeRow("INTEGER, INT, BIGINT, … (names with INT)", "int64", "fractions, and texts that are no integer, fail"),
    TypeRow("REAL, FLOAT, DOUBLE", "float64", "integers that a float can't hold exactly fail"),
    TypeRow(
        "DECIMAL(p,s), NUMERIC(p,s)",
        "decimal(p,s)",
        "a float counts as the decimal it rounds to if rounding errors are all that is between them: "
        "59.969999999999995 is 59.97, while 0.125 fails in DECIMAL(4,2)",
    ),
    TypeRow("TEXT, VARCHAR, CHAR, CLOB, JSON, UUID, …", "string", "integers become their digits; floats, blobs fail"),
    TypeRow("BLOB, BINARY, VARBINARY, BYTEA", "binary", "anything but a blob fails"),
    TypeRow("BOOLEAN, BOOL", "boolean", "0 and 1; anything else fails"),
    TypeRow("DATE", "date", "`2026-01-31`; anything else fails"),
    TypeRow(
        "DATETIME, TIMESTAMP",
        "timestamp",
        "ISO 8601 text, or an integer: seconds since 1970; Julian days, and texts with a zone, fail",
    ),
    TypeRow("TIMESTAMPTZ, TIMESTAMP WITH TIME ZONE", "timestamptz", "the same, with a zone or in UTC"),
    TypeRow("TIME", "string"),
    TypeRow("no type, NUMERIC without a size, others", "needs a cast", "`cast: string` keeps any value's text"),
)
"""The mapping as documentation shows it."""

_NAMES: tuple[tuple[str, str], ...] = (
    (r"BOOL(EAN)?", "boolean"),
    (r"DATE", "date"),
    (r"TIMESTAMPTZ|TIMESTAMP WITH TIME ZONE", "timestamptz"),
    (r"DATETIME|TIMESTAMP( WITHOUT TIME ZONE)?", "timestamp"),
    (r"TIME", "string"),
    (r".*(CHAR|CLOB|TEXT|STRING|UUID|JSON|XML).*", "string"),
    (r"(?!.*(POINT|INTERVAL)).*INT.*", "int64"),
    (r".*(REAL|FLOA|DOUB).*", "float64"),
    (r".*(BLOB|BINARY)|BYTEA", "binary"),
)
_SIZE = re.compile(r"\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


@dataclass(frozen=True)
class ColumnRead:
    """A column of the stream. `sql` gives values of one storage class only; `misfit`, if any, is true for a value that
    has no place in the type."""

    name: str
    type: DataType
    sql: str
    misfit: str
    source_type: str


def declared_type(table: Table, column: SqliteColumn) -> DataType:
    """The type that a column's declaration means; TypeMappingError when it means none."""
    name = re.sub(r"\s+", " ", _SIZE.sub("", column.declared)).strip().upper()
    size = _SIZE.search(column.declared)
    if name in ("DECIMAL", "NUMERIC", "NUMBER", "DEC") and size:
        precision, scale = int(size[1]), int(size[2] or 0)
        if 1 <= precision <= 38 and scale <= precision:
            return decimal(precision, scale)
        raise unfaithful(table.label, column.name, column.declared, "decimals have at most 38 digits")
    for pattern, ours in _NAMES:
        if re.fullmatch(pattern, name):
            return DataType(ours)
    because = "any value may stand there" if not name else "its values may be integers, fractions or text"
    raise unfaithful(table.label, column.name, column.declared, because)


def column_read(table: Table, column: SqliteColumn, cast: DataType | None) -> ColumnRead:
    """How to read one column; TypeMappingError when it has no faithful type and no `cast`, or can't be cast so."""
    ours = cast or declared_type(table, column)
    made = _value(ours, quoted(column.name), asked_for=cast is not None)
    if made is None:
        raise impossible_cast(table.label, column.name, column.declared, ours)
    sql, misfit = made
    return ColumnRead(column.name, ours, sql, misfit, column.declared)


_CURSORS = {
    "int64": BookmarkType.INTEGER,
    "date": BookmarkType.DATE,
    "timestamp": BookmarkType.TIMESTAMP,
    "timestamptz": BookmarkType.TIMESTAMPTZ,
    "string": BookmarkType.TEXT,
    "binary": BookmarkType.BYTES,
}


def cursor_type(ours: DataType) -> BookmarkType | None:
    """The type of a cursor over such a column; None where there is no exact order: SQLite keeps decimals as floats."""
    return _CURSORS.get(ours.kind)


def _value(ours: DataType, c: str, asked_for: bool) -> tuple[str, str] | None:
    """(value, misfit) as SQL over the column `c`."""
    integers = f"WHEN 'integer' THEN {c}"
    match ours.kind:
        case "int8" | "int16" | "int32" | "int64":
            # Texts that spell an integer occur where nothing was declared.
            spelled = f"typeof({c}) = 'text' AND CAST(CAST({c} AS INTEGER) AS TEXT) = {c}"
            value = f"CASE WHEN typeof({c}) = 'integer' THEN {c} WHEN {spelled} THEN CAST({c} AS INTEGER) END"
            return value, f"typeof({c}) NOT IN ('integer', 'null') AND NOT ({spelled})"
        case "float64":
            inexact = f"typeof({c}) = 'integer' AND {c} NOT BETWEEN -9007199254740992 AND 9007199254740992"
            value = f"CASE typeof({c}) WHEN 'real' THEN {c} WHEN 'integer' THEN CAST({c} AS REAL) END"
            return value, f"typeof({c}) NOT IN ('real', 'integer', 'null') OR {inexact}"
        case "decimal":
            return _decimal(ours.scale, c)
        case "string":
            if asked_for:  # every value's own text: digits, fractions that read back the same, blobs as X'…'
                return f"CASE typeof({c}) WHEN 'text' THEN {c} WHEN 'null' THEN NULL ELSE quote({c}) END", ""
            value = f"CASE typeof({c}) WHEN 'text' THEN {c} WHEN 'integer' THEN CAST({c} AS TEXT) END"
            return value, _other_than(c, "text", "integer")
        case "binary":
            value = f"CASE typeof({c}) WHEN 'blob' THEN {c} WHEN 'text' THEN CAST({c} AS BLOB) END"
            return value, _other_than(c, "blob", *(["text"] if asked_for else []))
        case "boolean":
            value = f"CASE typeof({c}) {integers} END"
            return value, f"{_other_than(c, 'integer')} OR (typeof({c}) = 'integer' AND {c} NOT IN (0, 1))"
        case "date":
            return f"CASE typeof({c}) WHEN 'text' THEN {c} END", _other_than(c, "text")
        case "timestamp" | "timestamptz":
            return _moment(c, zoned=ours.kind == "timestamptz")
    return None


def _other_than(c: str, *kinds: str) -> str:
    return f"typeof({c}) NOT IN ({', '.join(repr(kind) for kind in (*kinds, 'null'))})"


def _decimal(scale: int, c: str) -> tuple[str, str]:
    """A float stands for the decimal that it rounds to when they are no more than two units of its last place apart."""
    meant = f"abs(round({c}, {scale}) - {c}) <= abs({c}) * 4.5e-16"
    value = (
        f"CASE typeof({c}) WHEN 'integer' THEN CAST({c} AS TEXT) WHEN 'text' THEN {c} "
        f"WHEN 'real' THEN printf('%!.{scale}f', {c}) END"
    )
    return value, f"{_other_than(c, 'integer', 'real', 'text')} OR (typeof({c}) = 'real' AND NOT ({meant}))"


def _moment(c: str, zoned: bool) -> tuple[str, str]:
    """Integers are seconds since 1970 (SQLite's `unixepoch`); milliseconds lie far beyond the year 9999, and fail."""
    zone = "Z" if zoned else ""
    seconds = f"strftime('%Y-%m-%d %H:%M:%S', {c}, 'unixepoch') || '{zone}'"
    text = with_zone(c) if zoned else c
    value = f"CASE typeof({c}) WHEN 'text' THEN {text} WHEN 'integer' THEN {seconds} END"
    misfit = f"{_other_than(c, 'text', 'integer')} OR (typeof({c}) = 'integer' AND {seconds} IS NULL)"
    return value, misfit


def has_zone(c: str) -> str:
    """SQL for whether the text `c` ends in Z or an offset."""
    signs = " OR ".join(f"substr({c}, {place}, 1) IN ('+', '-')" for place in (-6, -3))
    return f"(length({c}) > 10 AND ({c} LIKE '%Z' OR {signs}))"


def with_zone(c: str) -> str:
    """SQL for the text `c` with a zone: UTC where it has none."""
    return f"CASE WHEN {has_zone(c)} THEN {c} WHEN length({c}) = 10 THEN {c} || ' 00:00Z' ELSE {c} || 'Z' END"
