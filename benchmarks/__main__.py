"""`python -m benchmarks`: one run that measures everything, side by side."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.database import SETTINGS, Database, running
from benchmarks.measure import Bench
from benchmarks.parts import PARTS, place
from benchmarks.report import Figure, as_json, as_table


def main() -> int:
    options = _arguments()
    bench = Bench(options.tries, options.lock)
    figures: list[Figure] = []
    with running(options.rows) as database, tempfile.TemporaryDirectory(prefix="seamark-bench-") as folder:
        _make_ready()
        facts = _facts(options, database)
        with place(bench, database, Path(folder)) as at:
            for name in options.parts:
                print(f"{name}:", file=sys.stderr, flush=True)
                figures += PARTS[name](at)
    print(json.dumps(as_json(facts, figures), indent=2) if options.json else as_table(facts, figures))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the Postgres table (default: 5000000)")
    parser.add_argument("--tries", type=int, default=3, help="how often each thing is measured (default: 3)")
    parser.add_argument("--parts", type=_parts, default=list(PARTS), help=f"of {','.join(PARTS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--lock", type=Path, help="hold this file locked while measuring, where others measure, too")
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    wanted = text.split(",")
    if unknown := set(wanted) - set(PARTS):
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(sorted(unknown))}")
    return [name for name in PARTS if name in wanted]


def _make_ready() -> None:
    """What every run but the first on a machine finds: compiled modules and the class-data archive."""
    import compileall
    import sysconfig

    from seamark.config.spark import SparkOptions
    from seamark.engine.training import make_archive

    for folder in (sysconfig.get_paths()["purelib"], str(Path(__file__).parent.parent / "src")):
        compileall.compile_dir(folder, quiet=2)
    make_archive(SparkOptions(master="local[2]", memory="512m", java_home=os.environ.get("JAVA_HOME")))


def _facts(options: argparse.Namespace, database: Database) -> dict[str, Any]:
    load = os.getloadavg()[0]
    return {
        "rows": options.rows,
        "megabytes": round(database.size() / 1e6),
        "tries": options.tries,
        "cores": os.cpu_count(),
        "load average before": round(load, 2),
        "python": platform.python_version(),
        "postgres": database.version(),
        "postgres settings": ", ".join(f"{name}={value}" for name, value in SETTINGS.items() if value),
    }


if __name__ == "__main__":
    raise SystemExit(main())
