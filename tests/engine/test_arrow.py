"""Our types in Arrow and back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from seamark.engine.arrow import arrow_schema, arrow_type, from_arrow
from seamark.errors import TypeMappingError
from seamark.model.schema import SCALARS, Column, DataType, Schema


@pytest.mark.parametrize(
    "text", [*SCALARS, "decimal(38,10)", "list<list<int8>>", 'struct<a: list<timestamptz>, "b c": date>']
)
def test_there_and_back(text: str) -> None:
    schema = Schema((Column("x", DataType.parse(text)),))
    assert from_arrow(arrow_schema(schema)) == schema


def test_instants_are_microseconds_in_utc() -> None:
    assert arrow_type(DataType("timestamp")) == pa.timestamp("us")
    assert arrow_type(DataType("timestamptz")) == pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (pa.uint32(), "int64"),
        (pa.large_string(), "string"),
        (pa.string_view(), "string"),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.timestamp("s", tz="Asia/Tokyo"), "timestamptz"),
        (pa.large_list(pa.int16()), "list<int16>"),
        (pa.decimal256(20, 2), "decimal(20,2)"),
    ],
)
def test_relatives_have_a_place(kind: pa.DataType, text: str) -> None:
    assert str(from_arrow(pa.schema({"x": kind})).columns[0].type) == text


@pytest.mark.parametrize(
    "kind",
    [
        pa.uint64(),
        pa.timestamp("ns"),
        pa.time64("us"),
        pa.null(),
        pa.decimal256(76, 2),
        pa.map_(pa.string(), pa.string()),
    ],
)
def test_what_has_no_place_is_named(kind: pa.DataType) -> None:
    with pytest.raises(TypeMappingError, match=r"column 'x\.y' has the Arrow type") as caught:
        from_arrow(pa.schema({"x": pa.struct({"y": kind})}))
    assert "cast:" in caught.value.hint
