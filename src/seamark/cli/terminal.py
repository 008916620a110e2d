"""What the other end of an output stream can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def is_terminal(stream: IO[str]) -> bool:
    """Whether a person is looking: a terminal that can move its cursor."""
    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except ValueError:  # closed
        return False


def has_colour(stream: IO[str]) -> bool:
    """https://no-color.org: any value that isn't empty turns colours off."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def can_ask() -> bool:
    """Whether a question would reach a person, and their answer us."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def styled(text: str, style: str, stream: IO[str]) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if has_colour(stream) else text


def width(default: int = 100) -> int:
    return shutil.get_terminal_size((default, 24)).columns


def clean(text: str) -> str:
    """`text` on one line and without control characters: values come from other people's tables."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
