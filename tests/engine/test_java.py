"""Which Java is taken, and what is said when none fits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seamark.engine import java
from seamark.engine.java import find_java
from seamark.errors import EngineError

ECHO = '#!/bin/sh\nfor argument; do echo "$argument"; done\n'


def runtime(home: Path, version: str, modules: str = f"java.base {java.VECTOR_MODULE}") -> Path:
    """A folder that looks like a Java of that version; its `java` prints its arguments."""
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text(ECHO)
    (home / "bin/java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java but what a test puts there."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java, "_USUAL_PLACES", (f"{tmp_path}/usual/*",))
    monkeypatch.setattr(java, "_wheel", lambda: None)


def test_the_chosen_one_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, other = runtime(tmp_path / "a", "17.0.1"), runtime(tmp_path / "b", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(other))
    assert find_java(str(chosen), tmp_path).home == chosen
    assert find_java(None, tmp_path).home == other


def test_a_java_that_spark_does_not_run_on_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path / "new", "25")))
    monkeypatch.setenv("PATH", str(runtime(tmp_path / "old", "11.0.2") / "bin"))
    fits = runtime(tmp_path / "usual/jdk-21", "21.0.4")
    assert find_java(None, tmp_path).home == fits


def test_none_that_fits_says_what_there_is_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError, match="there is none"):
        find_java(None, tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path / "new", "25")))
    with pytest.raises(EngineError, match=r"there is only 25 in .*/new") as caught:
        find_java(None, tmp_path)
    assert "seamark[java]" in caught.value.hint


def test_a_wrong_choice_is_an_error_not_a_fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path / "good", "17.0.1")))
    with pytest.raises(EngineError, match="no bin/java"):
        find_java(str(tmp_path / "nothing"), tmp_path)
    with pytest.raises(EngineError, match=r"which is Java 11\.0\.2"):
        find_java(str(runtime(tmp_path / "old", "11.0.2")), tmp_path)


def test_a_slim_runtime_is_wrapped(tmp_path: Path) -> None:
    home = runtime(tmp_path / "it's slim", "21.0.8", modules="java.base java.sql")
    found = find_java(str(home), tmp_path / "cache")
    assert found.home != home
    arguments = ["-cp", "a b", f"--add-modules={java.VECTOR_MODULE}", "", "*", "-Dx='y'"]
    printed = subprocess.run([found.executable, *arguments], capture_output=True, text=True, check=True).stdout
    assert printed.split("\n")[:-1] == ["-cp", "a b", "", "*", "-Dx='y'"]
    assert find_java(str(home), tmp_path / "cache") == found


def test_the_wheel_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_wheel", lambda: runtime(tmp_path / "wheel", "21.0.8"))
    found = find_java(None, tmp_path)
    assert found.bundled
    assert found.home == tmp_path / "wheel"
