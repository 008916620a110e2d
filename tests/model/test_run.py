from __future__ import annotations

import json

from seamark.model.run import RunResult, StreamResult


def test_a_result_is_the_documented_json() -> None:
    stream = StreamResult("orders", rows=2, bytes=30, checkpoints=1, low="3", high="7")
    result = RunResult("shop", "r1", "succeeded", (stream,), state_version=4, seconds=1.23456, spark_started=False)
    assert json.loads(json.dumps(result.to_json())) == {
        "pipeline": "shop",
        "run_id": "r1",
        "status": "succeeded",
        "streams": [{"name": "orders", "rows": 2, "bytes": 30, "checkpoints": 1, "from": "3", "to": "7"}],
        "state_version": 4,
        "seconds": 1.235,
        "spark_started": False,
    }


def test_a_failed_result_says_why() -> None:
    result = RunResult("shop", "r1", "failed", (), state_version=4, seconds=0, spark_started=False, error="no route")
    assert result.to_json()["error"] == "no route"
