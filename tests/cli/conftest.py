from __future__ import annotations

import pytest

from tests.cli.events import add_events, pipeline
from tests.projects import Project


@pytest.fixture
def events(project: Project) -> Project:
    """A project with one pipeline of one append stream with three rows to move, none of which needs Spark."""
    project.write("seamark.yaml", "spark: {skip_below: 100000}\n")
    pipeline(project, "shop")
    add_events(project, 1, 2, 3)
    return project
