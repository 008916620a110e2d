"""Where the demo's files go. It only ever replaces a folder that a demo made."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from seamark.errors import UsageError

DEFAULT = Path("seamark-demo")
_MARKER = ".seamark-demo"

PIPELINE = """\
# yaml-language-server: $schema=../.seamark/pipeline.schema.json
pipeline: shop

source:
  type: sqlite
  path: ./shop.db

destination:
  type: delta
  path: ./lake

streams:
  # Rows change: what was updated is read again and merged by key.
  - name: customers
    key: [id]
    cursor: updated_at

  # As above, and each run looks back two hours: a till that was offline reports orders late.
  - name: orders
    key: [id]
    cursor: {field: updated_at, lookback: 2h}

  # Rows only ever get added, with growing ids.
  - name: order_items
    mode: append
    cursor: id
"""


@dataclass(frozen=True)
class DemoFolder:
    root: Path

    @property
    def database(self) -> Path:
        return self.root / "shop.db"

    @property
    def lake(self) -> Path:
        return self.root / "lake"

    def write_project(self) -> None:
        (self.root / "seamark.yaml").write_text("# A project: pipelines/*.yaml, state in .seamark/state.db\n", "utf-8")
        (self.root / "pipelines").mkdir()
        (self.root / "pipelines" / "shop.yaml").write_text(PIPELINE, encoding="utf-8")


def claim(wanted: Path | None, keep: bool) -> DemoFolder:
    """An empty folder, marked as a demo's. What an earlier demo left in its place goes, or stays when `keep` is set and
    the new one gets a number."""
    root = (wanted or DEFAULT).resolve()
    if keep:
        root = _first_free(root)
    elif (root / _MARKER).is_file():
        shutil.rmtree(root)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is there already, and no demo made it", "name another folder: seamark demo --dir DIR")
    try:
        root.mkdir(parents=True, exist_ok=True)
        (root / _MARKER).write_text("`seamark demo` made this folder and may replace it.\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{root} can't be written: {error.strerror}", "name another folder: seamark demo --dir DIR"
        ) from None
    return DemoFolder(root)


def _first_free(root: Path) -> Path:
    number, free = 1, root
    while free.exists():
        number += 1
        free = root.with_name(f"{root.name}-{number}")
    return free
