"""What all commands share: the options typed for `seamark` itself, and the project they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seamark.app import App
    from seamark.config.project import Project


@dataclass(frozen=True)
class Session:
    """One call of the command line."""

    folder: Path | None = None
    """--project; None: looked for from here upwards."""
    debug: bool = False

    @property
    def start(self) -> Path:
        return self.folder if self.folder is not None else Path.cwd()


def session_of(ctx: Any) -> Session:
    found = ctx.find_object(Session)
    return found if found is not None else Session()


def project_in(folder: Path) -> Project:
    """The project that `folder`, or a folder above it, belongs to."""
    from seamark.config.project import Project

    return Project.find(folder)


def _project(session: Session, pipelines: Sequence[str]) -> Project:
    """A pipeline named by its file outside of any project given brings its own folder."""
    files = [path for name in pipelines if (path := Path(name)).suffix in (".yaml", ".yml")]
    if session.folder is None and files:
        from seamark.config.project import Project

        return Project.containing(files[0])
    return project_in(session.start)


@contextmanager
def opened(ctx: Any, pipelines: Sequence[str] = ()) -> Iterator[App]:
    """The project's use cases, closed at the end. A pipeline given as a file brings its own project."""
    from seamark.app import App

    app = App(_project(session_of(ctx), pipelines))
    try:
        yield app
    finally:
        app.close()
