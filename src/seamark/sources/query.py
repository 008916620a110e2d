"""Building SELECT statements: quoting, predicates, the row filter. Neutral between SQL dialects that quote with `"`."""

from __future__ import annotations

from collections.abc import Iterable

from seamark.errors import ConfigError


def quoted(name: str) -> str:
    """An identifier exactly as it is: capitals, spaces and quotes included."""
    if not name or "\x00" in name:
        raise ConfigError(f"{name!r} can't be the name of a table or column", "use the name as the database lists it")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text literal; the session must read backslashes as themselves (standard SQL, the default everywhere)."""
    if "\x00" in text:
        raise ConfigError(f"{text!r} holds a NUL character, which no SQL text can")
    return "'" + text.replace("'", "''") + "'"


def filter_predicate(where: str) -> str:
    """The user's row filter, closed off: neither a trailing comment nor an OR reaches the rest of the statement."""
    return f"(\n{where}\n)" if where.strip() else ""


def window_predicate(cursor: str, low: str | None, high: str | None, nulls: bool) -> str:
    """`low <= cursor < high`, or NULL if those rows belong too; "" when that is every row.

    `cursor`, `low` and `high` are SQL expressions. Without bounds and with `nulls`, only rows with a NULL cursor are
    meant: no mark says how far the others may be read."""
    bounds = " AND ".join(
        f"{cursor} {operator} {bound}" for operator, bound in ((">=", low), ("<", high)) if bound is not None
    )
    if not nulls:
        return bounds
    return f"({bounds} OR {cursor} IS NULL)" if bounds else f"{cursor} IS NULL"


def select(columns: Iterable[str], table: str, predicates: Iterable[str] = ()) -> str:
    """A SELECT; empty predicates are left out. `columns` and `table` are SQL already."""
    conditions = " AND ".join(predicate for predicate in predicates if predicate)
    return f"SELECT {', '.join(columns)} FROM {table}" + (f" WHERE {conditions}" if conditions else "")
