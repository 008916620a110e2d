"""The parts of the benchmark. Each measures Seamark and what it is compared with by turns, and gives figures."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import ordinary, project
from benchmarks.database import Changes, Database
from benchmarks.measure import Bench, Timing, process, timed
from benchmarks.project import BenchProject
from benchmarks.report import Figure, Target

SETTLED_SECONDS = 3.0
"""A mark that is safe lags the newest row by up to two seconds; waiting for it is no work and is not measured."""
LOAD_COPY = Target(1.6)
LOAD_JDBC = Target(2.0, at_least=True)
MERGE = Target(1.3)
IDLE = Target(1.0)
SMALL_RUN = Target(0.5)
WORKER = Target(500)
COMMAND = Target(0.5)


class Side:
    """A process that keeps Spark up and does one thing after the other."""

    def __init__(self, log: Path) -> None:
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_into, initargs=(str(log),))

    def __call__(self, function: Callable[..., Any], *arguments: object) -> Any:
        return self._pool.submit(function, *arguments).result()

    def close(self) -> None:
        self._pool.shutdown()


def _into(log: str) -> None:
    """What Spark prints goes to a file."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)


@dataclass(frozen=True)
class Place:
    """What all parts work with."""

    bench: Bench
    database: Database
    folder: Path
    project: BenchProject
    seamark: Side
    plain: Side


@contextmanager
def place(bench: Bench, database: Database, folder: Path) -> Iterator[Place]:
    """Both sides with Spark up, and each with one load of a small table behind it."""
    work = BenchProject(folder / "project", {"type": "postgres", "url": database.url})
    seamark, plain = Side(folder / "seamark.log"), Side(folder / "plain.log")
    try:
        work.pipeline("warmup", "public.warmup")
        with bench.alone():
            seamark(project.run_warm, work.folder, "warmup")
            plain(ordinary.start)
            plain(ordinary.warm_up, database.url, str(folder / "plain" / "warmup"))
        yield Place(bench, database, folder, work, seamark, plain)
    finally:
        seamark(project.close, work.folder)
        seamark.close()
        plain.close()


def full_load(at: Place) -> list[Figure]:
    """COPY, Seamark and Spark JDBC over the same table; the last copies stay for the other parts."""
    peaks: list[int] = []

    def seamark(number: int) -> float:
        name = at.project.pipeline(f"orders_{number}", "public.orders")
        result = at.seamark(project.run_warm, at.project.folder, name)
        assert result["rows"] == at.database.rows, result
        peaks.extend(at.seamark(project.worker_peaks))
        at.project.drop(f"orders_{number - 1}")
        return float(result["seconds"])

    def jdbc(number: int) -> float:
        table = at.folder / "plain" / f"orders_{number}"
        shutil.rmtree(at.folder / "plain" / f"orders_{number - 1}", ignore_errors=True)
        return float(at.plain(ordinary.load, at.database.url, str(table), at.database.rows))

    def cold(number: int) -> float:
        name = at.project.pipeline(f"cold_{number}", "public.orders")
        seconds = timed(lambda: at.project.run(name))
        at.project.drop(name)
        return seconds

    times = at.bench.by_turns(
        {
            "COPY TO STDOUT": lambda _: _copy(at.database, "text"),
            "COPY TO STDOUT, binary": lambda _: _copy(at.database, "binary"),
            "Seamark full load": seamark,
            "Seamark full load, cold": cold,
            "Spark JDBC to Delta": jdbc,
        }
    )
    copy, binary, load, from_nothing, spark = times.values()
    part = "Full load"
    return [
        _figure(part, "COPY … TO STDOUT", copy),
        _figure(part, "COPY … TO STDOUT (FORMAT binary)", binary, copy, "COPY"),
        _figure(part, "Seamark, Spark already up", load, copy, "COPY", LOAD_COPY),
        _figure(part, "Seamark, a new process", from_nothing, copy, "COPY"),
        _figure(part, "Spark JDBC to Delta, Spark already up", spark, load, "Seamark", LOAD_JDBC),
        Figure(part, "largest Python worker (peak RSS)", max(peaks) / 1e6, "MB", target=WORKER),
    ]


def merge(at: Place) -> list[Figure]:
    """2 % of the table merged: half of it updates spread over the whole table, half new rows."""
    half = at.database.rows // 100
    pipeline = f"orders_{at.bench.tries - 1}"
    table, plain = at.project.table(pipeline), at.folder / "plain" / pipeline
    changed, bare = at.folder / "changes.parquet", at.folder / "bare"
    phases: list[dict[str, float]] = []

    def prepare(_: int) -> None:
        changes = at.database.change(half, half)
        write_changes(at.database, changes, changed)
        copy_table(table, bare)
        time.sleep(SETTLED_SECONDS)

    def seamark(_: int) -> float:
        result = at.seamark(project.run_warm, at.project.folder, pipeline)
        assert result["rows"] == 2 * half, result
        phases.append(result["phases"])
        return float(result["seconds"])

    def statement(_: int) -> float:
        return float(at.seamark(project.bare_merge, bare, changed, ordinary.merge_statement(str(bare))))

    def defaults(_: int) -> float:
        return float(at.plain(ordinary.merge, str(plain), str(changed)))

    contestants = {"Seamark merge": seamark, "bare MERGE": statement, "bare MERGE, defaults": defaults}
    # The first ones compile what they need, and Seamark's turns deletion vectors on.
    at.bench.by_turns(contestants, prepare, tries=1)
    phases.clear()
    times = at.bench.by_turns(contestants, prepare)
    run, same, plainly = times.values()
    part = f"Merge of {2 * half:,} changed rows, Spark already up"
    return [
        _figure(part, "bare MERGE INTO, same settings", same),
        _figure(part, "Seamark, the whole run", run, same, "bare MERGE", MERGE, note=_spent(phases)),
        _figure(part, "bare MERGE INTO, Spark's and Delta's defaults", plainly, same, "bare MERGE"),
    ]


