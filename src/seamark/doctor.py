"""Doctor: whether this machine and project have what a run needs. Every finding says how to mend it."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from seamark.config.project import Project
from seamark.errors import SeamarkError
from seamark.model.status import PipelineListing
from seamark.sources.base import Finding
from seamark.state.store import StateStore

_PACKAGES = ("pyspark", "delta-spark", "deltalake", "pyarrow")
_ROOM = 1 << 30


def examine(
    project: Project, pipelines: Sequence[PipelineListing], open_store: Callable[[], StateStore]
) -> list[Finding]:
    """Everything looked at, in the order in which a run would need it. Starts no JVM but to ask Java its version."""
    return [
        Finding("ok", "python", f"{platform.python_version()} at {sys.executable}"),
        *_packages(),
        *_java_and_jars(project),
        _disk(project),
        _state_store(open_store),
        *_pipelines(pipelines),
    ]


def _packages() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding("ok", name, version(name))
        except PackageNotFoundError:
            yield Finding("error", name, "is not installed", "reinstall seamark: it needs this package")


def _java_and_jars(project: Project) -> Iterator[Finding]:
    from seamark.engine.cache import cache_folder
    from seamark.engine.jars import delta_jars
    from seamark.engine.java import find_java

    if project.spark.master.startswith("sc://"):
        yield Finding("ok", "spark", f"is reached at {project.spark.master}: no Java is needed here")
        return
    try:
        java = find_java(project.spark.java_home, cache_folder())
        yield Finding("ok", "java", f"{java.version} at {java.home}")
        jars = delta_jars(java, project.spark.conf)
        yield Finding("ok", "delta jars", ", ".join(jar.name for jar in jars) or "come with Spark or its settings")
    except SeamarkError as error:
        yield _problem("java and jars", error)


def _disk(project: Project) -> Finding:
    free = shutil.disk_usage(project.root).free
    said = f"{free / (1 << 30):.1f} GiB free at {project.root}"
    if free < _ROOM:
        return Finding("warning", "disk", said, "make room: rows are staged as files before they are published")
    return Finding("ok", "disk", said)


def _state_store(open_store: Callable[[], StateStore]) -> Finding:
    try:
        store = open_store()
        known = len(store.journal.pipelines())
    except SeamarkError as error:
        return _problem("state store", error)
    return Finding("ok", "state store", f"{store.location}, {known} pipeline{'' if known == 1 else 's'}")


def _pipelines(pipelines: Sequence[PipelineListing]) -> Iterator[Finding]:
    if not pipelines:
        yield Finding("warning", "pipelines", "there are no pipeline files here", "seamark init makes one")
    for pipeline in pipelines:
        if pipeline.problem:
            yield Finding("error", f"pipeline {pipeline.name}", pipeline.problem, f"mend {pipeline.file}")
        else:
            yield Finding("ok", f"pipeline {pipeline.name}", f"{pipeline.source} to {pipeline.destination}")


def _problem(subject: str, error: SeamarkError) -> Finding:
    return Finding("error", subject, error.message, error.hint)
