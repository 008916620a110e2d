"""From what a file says of streams to the streams themselves: defaults, and what can't work."""

from __future__ import annotations

from collections.abc import Sequence

from seamark.config.problems import Problem, raise_problems
from seamark.config.stream_options import CursorOptions
from seamark.config.stream_problems import name_clashes, spec_problems
from seamark.config.streams import StreamSpec, key_of, mode_of
from seamark.config.tables import Discover, Item, TableFinder
from seamark.model.schema import DataType
from seamark.model.stream import Cursor, Mode, Stream, TableInfo


def resolve_streams(items: Sequence[Item], discover: Discover) -> tuple[Stream, ...]:
    """The streams of a pipeline, in the file's order; `discover` is asked only for patterns and bare table names.

    ConfigError with every mistake, in order of line.
    """
    problems: list[Problem] = []
    finder = TableFinder(items, discover, problems)
    found: list[tuple[StreamSpec, TableInfo | None]] = []
    for item in items:
        found += [(item, None)] if isinstance(item, StreamSpec) else finder.find(item)
    problems += name_clashes([spec for spec, _ in found])
    for spec, table in found:
        problems += spec_problems(spec, table)
    raise_problems(problems)
    return tuple(_stream(spec, table) for spec, table in found)


def resolve(spec: StreamSpec, found: TableInfo | None = None) -> Stream:
    """The stream that `spec` describes; `found` is its table where a pattern found it. ConfigError if it can't work."""
    raise_problems(list(spec_problems(spec, found)))
    return _stream(spec, found)


def known_problems(items: Sequence[Item]) -> list[Problem]:
    """What is wrong with the streams that can be told without asking the source."""
    named = [item for item in items if isinstance(item, StreamSpec)]
    return [*name_clashes(named), *(problem for spec in named for problem in spec_problems(spec, None))]


def _stream(spec: StreamSpec, found: TableInfo | None) -> Stream:
    rules = spec.rules
    known = set(found.schema.names) if found is not None and spec.discovered else None
    return Stream(
        name=spec.name,
        table=spec.table,
        mode=Mode(mode_of(spec, found)),
        key=key_of(spec, found),
        cursor=_cursor(rules.cursor) if rules.cursor else None,
        columns=spec.columns,
        exclude=tuple(column for column in rules.exclude if known is None or column in known),
        where=rules.where,
        cast=tuple((name, DataType.parse(text)) for name, text in rules.cast.items() if known is None or name in known),
        partition_by=rules.partition_by,
    )


def _cursor(options: CursorOptions) -> Cursor:
    return Cursor(options.field, options.lookback, options.nulls, options.sorted, options.settle)
