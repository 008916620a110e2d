"""What is worth keeping between runs and projects: jars, Java wrappers, class-data archives."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from seamark.errors import EngineError


def cache_folder() -> Path:
    """`$SEAMARK_CACHE`, else `seamark` in the user's cache folder. Made if need be."""
    if (chosen := os.environ.get("SEAMARK_CACHE", "")) != "":
        folder = Path(chosen).absolute()
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "seamark"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(
            f"the cache folder {folder} can't be made: {error.strerror}",
            "name one that can be written in the environment variable SEAMARK_CACHE",
        ) from error
    return folder


@contextlib.contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold `path` as a lock among processes; it ends with its process. Without `wait` it may yield False: not held."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
