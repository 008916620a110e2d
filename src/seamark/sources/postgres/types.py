"""From Postgres types to ours, and how each is read: what arrives is exactly what is declared, or an error says why.

One rule covers every type that becomes a string: the string is what `column::text` gives in a session with TimeZone
UTC, DateStyle ISO and IntervalStyle iso_8601. The only exception is `char(n)`, which keeps its padding as SELECT shows
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from seamark.model.bookmark import BookmarkType
from seamark.model.schema import DataType, decimal, list_of
from seamark.sources.postgres.catalog import PgColumn, PgType, Relation
from seamark.sources.query import quoted
from seamark.sources.selection import impossible_cast, unfaithful


@dataclass(frozen=True)
class TypeRow:
    """A line of the documented mapping."""

    source: str
    ours: str
    note: str = ""


@dataclass(frozen=True)
class Rule:
    """How a type is read: what it becomes, by which casts in SQL, and of which family it is when it is cast."""

    ours: str
    casts: tuple[str, ...] = ()
    family: str = "other"
    note: str = ""


@dataclass(frozen=True)
class ColumnRead:
    """A column of the stream: its type, and the SQL that yields it (or a text that the reader turns into it)."""

    name: str
    type: DataType
    sql: str
    source_type: str
    is_array: bool = False


_TEXT = ("text",)
_YEARS = "years 1 to 9999; infinity, BC and later years fail"

RULES: dict[str, Rule] = {
    "bool": Rule("boolean", family="boolean"),
    "int2": Rule("int16", family="integer"),
    "int4": Rule("int32", family="integer"),
    "int8": Rule("int64", family="integer"),
    "oid": Rule("int64", ("int8",), "integer"),
    "xid": Rule("int64", ("text", "int8"), "integer"),
    "cid": Rule("int64", ("text", "int8"), "integer"),
    "float4": Rule("float32", family="float", note="NaN and infinity included"),
    "float8": Rule("float64", family="float", note="NaN and infinity included"),
    "money": Rule("decimal(19,2)", ("numeric", "text"), "numeric", "lc_monetary with more decimals fails"),
    "text": Rule("string", family="text"),
    "varchar": Rule("string", family="text"),
    "bpchar": Rule("string", family="text", note="with its padding, as SELECT shows it; `cast: string` strips it"),
    "name": Rule("string", family="text"),
    "char": Rule("string", _TEXT, "text", 'the one-byte type `"char"`'),
    "bytea": Rule("binary", family="bytes"),
    "date": Rule("date", family="date", note=_YEARS),
    "timestamp": Rule("timestamp", family="timestamp", note=_YEARS),
    "timestamptz": Rule("timestamptz", family="timestamptz", note=f"an instant, in UTC; {_YEARS}"),
    "time": Rule("string", _TEXT, note="`12:30:00.5`, up to `24:00:00`"),
    "timetz": Rule("string", _TEXT, note="with its offset: `12:30:00+02`"),
    "interval": Rule("string", _TEXT, note="ISO 8601: `P1Y2M3DT4H5M6.7S`"),
    "uuid": Rule("string", _TEXT, "uuid"),
    "json": Rule("string", _TEXT, note="exactly as stored"),
    "jsonb": Rule("string", _TEXT, note="as Postgres prints it"),
    "jsonpath": Rule("string", _TEXT),
    "xml": Rule("string", _TEXT),
    "inet": Rule("string", _TEXT, note="always with its mask: `192.0.2.1/32`"),
    "cidr": Rule("string", _TEXT),
    "macaddr": Rule("string", _TEXT),
    "macaddr8": Rule("string", _TEXT),
    "bit": Rule("string", _TEXT, note="zeros and ones"),
    "varbit": Rule("string", _TEXT, note="zeros and ones"),
    "point": Rule("string", _TEXT),
    "line": Rule("string", _TEXT),
    "lseg": Rule("string", _TEXT),
    "box": Rule("string", _TEXT),
    "path": Rule("string", _TEXT),
    "polygon": Rule("string", _TEXT),
    "circle": Rule("string", _TEXT),
    "tsvector": Rule("string", _TEXT),
    "tsquery": Rule("string", _TEXT),
    "pg_lsn": Rule("string", _TEXT),
    "tid": Rule("string", _TEXT),
    "xid8": Rule("string", _TEXT),
    "pg_snapshot": Rule("string", _TEXT),
    "txid_snapshot": Rule("string", _TEXT),
    "int2vector": Rule("string", _TEXT),
    "oidvector": Rule("string", _TEXT),
    "refcursor": Rule("string", _TEXT),
    "aclitem": Rule("string", _TEXT),
    **{
        f"reg{kind}": Rule("string", _TEXT, note="the name, as the user's search_path shows it")
        for kind in ("class", "collation", "config", "dictionary", "namespace", "oper", "operator", "proc", "procedure",
                     "role", "type")
    },
}  # fmt: skip
"""Built-in types by their name in pg_type; numeric, which depends on its size, is in `_numeric`."""

_NUMERIC = Rule("string", _TEXT, "numeric")
_ENUM = Rule("string", _TEXT, "text")
_RANGE = Rule("string", _TEXT)
_CITEXT = Rule("string", _TEXT, "text")

TYPE_MAPPING: tuple[TypeRow, ...] = (
    *(TypeRow('"char"' if name == "char" else name, rule.ours, rule.note) for name, rule in RULES.items()),
    TypeRow("numeric(p,s)", "decimal(p,s)", "up to 38 digits; NaN fails"),
    TypeRow("numeric(p,-s)", "decimal(p+s,0)", "up to 38 digits"),
    TypeRow(
        "numeric of any size, or of more than 38 digits",
        "string",
        "every digit, NaN and Infinity; or `cast: decimal(p,s)`, which fails on a value that does not fit",
    ),
    TypeRow("an enum", "string", "its label"),
    TypeRow("a range or multirange", "string", "`[1,5)`"),
    TypeRow("a domain", "as its base type"),
    TypeRow(
        "an array",
        "list<…>",
        "of one dimension, NULLs included; several dimensions fail, or `cast: string`; lower bounds are not kept",
    ),
    TypeRow("citext and other extension types of text", "string"),
    TypeRow("a composite type, other extension types", "needs a cast", "`cast: string` keeps its text form"),
)
"""The mapping as documentation shows it."""

_TEMPORAL = ("date", "timestamp", "timestamptz")
_CURSORS: dict[str, BookmarkType] = {
    "int2": BookmarkType.INTEGER,
    "int4": BookmarkType.INTEGER,
    "int8": BookmarkType.INTEGER,
    "date": BookmarkType.DATE,
    "timestamp": BookmarkType.TIMESTAMP,
    "timestamptz": BookmarkType.TIMESTAMPTZ,
    "text": BookmarkType.TEXT,
    "varchar": BookmarkType.TEXT,
    "bpchar": BookmarkType.TEXT,
    "name": BookmarkType.TEXT,
    "citext": BookmarkType.TEXT,
    "uuid": BookmarkType.UUID,
    "bytea": BookmarkType.BYTES,
    "numeric": BookmarkType.DECIMAL,
}


def column_read(relation: Relation, column: PgColumn, cast: DataType | None) -> ColumnRead:
    """How to read one column; TypeMappingError when it has no faithful type and no `cast`, or can't be cast so."""
    kind, typmod = base_type(relation, column)
    name = quoted(column.name)
    element = relation.types.get(kind.element)
    if element is None:
        rule = _rule(relation, column, kind, typmod, needed=cast is None)
        ours, casts = _as_declared(rule) if cast is None else _as_cast(relation, column, rule, cast)
        return ColumnRead(column.name, ours, name + "".join(f"::{step}" for step in casts), column.type_text)
    if cast == DataType("string"):
        return ColumnRead(column.name, cast, f"{name}::text", column.type_text)
    if cast is not None and cast.item is None:
        raise impossible_cast(relation.label, column.name, column.type_text, cast)
    element, typmod = _undomained(relation, element, typmod)
    rule = _rule(relation, column, element, typmod, needed=cast is None)
    wanted = cast.item if cast else None
    ours, casts = _as_declared(rule) if wanted is None else _as_cast(relation, column, rule, wanted)
    # Sliced whole, it begins with element 1: the driver refuses other lower bounds, which a list has no place for.
    sql = f"({name})[:]" + "".join(f"::{step}[]" for step in casts)
    return ColumnRead(column.name, list_of(ours), sql, column.type_text, is_array=True)


