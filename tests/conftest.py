"""Fixtures that every part of the tests shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.projects import Project
from tests.servers import PostgresServer, ServerMissing, running_postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from seamark.engine.engine import Engine

REPOSITORY = Path(__file__).parent.parent

pytest.register_assert_rewrite("seamark.testing")

# Timings on a busy two-core machine say nothing about an example.
settings.register_profile("quick", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One Postgres for the whole run; a test takes a database of its own from `postgres_db`."""
    try:
        with running_postgres() as server:
            yield server
    except ServerMissing as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture
def postgres_db(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a fresh database whose user is a superuser."""
    with postgres.database() as url:
        yield url


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """One Spark for the whole run, with the project's own jar cache."""
    from seamark.config.spark import SparkOptions
    from seamark.engine.engine import Engine

    engine = Engine(SparkOptions(master="local[2]"), REPOSITORY / ".seamark")
    yield engine
    engine.stop()


@pytest.fixture
def spark(engine: Engine) -> SparkSession:
    """A session of its own on the one Spark application."""
    return engine.session()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project in a folder of its own."""
    return Project(tmp_path / "project")
