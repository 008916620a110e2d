"""The Delta destination does what every destination does."""

from __future__ import annotations

from pathlib import Path

import pytest

from seamark.destinations.delta.connector import DeltaDestination, DeltaOptions
from seamark.engine.engine import Engine
from seamark.testing.destination import DestinationSuite, Subject
from tests.destinations.delta.tables import read_delta_rs


class TestDelta(DestinationSuite):
    @pytest.fixture
    def subject(self, tmp_path: Path, engine: Engine) -> Subject:
        return Subject(DeltaDestination(DeltaOptions(path="lake"), tmp_path), read_delta_rs, engine)
