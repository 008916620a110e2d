"""Names that become folders, tables and the keys of state: what they may hold."""

from __future__ import annotations

import re
import unicodedata

PIPELINE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$"
MAX_STREAM_BYTES = 200
"""A folder's name ends at 255 bytes, and destinations add to it."""


def pipeline_name(name: str) -> str:
    """`name`; ValueError when a pipeline can't be called that."""
    if not re.fullmatch(PIPELINE_NAME[1:-1], name):
        raise ValueError(
            f"{name!r} can't name a pipeline: 1 to 100 of a-z, A-Z, 0-9, `_`, `-` and `.`, not first `-` or `.`"
        )
    return name


def stream_name_problem(name: str) -> str:
    """ "" when a stream may be called `name`, else why not: it becomes a folder under the destination's."""
    if not name.strip():
        return "is empty"
    if name in (".", "..") or "/" in name or "\\" in name:
        return "would leave its folder under the destination"
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "holds a control character"
    if name != name.strip():
        return "begins or ends with a space"
    if len(name.encode()) > MAX_STREAM_BYTES:
        return f"is longer than {MAX_STREAM_BYTES} bytes"
    return ""


def folded(name: str) -> str:
    """What two names have in common when some file system takes them for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def last_part(table: str) -> str:
    """`orders` of `shop.public.orders`; a part in double quotes is taken as it is."""
    return parts_of(table)[-1]


def parts_of(table: str) -> tuple[str, ...]:
    parts = re.findall(r'"((?:[^"]|"")*)"|([^."]+)', table)
    return tuple(quoted.replace('""', '"') or bare for quoted, bare in parts) or (table,)


def is_pattern(text: str) -> bool:
    return any(char in text for char in "*?[")
