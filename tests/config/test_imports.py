"""What the configuration costs at start-up: a command that reads nothing must not load what moves data."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pyspark", "pyarrow", "pandas", "sqlalchemy", "alembic", "deltalake", "adbc_driver_manager", "psycopg")


@pytest.mark.parametrize("module", ["seamark.config.project", "seamark.config.json_schema", "seamark.registry"])
def test_nothing_heavy_is_imported(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_a_pipeline_imports_no_connector() -> None:
    code = "import sys, seamark.registry as r; r.kinds(r.SOURCE); print([m for m in sys.modules if m.startswith('seamark.sources.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['seamark.sources.base']"
