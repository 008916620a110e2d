"""Names of tables as pipeline files give them: parts between dots, each as it is; in double quotes a part may hold
dots."""

from __future__ import annotations

import re

from seamark.sources.query import quoted


def name_parts(table: str) -> tuple[str, ...]:
    """`shop.Orders` -> (shop, Orders); `"my.table"` -> (my.table,)."""
    found = re.findall(r'"((?:[^"]|"")*)"|([^."]+)', table)
    return tuple(in_quotes.replace('""', '"') or bare for in_quotes, bare in found)


def name_part(name: str) -> str:
    """A part as `name_parts` reads it back."""
    return quoted(name) if re.search(r'[."]', name) else name
