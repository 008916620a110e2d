"""What an item of `streams` may say: the models that files are checked against."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from seamark.config.duration import PATTERN, parse_duration
from seamark.config.options import Options
from seamark.model.schema import DataType
from seamark.model.stream import NullPolicy

ModeName = Literal["merge", "append", "replace", "cdc"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_cursor(value: Any) -> Any:
    return {"field": value} if isinstance(value, str) else value


def _as_duration(value: Any) -> Any:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(f"{value!r} has no unit; expected a duration such as {value}s")
    return value


def _as_lookback(value: Any) -> Any:
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdecimal() else parse_duration(value)
    if not isinstance(value, (int, timedelta)) or isinstance(value, bool):
        raise ValueError("expected a duration such as 10m, or a whole number for a cursor that counts")
    if isinstance(value, int) and value < 0:
        raise ValueError(f"{value} is negative; a lookback says how far to go back")
    return value


def _type_text(value: str) -> str:
    DataType.parse(value)
    return value


ColumnName = Annotated[str, Field(min_length=1)]
ColumnNames = Annotated[
    tuple[ColumnName, ...],
    BeforeValidator(_as_list, json_schema_input_type=ColumnName | list[ColumnName]),
]
TableNames = Annotated[
    tuple[ColumnName, ...],
    Field(min_length=1),
    BeforeValidator(_as_list, json_schema_input_type=ColumnName | Annotated[list[ColumnName], Field(min_length=1)]),
]
DurationInput = Annotated[str, Field(pattern=f"^{PATTERN}$")]
Duration = Annotated[
    timedelta,
    BeforeValidator(_as_duration, json_schema_input_type=DurationInput),
]
Lookback = Annotated[
    timedelta | int,
    BeforeValidator(_as_lookback, json_schema_input_type=DurationInput | Annotated[int, Field(ge=0)]),
]


class CursorOptions(Options):
    """The rule that orders a stream."""

    field: ColumnName = Field(description="The column whose values order the rows.")
    lookback: Lookback | None = Field(
        None,
        description="How far below the bookmark each run reads again, for rows that arrive late: a duration (`10m`), "
        "or a number for a cursor that counts. Goes with merge, where rows read again replace themselves.",
    )
    nulls: NullPolicy = Field(
        NullPolicy.FAIL,
        description="Rows whose cursor is NULL: stop (`fail`), move them with every run (`include`), "
        "or leave them out (`exclude`).",
    )
    sorted: bool = Field(
        False, description="Whether the source yields rows in the cursor's order, so that a window can be resumed."
    )
    settle: Duration = Field(
        timedelta(seconds=3),
        description="How long planning waits for the safe mark to pass the newest row.",
    )


class StreamRules(Options):
    """What can be said of a stream, and of all streams that a pattern finds."""

    key: ColumnNames = Field((), description="The column or columns that name a row; needed to merge.")
    cursor: (
        Annotated[CursorOptions, BeforeValidator(_as_cursor, json_schema_input_type=ColumnName | CursorOptions)] | None
    ) = Field(
        None,
        description="What orders the rows, so that a run reads only what is new: a column, or a mapping with `field`.",
    )
    mode: ModeName | None = Field(
        None,
        description="What a run does to the table: `merge` by key, `append`, or `replace`. By default merge with a "
        "key, append with only a cursor, replace with neither; without a cursor a pattern's tables are replaced.",
    )
    exclude: ColumnNames = Field((), description="Columns to leave out.")
    where: str = Field("", description="A condition in the source's own language; only rows that meet it are moved.")
    cast: dict[ColumnName, Annotated[str, AfterValidator(_type_text)]] = Field(
        default_factory=dict,
        description='Types to give columns that have no faithful one: `{amount: "decimal(38,10)"}`.',
    )
    partition_by: ColumnNames = Field((), description="Columns that the destination's table is partitioned by.")


class StreamNames(Options):
    """What a stream is called, here and in its source."""

    name: str | None = Field(
        None,
        min_length=1,
        description="The stream's name and its table's in the destination; the last part of `table` by default.",
    )
    table: str | None = Field(None, min_length=1, description="The source's table; the same as `name` by default.")


class StreamOptions(StreamRules, StreamNames):
    """One stream."""

    columns: ColumnNames = Field((), description="Only these columns, besides key and cursor; all when not given.")


class PatternOptions(Options):
    """The tables that a pattern finds."""

    include: TableNames = Field(description="Patterns of table names; `*` stands for any text, `?` for one character.")
    exclude: ColumnNames = Field((), description="Tables, or patterns of them, to leave out.")
    defaults: StreamRules = Field(default_factory=StreamRules, description="What goes for each table that was found.")
