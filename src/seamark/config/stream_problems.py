"""What is wrong with streams, each mistake at its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from seamark.config.names import folded, stream_name_problem
from seamark.config.problems import Problem, suggestion
from seamark.config.streams import StreamSpec, key_of, mode_of
from seamark.config.tree import MapNode
from seamark.model.stream import NullPolicy, TableInfo


def spec_problems(spec: StreamSpec, found: TableInfo | None) -> Iterator[Problem]:
    """Everything about one stream that can't work, each at its line."""
    unfit = stream_name_problem(spec.name)
    if unfit:
        hint = "give it another `name`" if not spec.discovered else "give this table an item of its own, with a `name`"
        yield Problem(spec.place_of(*_named_by(spec)), f"the stream name {spec.name!r} {unfit}", hint)
    yield from _mode_problems(spec, mode_of(spec, found), key_of(spec, found))
    yield from _column_problems(spec, key_of(spec, found))
    if spec.discovered and found is not None:
        yield from _missing_columns(spec, found)


def _mode_problems(spec: StreamSpec, mode: str, key: tuple[str, ...]) -> Iterator[Problem]:
    cursor = spec.rules.cursor
    if mode == "cdc":
        yield _problem(spec, "cdc is not available for this source yet", "use merge, append or replace", "mode")
    if mode == "merge" and not key:
        hint = "name the columns that identify a row with `key`, or use append or replace"
        yield _problem(spec, "merge needs a key", hint, "mode")
    if mode == "append" and cursor is None:
        hint = "name a `cursor`, or use replace: without one each run would append every row again"
        yield _problem(spec, "append needs a cursor", hint, "mode")
    if mode == "append" and cursor is not None and cursor.lookback:
        hint = "give the stream a `key` and merge, or drop the lookback: rows read again would be in the table twice"
        yield _problem(spec, "a lookback can't go with append", hint, "cursor", "lookback")
    if mode == "append" and cursor is not None and cursor.nulls is NullPolicy.INCLUDE:
        hint = "give the stream a `key` and merge, or use `nulls: exclude`: these rows are read with every run"
        yield _problem(spec, "`nulls: include` can't go with append", hint, "cursor", "nulls")


def _column_problems(spec: StreamSpec, key: tuple[str, ...]) -> Iterator[Problem]:
    rules = spec.rules
    if rules.cursor is not None and rules.cursor.field in rules.exclude:
        yield _problem(
            spec, f"the cursor {rules.cursor.field!r} is also excluded", "take it out of `exclude`", "exclude"
        )
    for what, columns in (("key", key), ("partition_by", rules.partition_by), ("columns", spec.columns)):
        for column in sorted(set(columns) & set(rules.exclude)):
            yield _problem(
                spec, f"the column {column!r} is in `{what}` and in `exclude`", "take it out of one", "exclude"
            )
    for what, columns in (("key", rules.key), ("partition_by", rules.partition_by), ("columns", spec.columns)):
        for column, times in Counter(columns).items():
            if times > 1:
                yield _problem(spec, f"{what}: the column {column!r} is named {times} times", "name it once", what)
    if spec.columns:
        moved = {*spec.columns, *key, *([rules.cursor.field] if rules.cursor else [])}
        for what, named in (("partition_by", rules.partition_by), ("cast", tuple(rules.cast))):
            for column in named:
                if column not in moved and column not in rules.exclude:
                    yield _problem(spec, f"{what}: the column {column!r} is not in `columns`", "add it there", what)


def _missing_columns(spec: StreamSpec, found: TableInfo) -> Iterator[Problem]:
    """What a pattern's defaults name has to be in each table; only `exclude` and `cast` are taken where they fit."""
    rules = spec.rules
    names = found.schema.names
    wanted = [("cursor", rules.cursor.field)] if rules.cursor else []
    wanted += [("key", column) for column in rules.key] + [("partition_by", column) for column in rules.partition_by]
    for what, column in wanted:
        if column not in names:
            hint = f"`exclude` the table and give it an item of its own; {suggestion(column, names, 'it has')}"
            yield _problem(spec, f"the table {found.name} has no column {column!r} for `{what}`", hint, what)


def name_clashes(specs: Sequence[StreamSpec]) -> Iterator[Problem]:
    """Streams whose tables would be one folder, on a file system that minds capitals or on one that does not."""
    first: dict[str, StreamSpec] = {}
    for spec in specs:
        other = first.setdefault(folded(spec.name), spec)
        if other is spec:
            continue
        line = other.place_of(*_named_by(other)).line
        same = (
            f"a second stream {spec.name!r}"
            if other.name == spec.name
            else f"the streams {other.name!r} and {spec.name!r}"
        )
        hint = (
            "names must differ in more than capitals" if other.name != spec.name else "give one of them another `name`"
        )
        tables = f" (tables {other.table} and {spec.table})" if other.table != spec.table else ""
        yield Problem(
            spec.place_of(*_named_by(spec)), f"{same} would share one table{tables}; the first is at line {line}", hint
        )


def _named_by(spec: StreamSpec) -> tuple[str, ...]:
    """The key that the stream's name comes from."""
    if spec.discovered or not isinstance(spec.node, MapNode):
        return ()
    return ("name",) if "name" in spec.node.entries else ("table",)


def _problem(spec: StreamSpec, message: str, hint: str, *path: str) -> Problem:
    return Problem(spec.place_of(*path), f"stream {spec.name!r}: {message}", hint)
