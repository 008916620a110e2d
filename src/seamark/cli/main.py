"""The entry point of `seamark`. Imports as little as it can before it knows what is asked for."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence

from seamark import __version__


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit status."""
    _print_anything()
    if list(arguments) == ["--version"]:
        sys.stdout.write(f"seamark {__version__}\n")
        return 0
    try:
        from seamark.cli.root import execute

        return execute(arguments)
    except KeyboardInterrupt:
        return 130


def _print_anything() -> None:
    """A character that the terminal's encoding lacks must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
