"""A project folder to run the real command line in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


class Project:
    """A folder with pipeline files. `run` starts the real `seamark` there in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "seamark.yaml").touch()

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def pipeline(self, name: str, source: Mapping[str, Any], streams: Any, **rest: Any) -> Path:
        """Write pipelines/<name>.yaml; the destination is Delta tables under ./lake unless `rest` says otherwise."""
        facts = {
            "pipeline": name,
            "source": dict(source),
            "destination": {"type": "delta", "path": "./lake"},
            "streams": streams,
        }
        return self.write(f"pipelines/{name}.yaml", yaml.safe_dump(facts | rest, sort_keys=False, allow_unicode=True))

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """`seamark …` in the background, its output in pipes."""
        return subprocess.Popen(
            [sys.executable, "-m", "seamark.cli.main", *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, timeout: float = 240, **environment: str) -> Finished:
        """`seamark …` to its end; keyword arguments in capitals are environment variables."""
        process = self.start(*arguments, **environment)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"seamark {' '.join(arguments)} not done within {timeout:g} s:\n{err}") from None
        return Finished(arguments, process.returncode, out, err)


class Finished:
    """What a command left: its status (negative: the signal that killed it) and output."""

    def __init__(self, arguments: tuple[str, ...], status: int, out: str, err: str) -> None:
        self.arguments = arguments
        self.status = status
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> Finished:
        """Itself, if it ended well."""
        assert self.status == 0, repr(self)
        return self

    def __repr__(self) -> str:
        return f"seamark {' '.join(self.arguments)}: status {self.status}\n{self.out}\n{self.err}"
