from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.model.schema import SCALARS, Column, DataType, Schema, compare, decimal, list_of, struct_of, widens
from tests.model.examples import data_types, schemas, texts

few_names = st.sampled_from(["a", "b", "c"])
few_types = st.sampled_from(
    [*map(DataType, SCALARS), decimal(10, 2), decimal(12, 2), decimal(12, 4), list_of(DataType("int8"))]
)
small_schemas = schemas(few_names, few_types)


def schema_of(**types: str) -> Schema:
    return Schema(tuple(Column(name, DataType.parse(kind)) for name, kind in types.items()))


@given(data_types)
def test_a_type_and_its_text_are_inverses(kind: DataType) -> None:
    assert DataType.parse(str(kind)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("int64", DataType("int64")),
        (" decimal( 12 , 2 ) ", decimal(12, 2)),
        ("list<list<string>>", list_of(list_of(DataType("string")))),
        ("struct<>", struct_of({})),
        (
            'struct<a: int64, "two words": list<date>, "q""": binary, "": boolean>',
            struct_of(
                {
                    "a": DataType("int64"),
                    "two words": list_of(DataType("date")),
                    'q"': DataType("binary"),
                    "": DataType("boolean"),
                }
            ),
        ),
    ],
)
def test_a_type_is_read(text: str, kind: DataType) -> None:
    assert DataType.parse(text) == kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "known: boolean"),
        ("varchar", "no type 'varchar'; known: boolean"),
        ("decimal", "can't go on with ''"),
        ("decimal(0,0)", "precision is 1 to 38"),
        ("decimal(39,0)", "precision is 1 to 38"),
        ("decimal(5,6)", "scale 0 to precision"),
        ("list<int64", "can't go on with ''"),
        ("int64>", "unexpected '>' after int64"),
        ("struct<a int64>", "can't go on with 'int64>'"),
        ("struct<a: int64,>", "can't go on with '>'"),
    ],
)
def test_text_that_is_no_type_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        DataType.parse(text)


def test_columns_are_found_by_name() -> None:
    schema = schema_of(id="int64", name="string")
    assert schema.names == ("id", "name")
    assert len(schema) == 2
    assert schema.get("name") == Column("name", DataType("string"))
    assert schema.get("NAME") is None


# Widening

# Every whole number, or every number of an unscaled type, lies in these ranges.
BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "float32": 24, "float64": 53}


@pytest.mark.parametrize("old", BITS)
@pytest.mark.parametrize("new", BITS)
def test_widening_keeps_every_number(old: str, new: str) -> None:
    if widens(DataType(old), DataType(new)):
        assert BITS[old] <= BITS[new]
        assert old.startswith("int") or new.startswith("float")


@given(few_types, few_types, few_types)
def test_widening_is_transitive_and_never_both_ways(first: DataType, second: DataType, third: DataType) -> None:
    if widens(first, second) and widens(second, third):
        assert widens(first, third)
    if first != second:
        assert not (widens(first, second) and widens(second, first))


@pytest.mark.parametrize(
    ("old", "new", "fits"),
    [
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(12,1)", False),
        ("int64", "float64", False),
        ("float64", "float32", False),
        ("string", "binary", False),
        ("timestamp", "timestamptz", False),
        ("date", "timestamp", True),
        ("list<int8>", "list<int16>", False),
    ],
)
def test_widening_by_example(old: str, new: str, fits: bool) -> None:
    assert widens(DataType.parse(old), DataType.parse(new)) is fits


# What a table needs to take a stream's rows


@given(schemas(texts))
def test_a_schema_needs_nothing_to_be_itself(schema: Schema) -> None:
    change, clashes = compare(schema, schema)
    assert not change
    assert clashes == ()


@given(small_schemas, small_schemas)
def test_once_changed_nothing_is_left_to_change(table: Schema, stream: Schema) -> None:
    change, clashes = compare(table, stream)
    if clashes:
        return
    widened = {column.name: column for column in change.widened}
    changed = Schema(tuple(widened.get(column.name, column) for column in table) + change.added)
    again, left = compare(changed, stream)
    assert not again
    assert left == ()


@given(small_schemas, small_schemas)
def test_every_column_finds_its_place_or_clashes(table: Schema, stream: Schema) -> None:
    change, clashes = compare(table, stream)
    known = {column.name for column in change.added + change.widened} | {clash.column for clash in clashes}
    for column in stream:
        old = table.get(column.name)
        fits = old is not None and (old.type == column.type or widens(column.type, old.type))
        assert fits != (column.name in known)
    before = {column.name: column.type for column in table}
    assert all(widens(before[column.name], column.type) for column in change.widened)


def test_new_columns_are_added_and_wider_ones_widened() -> None:
    change, clashes = compare(schema_of(id="int32", note="string"), schema_of(id="int64", note="string", extra="date"))
    assert [column.name for column in change.added] == ["extra"]
    assert [(column.name, str(column.type)) for column in change.widened] == [("id", "int64")]
    assert clashes == ()


def test_a_narrower_stream_fits_as_it_is() -> None:
    assert compare(schema_of(id="int64"), schema_of(id="int16")) == compare(
        schema_of(id="int64"), schema_of(id="int64")
    )


def test_another_type_clashes_and_names_both() -> None:
    _, (clash,) = compare(schema_of(id="int64"), schema_of(id="string"))
    assert (clash.column, clash.reason) == ("id", "was int64, is now string")


def test_a_column_that_went_is_kept() -> None:
    change, clashes = compare(schema_of(id="int64", gone="string"), schema_of(id="int64"))
    assert not change
    assert clashes == ()


def test_one_column_gone_and_one_of_its_type_new_looks_like_a_rename() -> None:
    _, (clash,) = compare(schema_of(id="int64", name="string"), schema_of(id="int64", title="string"))
    assert (clash.column, clash.reason) == ("title", "looks like 'name' renamed")


def test_one_column_gone_and_one_of_another_type_new_is_no_rename() -> None:
    change, clashes = compare(schema_of(id="int64", name="string"), schema_of(id="int64", born="date"))
    assert [column.name for column in change.added] == ["born"]
    assert clashes == ()
