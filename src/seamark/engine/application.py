"""The Spark application of this process: started here, or reached over Spark Connect, or found running."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from seamark.engine import archive
from seamark.engine.cache import cache_folder
from seamark.engine.failure import without_credentials
from seamark.engine.jars import delta_jars, spark_home
from seamark.engine.java import Java, find_java
from seamark.engine.jvm import Jvm, new_log, new_scratch, start_jvm
from seamark.engine.machine import Machine, this_machine
from seamark.engine.settings import Launch, session_settings, spark_settings
from seamark.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from seamark.config.spark import SparkOptions

CONNECT_SECONDS = 20
CONNECT_PORT = 15002
LEAVE_SECONDS = 20


class Application(Protocol):
    """Something that gives sessions."""

    def session(self) -> SparkSession:
        """A new session, apart from all others but for the application they share. Never `stop()` one."""

    def stop(self) -> None: ...


class OwnApplication:
    """An application whose JVM this process started."""

    def __init__(self, jvm: Jvm, first: SparkSession, local: bool, teach: Callable[[], None]) -> None:
        self.jvm = jvm
        self._first = first
        self._local = local
        self._teach = teach

    def session(self) -> SparkSession:
        session: SparkSession = self._first.newSession()
        return session

    def stop(self) -> None:
        """A local application holds nothing that an orderly end would save, so it is killed; a cluster is told."""
        context = self._first.sparkContext
        if not self._local:
            self._first.stop()
        self.jvm.kill()
        _forget(context)
        self._teach()

    def leave(self, seconds: float) -> None:
        """Stop in order, with all that the JVM does at its end."""
        context = self._first.sparkContext
        self._first.stop()
        self.jvm.leave(seconds)
        _forget(context)


class FoundApplication:
    """An application that was running in this process before: a notebook's, an orchestrator's. It is left running."""

    def __init__(self, first: SparkSession) -> None:
        self._first = first

    def session(self) -> SparkSession:
        session: SparkSession = self._first.newSession()
        return session

    def stop(self) -> None: ...


class ConnectApplication:
    """A Spark Connect server."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        self._url = url
        self._settings = dict(settings)
        self._sessions: list[SparkSession] = []

    def session(self) -> SparkSession:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.remote(self._url)
        for key, value in self._settings.items():
            builder = builder.config(key, value)
        try:
            session: SparkSession = builder.create()
        except Exception as error:
            raise _unreachable(self._url, str(error)) from error
        self._sessions.append(session)
        return session

    def stop(self) -> None:
        while self._sessions:
            # A server that is gone has no session to end.
            with contextlib.suppress(Exception):
                self._sessions.pop().stop()


def start_application(options: SparkOptions, folder: Path, small: bool, abandoned: Callable[[], bool]) -> Application:
    """Start or reach Spark; EngineError says what stood in the way, Cancelled that it was `abandoned` meanwhile.

    To be called in a thread other than the main one: there PySpark leaves the handler of SIGINT alone, which the
    application owns.
    """
    machine = this_machine()
    if options.master.startswith("sc://"):
        return _reach(options, machine, small)
    if (running := _running_session()) is not None:
        return FoundApplication(running)
    java = find_java(options.java_home, cache_folder())
    jars = delta_jars(java, options.conf)
    known = archive.find(java, jars) if options.master.startswith("local") else ()
    try:
        return launch(options, folder, small, java, jars, abandoned, known)
    except EngineError:
        if not known:
            raise
        # An archive that the JVM should have ignored and choked on: it is made again.
        known[-1].unlink(missing_ok=True)
        return launch(options, folder, small, java, jars, abandoned)


def launch(
    options: SparkOptions,
    folder: Path,
    small: bool,
    java: Java,
    jars: tuple[Path, ...],
    abandoned: Callable[[], bool],
    known: tuple[Path, ...] = (),
    java_options: tuple[str, ...] = (),
) -> OwnApplication:
    """Start the JVM and the application in it. `known` are the class-data archives to start with."""
    local, scratch = options.master.startswith("local"), new_scratch()
    start = Launch(options.master, small, jars, LOG_CONFIGURATION, scratch, options.memory, known, java_options)
    settings = spark_settings(start, this_machine(), options.conf)
    jvm = start_jvm(spark_home(), settings, _environment(java, local), scratch, new_log(folder), abandoned)
    try:
        first = _attach(jvm, _python(options, local))
    except Exception as error:
        jvm.kill()
        raise EngineError(
            f"Spark did not start on {options.master}: {without_credentials(_first_lines(error))}",
            f"its log is {jvm.log}",
        ) from error

    def teach() -> None:
        if local and not known and not java_options:
            archive.make_in_background(java, jars)

    return OwnApplication(jvm, first, local, teach)


LOG_CONFIGURATION = Path(__file__).with_name("log4j2.properties")


def _environment(java: Java, local: bool) -> dict[str, str]:
    environment = {"JAVA_HOME": str(java.home)}
    if local:
        # Asking the name service for this machine's address can take seconds, and fail.
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return environment


def _python(options: SparkOptions, local: bool) -> str:
    """The Python of tasks: on this machine the very one that runs, since it has what readers import."""
    chosen = options.conf.get("spark.pyspark.python")
    return chosen or (sys.executable if local else os.environ.get("PYSPARK_PYTHON", "python3"))


def _attach(jvm: Jvm, python: str) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = python
    with _set(PYSPARK_GATEWAY_PORT=str(jvm.port), PYSPARK_GATEWAY_SECRET=jvm.secret):
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    try:
        context = SparkContext(gateway=gateway, conf=SparkConf(_jvm=gateway.jvm))
    except BaseException:
        _forget(None)
        raise
    # It prints a traceback when the JVM's end of the connection closes, which is how every application here ends.
    context._accumulatorServer.handle_error = _nothing_to_say  # type: ignore[method-assign]
    return SparkSession(context)


def _nothing_to_say(request: object, client_address: object) -> None: ...


@contextlib.contextmanager
def _set(**variables: str) -> Iterator[None]:
    """The environment is how PySpark is told of a JVM that runs already."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)


def _forget(context: object) -> None:
    """Let PySpark forget the JVM, so that another can be started in this process."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        # It looks up twice a second whether it should go on: not worth waiting for.
        threading.Thread(target=server.shutdown, daemon=True).start()
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None


def _running_session() -> SparkSession | None:
    """A session that someone else made in this process, if PySpark is in use here at all."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    return SparkSession(SparkContext._active_spark_context) if SparkContext._active_spark_context else None


def _reach(options: SparkOptions, machine: Machine, small: bool) -> ConnectApplication:
    """Knock before PySpark does: it would go on trying for ten minutes."""
    address = urlsplit(options.master.partition(";")[0])
    try:
        host, port = address.hostname or "", address.port or CONNECT_PORT
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _unreachable(options.master, str(error)) from error
    application = ConnectApplication(options.master, session_settings(small, machine) | options.conf)
    application.session()
    return application


def _unreachable(url: str, reason: str) -> EngineError:
    server = url.partition(";")[0].removesuffix("/")
    return EngineError(
        f"the Spark Connect server {without_credentials(server)} can't be used: {without_credentials(reason)[:500]}",
        "start it, or correct `master` under `spark`; a server on this machine without TLS is `sc://localhost:15002`",
    )


def _first_lines(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    text = str(java.toString()) if java is not None else str(error)
    return text.strip().partition("\n\tat ")[0][:1000]
