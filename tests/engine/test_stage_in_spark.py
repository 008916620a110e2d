"""Staging in Spark's tasks: what the tasks meet must reach the driver as what it was."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from seamark.engine.arrow import arrow_schema
from seamark.engine.engine import Engine
from seamark.errors import Cancelled, DestinationError, EngineError, SourceError, SourceUnavailable
from tests.engine.rows import endless, failing, job, numbers, schema, staged, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_split_is_a_task_and_facts_come_in_order(engine: Engine, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    files = engine.stage(
        job(tmp_path, numbers(), count=5, in_driver=False, cursor="id", on_progress=lambda *news: told.append(news))
    )
    assert [file.cursor_max for file in files] == ["2999", "5999", "8999", "11999", "14999"]
    assert staged(tmp_path) == sorted(Path(file.path).name for file in files)
    assert [sum(news) for news in zip(*told, strict=True)] == [15_000, sum(file.bytes for file in files)]


def test_tasks_write_what_the_driver_writes(engine: Engine, tmp_path: Path) -> None:
    (here,) = engine.stage(job(tmp_path / "here", numbers()))
    (there,) = engine.stage(job(tmp_path / "there", numbers(), in_driver=False))
    assert (here.rows, here.bytes, here.digest, here.stats) == (there.rows, there.bytes, there.digest, there.stats)


def test_extremes_read_back_in_spark(engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    columns = schema(
        a="int8", b="int16", c="int32", d="int64", day="date", at="timestamp", price="decimal(38,2)", s="string"
    )
    rows: list[dict[str, Any]] = [
        {
            "a": sign(2**7),
            "b": sign(2**15),
            "c": sign(2**31),
            "d": sign(2**63),
            "day": day,
            "at": datetime(day.year, 1, 1, 0, 0, 0, 1),
            "price": Decimal(sign(10**36)) / 100,
            "s": text,
        }
        for sign, day, text in (
            (lambda n: n - 1, date(9999, 12, 31), "\U0010ffff"),
            (lambda n: -n, date(1, 1, 1), ""),
            (lambda n: 0, date(1970, 1, 1), "ß"),
        )
    ] * 3 + [dict.fromkeys(columns.names)]
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(columns))
    (file,) = engine.stage(job(tmp_path, tables(batch), columns, in_driver=False))
    with_ntz = spark.read.parquet(str(tmp_path / file.path)).schema["at"].dataType.typeName()
    assert with_ntz == "timestamp_ntz"
    assert spark.read.parquet(str(tmp_path / file.path)).toArrow().to_pylist() == rows


@pytest.mark.parametrize(
    "error", [SourceError("no such column 'x'", "name another"), DestinationError("full", "empty it")]
)
def test_an_error_arrives_as_itself_with_its_hint(engine: Engine, tmp_path: Path, error: Any) -> None:
    with pytest.raises(type(error)) as caught:
        engine.stage(job(tmp_path, failing(error), count=2, in_driver=False))
    assert (caught.value.message, caught.value.hint) == (error.message, error.hint)
    assert staged(tmp_path) == []


def test_an_error_of_one_split_ends_the_others(engine: Engine, tmp_path: Path) -> None:
    fails, goes_on = failing(SourceError("no such table")), endless()
    with pytest.raises(SourceError, match="no such table"):
        engine.stage(job(tmp_path, lambda split: (fails if split.index else goes_on)(split), count=2, in_driver=False))
    assert staged(tmp_path) == []


def test_a_task_that_fails_once_is_tried_again(engine: Engine, tmp_path: Path) -> None:
    reader = failing(SourceUnavailable("connection lost"), unless=tmp_path / "failed")
    (file,) = engine.stage(job(tmp_path, reader, in_driver=False))
    assert file.rows == 1000
    assert staged(tmp_path) == [Path(file.path).name]


def test_a_task_that_always_fails_tells_why(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="connection lost"):
        engine.stage(job(tmp_path, failing(SourceUnavailable("connection lost")), in_driver=False))
    with pytest.raises(EngineError, match=r"reading piece 0 failed: KeyError: 'x'"):
        engine.stage(job(tmp_path, failing(KeyError("x")), in_driver=False))


def test_a_killed_worker_is_made_up_for(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crash point is set in this process and goes off in a worker that was started before."""
    engine.stage(job(tmp_path / "before", numbers(), in_driver=False))
    monkeypatch.setenv("SEAMARK_CRASH_AT", f"stage.task@{tmp_path / 'killed'}")
    (file,) = engine.stage(job(tmp_path, numbers(), in_driver=False))
    assert (tmp_path / "killed").exists()
    assert file.rows == 3000
    assert staged(tmp_path) == [Path(file.path).name], "the killed worker could not take its file with it"


def test_a_worker_that_is_always_killed_is_told_so(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAMARK_CRASH_AT", "stage.task")
    with pytest.raises(EngineError, match="exited unexpectedly") as caught:
        engine.stage(job(tmp_path, numbers(), in_driver=False))
    assert "\tat " not in caught.value.message
    assert "memory" in caught.value.hint
    monkeypatch.delenv("SEAMARK_CRASH_AT")
    assert engine.stage(job(tmp_path / "after", numbers(), in_driver=False))[0].rows == 3000


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_cancelling_ends_the_tasks_and_cleans_up(engine: Engine, tmp_path: Path) -> None:
    stop = threading.Event()
    seen: list[int] = []

    def look(rows: int, size: int) -> None:
        seen.append(rows)
        if rows:
            stop.set()

    before = time.monotonic()
    with pytest.raises(Cancelled):
        engine.stage(job(tmp_path, endless(), count=2, in_driver=False, cancelled=stop.is_set, on_progress=look))
    assert sum(seen) > 0, "progress is told while tasks run"
    assert time.monotonic() - before < 15
    assert staged(tmp_path) == []


def test_cancelling_ends_even_a_task_that_waits_for_its_source(engine: Engine, tmp_path: Path) -> None:
    """It never looks at the board: Spark has to interrupt it."""
    started = tmp_path / "started"
    name = str(started)

    def stuck(split: Any) -> Any:
        import pathlib
        import time

        pathlib.Path(name).touch()
        time.sleep(30)
        yield

    with pytest.raises(Cancelled):
        engine.stage(job(tmp_path, stuck, in_driver=False, cancelled=started.exists))
    assert engine.stage(job(tmp_path, numbers(), in_driver=False))[0].rows == 3000


def test_jobs_of_several_threads_do_not_mix(engine: Engine, tmp_path: Path) -> None:
    """One is cancelled, the other goes on."""
    results: list[Any] = []
    going = threading.Thread(
        target=lambda: results.extend(engine.stage(job(tmp_path / "goes-on", numbers(), count=3, in_driver=False)))
    )
    going.start()
    late = time.monotonic() + 60
    with contextlib.suppress(Cancelled):
        engine.stage(
            job(
                tmp_path / "stops",
                endless(),
                in_driver=False,
                cancelled=lambda: not going.is_alive() or time.monotonic() > late,
            )
        )
    going.join()
    assert [file.rows for file in results] == [3000] * 3
    assert staged(tmp_path / "stops") == []


def test_an_unwritable_folder_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "staged").write_text("in the way")
    with pytest.raises(DestinationError, match=r"staged/0a-1-2"):
        engine.stage(job(tmp_path, numbers(), in_driver=False))


def test_settings_leave_tasks_room_to_fail(spark: SparkSession) -> None:
    assert spark.conf.get("spark.master") == "local[2,4]"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
