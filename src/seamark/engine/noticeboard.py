"""How the driver and the tasks of one job hear of each other while it runs: small files beside the staged ones."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

NOTE_SECONDS = 0.3


@dataclass
class Noticeboard:
    """Each task notes how far it is, anyone can call a stop. Names start with a dot: nobody takes them for data.

    Where the driver does not see the tasks' folder it hears nothing before the end, and that is all that is lost.
    """

    folder: Path
    job: str
    _heard: tuple[int, int] = field(default=(0, 0))

    def watch(self, index: int) -> TaskNotes:
        return TaskNotes(self, index)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self.stop_sign.touch()

    @property
    def stop_sign(self) -> Path:
        return self.folder / f".{self.job}.stop"

    def note(self, index: int) -> Path:
        return self.folder / f".{self.job}.{index}"

    def news(self) -> tuple[int, int]:
        """Rows and bytes since the last time. A task that starts again does not make them fewer."""
        rows = size = 0
        for path in self._files():
            with contextlib.suppress(OSError, ValueError):
                noted_rows, noted_bytes = path.read_text().split()
                rows, size = rows + int(noted_rows), size + int(noted_bytes)
        before = self._heard
        self._heard = max(before[0], rows), max(before[1], size)
        return self._heard[0] - before[0], self._heard[1] - before[1]

    def rest(self, rows: int, bytes: int) -> tuple[int, int]:
        """What of the job's totals has not been news yet."""
        return max(0, rows - self._heard[0]), max(0, bytes - self._heard[1])

    def clear(self) -> None:
        for path in [*self._files(), self.stop_sign]:
            with contextlib.suppress(OSError):
                path.unlink()

    def _files(self) -> Iterator[Path]:
        with contextlib.suppress(OSError):
            yield from [p for p in self.folder.glob(f".{self.job}.*") if p != self.stop_sign]


class TaskNotes:
    """A task's side of the board."""

    def __init__(self, board: Noticeboard, index: int) -> None:
        self._board = board
        self._path = board.note(index)
        self._rows = self._bytes = 0
        self._noted = time.monotonic()

    def wrote(self, rows: int, bytes: int) -> None:
        self._rows += rows
        self._bytes += bytes
        if time.monotonic() - self._noted > NOTE_SECONDS:
            self.note()

    def note(self) -> None:
        self._noted = time.monotonic()
        # A reader that comes between truncation and writing finds nothing, and looks again.
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(f"{self._rows} {self._bytes}")

    def stopped(self) -> bool:
        return self._board.stop_sign.exists()
