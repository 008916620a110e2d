"""What a command that only looks at the state must not pay for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from seamark.testing.state_store.given import move, take
from tests.state.stores import SqliteFactory

HEAVY = {"alembic", "mako", "pyspark", "pyarrow", "pandas", "numpy", "deltalake", "psycopg", "sqlalchemy.orm"}

OPEN = """
import json, sys
from pathlib import Path
from seamark.state.sqlite import SqliteOptions, connector
before = "sqlalchemy" in sys.modules
store = connector.open(SqliteOptions(), Path(sys.argv[1]))
store.checkpoints.state("shop")
print(json.dumps({"before": before, "modules": sorted(sys.modules)}))
"""


def test_opening_a_store_that_is_up_to_date_is_lean(tmp_path: Path) -> None:
    factory = SqliteFactory(tmp_path / ".seamark" / "state.db")
    (tmp_path / ".seamark").mkdir()
    store = factory()
    move(store, take(store))
    factory.close()
    done = subprocess.run([sys.executable, "-c", OPEN, str(tmp_path)], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert not said["before"], "importing the connector imports sqlalchemy"
    assert HEAVY & set(said["modules"]) == set()
