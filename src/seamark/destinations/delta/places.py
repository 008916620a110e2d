"""Where a table and what is staged for it live: folder names that can't lead anywhere else."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.errors import DestinationError

if TYPE_CHECKING:
    import pyarrow.fs

STAGED = "staged"
"""A plain folder: VACUUM never looks into one whose name begins with `_` or `.`."""

_MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\x00-\x1f\x7f]")
"""What the readers of a Delta log decode or split in a path, each in its own way."""


def table_folder(path: str, root: Path, name: str) -> str:
    """The folder of the table `name` below `path`, which is relative to `root` unless it is absolute or a URL."""
    if name in ("", ".", "..", "_delta_log") or "/" in name or _MISREAD.search(name) or len(name.encode()) > 200:
        raise DestinationError(
            f"stream {name!r} can't name a folder for its table",
            "give it a name of up to 200 bytes without slashes, control characters and %-escapes; "
            "what is read is named by `table:`",
        )
    if "://" in path:
        return f"{path.rstrip('/')}/{name}"
    # Not resolved: a link keeps its name, so that what it leads to may be moved.
    folder = os.path.abspath(root / Path(path).expanduser())  # noqa: PTH100
    if _MISREAD.search(folder):
        raise DestinationError(
            f"the folder {folder!r} can't hold Delta tables: readers differ about a backslash, a %-escape or a control "
            "character in it",
            "choose another `path:` for the destination",
        )
    return str(Path(folder) / name)


def staged_folder(incarnation: str, token: int, seq: int) -> str:
    return f"{STAGED}/{incarnation}-{token}-{seq}"


def parse_staged(folder: str, incarnation: str) -> tuple[int, int] | None:
    """(token, seq) of a staged folder's name if it is of this incarnation."""
    match = re.fullmatch(re.escape(incarnation) + r"-(\d+)-(\d+)", folder)
    return (int(match[1]), int(match[2])) if match else None


def filesystem(table: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """The file system that holds `table`, and its path there."""
    import pyarrow.fs as fs

    if "://" in table:
        try:
            return fs.FileSystem.from_uri(table)  # type: ignore[no-any-return]
        except (ValueError, OSError) as error:
            raise DestinationError(f"{table} can't be reached: {error}", "check the destination's `path:`") from error
    return fs.LocalFileSystem(), table


def staged_path(base: str, relative: str) -> str:
    """Where a staged file is; a name that leads out of the staging folder is refused."""
    parts = relative.split("/")
    if parts[0] != STAGED or any(part in ("", ".", "..") for part in parts):
        raise DestinationError(
            f"{relative!r} is no staged file's name", "the checkpoint was changed by hand: discard it"
        )
    return f"{base}/{relative}"
