"""Staged files on disk: verified before they are published, swept when nobody will publish them any more."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from seamark.destinations.delta.log import look
from seamark.destinations.delta.places import STAGED, filesystem, parse_staged, staged_folder, staged_path
from seamark.errors import DestinationError
from seamark.model.checkpoint import TableChange

if TYPE_CHECKING:
    import pyarrow.fs

CHUNK = 4 << 20
READERS = 4


def verify(change: TableChange, deep: bool) -> str:
    """See `Destination.verify`."""
    files, base = filesystem(change.table)
    paths = [staged_path(base, file.path) for file in change.files]
    infos = files.get_file_info(paths)
    for file, info in zip(change.files, infos, strict=True):
        if not info.is_file:
            return f"the staged file {file.path} is gone"
        if info.size != file.bytes:
            return f"the staged file {file.path} has {info.size} bytes, and {file.bytes} were written"
    if deep:
        with ThreadPoolExecutor(READERS) as pool:
            for file, digest in zip(change.files, pool.map(lambda path: _digest(files, path), paths), strict=True):
                if digest != file.digest:
                    return f"the staged file {file.path} is not what was written: its SHA-256 differs"
    return ""


def strays(table: str, incarnation: str, token: int) -> frozenset[tuple[int, int]]:
    """See `Destination.strays`."""
    import pyarrow.fs as fs

    files, base = filesystem(table)
    folders = files.get_file_info(fs.FileSelector(f"{base}/{STAGED}", allow_not_found=True))
    found = (parse_staged(info.base_name, incarnation) for info in folders)
    return frozenset(pair for pair in found if pair is not None and pair[0] < token)


def sweep(table: str, incarnation: str, unpublished: Collection[tuple[int, int]]) -> int:
    """See `Destination.sweep`."""
    if not unpublished:
        return 0
    files, base = filesystem(table)
    referred = _referred(table)
    return sum(_sweep_folder(files, base, staged_folder(incarnation, *pair), referred) for pair in sorted(unpublished))


def _sweep_folder(files: pyarrow.fs.FileSystem, base: str, folder: str, referred: frozenset[str]) -> int:
    import pyarrow.fs as fs

    deleted = kept = 0
    try:
        for info in files.get_file_info(fs.FileSelector(f"{base}/{folder}", recursive=True, allow_not_found=True)):
            if not info.is_file:
                continue
            if info.path.removeprefix(f"{base}/") in referred:
                kept += 1
                continue
            files.delete_file(info.path)
            deleted += 1
        if not kept:
            files.delete_dir(f"{base}/{folder}")
    except FileNotFoundError:
        # Somebody else was sweeping, or there was nothing.
        return deleted
    except OSError as error:
        raise DestinationError(
            f"{base}/{folder} could not be cleared: {error}", "delete it by hand, or give the user the right to"
        ) from error
    return deleted


def _referred(table: str) -> frozenset[str]:
    """Relative paths of the files that the table is made of."""
    seen = look(table)
    return frozenset(seen.paths()) if seen else frozenset()


def _digest(files: pyarrow.fs.FileSystem, path: str) -> str:
    digest = hashlib.sha256()
    with files.open_input_stream(path) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