def cursor_type(relation: Relation, column: PgColumn, cast: DataType | None) -> tuple[BookmarkType, int | None] | None:
    """(type, scale of a decimal) of a cursor over the column; None where no exact order or next value exists."""
    kind, typmod = base_type(relation, column)
    if kind.name == "citext" or kind.schema == "pg_catalog":
        found = _CURSORS.get(kind.name)
        if found is not BookmarkType.DECIMAL:
            return (found, None) if found else None
        ours = cast or _numeric(typmod)
        return (found, ours.scale) if ours is not None and ours.kind == "decimal" else None
    return None


def base_type(relation: Relation, column: PgColumn) -> tuple[PgType, int]:
    """The column's type under all domains, with the typmod that goes for it."""
    return _undomained(relation, relation.types[column.type], column.typmod)


def _undomained(relation: Relation, kind: PgType, typmod: int) -> tuple[PgType, int]:
    while kind.kind == "d":
        kind, typmod = relation.types[kind.base], kind.base_typmod
    return kind, typmod


def _rule(relation: Relation, column: PgColumn, kind: PgType, typmod: int, needed: bool) -> Rule:
    """The rule for a type that is no array. `needed`: no cast was given, so the type must have a place of its own."""
    if kind.kind == "e":
        return _ENUM
    if kind.kind in "rm":
        return _RANGE
    if kind.schema == "pg_catalog" and kind.kind == "b":
        if kind.name == "numeric":
            ours = _numeric(typmod)
            return Rule(str(ours), _TEXT, "numeric") if ours else _NUMERIC
        if kind.name in RULES:
            return RULES[kind.name]
    elif kind.kind == "b" and kind.category == "S":
        return _CITEXT
    if needed:
        because = (
            "its fields have no columns of their own" if kind.kind == "c" else "only its extension knows what it means"
        )
        raise unfaithful(relation.label, column.name, column.type_text, because)
    return Rule("string", _TEXT)


