"""The tables of types in the documentation, from the code's own mappings. `python -m tests.docs.types` writes them anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from seamark.destinations.delta.types import schema_json
from seamark.model.schema import SCALARS, Column, DataType, Schema
from seamark.sources.postgres.types import TYPE_MAPPING as POSTGRES
from seamark.sources.sqlite.types import TYPE_MAPPING as SQLITE
from tests.docs.pages import REPOSITORY

SECTIONS = {"postgres": "docs/sources.md", "sqlite": "docs/sources.md", "delta": "docs/delta.md"}
_SQL = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}


def table(name: str) -> str:
    """The section of that name as the page must have it."""
    rows = list(_delta() if name == "delta" else _of_source(name))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _of_source(name: str) -> Iterator[tuple[str, ...]]:
    yield from (("in the source", "in Seamark", ""), ("---",) * 3)
    mapping: Iterable[tuple[str, str, str]] = [
        (row.source, row.ours, row.note) for row in (POSTGRES if name == "postgres" else SQLITE)
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for source, ours, note in mapping:
        groups.setdefault((ours, note), []).append(source)
    for (ours, note), sources in groups.items():
        written = f"`{ours}`" if ours == ours.split()[0] else ours
        yield ", ".join(source if " " in source else f"`{source}`" for source in sources), written, note


def _delta() -> Iterator[tuple[str, ...]]:
    yield from (("in Seamark", "in Delta's schema", "in SQL"), ("---",) * 3)
    examples = [*(DataType(kind) for kind in SCALARS), DataType.parse("decimal(10,2)"), DataType.parse("list<string>")]
    for kind in examples:
        (field,) = schema_json(Schema((Column("c", kind),)))["fields"]
        written = field["type"] if isinstance(field["type"], str) else field["type"]["type"]
        sql = "ARRAY<STRING>" if written == "array" else _SQL.get(written, written.upper())
        yield f"`{kind}`", f"`{written}`", f"`{sql}`"


def main() -> None:
    for name, path in SECTIONS.items():
        page = Path(REPOSITORY, path)
        before, mark, rest = page.read_text(encoding="utf-8").partition(f"<!-- types: {name} -->\n")
        page.write_text(before + mark + table(name) + rest[rest.index("<!-- end of types -->") :], encoding="utf-8")


if __name__ == "__main__":
    main()
