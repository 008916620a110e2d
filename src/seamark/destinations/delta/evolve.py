"""Bringing a table and a stream's columns together: what fits, what a table takes on by itself, what needs a person.

A new column is a change of metadata. A wider type is a rewrite of the table: Delta's type widening would spare it, but
delta-rs can neither read a table with that feature nor add files to it, and dropping the feature is a rewrite too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from seamark.destinations.delta.log import Look, looked_at, receipt_properties
from seamark.destinations.delta.types import schema_json
from seamark.errors import SchemaConflict
from seamark.model.schema import Column, DataType, Schema, compare, widens

if TYPE_CHECKING:
    import pyarrow as pa


def fit_schema(table: str, old: Schema | None, stream: Schema) -> Schema:
    """The types that staged rows must have: the stream's, or the table's where those are wider. `old` is None when
    nothing of what the table holds stays. SchemaConflict when a person has to decide."""
    check_names(table, stream)
    if old is None:
        return stream
    _require_same_case(table, old, stream)
    _, clashes = compare(old, stream)
    if clashes:
        raise SchemaConflict(
            f"{table} can't take the stream's columns as they are now: "
            + "; ".join(f"{clash.column!r} {clash.reason}" for clash in clashes),
            "keep the old type with `cast:`, load everything again into new columns with --full-refresh, "
            "or give the stream another name, and so a new table",
        )
    return Schema(tuple(_as_wide(column, old.get(column.name)) for column in stream))


def check_names(table: str, schema: Schema) -> None:
    """SchemaConflict for column names that a Delta table can't have, or that Spark can't write."""
    if not len(schema):
        raise SchemaConflict(f"{table} would have no columns", "select at least one column")
    for names in _name_groups(schema):
        lowered = [name.lower() for name in names]
        for name in names:
            if not name or "`" in name:
                raise SchemaConflict(
                    f"{table}: a column of a Delta table can't be called {name!r}", "leave it out with `exclude:`"
                )
            if lowered.count(name.lower()) > 1:
                twins = sorted(twin for twin in names if twin.lower() == name.lower())
                raise SchemaConflict(
                    f"{table}: the columns {' and '.join(map(repr, twins))} are one to Delta, which ignores capitals",
                    "leave one of them out with `exclude:`",
                )


def evolve(seen: Look, stream: Schema, receipt: str) -> bool:
    """Let the table take rows of `stream`; True when it had to change, and must be looked at again."""
    fit_schema(seen.table, seen.facts.schema, stream)
    change, _ = compare(seen.facts.schema, stream)
    if change.widened:
        _rewrite(seen, change.widened, receipt)
    elif change.added:
        _add_columns(seen, change.added, receipt)
    return bool(change)


def enable_timestamps(seen: Look, schema: Schema, receipt: str) -> bool:
    """A table that gets its first timestamp without zone by being replaced needs the feature first. True when it had to
    change."""
    from deltalake import TableFeatures

    if not any(_has_timestamp(column.type) for column in schema):
        return False
    if "timestampNtz" in (seen.handle.protocol().writer_features or ()):
        return False
    with looked_at(seen):
        seen.handle.alter.add_feature(
            TableFeatures.TimestampWithoutTimezone,
            allow_protocol_versions_increase=True,
            commit_properties=receipt_properties(receipt),
        )
    return True


def _add_columns(seen: Look, columns: Iterable[Column], receipt: str) -> None:
    from deltalake import Schema as DeltaSchema

    fields = DeltaSchema.from_json(json.dumps(schema_json(Schema(tuple(columns))))).fields
    with looked_at(seen):
        seen.handle.alter.add_columns(fields, commit_properties=receipt_properties(receipt))


def _rewrite(seen: Look, widened: Iterable[Column], receipt: str) -> None:
    """Every row again, in wider columns, in one commit that fails when any file that was read is gone by then."""
    import pyarrow as pa
    from deltalake import write_deltalake

    wide = {column.name: column.type for column in widened}
    target = _arrow_schema(
        Schema(tuple(Column(c.name, wide.get(c.name, c.type), comment=c.comment) for c in seen.facts.schema))
    )
    with looked_at(seen):
        rows = pa.RecordBatchReader.from_stream(seen.handle.scan())
        write_deltalake(
            seen.handle,
            pa.RecordBatchReader.from_batches(target, _cast(rows, target)),
            mode="overwrite",
            schema_mode="overwrite",
            partition_by=list(seen.facts.partition_by) or None,
            commit_properties=receipt_properties(receipt),
        )


def _cast(rows: Iterable[pa.RecordBatch], target: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in rows:
        columns = [batch.column(field.name).cast(field.type) for field in target]
        yield pa.RecordBatch.from_arrays(columns, schema=target)


def _arrow_schema(schema: Schema) -> pa.Schema:
    import pyarrow as pa

    from seamark.engine.arrow import arrow_type

    return pa.schema(
        [pa.field(c.name, arrow_type(c.type), metadata={"comment": c.comment} if c.comment else None) for c in schema]
    )


def _as_wide(column: Column, old: Column | None) -> Column:
    if old is None or not widens(column.type, old.type):
        return column
    return Column(column.name, old.type, column.nullable, column.comment, column.source_type)


def _require_same_case(table: str, old: Schema, stream: Schema) -> None:
    names = {column.name.lower(): column.name for column in old}
    for column in stream:
        known = names.get(column.name.lower(), column.name)
        if known != column.name:
            raise SchemaConflict(
                f"{table} has the column {known!r}, and the stream now calls it {column.name!r}",
                "call it by its old name in the source, or load everything again with --full-refresh",
            )


def _name_groups(schema: Schema) -> Iterator[list[str]]:
    """The names that must differ from each other: the columns, and the fields of each struct."""
    yield list(schema.names)
    for column in schema:
        yield from _struct_names(column.type)


def _struct_names(kind: DataType) -> Iterator[list[str]]:
    if kind.item is not None:
        yield from _struct_names(kind.item)
    if kind.fields:
        yield [name for name, _ in kind.fields]
        for _, inner in kind.fields:
            yield from _struct_names(inner)


def _has_timestamp(kind: DataType) -> bool:
    inner = [*(field for _, field in kind.fields), *([kind.item] if kind.item else [])]
    return kind.kind == "timestamp" or any(_has_timestamp(part) for part in inner)
