"""How the types of our model look in Arrow, and back. Imports pyarrow only when called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seamark.errors import TypeMappingError
from seamark.model.schema import Column, DataType, Schema, decimal, list_of, struct_of

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(kind: DataType) -> pa.DataType:
    import pyarrow as pa

    if kind.kind == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    if kind.kind == "list":
        assert kind.item is not None
        return pa.list_(pa.field("element", arrow_type(kind.item)))
    if kind.kind == "struct":
        return pa.struct([pa.field(name, arrow_type(inner)) for name, inner in kind.fields])
    return {
        "boolean": pa.bool_(),
        "int8": pa.int8(),
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "float32": pa.float32(),
        "float64": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", tz="UTC"),
    }[kind.kind]


def arrow_schema(schema: Schema) -> pa.Schema:
    """The schema that record batches of a stream have. Every field may be null: `nullable` describes the source, and a
    file must stay readable when the source changes its mind."""
    import pyarrow as pa

    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in schema])


def from_arrow(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema; TypeMappingError, naming the column, for a type that has no faithful place."""
    return Schema(tuple(Column(field.name, _model_type(field.type, field.name), field.nullable) for field in schema))


def _model_type(kind: pa.DataType, column: str) -> DataType:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _model_type(kind.value_type, column)
    if types.is_decimal(kind) and kind.precision <= 38 and 0 <= kind.scale <= kind.precision:
        return decimal(kind.precision, kind.scale)
    if types.is_timestamp(kind) and kind.unit != "ns":
        return DataType("timestamptz" if kind.tz else "timestamp")
    if types.is_struct(kind):
        return struct_of({field.name: _model_type(field.type, f"{column}.{field.name}") for field in kind})
    if any(is_list(kind) for is_list in (types.is_list, types.is_large_list, types.is_fixed_size_list)):
        return list_of(_model_type(kind.value_type, column))
    if scalar := _scalar(kind):
        return DataType(scalar)
    raise TypeMappingError(
        f"column {column!r} has the Arrow type {kind}, which has no faithful place in a table",
        "choose a type with `cast:`, for example string",
    )


def _scalar(kind: pa.DataType) -> str:
    import pyarrow.types as types

    known = {
        "boolean": (types.is_boolean,),
        "int8": (types.is_int8,),
        "int16": (types.is_int16, types.is_uint8),
        "int32": (types.is_int32, types.is_uint16),
        "int64": (types.is_int64, types.is_uint32),
        "float32": (types.is_float32, types.is_float16),
        "float64": (types.is_float64,),
        "string": (types.is_string, types.is_large_string, types.is_string_view),
        "binary": (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view),
        "date": (types.is_date,),
    }
    return next((name for name, tests in known.items() if any(test(kind) for test in tests)), "")
