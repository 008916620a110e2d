"""Cases to crash: with a source to be loaded, or loaded already."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.crash.case import Case
from tests.crash.databases import PostgresDatabase, SqliteDatabase
from tests.projects import Project
from tests.servers import PostgresServer

NewDatabase = Callable[[str], PostgresDatabase]


class Cases:
    """Makes cases in folders and databases of their own. A first load is done once; then its project and its database
    are copied."""

    def __init__(self, folder: Path, new_database: NewDatabase, templates: Callable[[str], Templates] | None) -> None:
        self._folder = folder
        self._new_database = new_database
        self._templates = templates
        self._count = 0

    def fresh(self, source: str, mode: str, fill: bool = True) -> Case:
        """One that never ran. `fill`: with rows in its source."""
        case = self._make(source, mode, "template1")
        if fill:
            case.fill()
        return case

    def loaded(self, source: str, mode: str) -> Case:
        """One whose first rows were moved by a run."""
        assert self._templates is not None
        template = self._templates(source).of(mode)
        database = template.database.name if isinstance(template.database, PostgresDatabase) else ""
        case = self._make(source, mode, database)
        shutil.copytree(template.project.folder, case.project.folder, dirs_exist_ok=True)
        case.moved = template.moved
        case.configure()
        return case

    def _make(self, source: str, mode: str, template: str) -> Case:
        self._count += 1
        project = Project(self._folder / f"{source}-{mode}-{self._count}")
        is_sqlite = source == "sqlite"
        database = SqliteDatabase(project.folder / "source.db") if is_sqlite else self._new_database(template)
        case = Case(project, database, mode)
        case.configure()
        return case


class Templates:
    """Cases that were loaded, one of each mode."""

    def __init__(self, source: str, folder: Path, new_database: NewDatabase) -> None:
        self._source = source
        self._cases = Cases(folder, new_database, None)
        self._loaded: dict[str, Case] = {}

    def of(self, mode: str) -> Case:
        if mode not in self._loaded:
            case = self._cases.fresh(self._source, mode)
            case.run().ok()
            case.require_agreement()
            self._loaded[mode] = case
        return self._loaded[mode]


@pytest.fixture(scope="session")
def templates_of_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates("sqlite", tmp_path_factory.mktemp("loaded"), _no_server)


@pytest.fixture(scope="session")
def templates_of_postgres(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Templates]:
    with ExitStack() as databases:
        yield Templates("postgres", tmp_path_factory.mktemp("loaded"), _databases_of(postgres, databases))


@pytest.fixture
def cases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cases]:
    with ExitStack() as databases:

        def new_database(template: str) -> PostgresDatabase:
            return _databases_of(request.getfixturevalue("postgres"), databases)(template)

        def templates(source: str) -> Templates:
            found: Templates = request.getfixturevalue(f"templates_of_{source}")
            return found

        yield Cases(tmp_path, new_database, templates)


def _databases_of(server: PostgresServer, stack: ExitStack) -> NewDatabase:
    return lambda template: PostgresDatabase(stack.enter_context(server.database(template)))


def _no_server(template: str) -> PostgresDatabase:
    raise AssertionError("SQLite needs no server")
