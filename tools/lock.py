"""Writes requirements.lock, or checks that it fits pyproject.toml (docs/adr/0001-lock-without-hosts.md).

`python tools/lock.py write` resolves anew, keeping the pins that still fit; `--upgrade` takes the newest of everything.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

LOCK = Path("requirements.lock")
PYPROJECT = Path("pyproject.toml")


def digest() -> str:
    """Names what is asked for: the tables of pyproject.toml that decide which packages there are."""
    facts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    project = facts["project"]
    asked = [
        project["requires-python"],
        sorted(project["dependencies"]),
        {name: sorted(group) for name, group in project.get("optional-dependencies", {}).items()},
        {name: sorted(map(str, group)) for name, group in facts.get("dependency-groups", {}).items()},
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def write(arguments: list[str]) -> int:
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-emit-index-url"]
    command += ["--no-emit-find-links", "--no-header", "--all-extras", "--group", "dev", *arguments, str(PYPROJECT)]
    done = subprocess.run([*command, "-o", str(LOCK)], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        return done.returncode
    header = f"# Made by `make lock` from pyproject.toml; do not edit.\n# pyproject: {digest()}\n"
    pins = re.sub(r"\A(#.*\n)+", "", LOCK.read_text(encoding="utf-8"))
    LOCK.write_text(header + pins, encoding="utf-8")
    return check()


def check() -> int:
    text = LOCK.read_text(encoding="utf-8")
    if f"# pyproject: {digest()}\n" not in text:
        print("requirements.lock does not fit the dependencies of pyproject.toml: run `make lock`", file=sys.stderr)
        return 1
    if hosts := sorted(set(re.findall(r"\w+://[^\s/]+", text))):
        print(f"requirements.lock names hosts ({', '.join(hosts)}); it must not", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(write(sys.argv[2:]) if sys.argv[1:2] == ["write"] else check())
