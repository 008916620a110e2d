"""Columns and their types: a small closed set that every source maps into and every destination maps from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SCALARS = (
    "boolean", "int8", "int16", "int32", "int64", "float32", "float64",
    "string", "binary", "date", "timestamp", "timestamptz",
)  # fmt: skip
"""`timestamp` has no zone, `timestamptz` is an instant kept in UTC; both count microseconds."""


@dataclass(frozen=True)
class DataType:
    """A type; `str()` of it and `DataType.parse` are inverses (`decimal(12,2)`, `list<int64>`, `struct<a: int64>`)."""

    kind: str
    precision: int = 0
    scale: int = 0
    item: DataType | None = None
    fields: tuple[tuple[str, DataType], ...] = ()

    def __str__(self) -> str:
        if self.kind == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.kind == "list":
            return f"list<{self.item}>"
        if self.kind == "struct":
            return "struct<" + ", ".join(f"{_quote(name)}: {kind}" for name, kind in self.fields) + ">"
        return self.kind

    @staticmethod
    def parse(text: str) -> DataType:
        """The type that `text` names; ValueError when it names none."""
        reader = _TypeReader(text)
        parsed = reader.read()
        if reader.rest:
            raise ValueError(f"unexpected {reader.rest!r} after {parsed} in type {text!r}")
        return parsed


def decimal(precision: int, scale: int) -> DataType:
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise ValueError(f"decimal({precision},{scale}): precision is 1 to 38, scale 0 to precision")
    return DataType("decimal", precision=precision, scale=scale)


def list_of(item: DataType) -> DataType:
    return DataType("list", item=item)


def struct_of(fields: dict[str, DataType]) -> DataType:
    return DataType("struct", fields=tuple(fields.items()))


def _quote(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else '"' + name.replace('"', '""') + '"'


class _TypeReader:
    def __init__(self, text: str) -> None:
        self.rest = text.strip()

    def _take(self, pattern: str) -> re.Match[str] | None:
        match = re.match(r"\s*" + pattern + r"\s*", self.rest)
        if match:
            self.rest = self.rest[match.end() :]
        return match

    def _expect(self, pattern: str) -> re.Match[str]:
        match = self._take(pattern)
        if match is None:
            raise ValueError(
                f"a type can't go on with {self.rest!r}; known: {', '.join(SCALARS)}, decimal(p,s), list<…>"
            )
        return match

    def read(self) -> DataType:
        kind = self._expect(r"([a-z0-9]+)")[1]
        if kind in SCALARS:
            return DataType(kind)
        if kind == "decimal":
            size = self._expect(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")
            return decimal(int(size[1]), int(size[2]))
        if kind == "list":
            self._expect("<")
            item = self.read()
            self._expect(">")
            return list_of(item)
        if kind == "struct":
            return self._struct()
        raise ValueError(f"no type {kind!r}; known: {', '.join(SCALARS)}, decimal(p,s), list<…>, struct<…>")

    def _struct(self) -> DataType:
        self._expect("<")
        fields: list[tuple[str, DataType]] = []
        while not self._take(">"):
            if fields:
                self._expect(",")
            name = self._expect(r'(?:(\w+)|"((?:[^"]|"")*)")')
            self._expect(":")
            fields.append((name[1] or name[2].replace('""', '"'), self.read()))
        return DataType("struct", fields=tuple(fields))


@dataclass(frozen=True)
class Column:
    name: str
    type: DataType
    nullable: bool = True
    comment: str = ""
    source_type: str = ""
    """What the source itself calls the type, for people."""


@dataclass(frozen=True)
class Schema:
    columns: tuple[Column, ...] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def get(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


WIDENINGS: dict[str, tuple[str, ...]] = {
    "int8": ("int16", "int32", "int64", "float64"),
    "int16": ("int32", "int64", "float64"),
    "int32": ("int64", "float64"),
    "float32": ("float64",),
    "date": ("timestamp",),
}


def widens(old: DataType, new: DataType) -> bool:
    """Whether every value of `old` is a value of `new`."""
    if old.kind == new.kind == "decimal":
        return new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
    return new.kind in WIDENINGS.get(old.kind, ())


@dataclass(frozen=True)
class SchemaChange:
    """What must happen to a table before rows of a stream fit it."""

    added: tuple[Column, ...] = ()
    widened: tuple[Column, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.widened)


@dataclass(frozen=True)
class SchemaClash:
    """A column that can't be made to fit without risk, and why."""

    column: str
    reason: str


def compare(table: Schema, stream: Schema) -> tuple[SchemaChange, tuple[SchemaClash, ...]]:
    """What evolving `table` to take rows of `stream` needs, and what stands in the way.

    A column that the stream no longer has stays in the table and is filled with NULL. Where exactly one column
    of one type vanished while another of the same type appeared, that is a rename: it clashes.
    """
    added = tuple(column for column in stream if table.get(column.name) is None)
    gone = tuple(column for column in table if stream.get(column.name) is None)
    widened: list[Column] = []
    clashes: list[SchemaClash] = []
    for column in stream:
        old = table.get(column.name)
        if old is None or old.type == column.type or widens(column.type, old.type):
            continue
        if widens(old.type, column.type):
            widened.append(column)
        else:
            clashes.append(SchemaClash(column.name, f"was {old.type}, is now {column.type}"))
    for new in added:
        twins = [old for old in gone if old.type == new.type]
        if twins and len(added) == len(gone) == 1:
            clashes.append(SchemaClash(new.name, f"looks like {twins[0].name!r} renamed"))
    return SchemaChange(added, tuple(widened)), tuple(clashes)