def _numeric(typmod: int) -> DataType | None:
    """The decimal that holds a numeric of this size; None for one of any size or of more than 38 digits."""
    if typmod < 4:
        return None
    precision, scale = (typmod - 4) >> 16, ((typmod - 4) & 0x7FF ^ 0x400) - 0x400
    if scale < 0:  # numeric(3,-2) counts hundreds
        precision, scale = precision - scale, 0
    precision = max(precision, scale)  # numeric(3,5) holds 0.00999 at most
    return decimal(precision, scale) if precision <= 38 else None


def _as_declared(rule: Rule) -> tuple[DataType, tuple[str, ...]]:
    return DataType.parse(rule.ours), rule.casts


def _as_cast(relation: Relation, column: PgColumn, rule: Rule, target: DataType) -> tuple[DataType, tuple[str, ...]]:
    """The SQL steps to `target`; what SQL would round, the reader casts from text instead, which fails on any loss."""
    steps = _cast_steps(rule, target)
    if steps is None:
        raise impossible_cast(relation.label, column.name, column.type_text, target)
    return target, steps


def _cast_steps(rule: Rule, target: DataType) -> tuple[str, ...] | None:
    number = rule.family in ("integer", "numeric", "float", "text")
    first = ("numeric",) if "numeric" in rule.casts else ()  # money
    match target.kind:
        case "string":
            return (*first, "text")
        case "int8" | "int16" | "int32" | "int64" if number:
            return (*rule.casts, _INTEGERS[target.kind]) if rule.family == "integer" else (*first, *_TEXT)
        case "decimal" if number:
            return (*first, *_TEXT)
        case "float32" | "float64" if number:
            through_text = _TEXT if rule.family == "text" else ()
            return (*first, *through_text, "float4" if target.kind == "float32" else "float8")
        case "boolean" if rule.family in ("boolean", "integer", "text"):
            return ("text", "boolean")
        case "date" | "timestamp" | "timestamptz" if rule.family in (*_TEMPORAL, "text"):
            return (target.kind,)
        case "binary" if rule.family == "bytes":
            return ()
    return None


_INTEGERS = {"int8": "int2", "int16": "int2", "int32": "int4", "int64": "int8"}
