"""`seamark discover`: a source's tables, and streams proposed for them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import typer

from seamark.cli.options import only_one
from seamark.cli.output import heading, json_document, say, table, write
from seamark.cli.session import opened
from seamark.cli.wording import count, size
from seamark.model.document import table_document
from seamark.model.stream import TableInfo


def discover_tables(
    ctx: typer.Context, pipeline: str | None, pattern: str, *, columns: bool, as_yaml: bool, as_json: bool
) -> int:
    with opened(ctx, [pipeline] if pipeline else []) as app:
        tables = app.discover(only_one(app, pipeline), pattern)
    if as_json:
        json_document([table_document(found) for found in tables])
    elif as_yaml:
        write(streams_yaml(tables))
    else:
        _show(tables, columns)
    return 0


def streams_yaml(tables: Sequence[TableInfo]) -> str:
    """The streams section of a pipeline file that moves `tables`."""
    import yaml

    if not tables:
        return "streams: []\n"
    proposed = (yaml.safe_dump([propose(found)], sort_keys=False, allow_unicode=True) for found in tables)
    return "streams:\n" + "".join(textwrap.indent(text.replace("  mode: append", _ONLY_NEW), "  ") for text in proposed)


def propose(found: TableInfo) -> dict[str, Any]:
    """A stream for a table: what changes is merged; where only the key grows, rows that change can't be seen."""
    stream: dict[str, Any] = {"name": found.name.rsplit(".", 1)[-1], "table": found.name}
    cursor = next(iter(found.cursors), None)
    if cursor is None:
        return stream | {"mode": "replace"}
    if found.key and cursor.field not in found.key:
        return stream | {"key": list(found.key), "cursor": cursor.field, "mode": "merge"}
    return stream | {"cursor": cursor.field, "mode": "append"}


_ONLY_NEW = """\
  # Only new rows are seen. If rows change: no cursor, and `mode: replace`, which moves all of them every time.
  mode: append"""


def _show(tables: Sequence[TableInfo], columns: bool) -> None:
    if not tables:
        say("the source has no table that matches")
        return
    if columns:
        for found in tables:
            heading(f"{found.name}  key: {', '.join(found.key) or 'none'}, rows: {count(found.rows, 'unknown')}")
            described = [
                (c.name, str(c.type), "yes" if c.nullable else "no", c.source_type or "-") for c in found.schema
            ]
            table(("column", "type", "nullable", "in the source"), described, indent=2)
            _show_problems(found)
            say()
        return
    rows = [
        (
            found.name,
            ", ".join(found.key) or "-",
            ", ".join(cursor.field for cursor in found.cursors) or "-",
            str(len(found.schema)),
            count(found.rows),
            size(found.bytes),
        )
        for found in tables
    ]
    table(("table", "key", "could be a cursor", ">columns", ">rows", ">bytes"), rows)
    for found in tables:
        _show_problems(found)


def _show_problems(found: TableInfo) -> None:
    for problem in found.problems:
        say(f"  {found.name}: {problem}")
