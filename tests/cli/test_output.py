from __future__ import annotations

import json

import pytest

from seamark.cli.output import facts, json_document, table


def test_a_piped_table_is_plain_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    table(("stream", ">rows", "bookmark"), [("orders", "12,345", "2026-03-01T10:00:00Z"), ("é", "7", "-")])
    assert capsys.readouterr().out.splitlines() == [
        "stream    rows  bookmark",
        "orders  12,345  2026-03-01T10:00:00Z",
        "é            7  -",
    ]


def test_a_piped_value_is_never_wrapped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table(("bookmark", "b"), [("x" * 300, "y")])
    assert "x" * 300 + "  y" in capsys.readouterr().out


def test_a_value_cannot_move_the_cursor_or_break_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    table(("bookmark",), [("a\nb\x1b[2Jc",)])
    facts([("bookmark", "\x1b]0;owned\x07")])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"a\nb\x1b[2Jc" in out
    assert len(out.splitlines()) == 3


def test_a_document_for_programs_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    json_document({"name": "Zoë", "rows": (1, 2), "raw": b"\x00\xff"})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"name": "Zoë", "rows": [1, 2], "raw": "00ff"}
