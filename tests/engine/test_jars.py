"""Delta's jars: what is asked for, kept, and said when the registry does not answer."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seamark.engine import jars
from seamark.engine.cache import cache_folder
from seamark.engine.jars import delta_jars, delta_package
from seamark.engine.java import Java, find_java
from seamark.errors import EngineError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEAMARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def java() -> Java:
    return find_java(None, cache_folder())


class Registry(ThreadingHTTPServer):
    """A Maven registry with a Delta of no contents; counts what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/maven"


class Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        organisation, name, version = delta_package().split(":")
        wanted = f"/maven/{organisation.replace('.', '/')}/{name}/{version}/{name}-{version}"
        pom = f"<project><groupId>{organisation}</groupId><artifactId>{name}</artifactId><version>{version}</version></project>"
        body = {f"{wanted}.pom": pom.encode(), f"{wanted}.jar": b"PK\x05\x06" + bytes(18)}.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body or b"")

    do_HEAD = do_GET  # noqa: N815 - the name is the library's

    def log_message(self, *arguments: Any) -> None: ...


@pytest.fixture
def registry() -> Any:
    with Registry() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_jars_are_fetched_once_also_by_many_at_once(
    cache: Path, java: Java, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mirror that Maven's settings name is asked, not the registry itself."""
    monkeypatch.setenv("HOME", str(cache.parent))
    (cache.parent / ".m2").mkdir()
    (cache.parent / ".m2/settings.xml").write_text(
        '<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors><mirror><id>m</id>'
        f"<mirrorOf>central</mirrorOf><url>{registry.url}</url></mirror></mirrors></settings>"
    )
    found: list[Any] = []
    callers = [threading.Thread(target=lambda: found.append(delta_jars(java, {}))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    (jar,), version = found[0], delta_package().rpartition(":")[2]
    assert found == [(jar,)] * 3
    assert jar.read_bytes().startswith(b"PK")
    assert len([asked for asked in registry.asked if asked.startswith("GET") and asked.endswith(f"{version}.jar")]) == 1
    registry.shutdown()
    assert delta_jars(java, {}) == (jar,)


def test_a_registry_that_does_not_answer(cache: Path, java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "_mirror", lambda: "http://127.0.0.1:9/maven")
    with pytest.raises(EngineError, match=delta_package().replace(".", r"\.")) as caught:
        delta_jars(java, {})
    assert "spark.jars.ivySettings" in caught.value.hint
    folder = cache / "jars" / delta_package().replace(":", "_")
    assert str(folder) in caught.value.hint
    assert not folder.exists()
    assert [path.name for path in folder.parent.iterdir()] == [".lock"]


def test_jars_put_into_the_folder_are_taken(cache: Path, java: Java) -> None:
    folder = cache / "jars" / delta_package().replace(":", "_")
    folder.mkdir(parents=True)
    (folder / "delta-spark.jar").touch()
    assert delta_jars(java, {}) == (folder / "delta-spark.jar",)


@pytest.mark.parametrize("key", ["spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"])
def test_a_delta_of_ones_own_is_enough(cache: Path, java: Java, key: str) -> None:
    assert delta_jars(java, {key: "/opt/delta-spark_4.1_2.13-4.4.0.jar"}) == ()
    assert not (cache / "jars").exists()


def test_settings_of_ones_own_are_used(cache: Path, java: Java, registry: Registry, tmp_path: Path) -> None:
    own = tmp_path / "ivysettings.xml"
    own.write_text(
        '<ivysettings><settings defaultResolver="own"/><resolvers>'
        f'<ibiblio name="own" m2compatible="true" root="{registry.url}"/></resolvers></ivysettings>'
    )
    assert len(delta_jars(java, {"spark.jars.ivySettings": str(own)})) == 1


def test_a_cache_that_can_not_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SEAMARK_CACHE", str(tmp_path / "file/cache"))
    with pytest.raises(EngineError, match="file/cache") as caught:
        cache_folder()
    assert "SEAMARK_CACHE" in caught.value.hint
