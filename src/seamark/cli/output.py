"""What a command answers on stdout: tables and text for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from seamark.cli.terminal import clean, is_terminal, styled, width

Row = Sequence[str]


def say(text: str = "") -> None:
    """A line of a command's answer."""
    write(text + "\n")


def write(text: str, flush: bool = False) -> None:
    """To stdout. When its reader has left (`| head`), the rest goes nowhere in silence: what the command does still
    counts."""
    try:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def heading(text: str) -> None:
    say(styled(clean(text), "bold", sys.stdout))


def note(text: str) -> None:
    """A line beside the answer, on stderr."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def json_document(document: Any) -> None:
    """One document: on one line for programs, indented for people."""
    indent = 2 if is_terminal(sys.stdout) else None
    json_line(document, indent)


def json_line(document: Any, indent: int | None = None) -> None:
    write(json.dumps(document, default=_plain, ensure_ascii=False, indent=indent) + "\n", flush=True)


def table(columns: Sequence[str], rows: Iterable[Row], indent: int = 0) -> None:
    """Columns under their titles; one that begins with `>` holds numbers and is aligned to the right, one that ends in
    `…` may be cut on a terminal that is too narrow for it."""
    cleaned = [[clean(value) for value in row] for row in rows]
    if is_terminal(sys.stdout):
        _rich_table(columns, cleaned, indent)
    else:
        _plain_table(columns, cleaned, indent)


def facts(pairs: Iterable[tuple[str, str]], indent: int = 2) -> None:
    """Lines of a name and what is to be said of it."""
    listed = [(name, clean(value)) for name, value in pairs]
    wide = max((len(name) for name, _ in listed), default=0)
    for name, value in listed:
        say(" " * indent + styled(name.ljust(wide), "dim", sys.stdout) + "  " + value)


def _plain_table(columns: Sequence[str], rows: Sequence[Row], indent: int) -> None:
    titles = [_title(column) for column in columns]
    widths = [max(len(line[at]) for line in (titles, *rows)) for at in range(len(columns))]
    for line in (titles, *rows):
        cells = (
            value.rjust(wide) if column.startswith(">") else value.ljust(wide)
            for value, column, wide in zip(line, columns, widths, strict=True)
        )
        say((" " * indent + "  ".join(cells)).rstrip())


def _title(column: str) -> str:
    return column.removeprefix(">").removesuffix("…")


def _rich_table(columns: Sequence[str], rows: Sequence[Row], indent: int) -> None:
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    widths = [max(len(line[at]) for line in (columns, *rows)) for at in range(len(columns))]
    room = width() - indent - 3 * (len(columns) - 1)
    for at, column in enumerate(columns):
        cut = column.endswith("…")
        drawn.add_column(
            _title(column),
            justify="right" if column.startswith(">") else "left",
            overflow="ellipsis" if cut else "fold",
            no_wrap=cut,
            max_width=max(12, room - sum(widths) + widths[at]) if cut else None,
        )
    for row in rows:
        drawn.add_row(*(Text(value, style=_STYLED.get(value, "")) for value in row))
    Console(highlight=False).print(Padding(drawn, (0, 0, 0, indent), expand=False))


_STYLED = {
    "ok": "green",
    "succeeded": "green",
    "skipped": "green",
    "warning": "yellow",
    "cancelled": "yellow",
    "crashed": "yellow",
    "running": "cyan",
    "error": "red",
    "failed": "red",
    "-": "dim",
}


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)