def no_change(at: Place) -> list[Figure]:
    """A run that finds nothing, as a process."""
    pipeline = f"orders_{at.bench.tries - 1}"
    time.sleep(SETTLED_SECONDS)
    at.project.run(pipeline)

    def idle(_: int) -> float:
        results: list[dict[str, Any]] = []
        seconds = timed(lambda: results.append(at.project.run(pipeline)))
        assert results[0]["status"] == "skipped", results
        assert not results[0]["spark_started"], results
        return seconds

    times = at.bench.by_turns({"Seamark, nothing new": idle}, tries=2 * at.bench.tries + 1)
    return [_figure("No-change run, a new process", "Seamark, no JVM", times["Seamark, nothing new"], target=IDLE)]


def small_run(at: Place, rows: int = 1000) -> list[Figure]:
    """A thousand rows merged by a process that starts from nothing."""
    pipeline = f"orders_{at.bench.tries - 1}"
    plain = at.folder / "plain" / pipeline
    since = ""

    def prepare(_: int) -> None:
        nonlocal since
        since = at.database.change(rows // 2, rows // 2).since
        time.sleep(SETTLED_SECONDS)

    def seamark(_: int) -> float:
        results: list[dict[str, Any]] = []
        seconds = timed(lambda: results.append(at.project.run(pipeline)))
        assert results[0]["streams"][0]["rows"] == rows, results
        return seconds

    def defaults(_: int) -> float:
        command = [sys.executable, "-m", "benchmarks.ordinary", at.database.url, since, str(plain)]
        return timed(lambda: process(command, Path.cwd()))

    times = at.bench.by_turns({"Spark and Delta by default, cold": defaults, "Seamark, cold": seamark}, prepare)
    default, ours = times.values()
    part = f"Small incremental run ({rows:,} rows merged), a new process"
    return [
        _figure(part, "Spark JDBC and MERGE, defaults", default),
        _figure(part, "Seamark", ours, default, "defaults", SMALL_RUN),
    ]


def sqlite_load(at: Place, rows: int = 200_000) -> list[Figure]:
    """A first load from SQLite, beside the time that Python's own driver takes to read the rows."""
    file = at.folder / "shop.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, status TEXT, note TEXT)")
        values = ((n, n * 7919 % 25000, "shipped", f"{n:024x}") for n in range(1, rows + 1))
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", values)
    connection.close()
    shop = BenchProject(at.folder / "sqlite", {"type": "sqlite", "path": str(file)})

    def read(_: int) -> float:
        with sqlite3.connect(file) as connection:
            return timed(connection.execute("SELECT * FROM orders").fetchall)

    def cold(number: int) -> float:
        return timed(lambda: shop.run(shop.pipeline(f"shop_{number}", "orders", cursor="id")))

    times = at.bench.by_turns({"SQLite, fetchall": read, "Seamark from SQLite, cold": cold})
    part = f"First load of {rows:,} rows from SQLite, a new process"
    return [
        _figure(part, "sqlite3, fetchall()", times["SQLite, fetchall"]),
        _figure(part, "Seamark", times["Seamark from SQLite, cold"]),
    ]


def commands(at: Place) -> list[Figure]:
    tries = 2 * at.bench.tries + 1
    times = at.bench.by_turns(
        {
            "seamark --version": lambda _: timed(lambda: at.project.command("--version")),
            "seamark status": lambda _: timed(lambda: at.project.command("status")),
        },
        tries=tries,
    )
    return [_figure("Start of the command line", name, timing, target=COMMAND) for name, timing in times.items()]


PARTS: dict[str, Callable[[Place], list[Figure]]] = {
    "load": full_load,
    "merge": merge,
    "idle": no_change,
    "small": small_run,
    "sqlite": sqlite_load,
    "commands": commands,
}
"""In this order: `merge`, `idle` and `small` go on with the tables that `load` made."""


def write_changes(database: Database, changes: Changes, file: Path) -> None:
    """The changed rows as Parquet, for statements that read nothing else."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from adbc_driver_postgresql import dbapi

    query = "SELECT id, customer, status, amount::text AS amount, note, updated_at FROM orders WHERE updated_at >= "
    with dbapi.connect(database.url) as connection, connection.cursor() as cursor:
        cursor.execute(f"{query}'{changes.since}'")
        rows = cursor.fetch_arrow_table()
    assert rows.num_rows == changes.rows, rows.num_rows
    amounts = rows.column("amount").cast(pa.decimal128(12, 2))
    pq.write_table(rows.set_column(rows.schema.get_field_index("amount"), "amount", amounts), file, compression="zstd")


def copy_table(table: Path, target: Path) -> None:
    """A Delta table once more: its data files are never written to again, so that links do for them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(table, target, copy_function=os.link, ignore=shutil.ignore_patterns("_delta_log"))
    shutil.copytree(table / "_delta_log", target / "_delta_log")


def _copy(database: Database, form: str) -> float:
    command = ["psql", database.url, "-qc", f"COPY orders TO STDOUT (FORMAT {form})"]
    return timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))


def _figure(
    part: str,
    what: str,
    timing: Timing,
    base: Timing | None = None,
    of: str = "",
    target: Target | None = None,
    note: str = "",
) -> Figure:
    ratio = timing.median / base.median if base is not None else None
    return Figure(part, what, timing.median, "s", ratio, of, target, timing.tries, note)


def _spent(phases: list[dict[str, float]]) -> str:
    """Where the time of the last run went."""
    return "of the last, " + ", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in phases[-1].items())
