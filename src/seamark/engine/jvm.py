"""The driver's JVM as a child process: quiet, and gone when we are."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seamark.engine.failure import without_credentials
from seamark.errors import Cancelled, EngineError

POLL_SECONDS = 0.02
KEPT_LOGS = 20


@dataclass(frozen=True)
class Jvm:
    """A running JVM that Python can talk to. `scratch` holds all its temporary files."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str
    scratch: Path
    log: Path

    def kill(self) -> None:
        """End it at once. Python workers end by themselves when their end of the pipe closes."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def leave(self, seconds: float) -> None:
        """Let it end in order: it does so when its standard input closes."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()


def new_scratch() -> Path:
    """A folder for the JVM's temporary files, readable by us alone."""
    return Path(tempfile.mkdtemp(prefix="seamark-spark-"))


def new_log(folder: Path) -> Path:
    """A fresh log file under `folder`; the oldest go."""
    logs = folder / "logs"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for old in sorted(logs.glob("spark-*.log"))[: -KEPT_LOGS + 1]:
            old.unlink(missing_ok=True)
        log = logs / f"spark-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.log"
        log.touch(mode=0o600)
    except OSError as error:
        raise EngineError(
            f"Spark's log can't be written to {logs}: {error.strerror}", "let the user that runs Seamark write there"
        ) from error
    return log


def start_jvm(
    spark_home: Path,
    settings: Mapping[str, str],
    environment: Mapping[str, str],
    scratch: Path,
    log: Path,
    abandoned: Callable[[], bool],
) -> Jvm:
    """Start it as `spark-submit` does and wait until it can be talked to.

    Its standard input is a pipe from us: Spark's gateway ends when that closes, however we end. Settings travel in a
    file of our own, because a command line can be read by everyone on the machine.
    """
    properties, answer = scratch / "spark.properties", scratch / "gateway"
    properties.write_text(_properties(settings), encoding="utf-8")
    command: list[str | Path] = [
        spark_home / "bin" / "spark-submit",
        "--properties-file",
        properties,
        "--load-spark-defaults",
    ]
    environment = {
        **os.environ,
        **environment,
        "SPARK_HOME": str(spark_home),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer),
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "pyspark-shell"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
            # Ctrl-C reaches the whole process group; what it means for Spark is ours to decide.
            preexec_fn=_ignore_interrupts,
        )
    try:
        while not answer.exists():
            if process.poll() is not None:
                raise EngineError(
                    f"Spark's JVM ended with status {process.returncode} while starting: {last_words(log)}",
                    f"its log is {log}",
                )
            if abandoned():
                raise Cancelled("Spark was no longer needed while it started")
            time.sleep(POLL_SECONDS)
        port, secret = _read_answer(answer)
    except BaseException:
        process.kill()
        process.wait()
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Jvm(process, port, secret, scratch, log)


def last_words(log: Path) -> str:
    """The lines of the log that most likely say what went wrong."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()[-200:] if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("rror", "xception", "ould not", "annot"))]
    return without_credentials("; ".join((telling or lines or ["it said nothing"])[:2]))


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _properties(settings: Mapping[str, str]) -> str:
    """Java's properties format."""
    escapes = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

    def escaped(text: str, more: str) -> str:
        return "".join(
            escapes.get(character, f"\\{character}" if character in more else character) for character in text
        )

    return "".join(f"{escaped(key, ' :=#!')}={escaped(value, '')}\n" for key, value in settings.items())


def _read_answer(path: Path) -> tuple[int, str]:
    """The gateway's port and secret; the file is moved into place whole."""
    content = path.read_bytes()
    port, length = struct.unpack(">ii", content[:8])
    return port, content[8 : 8 + length].decode()
