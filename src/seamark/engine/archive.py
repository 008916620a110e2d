"""Class-data archives: the classes that Spark and Delta need, parsed once and mapped into memory by later starts.

The JVM checks an archive against its own version and class path, and does without it when they differ.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from seamark.engine.cache import cache_folder
from seamark.engine.jars import spark_home
from seamark.engine.java import Java

SWITCH = "SEAMARK_CLASS_DATA"
"""`off` in this environment variable: archives are neither made nor used."""


def path_for(java: Java, jars: Sequence[Path]) -> Path:
    """Where the archive for this Java and these jars is, or would be."""
    facts = [str(java.home), java.version, *map(_identity, [spark_home() / "jars", *jars])]
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
    return cache_folder() / "classes" / f"{key}.jsa"


def _identity(path: Path) -> str:
    found = path.stat()
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def base_of(path: Path) -> Path:
    """The archive below the one at `path`, for a Java that came without."""
    return path.with_suffix(".base.jsa")


def find(java: Java, jars: Sequence[Path]) -> tuple[Path, ...]:
    """The archives to start with, in order; none when there are none yet."""
    path = path_for(java, jars)
    if os.environ.get(SWITCH) == "off" or not path.exists():
        return ()
    return (path,) if java.has_base_archive else (base_of(path), path)


def hopeless(path: Path) -> Path:
    """Exists when making the archive has failed: it is not tried after every run again."""
    return path.with_suffix(".failed")


def training(java: Java, path: Path, *options: str) -> list[str]:
    """The command that makes the archive at `path`."""
    base = () if java.has_base_archive else ("--base",)
    return [sys.executable, "-m", "seamark.engine.training", *options, *base, str(path)]


def make_in_background(java: Java, jars: Sequence[Path]) -> None:
    """Make it in a process of its own, at the lowest priority; returns at once and never fails."""
    path = path_for(java, jars)
    if os.environ.get(SWITCH) == "off" or hopeless(path).exists():
        return
    try:
        process = subprocess.Popen(
            training(java, path, "--nice"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"JAVA_HOME": str(java.home)},
        )
    except OSError:
        # The next start is no slower than this one was.
        return
    # It is meant to outlive us: nobody asks how it ended, and Python is not to warn that nobody did.
    process.returncode = 0
