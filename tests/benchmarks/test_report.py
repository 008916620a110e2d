"""What the benchmark says of its figures."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measure import Bench
from benchmarks.parts import copy_table
from benchmarks.report import Figure, Target, as_json, as_table

LOAD = Figure("Load", "Seamark", 4.5, ratio=1.5, of="COPY", target=Target(1.6))
SLOW = Figure("Load", "JDBC", 6.0, ratio=1.3, of="Seamark", target=Target(2, at_least=True))


def test_a_target_is_held_against_the_ratio_where_there_is_one() -> None:
    assert LOAD.met
    assert not SLOW.met
    assert Figure("Idle", "no change", 0.4, target=Target(1)).met
    assert Figure("Load", "COPY", 3.0).met is None


def test_the_table_says_what_was_missed() -> None:
    lines = as_table({"rows": 10}, [LOAD, SLOW]).splitlines()
    assert [line.split()[-1] for line in lines if "Seamark " in line or "JDBC" in line] == ["met", "MISSED"]
    assert "rows: 10" in lines


def test_the_json_document_holds_facts_and_figures() -> None:
    document = json.loads(json.dumps(as_json({"rows": 10}, [LOAD])))
    assert document["rows"] == 10
    assert document["figures"][0]["met"]
    assert document["figures"][0]["target"] == "<= 1.6"


def test_contestants_take_turns_and_every_second_turn_goes_backwards() -> None:
    order: list[tuple[str, int]] = []

    def contestant(name: str) -> object:
        return lambda number: order.append((name, number)) or 1.0

    times = Bench(tries=2).by_turns({"a": contestant("a"), "b": contestant("b")})  # type: ignore[dict-item]
    assert order == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]
    assert times["a"].median == 1.0


def test_a_copy_of_a_table_can_be_written_to_without_its_original_knowing(tmp_path: Path) -> None:
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    (log / "_last_checkpoint").write_text("10")
    (tmp_path / "table" / "part.parquet").write_text("rows")
    copy_table(tmp_path / "table", tmp_path / "copy")
    (tmp_path / "copy" / "_delta_log" / "_last_checkpoint").write_text("20")
    assert (log / "_last_checkpoint").read_text() == "10"
    assert (tmp_path / "copy" / "part.parquet").read_text() == "rows"
