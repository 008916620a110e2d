"""A new file on disk: written once, its digest known when the last byte is, and there for good once it is closed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from pathlib import Path

from seamark.errors import DestinationError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}


class Sink:
    """The file object that a Parquet writer writes to. Errors of the disk become DestinationError, once and for all:
    after one, or after `discard`, nothing more is written and the file is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = 0
        self.failure: DestinationError | None = None
        self._hash = hashlib.sha256()
        self._discarded = False
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            raise disk_error(error, path.parent) from error

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes) -> int:
        if self._discarded:
            return len(data)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self.failure = disk_error(error, self.path.parent)
            raise self.failure from error
        self._hash.update(data)
        self.bytes += len(data)
        return len(data)

    def finish(self) -> None:
        """The file's bytes are on disk when this returns; its name is once the folder is synced too."""
        try:
            os.fsync(self._file)
            os.close(self._file)
        except OSError as error:
            raise disk_error(error, self.path.parent) from error

    def discard(self) -> None:
        """Take the file away again."""
        self._discarded = True
        with contextlib.suppress(OSError):
            os.close(self._file)
        with contextlib.suppress(OSError):
            self.path.unlink()

    # What a file object must answer to; Arrow calls `close` itself, which decides nothing here.

    @property
    def closed(self) -> bool:
        return False

    def tell(self) -> int:
        return self.bytes

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def make_folder(root: Path, folder: str) -> Path:
    """`root/folder`, made if need be, its name safely on disk."""
    path = root / folder
    try:
        path.mkdir(parents=True, exist_ok=True)
        sync_folders(path, root)
    except OSError as error:
        raise disk_error(error, path) from error
    return path


def sync_folders(path: Path, root: Path) -> None:
    """Make the names in `path`, and in what leads to it from `root`, survive a power cut."""
    for folder in (path, *(parent for parent in path.parents if parent.is_relative_to(root))):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def disk_error(error: OSError, folder: Path) -> DestinationError:
    """What the disk said, with the folder and how much room there was."""
    if error.errno in _FULL:
        return DestinationError(
            f"no room left to stage files in {folder}: {error.strerror}{_room(folder)}",
            "free some space there, raise the quota, or put the destination elsewhere",
        )
    if error.errno in _REFUSED:
        return DestinationError(
            f"files can't be staged in {folder}: {error.strerror}",
            f"let the user that runs Seamark (uid {os.getuid()}) write there, or put the destination elsewhere",
        )
    return DestinationError(
        f"staging files in {folder} failed: {error.strerror or error}", "look at that disk or mount"
    )


def _room(folder: Path) -> str:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return ""
    return f" ({usage.free:,} of {usage.total:,} bytes are free)"
