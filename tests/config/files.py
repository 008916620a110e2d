"""Pipeline and project files for the tests of configuration."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from seamark.config.pipeline import PipelineConfig
from seamark.config.project import Project
from seamark.config.reader import read_text
from seamark.config.tree import MapNode
from seamark.errors import ConfigError

HEAD = """\
pipeline: shop
source: {type: sqlite, path: shop.db}
destination: {type: delta, path: lake}
"""
"""Three lines; what a test adds begins at line 4."""


def tree(text: str) -> MapNode:
    return read_text(textwrap.dedent(text).lstrip("\n"), "a.yaml")


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def load(folder: Path, streams: str, environment: Mapping[str, str] | None = None) -> PipelineConfig:
    """The pipeline whose file is `HEAD` and these lines."""
    path = folder / "shop.yaml"
    path.write_text(HEAD + textwrap.dedent(streams).lstrip("\n"), encoding="utf-8")
    return Project.containing(path, environment or {}).load(path)


def refused(folder: Path, streams: str, environment: Mapping[str, str] | None = None) -> ConfigError:
    """What loading these lines says is wrong."""
    with pytest.raises(ConfigError) as caught:
        load(folder, streams, environment)
    return caught.value


def said(error: ConfigError, folder: Path) -> list[tuple[int, str]]:
    """The mistakes an error reports: line and message."""
    mistakes = []
    for line in error.message.split(";\n"):
        place, _, message = line.partition(": ")
        file, _, number = place.rpartition(":")
        assert Path(file).name in ("shop.yaml", "a.yaml", "seamark.yaml"), line
        mistakes.append((int(number), message))
    return mistakes
