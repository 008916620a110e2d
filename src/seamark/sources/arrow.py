"""From what a driver yields to exactly what a stream declares. Loses nothing: a value that does not fit is an error
that names the column, the value and the choice. Imports pyarrow only when called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seamark.errors import SourceError, TypeMappingError

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY = 86_400_000_000
_TEMPORAL_BOUNDS = {"date32": (_FIRST_DAY, _LAST_DAY), "timestamp": (_FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1)}


@dataclass(frozen=True)
class Place:
    """Where values come from, for errors: the table as people name it, and the columns that name a row."""

    table: str
    key: tuple[str, ...] = ()


def conform(batch: pa.RecordBatch, schema: pa.Schema, place: Place) -> pa.RecordBatch:
    """`batch` as `schema` declares it; columns beyond those of the schema are dropped."""
    import pyarrow as pa

    columns = [_conformed(batch.column(index), field, place, batch) for index, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def in_row(batch: pa.RecordBatch, row: int, place: Place) -> str:
    """` in the row with id = 7`, or "" when the key is not among what was read."""
    names = batch.schema.names
    if not place.key or not set(place.key) <= set(names):
        return ""
    parts = [f"{name} = {_shown(batch.column(names.index(name)), row)}" for name in place.key]
    return " in the row with " + ", ".join(parts)


def misfit(place: Place, field: pa.Field, value: str, where: str, hint: str = "") -> TypeMappingError:
    return TypeMappingError(
        f"column {field.name!r} of {place.table} holds {value}{where}, which has no place in {_ours(field.type)}",
        hint or f"keep its text with `cast: {{{field.name}: string}}`, correct the row, or leave it out with `where:`",
    )


def _conformed(array: pa.Array, field: pa.Field, place: Place, batch: pa.RecordBatch) -> pa.Array:
    import pyarrow as pa

    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_binary(array.type) and not pa.types.is_binary(field.type):
        array = _decoded(array, field, place, batch)
    if array.type != field.type:
        array = _cast(array, field, place, batch)
    _require_years(array, field, place, batch)
    return array


def _decoded(array: pa.Array, field: pa.Field, place: Place, batch: pa.RecordBatch) -> pa.Array:
    """Bytes that the driver hands out for text; they must be UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(array, pa.string())
    except pa.ArrowInvalid:
        row, _ = _first_misfit(array, pa.string())
        raise TypeMappingError(
            f"column {field.name!r} of {place.table} holds bytes that are not UTF-8 text{in_row(batch, row, place)}",
            f"read them as they are with `cast: {{{field.name}: binary}}`, or correct them in the source",
        ) from None


def _cast(array: pa.Array, field: pa.Field, place: Place, batch: pa.RecordBatch) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _castable(array.type, field.type):
        raise SourceError(
            f"column {field.name!r} of {place.table} arrives as {array.type}, expected {field.type}",
            "the table was changed while it was read: run again",
        )
    prepared = array
    if pa.types.is_string(array.type) and pa.types.is_integer(field.type):
        prepared = pc.replace_substring_regex(array, r"\.0+$", "")
    try:
        return pc.cast(prepared, field.type, safe=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row, value = _first_misfit(array, field.type)
        raise misfit(place, field, value, in_row(batch, row, place), _hint(field, array.type)) from None


def _castable(arrived: pa.DataType, declared: pa.DataType) -> bool:
    """Whether the cast is one that keeps values or fails."""
    import pyarrow as pa

    types = pa.types
    if types.is_list(arrived) and types.is_list(declared):
        inner = arrived.value_type
        inner = inner.storage_type if isinstance(inner, pa.BaseExtensionType) else inner
        return inner == declared.value_type or _castable(inner, declared.value_type)
    if types.is_string(arrived):
        return bool(types.is_decimal(declared) or types.is_integer(declared) or types.is_temporal(declared))
    if types.is_integer(arrived):
        return bool(types.is_integer(declared) or types.is_boolean(declared))
    return False


def _hint(field: pa.Field, arrived: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_decimal(field.type) and pa.types.is_string(arrived):
        return (
            f"keep its text with `cast: {{{field.name}: string}}`, choose more digits with "
            f'`cast: {{{field.name}: "decimal(38,{field.type.scale})"}}`, or leave the row out with `where:`'
        )
    return ""


def _first_misfit(array: pa.Array, declared: pa.DataType) -> tuple[int, str]:
    """(row, value) of the first value that the cast refuses; halving finds it without casting each by itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(
        array.type
    ):  # a cast of a slice of lists casts all that the lists before and after it hold, too
        element, value = _first_misfit(_flat(array), declared.value_type)
        return pc.list_parent_indices(array)[element].as_py(), value
    start, length = 0, len(array)
    while length > 1:
        half = length // 2
        try:
            pc.cast(array.slice(start, half), declared, safe=True)
            start, length = start + half, length - half
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            length = half
    return start, _shown(array, start)


def _flat(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    flat = array.flatten()
    return flat.storage if isinstance(flat.type, pa.BaseExtensionType) else flat


def _require_years(array: pa.Array, field: pa.Field, place: Place, batch: pa.RecordBatch) -> None:
    """Years 1 to 9999: drivers turn infinity, and what lies outside, into numbers that look like other moments."""
    import pyarrow as pa
    import pyarrow.compute as pc

    flat, rows = array, None
    if pa.types.is_list(array.type):
        flat, rows = array.flatten(), pc.list_parent_indices(array)
    bounds = _TEMPORAL_BOUNDS.get("timestamp" if pa.types.is_timestamp(flat.type) else str(flat.type)[:6])
    if bounds is None or not len(flat):
        return
    numbers = flat.view(pa.int32() if pa.types.is_date32(flat.type) else pa.int64())
    found = pc.min_max(numbers).as_py()
    if found["min"] is None or (found["min"] >= bounds[0] and found["max"] <= bounds[1]):
        return
    outside = pc.or_(pc.less(numbers, bounds[0]), pc.greater(numbers, bounds[1]))
    at = pc.index(outside, True).as_py()
    row = at if rows is None else rows[at].as_py()
    raise misfit(place, field, _moment(numbers[at].as_py(), flat.type), in_row(batch, row, place))


_BEFORE_ALL = -3_000_000
"""Days from 1970 back beyond 4713 BC, the first that databases count."""
_INFINITE = {
    "date32": (
        -2_147_472_692,
        -2_147_472_691,
    ),  # what the driver makes of ±infinity: it adds the epochs' distance and wraps
    "timestamp": (-9_222_425_352_054_775_809, -9_222_425_352_054_775_808),
}


def _moment(number: int, kind: pa.DataType) -> str:
    """The value in words; drivers count from 1970, Postgres from 2000, and infinity is the end of its numbers."""
    import pyarrow as pa

    name, day = ("date32", 1) if pa.types.is_date32(kind) else ("timestamp", _DAY)
    if number in _INFINITE[name]:
        return "infinity"
    if number > _LAST_DAY * day or number < _BEFORE_ALL * day:  # a number that wrapped was too great, too
        return "a moment after the year 9999"
    return f"a moment around the year {1 - round(1970 + number / 365.2425 / day)} BC"


def _shown(array: pa.Array, row: int) -> str:
    try:
        text = repr(array[row].as_py())
    except (ValueError, OverflowError):
        text = "a value that can't be shown"
    return text if len(text) <= 80 else text[:77] + "…"


def _ours(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        return f"list<{_ours(kind.value_type)}>"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    return "date" if pa.types.is_date(kind) else str(kind)
