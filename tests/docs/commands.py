"""Command lines of `seamark` in the documentation, and whether the command line knows them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seamark.cli.group import SHARED_OPTIONS
from seamark.cli.root import root_command
from tests.docs.pages import blocks, code, shown

SHELLS = ("sh", "console", "text", "")
_EVERYWHERE = {option.split()[0]: "DIR" in option for option, _ in SHARED_OPTIONS}


def command_lines(page: Path) -> Iterator[tuple[str, str]]:
    """(where, the line from `seamark` on) of every command line on the page."""
    for block in blocks(page):
        if block.language in SHELLS:
            for line in block.text.splitlines():
                if found := re.search(r"(?:^|[\s/&;])seamark +(?P<rest>[-a-z].*)", line.split(" #")[0]):
                    yield str(block), found["rest"]
    for text in code(page):
        if text.startswith("seamark ") and "<" not in text:
            yield shown(page), text.removeprefix("seamark ")


def problem(line: str) -> str:
    """What is wrong with the words after `seamark`; empty when nothing is."""
    words = shlex.split(line.replace("…", ""), comments=True)
    for separator in ("|", "&&", ";", ">"):
        words = words[: words.index(separator)] if separator in words else words
    command: Any = root_command()
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            name = word.partition("=")[0]
            if name == "--help" or (name in _EVERYWHERE):
                words = words[1:] if _EVERYWHERE.get(name) and "=" not in word else words
                continue
            options = {
                spelling: option for option in command.params for spelling in (*option.opts, *option.secondary_opts)
            }
            if name not in options:
                return f"{command.name} has no option {name}"
            takes_value = not getattr(options[name], "is_flag", False)
            words = words[1:] if takes_value and "=" not in word else words
        elif hasattr(command, "commands"):
            found = command.get_command(None, word) if hasattr(command, "get_command") else None
            if found is None:
                return f"there is no command {word!r}"
            command = found
        elif not any(param.param_type_name == "argument" for param in command.params):
            return f"{command.name} takes no argument, and {word!r} is one"
    return ""
