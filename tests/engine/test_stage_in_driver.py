"""One split becomes Parquet files with their facts. No Spark here: tasks run the very same code."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seamark.config.spark import SparkOptions
from seamark.engine import task
from seamark.engine.engine import Engine
from seamark.engine.stage import StageJob
from seamark.errors import Cancelled, DestinationError, EngineError, SourceError, SourceUnavailable
from seamark.model.checkpoint import StagedFile
from seamark.model.split import Split
from tests.engine.rows import NUMBERS, endless, failing, job, numbers, schema, staged, tables


@pytest.fixture
def stage(tmp_path: Path) -> Any:
    engine = Engine(SparkOptions(), tmp_path / ".seamark")

    def run(job: StageJob) -> tuple[StagedFile, ...]:
        files = engine.stage(job)
        assert not engine.started
        return files

    return run


def test_rows_come_back_and_facts_are_true(stage: Any, tmp_path: Path) -> None:
    (first, second) = stage(job(tmp_path, numbers(), count=2, cursor="id"))
    path = tmp_path / first.path
    assert first.rows == 3000
    assert first.bytes == path.stat().st_size
    assert first.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert first.cursor_max == "2999"
    assert second.cursor_max == "5999"
    assert pq.read_table(path)["id"].to_pylist() == list(range(3000))
    assert sorted(f.path.rpartition("/")[2] for f in (first, second)) == staged(tmp_path)


def test_empty_split_writes_no_file(stage: Any, tmp_path: Path) -> None:
    empty = pa.record_batch({"id": pa.array([], pa.int64()), "name": pa.array([], pa.string())})
    assert stage(job(tmp_path, tables())) == ()
    assert stage(job(tmp_path, tables(empty))) == ()
    assert not (tmp_path / "staged").exists()


def test_row_groups_are_bounded(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "ROW_GROUP_BYTES", 40_000)
    (file,) = stage(job(tmp_path, numbers(batches=6)))
    metadata = pq.read_metadata(tmp_path / file.path)
    assert metadata.num_rows == 6000
    assert metadata.num_row_groups == 3


def test_progress_adds_up(stage: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    (file,) = stage(job(tmp_path, numbers(), on_progress=lambda *news: told.append(news)))
    assert [sum(news) for news in zip(*told, strict=True)] == [file.rows, file.bytes]


def test_partition_values_stand_in_the_facts_and_not_in_the_file(stage: Any, tmp_path: Path) -> None:
    batch = pa.record_batch(
        {
            "id": pa.array([1, 2, 3, 4, 5]),
            "day": pa.array([20000, None, 20000, 0, None], pa.date32()),
            "kind": ["a", "b", "a", None, "b"],
        }
    )
    files = stage(
        job(tmp_path, tables(batch), schema(id="int64", day="date", kind="string"), partition_by=("day", "kind"))
    )
    found = {file.partition: pq.read_table(tmp_path / file.path).to_pydict() for file in files}
    assert found == {
        (("day", "2024-10-04"), ("kind", "a")): {"id": [1, 3]},
        (("day", None), ("kind", "b")): {"id": [2, 5]},
        (("day", "1970-01-01"), ("kind", None)): {"id": [4]},
    }


def test_more_partition_values_than_open_files(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "OPEN_FILES", 2)
    monkeypatch.setattr(task, "ROW_GROUP_BYTES", 1)
    batch = pa.record_batch({"id": pa.array(range(10)), "kind": pa.array([0, 1, 2, 3, 4] * 2)})
    files = stage(job(tmp_path, tables(batch, batch), schema(id="int64", kind="int64"), partition_by=("kind",)))
    rows = [(file.partition[0][1], i) for file in files for i in pq.read_table(tmp_path / file.path)["id"].to_pylist()]
    assert sorted(rows) == sorted((str(i % 5), i) for i in list(range(10)) * 2)
    assert len(files) == 10


def test_cursor_that_partitions_the_table_keeps_its_maximum(stage: Any, tmp_path: Path) -> None:
    batch = pa.record_batch({"id": pa.array([1, 2]), "day": pa.array([20000, 20001], pa.date32())})
    files = stage(job(tmp_path, tables(batch), schema(id="int64", day="date"), partition_by=("day",), cursor="day"))
    assert sorted(file.cursor_max for file in files) == ["2024-10-04", "2024-10-05"]


def test_empty_text_can_not_partition(stage: Any, tmp_path: Path) -> None:
    batch = pa.record_batch({"id": pa.array([1]), "kind": [""]})
    with pytest.raises(DestinationError, match=r"'kind'.*empty text"):
        stage(job(tmp_path, tables(batch), schema(id="int64", kind="string"), partition_by=("kind",)))


def test_a_column_of_another_type_is_refused_by_name(stage: Any, tmp_path: Path) -> None:
    batch = pa.record_batch({"id": pa.array([1]), "name": pa.array([1])})
    with pytest.raises(SourceError, match="column 'name' came as int64 where string was announced"):
        stage(job(tmp_path, tables(batch)))
    with pytest.raises(SourceError, match=r"missing: \['name'\], not announced: \['nom'\]"):
        stage(job(tmp_path, tables(batch.rename_columns(["id", "nom"]))))
    assert not (tmp_path / "staged").exists()


def test_a_narrower_type_is_widened_to_the_tables(stage: Any, tmp_path: Path) -> None:
    batch = pa.record_batch({"name": ["x"], "id": pa.array([7], pa.int32())})
    (file,) = stage(job(tmp_path, tables(batch)))
    assert pq.read_table(tmp_path / file.path).schema == pa.schema({"id": pa.int64(), "name": pa.string()})


def test_a_failed_split_leaves_nothing_behind(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "ROW_GROUP_BYTES", 1)
    with pytest.raises(SourceError, match="no such table"):
        stage(job(tmp_path, failing(SourceError("no such table", "name another"), after=3)))
    assert staged(tmp_path) == []


def test_a_source_that_comes_back_is_read_again(stage: Any, tmp_path: Path) -> None:
    reader = failing(SourceUnavailable("connection lost"), after=2, unless=tmp_path / "failed")
    (file,) = stage(job(tmp_path, reader))
    assert file.rows == 2000
    assert len(staged(tmp_path)) == 1


def test_an_unknown_error_names_the_piece_and_hides_credentials(stage: Any, tmp_path: Path) -> None:
    with pytest.raises(
        EngineError, match=r"reading piece 0 failed: RuntimeError: postgres://\*\*\*@db: gone"
    ) as caught:
        stage(job(tmp_path, failing(RuntimeError("postgres://joe:hunter2@db: gone"))))
    assert caught.value.hint
    assert "hunter2" not in str(caught.value)


def test_cancelling_stops_and_cleans_up(stage: Any, tmp_path: Path) -> None:
    seen: list[int] = []
    with pytest.raises(Cancelled):
        stage(job(tmp_path, endless(0), cancelled=lambda: len(seen) > 3, on_progress=lambda rows, _: seen.append(rows)))
    assert not (tmp_path / "staged").exists() or staged(tmp_path) == []


def test_the_readers_connection_is_let_go(stage: Any, tmp_path: Path) -> None:
    closed: list[bool] = []

    def read(split: Split) -> Iterator[pa.RecordBatch]:
        try:
            yield pa.record_batch({"wrong": [1]})
        finally:
            closed.append(True)

    with pytest.raises(SourceError):
        stage(job(tmp_path, read))
    assert closed == [True]


def test_a_folder_that_can_not_be_written_is_named(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "staged").write_text("in the way")
    with pytest.raises(DestinationError, match="staged/0a-1-2"):
        stage(job(tmp_path, numbers()))


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from seamark.config.spark import SparkOptions
from seamark.engine.engine import Engine
from seamark.errors import DestinationError
from tests.engine.rows import job, numbers, staged
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
root = Path(sys.argv[1])
try:
    Engine(SparkOptions(), root).stage(job(root, numbers()))
except DestinationError as error:
    print(error.message, "|", error.hint, "|", staged(root))
"""


