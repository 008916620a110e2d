"""Which tables a pattern finds, and which of them are its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from seamark.config.names import is_pattern, last_part, parts_of
from seamark.config.problems import Problem, suggestion
from seamark.config.streams import StreamSpec, TablePattern, spec_of_table
from seamark.model.stream import TableInfo

Discover = Callable[[str], Sequence[TableInfo]]
Item = StreamSpec | TablePattern


class TableFinder:
    """Finds the tables of patterns: a table belongs to the item that names it, else to the pattern that finds it."""

    def __init__(self, items: Sequence[Item], discover: Discover, problems: list[Problem]) -> None:
        self._discover = discover
        self._problems = problems
        self._named = frozenset(_names(items))
        self._claimed: dict[str, TablePattern] = {}

    def find(self, pattern: TablePattern) -> list[tuple[StreamSpec, TableInfo]]:
        """The streams of `pattern`, each with its table; what is wrong is added to the problems."""
        found: dict[str, TableInfo] = {}
        for text in pattern.include:
            tables = self._matching(text, pattern) if is_pattern(text) else self._called(text, pattern)
            found |= {table.name: table for table in tables if not _matches(table.name, pattern.exclude)}
        return [(spec_of_table(pattern, name), table) for name, table in found.items() if self._claim(name, pattern)]

    def _matching(self, text: str, pattern: TablePattern) -> list[TableInfo]:
        tables = self._discover(text)
        if not tables:
            hint = "`seamark discover` lists the source's tables"
            self._problems.append(Problem(pattern.place, f"the pattern {text!r} finds no table", hint))
        return [table for table in tables if not self._is_named(table.name, tables)]

    def _called(self, text: str, pattern: TablePattern) -> list[TableInfo]:
        tables = self._discover(text)
        if len(tables) == 1:
            return list(tables)
        if tables:
            names = ", ".join(table.name for table in tables)
            problem = Problem(pattern.place, f"{text!r} is the name of several tables: {names}", "write which")
        else:
            known = [table.name for table in self._discover("*")]
            problem = Problem(pattern.place, f"the source has no table {text!r}", suggestion(text, known))
        self._problems.append(problem)
        return []

    def _is_named(self, table: str, tables: Sequence[TableInfo]) -> bool:
        """A name without a schema counts when it can mean only this one of `tables`."""
        bare = last_part(table)
        alone = sum(last_part(other.name) == bare for other in tables) == 1
        return table in self._named or (alone and bare in self._named)

    def _claim(self, table: str, pattern: TablePattern) -> bool:
        owner = self._claimed.setdefault(table, pattern)
        if owner is not pattern:
            message = f"the table {table} is found by the item at line {owner.place.line} too"
            self._problems.append(Problem(pattern.place, message, "leave it out of one with `exclude`"))
        return owner is pattern


def _names(items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, StreamSpec):
            yield item.table
        else:
            yield from (text for text in item.include if not is_pattern(text))


def _matches(table: str, patterns: Sequence[str]) -> bool:
    """By full name without quotes, or by the last part where the pattern has no dot."""
    parts = parts_of(table)
    return any(table == text or fnmatchcase(".".join(parts) if "." in text else parts[-1], text) for text in patterns)
