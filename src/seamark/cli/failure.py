"""How errors end a command: one line that says what, one that says what to do, and the exit status."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seamark.cli.terminal import clean, styled
from seamark.errors import SeamarkError

INTERRUPTED = 130
_PASSWORD = re.compile(r"(://[^\s:/@]*:)[^\s@]*@")
_PASSWORD_FIELD = re.compile(
    r"\b(password|passwd|pwd|secret|token)(['\"]?\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^\s,;)]+)", re.IGNORECASE
)


def report(message: str, hint: str = "") -> None:
    """Say on stderr what happened and what to do about it."""
    _line("error", "red", message)
    if hint:
        _line("hint", "cyan", hint)


def warn(message: str) -> None:
    _line("warning", "yellow", message)


def document(error: BaseException) -> dict[str, Any]:
    """The JSON that a failed command with `--json` leaves on stdout."""
    facts = {"status": "failed", "error": message_of(error)}
    hint = getattr(error, "hint", "")
    return facts | {"hint": hint} if hint else facts


def message_of(error: BaseException) -> str:
    if isinstance(error, SeamarkError):
        return error.message
    return without_secrets(f"{type(error).__name__}: {error}")


def foreseen(error: Exception, root: Path) -> SeamarkError:
    """`error` as one of ours. Of one that nobody foresaw the full traceback goes to a file, which the hint names."""
    if isinstance(error, SeamarkError):
        return error
    return SeamarkError(f"unexpected {message_of(error)}", _where_the_traceback_is(error, root))


def show_traceback(error: BaseException) -> None:
    """What --debug asks for."""
    sys.stderr.write(without_secrets("".join(traceback.format_exception(error))))


def without_secrets(text: str) -> str:
    """`text` without what looks like a password: foreign exceptions quote connection strings."""
    return _PASSWORD_FIELD.sub(r"\1\2***", _PASSWORD.sub(r"\1***@", text))


def _line(label: str, style: str, text: str) -> None:
    try:
        sys.stderr.write(f"{styled(label + ':', style, sys.stderr)} {clean(' '.join(text.split()))}\n")
        sys.stderr.flush()
    except OSError:  # nobody reads stderr any more; the exit status still tells
        pass


def _where_the_traceback_is(error: BaseException, root: Path) -> str:
    text = without_secrets("".join(traceback.format_exception(error)))
    name = f"error-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.log"
    for folder in (root / ".seamark" / "logs", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            with path.open("x", encoding="utf-8", errors="backslashreplace") as log:
                log.write(text)
        except OSError:
            continue
        return f"the full traceback is in {path}; please report it"
    return "run it again with --debug to see the full traceback; please report it"
