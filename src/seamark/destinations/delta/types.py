"""How the types of our model look in Delta's schema JSON, which is also Spark's, and back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from seamark.model.schema import Column, DataType, Schema, decimal, list_of, struct_of

if TYPE_CHECKING:
    from deltalake import Schema as DeltaSchema
    from pyspark.sql.types import StructType

_NAMES = {
    "boolean": "boolean",
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "float32": "float",
    "float64": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
}
_KINDS = {name: kind for kind, name in _NAMES.items()}


def schema_json(schema: Schema) -> dict[str, Any]:
    """Every column may be NULL, whatever the source says now: one that the source drops later is filled with NULL."""
    return {
        "type": "struct",
        "fields": [
            _field_json(column.name, column.type, {"comment": column.comment} if column.comment else {})
            for column in schema
        ],
    }


def delta_schema(schema: Schema) -> DeltaSchema:
    from deltalake import Schema as DeltaSchema

    return DeltaSchema.from_json(json.dumps(schema_json(schema)))


def spark_schema(schema: Schema) -> StructType:
    from pyspark.sql.types import StructType

    return StructType.fromJson(schema_json(schema))


def model_schema(text: str) -> Schema:
    """The columns that a table's schema JSON names. A type that no stream can have keeps Delta's own name."""
    return Schema(
        tuple(
            Column(
                field["name"], _model_type(field["type"]), field["nullable"], str(field["metadata"].get("comment", ""))
            )
            for field in json.loads(text)["fields"]
        )
    )


def same_columns(one: Schema, other: Schema) -> bool:
    """Whether names and types are the same, in the same order; comments don't matter."""
    return [(column.name, column.type) for column in one] == [(column.name, column.type) for column in other]


def _field_json(name: str, kind: DataType, metadata: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "type": _type_json(kind), "nullable": True, "metadata": metadata}


def _type_json(kind: DataType) -> str | dict[str, Any]:
    if kind.kind == "decimal":
        return str(kind)
    if kind.kind == "list":
        assert kind.item is not None
        return {"type": "array", "elementType": _type_json(kind.item), "containsNull": True}
    if kind.kind == "struct":
        return {"type": "struct", "fields": [_field_json(name, inner, {}) for name, inner in kind.fields]}
    return _NAMES[kind.kind]


def _model_type(kind: str | dict[str, Any]) -> DataType:
    if isinstance(kind, str):
        if size := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind):
            return decimal(int(size[1]), int(size[2]))
        return DataType(_KINDS.get(kind, kind))
    if kind["type"] == "array":
        return list_of(_model_type(kind["elementType"]))
    if kind["type"] == "struct":
        return struct_of({field["name"]: _model_type(field["type"]) for field in kind["fields"]})
    return DataType(kind["type"])
