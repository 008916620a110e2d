"""The project: its root, and what `seamark.yaml` sets for all pipelines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from seamark.config.names import folded, pipeline_name
from seamark.config.options import Options
from seamark.config.pipeline import ConnectorConfig, Defaults, PipelineConfig, Section, read_connector, read_pipeline
from seamark.config.problems import Problem, raise_problems, suggestion
from seamark.config.reader import read_file
from seamark.config.references import References
from seamark.config.spark import SparkOptions
from seamark.config.tree import Place, ScalarNode, empty_map
from seamark.config.validate import check
from seamark.errors import ConfigError

__all__ = ["Project", "ProjectFile", "SparkOptions"]

PROJECT_FILE = "seamark.yaml"
PIPELINES = "pipelines"
SUFFIXES = (".yaml", ".yml")


class ProjectFile(Options):
    """What holds for all pipelines of a project. The file is optional, and so is everything in it."""

    state_store: Section | None = Field(
        None,
        description="Where state lives: `type`, and that store's options; SQLite at `.seamark/state.db` by default.",
    )
    spark: SparkOptions = Field(default_factory=SparkOptions, description="Spark's options for all pipelines.")
    server: dict[str, Any] = Field(
        default_factory=dict, description="Defaults of `seamark serve`, by the names of its options."
    )


@dataclass(frozen=True)
class PipelineEntry:
    """A pipeline file in a listing: the name is the `pipeline:` key's, or the file's where that can't be read."""

    name: str
    file: Path


@dataclass(frozen=True)
class Project:
    """A folder with pipelines. Without a `seamark.yaml`, the folder that holds the pipeline files is the root."""

    root: Path
    folder: Path
    """Where its pipeline files are."""
    state_store: ConnectorConfig
    spark: SparkOptions
    server: Mapping[str, Any]
    references: References = field(repr=False)
    file: Path | None = None

    @staticmethod
    def find(start: Path, environment: Mapping[str, str] | None = None) -> Project:
        """The project that `start` is in: the nearest folder upwards with a seamark.yaml, else `start` itself."""
        start = start.absolute()
        file = _project_file(start)
        if file is not None:
            return _read(file, file.parent / PIPELINES, environment)
        folder = start / PIPELINES
        return _bare(folder if _pipeline_files(folder) else start, environment)

    @staticmethod
    def containing(pipeline: Path, environment: Mapping[str, str] | None = None) -> Project:
        """The project of a pipeline file: as `find`, else the file's own folder."""
        folder = pipeline.absolute().parent
        file = _project_file(folder)
        return _read(file, file.parent / PIPELINES, environment) if file is not None else _bare(folder, environment)

    def entries(self) -> tuple[PipelineEntry, ...]:
        """Its pipeline files in order of file name, also those that can't be read."""
        return tuple(PipelineEntry(_name_in(file), file) for file in _pipeline_files(self.folder))

    def pipelines(self) -> tuple[str, ...]:
        """The names of its pipelines; `load` takes each."""
        return tuple(dict.fromkeys(entry.name for entry in self.entries()))

    def load(self, name_or_path: str | Path) -> PipelineConfig:
        """The pipeline of that name, or in that file (which brings its own project).

        ConfigError with file and line for what is wrong in it, and with the nearest name for one that is not known.
        """
        if _is_path(name_or_path):
            file = Path(name_or_path).absolute()
            if not file.is_file():
                raise ConfigError(
                    f"there is no file {name_or_path}",
                    suggestion(Path(name_or_path).stem, self.pipelines(), "pipelines here"),
                )
            home = self if file.parent == self.folder else Project.containing(file, self.references.environment)
        else:
            home, file = self, self._file_of(str(name_or_path))
        config = read_pipeline(file, shown(file), Defaults(home.references, home.state_store, home.spark))
        home._refuse_namesakes(config)
        return config

    def _file_of(self, name: str) -> Path:
        entries = self.entries()
        for files in ([e.file for e in entries if e.name == name], [e.file for e in entries if e.file.stem == name]):
            if files:
                return files[0]
        hint = suggestion(name, [entry.name for entry in entries], "pipelines here")
        raise ConfigError(
            f"there is no pipeline {name!r}",
            hint or f"{shown(self.folder)} holds no pipeline files: `seamark init` makes one",
        )

    def _refuse_namesakes(self, config: PipelineConfig) -> None:
        """State is tied to the name: two files with one name would overwrite each other's."""
        if config.file.parent != self.folder:
            return
        for entry in self.entries():
            if entry.file != config.file and folded(entry.name) == folded(config.name):
                raise ConfigError(
                    f"the pipeline name {config.name!r} is also taken by {shown(entry.file)}",
                    "state is tied to the name: give one of them another",
                    str(config.place),
                )


def shown(path: Path) -> str:
    """A path as errors name it: from here, if it is below here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) and path != here else str(path)


def _project_file(start: Path) -> Path | None:
    return next(
        (folder / PROJECT_FILE for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), None
    )


def _pipeline_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(
        file for file in folder.iterdir() if file.suffix in SUFFIXES and file.name != PROJECT_FILE and file.is_file()
    )


def _is_path(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, Path) or name_or_path.endswith(SUFFIXES) or os.sep in name_or_path


def _name_in(file: Path) -> str:
    try:
        node = read_file(file, file.name).get("pipeline")
    except ConfigError:  # loading it says what is wrong
        return file.stem
    try:
        return pipeline_name(str(node.value)) if isinstance(node, ScalarNode) else file.stem
    except ValueError:
        return file.stem


def _references(root: Path, environment: Mapping[str, str] | None) -> References:
    return References(root) if environment is None else References(root, environment)


def _default_store(references: References, place: Place) -> ConnectorConfig:
    return ConnectorConfig("sqlite", empty_map(place), references, place, "state_store")


def _bare(root: Path, environment: Mapping[str, str] | None) -> Project:
    references = _references(root, environment)
    store = _default_store(references, Place(shown(root), 1))
    return Project(root, root, store, SparkOptions(), {}, references)


def _read(file: Path, folder: Path, environment: Mapping[str, str] | None) -> Project:
    references = _references(file.parent, environment)
    tree = read_file(file, shown(file))
    problems: list[Problem] = []
    checked = check(ProjectFile, tree.without("state_store"), problems, references)
    store = read_connector(tree.get("state_store"), "state_store", references, problems)
    raise_problems(problems)
    assert checked is not None
    return Project(
        root=file.parent,
        folder=folder,
        state_store=store or _default_store(references, tree.place),
        spark=checked.spark,
        server=checked.server,
        references=references,
        file=file,
    )
