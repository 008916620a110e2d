"""The items of `streams` as a file gives them; `config.resolve` makes streams of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from seamark.config.mistakes import Path
from seamark.config.names import is_pattern, last_part
from seamark.config.problems import Problem
from seamark.config.stream_options import PatternOptions, StreamOptions, StreamRules
from seamark.config.tree import ListNode, MapNode, Node, Place, ScalarNode, place_of
from seamark.config.validate import check
from seamark.model.stream import TableInfo


@dataclass(frozen=True)
class StreamSpec:
    """One stream as the file gives it, before defaults. `node` knows the lines."""

    name: str
    table: str
    rules: StreamRules
    node: Node = field(repr=False, compare=False)
    columns: tuple[str, ...] = ()
    discovered: bool = False
    """Whether a pattern found it: then its key comes from the table, and without a cursor it is replaced."""

    def place_of(self, *path: str) -> Place:
        """Where the file says this of the stream: for a pattern's, in its `defaults`."""
        return place_of(self.node, *(("defaults", *path) if self.discovered and path else path))


@dataclass(frozen=True)
class TablePattern:
    """Tables to be found: `include` without a wildcard names exactly one."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    rules: StreamRules
    node: Node = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The pattern as it is written, for people."""
        return ", ".join(self.include)

    @property
    def place(self) -> Place:
        return place_of(self.node, "include")


def read_streams(node: Node, problems: list[Problem]) -> tuple[StreamSpec | TablePattern, ...]:
    """The items under `streams`, references already expanded; mistakes go to `problems`."""
    if isinstance(node, ListNode):
        if not node.items:
            problems.append(
                Problem(node.place, "streams: the list is empty", 'name streams, or write "*" for all tables')
            )
        items = [_item(item, problems, ("streams", index)) for index, item in enumerate(node.items)]
    else:
        items = [_item(node, problems, ("streams",))]
    return tuple(item for item in items if item is not None)


def _item(node: Node, problems: list[Problem], path: Path) -> StreamSpec | TablePattern | None:
    if isinstance(node, ScalarNode) and isinstance(node.value, str) and node.value.strip():
        return TablePattern((node.value,), (), StreamRules(), node)
    if not isinstance(node, MapNode):
        problems.append(
            Problem(
                node.place, "streams: expected a mapping, a table's name or a pattern", 'such as "*" or public.orders'
            )
        )
        return None
    if "include" in node.entries:
        found = check(PatternOptions, node, problems, path=path)
        return TablePattern(found.include, found.exclude, found.defaults, node) if found is not None else None
    options = check(StreamOptions, node, problems, path=path)
    return _spec(options, node, problems) if options is not None else None


def _spec(options: StreamOptions, node: MapNode, problems: list[Problem]) -> StreamSpec | None:
    table = options.table or options.name
    if table is None:
        problems.append(Problem(node.place, "a stream needs a `name` or a `table`", "name the source's table"))
        return None
    if options.name is None and is_pattern(table):
        hint = f"write `include: {table!r}` for the tables it finds, or give the stream a `name`"
        problems.append(Problem(node.key_places["table"], f"{table!r} is a pattern, not a table", hint))
        return None
    return StreamSpec(options.name or last_part(table), table, options, node, options.columns)


def spec_of_table(pattern: TablePattern, table: str) -> StreamSpec:
    """The stream of a table that `pattern` found."""
    return StreamSpec(last_part(table), table, pattern.rules, pattern.node, discovered=True)


def key_of(spec: StreamSpec, found: TableInfo | None) -> tuple[str, ...]:
    if spec.rules.key or not spec.discovered or found is None:
        return spec.rules.key
    return found.key


def mode_of(spec: StreamSpec, found: TableInfo | None) -> str:
    """Appending all rows again with every run would double them, so without a cursor there is nothing to append by."""
    rules = spec.rules
    if rules.mode is not None:
        return rules.mode
    if key_of(spec, found) and (rules.cursor or not spec.discovered):
        return "merge"
    return "append" if rules.cursor else "replace"