def test_a_full_disk_is_told_with_the_room_there_is(tmp_path: Path) -> None:
    """A limit on a file's size stands in for a full disk: the write fails the same way, without privileges."""
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    message, hint, left = ran.stdout.strip().split(" | ")
    assert message.startswith(f"no room left to stage files in {tmp_path}/staged/0a-1-2: ")
    assert "bytes are free" in message
    assert "free some space" in hint
    assert left == "[]"


def test_cursor_maximum_is_canonical(stage: Any, tmp_path: Path) -> None:
    columns = schema(at="timestamptz", price="decimal(12,2)", raw="binary")
    batch = pa.record_batch(
        {
            "at": pa.array([1, None, 1_700_000_000_123_456], pa.timestamp("us", tz="UTC")),
            "price": pa.array([None, Decimal("150.00"), Decimal("99.5")], pa.decimal128(12, 2)),
            "raw": [b"\x00\xff", b"\x01", None],
        }
    )
    found = [stage(job(tmp_path, tables(batch), columns, cursor=name))[0].cursor_max for name in columns.names]
    assert found == ["2023-11-14T22:13:20.123456Z", "150", "01"]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """The command line imports the engine at every start."""
    code = "import sys, seamark.engine.engine; print([m for m in ('pyspark', 'pyarrow', 'pandas', 'numpy') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_staging_in_the_driver_imports_no_spark(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from seamark.engine.stage import stage_here;"
        "from tests.engine.rows import job, numbers; stage_here(job(Path(sys.argv[1]), numbers()));"
        "print('pyspark' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_stats_are_json(stage: Any, tmp_path: Path) -> None:
    (file,) = stage(job(tmp_path, numbers(rows=2, batches=1), NUMBERS))
    assert json.loads(file.stats) == {
        "numRecords": 2,
        "minValues": {"id": 0, "name": "row 0"},
        "maxValues": {"id": 1, "name": "row 1"},
        "nullCount": {"id": 0, "name": 0},
    }
