"""What a run did: the JSON contract of `seamark run --json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class StreamResult:
    name: str
    rows: int = 0
    bytes: int = 0
    checkpoints: int = 0
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class RunResult:
    pipeline: str
    run_id: str
    status: str
    streams: tuple[StreamResult, ...]
    state_version: int
    seconds: float
    spark_started: bool
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        facts = asdict(self)
        facts["seconds"] = round(self.seconds, 3)
        facts["streams"] = [
            {("from" if key == "low" else "to" if key == "high" else key): value for key, value in stream.items()}
            for stream in facts["streams"]
        ]
        if not self.error:
            del facts["error"]
        return facts
