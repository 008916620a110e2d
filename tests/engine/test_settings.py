"""Spark's settings, as a function of the job, the machine and what people chose."""

from __future__ import annotations

from pathlib import Path

import pytest

from seamark.engine.machine import Machine, attempts, driver_megabytes, local_tasks, retrying_master
from seamark.engine.settings import DELTA_EXTENSION, Launch, spark_settings

MACHINE = Machine(cores=2, megabytes=16_384)


def settings(
    master: str = "local[*]", small: bool = True, conf: dict[str, str] | None = None, **more: object
) -> dict[str, str]:
    launch = Launch(
        master, small, (Path("/j/delta.jar"), Path("/j/storage.jar")), Path("/l.properties"), Path("/scratch"), **more
    )  # type: ignore[arg-type]
    return spark_settings(launch, MACHINE, conf or {})


@pytest.mark.parametrize(
    ("master", "tasks", "with_retries", "tries"),
    [
        ("local", 1, "local[1,4]", 1),
        ("local[*]", 2, "local[2,4]", 1),
        ("local[7]", 7, "local[7,4]", 1),
        ("local[3,2]", 3, "local[3,2]", 2),
        ("local[*,9]", 2, "local[*,9]", 9),
        ("local-cluster[2,3,1024]", 6, "local-cluster[2,3,1024]", 4),
        ("spark://host:7077", None, "spark://host:7077", 4),
        ("yarn", None, "yarn", 4),
    ],
)
def test_masters(master: str, tasks: int | None, with_retries: str, tries: int) -> None:
    assert local_tasks(master, MACHINE) == tasks
    assert retrying_master(master, MACHINE) == with_retries
    assert attempts(master, None) == tries
    assert attempts("yarn", "7") == 7


@pytest.mark.parametrize(
    ("megabytes", "small", "large"), [(1024, 512, 512), (4096, 1024, 1024), (16_384, 1024, 7168), (99_999, 1024, 8192)]
)
def test_memory_leaves_room_for_workers_and_others(megabytes: int, small: int, large: int) -> None:
    machine = Machine(cores=2, megabytes=megabytes)
    assert (driver_megabytes(machine, True), driver_megabytes(machine, False)) == (small, large)


def test_peoples_settings_win() -> None:
    found = settings(
        memory="3g", conf={"spark.driver.memory": "5g", "spark.sql.session.timeZone": "Asia/Tokyo", "my.own": "x"}
    )
    assert found["spark.driver.memory"] == "5g"
    assert found["spark.sql.session.timeZone"] == "Asia/Tokyo"
    assert found["my.own"] == "x"
    assert settings(memory="3g")["spark.driver.memory"] == "3g"


def test_settings_that_add_up_are_added_theirs_last() -> None:
    conf = {
        "spark.sql.extensions": "org.example.X",
        "spark.driver.extraJavaOptions": "-XX:+UseZGC",
        "spark.driver.extraClassPath": "/mine.jar",
    }
    found = settings(conf=conf)
    assert found["spark.sql.extensions"] == f"{DELTA_EXTENSION},org.example.X"
    assert found["spark.driver.extraClassPath"] == "/j/delta.jar:/j/storage.jar:/mine.jar"
    assert found["spark.driver.extraJavaOptions"].endswith(" -XX:+UseZGC")


def test_small_jobs_compile_fast_and_large_ones_well() -> None:
    small, large = settings(), settings(small=False)
    assert "-XX:TieredStopAtLevel=1" in small["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel" not in large["spark.driver.extraJavaOptions"]
    assert small["spark.databricks.delta.snapshotPartitions"] == "1"
    assert "spark.sql.adaptive.enabled" not in large


def test_executors_elsewhere_are_sent_the_jars() -> None:
    found = settings("spark://host:7077", conf={"spark.jars": "/mine.jar"})
    assert found["spark.jars"] == "/j/delta.jar,/j/storage.jar,/mine.jar"
    assert "spark.driver.extraClassPath" not in found
    assert "spark.driver.host" not in found


def test_paths_with_blanks_stay_one_option() -> None:
    assert '"-XX:SharedArchiveFile=/a b.jsa"' in settings(archives=(Path("/a b.jsa"),))["spark.driver.extraJavaOptions"]
