"""Which of a table's columns a stream yields, and what to say when a name is not there."""

from __future__ import annotations

from collections.abc import Sequence

from seamark.errors import SourceError, TypeMappingError
from seamark.model.nearest import or_nearest
from seamark.model.schema import DataType
from seamark.model.stream import Stream


def selected(stream: Stream, names: Sequence[str]) -> tuple[str, ...]:
    """The columns to read, in the table's order; SourceError for one that the table lacks or that can't be left out."""
    needed = list(stream.key) + ([stream.cursor.field] if stream.cursor else [])
    casts = [name for name, _ in stream.cast]
    for name in [*stream.columns, *stream.exclude, *needed, *casts]:
        if name not in names:
            raise SourceError(
                f"stream {stream.name!r}: table {stream.table} has no column {name!r}{or_nearest(name, names)}",
                f"its columns are {', '.join(names)}",
            )
    if lost := [name for name in needed if name in stream.exclude]:
        raise SourceError(
            f"stream {stream.name!r} excludes {lost[0]!r}, which it needs as its key or cursor",
            f"take {lost[0]!r} out of `exclude:`",
        )
    wanted = {*stream.columns, *needed} if stream.columns else set(names)
    chosen = tuple(name for name in names if name in wanted and name not in stream.exclude)
    if not chosen:
        raise SourceError(f"stream {stream.name!r} selects no column of {stream.table}", "leave some out of `exclude:`")
    return chosen


def unfaithful(table: str, column: str, source_type: str, because: str, suggestion: str = "string") -> TypeMappingError:
    """The error for a column whose type has no faithful place here."""
    return TypeMappingError(
        f"column {column!r} of {table} is {source_type or 'of no declared type'}: {because}",
        f"choose what becomes of it with `cast: {{{column}: {suggestion}}}`, or leave it out with `exclude: "
        f"[{column}]`",
    )


def impossible_cast(table: str, column: str, source_type: str, target: DataType) -> TypeMappingError:
    """The error for a `cast:` that could not keep its values."""
    return TypeMappingError(
        f"column {column!r} of {table} is {source_type or 'of no declared type'}, which can't be cast to {target} "
        "faithfully",
        f"`cast: {{{column}: string}}` always works: it keeps the value's text",
    )
