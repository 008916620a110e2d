from __future__ import annotations

from tests.sources.sqlite.place import path

__all__ = ["path"]
