"""Spark's settings for a job: a pure function of what people chose, what the machine has, and how big the job is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seamark.engine.machine import Machine, driver_megabytes, retrying_master

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

SESSION = {
    "spark.sql.session.timeZone": "UTC",
    # Staged files don't change under a MERGE, so its source need not be copied first.
    "spark.databricks.delta.merge.materializeSource": "none",
}
SMALL_SESSION = {
    # Planning anew and compiling code cost more than a small job gains by it.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}
SMALL_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Compile fast rather than well, and collect in one thread: what a few seconds need."""

_JOINED = {
    "spark.driver.extraClassPath": ":",
    "spark.driver.extraJavaOptions": " ",
    "spark.jars": ",",
    "spark.sql.extensions": ",",
}
"""Settings that add up: ours first, then people's, so that theirs win where they contradict."""


@dataclass(frozen=True)
class Launch:
    """What starting the driver's JVM depends on, besides people's own settings."""

    master: str
    small: bool
    jars: tuple[Path, ...]
    log_configuration: Path
    scratch: Path
    memory: str | None = None
    archives: tuple[Path, ...] = ()
    java_options: tuple[str, ...] = ()


def spark_settings(launch: Launch, machine: Machine, conf: Mapping[str, str]) -> dict[str, str]:
    """The settings that the JVM is started with. Everything in `conf` is passed on and wins."""
    local = launch.master.startswith("local")
    settings = {
        "spark.master": retrying_master(launch.master, machine),
        "spark.app.name": "seamark",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": launch.memory or f"{driver_megabytes(machine, launch.small)}m",
        "spark.driver.extraJavaOptions": " ".join(_java_options(launch)),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        **session_settings(launch.small, machine),
    }
    if local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(launch.scratch),
        }
    if launch.jars:
        # On the class path, classes come from the class-data archive; executors elsewhere have to be sent the jars.
        key = "spark.driver.extraClassPath" if local else "spark.jars"
        settings[key] = _JOINED[key].join(map(str, launch.jars))
    return _merged(settings, conf)


def session_settings(small: bool, machine: Machine) -> dict[str, str]:
    """Settings that a session can take at any time, also over Spark Connect."""
    if small:
        return SESSION | SMALL_SESSION
    return SESSION | {
        # Spark's 200 and Delta's 50 are made for clusters and for tables of many thousands of files.
        "spark.sql.shuffle.partitions": str(max(8, 4 * machine.cores)),
        "spark.databricks.delta.snapshotPartitions": str(max(2, machine.cores)),
    }


def _java_options(launch: Launch) -> list[str]:
    options = [
        f"-Dlog4j2.configurationFile={launch.log_configuration.as_uri()}",
        f"-Djava.io.tmpdir={launch.scratch}",
        "-XX:-UsePerfData",
        *(SMALL_JVM if launch.small else ()),
    ]
    if launch.archives:
        options.append(f"-XX:SharedArchiveFile={':'.join(map(str, launch.archives))}")
    return [f'"{option}"' if " " in option else option for option in (*options, *launch.java_options)]


def _merged(settings: dict[str, str], conf: Mapping[str, str]) -> dict[str, str]:
    merged = settings | dict(conf)
    for key, separator in _JOINED.items():
        if key in settings and key in conf:
            merged[key] = f"{settings[key]}{separator}{conf[key]}"
    return merged
