"""`seamark run` and what looks at its results, as real processes on SQLite. Small append windows start no JVM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.cli.events import add_events, pipeline
from tests.projects import Project

LATEST = 30.0


def wait_for(condition: Any, what: str) -> None:
    deadline = time.monotonic() + LATEST
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.05)


def test_the_result_has_the_shape_that_programs_rely_on(events: Project) -> None:
    done = events.run("run", "--json").ok()
    result = done.json
    assert done.out.count("\n") == 1
    assert done.err == ""
    run_id, seconds = result.pop("run_id"), result.pop("seconds")
    assert run_id
    assert 0 < seconds < 60
    (stream,) = result["streams"]
    assert stream.pop("bytes") > 0
    assert stream.pop("to") == "4"
    assert result == {
        "pipeline": "shop",
        "status": "succeeded",
        "streams": [{"name": "events", "rows": 3, "checkpoints": 1, "from": None}],
        "state_version": result["state_version"],
        "spark_started": False,
    }


def test_a_run_with_nothing_new_is_skipped_and_starts_no_spark(events: Project) -> None:
    events.run("run").ok()
    result = events.run("run", "--json").ok().json
    assert (result["status"], result["spark_started"]) == ("skipped", False)
    assert result["streams"][0]["rows"] == 0


def test_people_read_the_result_on_stdout_and_progress_on_stderr(events: Project) -> None:
    done = events.run("run").ok()
    assert done.out.startswith("shop: succeeded in ")
    assert "events     3" in done.out
    assert done.err.splitlines()[0] == "shop: 1 of 1 stream to run, about 3 rows"
    assert "events: reading" in done.err
    assert "\x1b" not in done.out + done.err
    assert events.run("run").ok().out.startswith("shop: nothing to do in ")


def test_quiet_says_nothing_but_the_result(events: Project) -> None:
    assert events.run("run", "--quiet").ok().err == ""


def test_several_pipelines_run_in_turn_and_give_an_array(events: Project) -> None:
    pipeline(events, "second")
    results = events.run("run", "--json").ok().json
    assert [(result["pipeline"], result["status"]) for result in results] == [
        ("second", "succeeded"),
        ("shop", "succeeded"),
    ]
    assert events.run("run", "shop", "--json").ok().json["pipeline"] == "shop"


def test_one_pipeline_that_fails_does_not_stop_the_others(events: Project) -> None:
    pipeline(events, "broken", table="nowhere")
    done = events.run("run", "--json")
    assert done.status == 1
    assert [result["status"] for result in done.json] == ["failed", "succeeded"]
    assert "nowhere" in done.json[0]["error"]
    assert done.err.splitlines()[0].startswith("error: ")


def test_a_wrong_file_is_wrong_configuration_with_file_and_line(events: Project) -> None:
    events.write("pipelines/shop.yaml", "pipeline: shop\nsorce: {type: sqlite}\n")
    done = events.run("run", "--json")
    assert done.status == 2
    result = done.json
    assert (result["pipeline"], result["status"], result["streams"]) == ("shop", "failed", [])
    assert "pipelines/shop.yaml:2" in result["error"]
    assert "sorce" in done.err
    assert "Traceback" not in done.err


def test_an_unknown_pipeline_and_an_unknown_stream_are_wrong_usage(events: Project) -> None:
    done = events.run("run", "shap")
    assert done.status == 2
    assert "did you mean" in done.err
    done = events.run("run", "shop", "--stream", "event")
    assert done.status == 2
    assert "did you mean 'events'" in done.err


def test_streams_of_several_pipelines_are_ambiguous(events: Project) -> None:
    pipeline(events, "second")
    done = events.run("run", "--stream", "events")
    assert done.status == 2
    assert "--stream needs one pipeline" in done.err


def test_no_pipeline_at_all_says_how_to_begin(project: Project) -> None:
    done = project.run("run", "--json")
    assert done.status == 2
    assert "there is no pipeline" in json.loads(done.out)["error"]
    assert "seamark init" in done.err


def test_a_dry_run_shows_the_plan_and_changes_nothing(events: Project) -> None:
    done = events.run("run", "--dry-run").ok()
    assert "has not been loaded yet" in done.out
    assert "nothing was changed" in done.out
    plan = events.run("run", "--dry-run", "--json").ok().json
    assert plan == events.run("plan", "--json").ok().json
    assert plan["streams"][0]["runs"] is True
    assert not (events.folder / "lake-shop").exists()
    assert events.run("state", "list", "--json").ok().json == []


def test_a_preview_shows_the_first_rows_and_changes_nothing(events: Project) -> None:
    document = events.run("run", "--preview", "2", "--json").ok().json
    assert document == [{"stream": "events", "columns": ["id", "what"], "rows": [[1, "event 1"], [2, "event 2"]]}]
    shown = events.run("run", "--preview", "2").ok().out
    assert "event 1" in shown
    assert "event 3" not in shown
    assert not (events.folder / "lake-shop").exists()


def test_following_and_looking_exclude_each_other(events: Project) -> None:
    assert events.run("run", "--follow", "--dry-run").status == 2
    assert events.run("run", "--interval", "soon").status == 2


def test_a_full_refresh_reads_all_again_and_asks_nobody_without_a_terminal(events: Project) -> None:
    events.run("run").ok()
    result = events.run("run", "--full-refresh", "--json").ok().json
    assert result["streams"][0]["rows"] == 3


def test_someone_else_holding_the_lease_is_exit_status_3(events: Project) -> None:
    holder = events.start("run", SEAMARK_STOP_AT="prepare.before")
    try:
        wait_for(lambda: _is_stopped(holder.pid), "the first run stops with the lease in its hands")
        done = events.run("run", "--json")
        assert done.status == 3
        assert str(holder.pid) in done.json["error"]
        assert done.json["status"] == "failed"
        held = events.run("status").ok().out
        assert f"process {holder.pid}" in held
    finally:
        os.kill(holder.pid, signal.SIGCONT)
        holder.communicate(timeout=LATEST)
    assert holder.returncode == 0


def _is_stopped(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return stat.rpartition(")")[2].split()[0] == "T"


def test_a_killed_run_shows_in_the_status_until_the_next_one(events: Project) -> None:
    assert events.run("run", SEAMARK_CRASH_AT="publish.after").status == -signal.SIGKILL
    shown = events.run("status").ok().out
    assert "it is gone, and the next run takes over" in shown
    assert "checkpoint 1 is prepared; the next run finishes it or takes it back" in shown
    assert "events: recovering" in events.run("run").ok().err
    assert "unfinished" not in events.run("status").ok().out


def test_debug_shows_the_traceback_of_an_error(events: Project) -> None:
    assert "Traceback" not in events.run("run", "shap").err
    done = events.run("run", "--debug", "shap")
    assert "Traceback" in done.err
    assert done.status == 2


def test_an_error_that_nobody_foresaw_is_lines_and_a_document_too(events: Project) -> None:
    broken = "import seamark.app as a; a.App.run = lambda *w, **k: 1 / 0; from seamark.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", broken, "run", "--json"], cwd=events.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["pipeline"], document["status"]) == ("shop", "failed")
    assert document["error"] == "unexpected ZeroDivisionError: division by zero"
    assert "Traceback" not in done.stderr
    (log,) = (events.folder / ".seamark" / "logs").glob("error-*.log")
    assert str(log) in done.stderr
    assert "ZeroDivisionError" in log.read_text()


def follow(project: Project, *arguments: str) -> subprocess.Popen[str]:
    return project.start("run", "--follow", "--interval", "100ms", *arguments)


def test_following_runs_again_until_asked_to_stop(events: Project) -> None:
    process = follow(events, "--json")
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    assert (first["status"], first["streams"][0]["rows"]) == ("succeeded", 3)
    add_events(events, 4)
    results = []
    while not results or results[-1]["status"] != "succeeded":
        results.append(json.loads(process.stdout.readline()))
    assert results[-1]["streams"][0]["rows"] == 1
    assert {result["status"] for result in results[:-1]} <= {"skipped"}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LATEST)
    assert "stopping after the current checkpoint; press again to end at once" in err
    assert process.returncode in (0, 1)


def test_following_refreshes_only_once(events: Project) -> None:
    events.run("run").ok()
    process = follow(events, "--full-refresh", "--json")
    assert process.stdout is not None
    results = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LATEST)
    assert [result["streams"][0]["rows"] for result in results] == [3, 0, 0]


def test_asked_to_stop_while_it_waits_it_ends_well_and_at_once(events: Project) -> None:
    process = events.start("run", "--follow", "--interval", "10m", "--json")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=LATEST)
    assert (process.returncode, out) == (0, "")


def test_sigterm_stops_as_ctrl_c_does(events: Project) -> None:
    process = follow(events, "--json")
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    _, err = process.communicate(timeout=LATEST)
    assert "stopping" in err
    assert "Traceback" not in err


def test_ctrl_c_in_a_run_ends_it_with_status_1_and_the_next_one_goes_on(events: Project) -> None:
    process = events.start("run", "--json", SEAMARK_STOP_AT="stage.before")
    wait_for(lambda: _is_stopped(process.pid), "the run stops before it stages")
    process.send_signal(signal.SIGINT)
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=LATEST)
    assert process.returncode == 1
    assert json.loads(out)["status"] == "failed"
    assert "stopping after the current checkpoint" in err
    assert "Traceback" not in err
    result = events.run("run", "--json").ok().json
    assert result["streams"][0]["rows"] == 3


def test_a_second_ctrl_c_ends_at_once(events: Project) -> None:
    process = events.start("run", SEAMARK_STOP_AT="commit.before")
    wait_for(lambda: _is_stopped(process.pid), "the run stops before it commits")
    # Both are pending when it goes on; the first asks, the second ends.
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=LATEST)
    assert process.returncode == 130
    recovered = events.run("run", "--json").ok().json
    assert recovered["status"] in ("succeeded", "skipped")
    assert events.run("state", "show", "--json").ok().json["streams"]["events"]["rows_total"] == 3


def test_status_state_and_history_after_a_run(events: Project) -> None:
    run_id = events.run("run", "--json").ok().json["run_id"]
    (status,) = events.run("status", "--json").ok().json
    assert status["last_run"]["run_id"] == run_id
    assert status["last_run"]["status"] == "succeeded"
    state = events.run("state", "show", "shop", "--json").ok().json
    assert list(state) == ["pipeline", "version", "epoch", "streams"]
    (bookmark,) = state["streams"]["events"]["bookmarks"]
    assert list(bookmark) == ["partition", "value", "updated_at", "run_id"]
    assert (bookmark["partition"], bookmark["value"], bookmark["run_id"]) == ({}, "4", run_id)
    (entry,) = events.run("state", "history", "shop", "--json").ok().json
    assert (entry["from"], entry["to"], entry["rows"]) == (None, "4", 3)
    (known,) = events.run("state", "list", "--json").ok().json
    assert known["pipeline"] == "shop"
    for command in (("status",), ("state", "show"), ("state", "history"), ("state", "list"), ("pipelines",)):
        out = events.run(*command).ok().out
        assert "shop" in out or "events" in out
        assert "\x1b" not in out
        assert not set("│─╭") & set(out)


def test_a_pipeline_may_be_named_by_its_file_from_anywhere(events: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path / "elsewhere")
    result = elsewhere.run("run", str(events.folder / "pipelines" / "shop.yaml"), "--json").ok().json
    assert result["pipeline"] == "shop"
    for words in (("--project", str(events.folder), "status"), ("status", f"--project={events.folder}")):
        assert elsewhere.run(*words, "--json").ok().json[0]["version"] > 0


def test_discover_lists_tables_and_writes_streams(events: Project) -> None:
    (table,) = events.run("discover", "--json").ok().json
    assert (table["table"], table["key"]) == ("events", ["id"])
    assert "events" in events.run("discover", "--columns").ok().out
    proposed = events.run("discover", "--yaml").ok().out
    file = (events.folder / "pipelines/shop.yaml").read_text().split("streams:")[0]
    events.write("pipelines/shop.yaml", f"{file}{proposed}")
    (stream,) = events.run("plan", "--json").ok().json["streams"]
    assert (stream["name"], stream["mode"], stream["cursor"]) == ("events", "append", "id")


def test_check_finds_a_healthy_pipeline_in_order(events: Project) -> None:
    findings = events.run("check", "--json").ok().json
    assert {finding["pipeline"] for finding in findings} == {"shop"}
    assert "error" not in {finding["level"] for finding in findings}
    assert events.run("check").ok().out.startswith("shop\n")


def test_check_finds_what_is_missing(events: Project) -> None:
    pipeline(events, "broken", table="nowhere")
    done = events.run("check", "broken", "--json")
    assert done.status == 1
    assert "nowhere" in str(done.json)


def test_pipelines_that_cannot_be_read_are_listed_with_the_reason(events: Project) -> None:
    events.write("pipelines/bad.yaml", "pipeline: bad\n")
    done = events.run("pipelines", "--json")
    assert done.status == 2
    problems = {listing["pipeline"]: listing["problem"] for listing in done.json}
    assert problems["shop"] is None
    assert "source" in problems["bad"]
    done = events.run("status")
    assert done.status == 2
    assert "shop" in done.out


def test_doctor_looks_at_the_machine(events: Project) -> None:
    done = events.run("doctor", "--json")
    assert done.status in (0, 1)
    assert {"level", "subject", "message", "fix"} <= set(done.json[0])


def test_connectors_are_listed_without_a_project(tmp_path: Path) -> None:
    listed = Project(tmp_path / "bare").run("connectors", "--json").ok().json
    assert {("source", "sqlite"), ("source", "postgres"), ("destination", "delta")} <= {
        (c["role"], c["type"]) for c in listed
    }
    assert [c["problem"] for c in listed if c["problem"]] == []
