from __future__ import annotations

import math
from pathlib import Path

import pytest

from seamark.config.reader import MAX_BYTES, read_file, read_text
from seamark.config.tree import ListNode, MapNode, place_of, plain
from seamark.errors import ConfigError
from tests.config.files import tree


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(ConfigError) as caught:
        read_text(text, "a.yaml")
    return caught.value.where, caught.value.message


def test_every_key_and_value_knows_its_line() -> None:
    node = tree("""
        # a comment
        a: 1

        b:
          c: [x,
              y]
          d:
            e: |
              text
    """)
    assert {key: place.line for key, place in node.key_places.items()} == {"a": 2, "b": 4}
    assert [place_of(node, *path).line for path in (("b", "c"), ("b", "c", 0), ("b", "c", 1), ("b", "d", "e"))] == [
        5,
        5,
        6,
        8,
    ]
    assert str(place_of(node, "b", "nowhere", "else")) == "a.yaml:4"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-7", -7), ("0o17", 15), ("0x1F", 31), ("010", 10), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), (".inf", math.inf),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("Off", "Off"), ("y", "y"),
        ("12:30", "12:30"), ("2026-01-31", "2026-01-31"), ("1_000", "1_000"), ("0b1", "0b1"),
        ('"1"', "1"), ("'true'", "true"), ("=", "="), ("9" * 41, float("9" * 41)),
    ],
)  # fmt: skip
def test_a_word_has_one_meaning(text: str, value: object) -> None:
    assert plain(tree(f"a: {text}")) == {"a": value}
    assert type(plain(tree(f"a: {text}"))["a"]) is type(value)


def test_keys_are_text_as_written() -> None:
    assert list(tree("on: 1\nno: 2\nnull: 3\n1: 4\ntrue: 5\n012: 6").entries) == [
        "on",
        "no",
        "null",
        "1",
        "true",
        "012",
    ]


def test_a_key_given_twice_is_an_error_where_it_is_repeated() -> None:
    where, message = refusal("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n")
    assert where == "a.yaml:5"
    assert "'c' is given twice (first at line 3)" in message


@pytest.mark.parametrize(
    "value", ["!!python/object/apply:os.system [id]", "!!str 1", "!secret x", "! x", "!!binary aGk="]
)
def test_tags_are_refused(value: str) -> None:
    where, message = refusal(f"a: 1\nb: {value}\n")
    assert where == "a.yaml:2"
    assert "tag" in message


def test_tags_are_refused_on_keys_too() -> None:
    assert refusal("a: 1\n!!str b: 2\n")[0] == "a.yaml:2"


def test_a_complex_key_is_refused() -> None:
    assert refusal("a: 1\n? [x]\n: 2\n") == ("a.yaml:2", "a.yaml:2: a key has to be plain text")


def test_merge_keys_are_refused() -> None:
    where, message = refusal("a: &a {x: 1}\nb:\n  <<: *a\n")
    assert where == "a.yaml:3"
    assert "<<" in message


def test_aliases_repeat_their_anchor() -> None:
    assert plain(tree("a: &a [1, 2]\nb: *a")) == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_without_an_anchor_is_refused() -> None:
    assert refusal("a: 1\nb: *nowhere\n")[0] == "a.yaml:2"


def test_an_anchor_that_holds_itself_is_refused() -> None:
    assert refusal("a: &a\n  - *a\n")[0] == "a.yaml:2"


def test_aliases_that_unfold_without_end_are_refused_at_once() -> None:
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    laughs += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    where, message = refusal(laughs)
    assert where.startswith("a.yaml:")
    assert "values" in message


def test_too_many_aliases_are_refused() -> None:
    assert "aliases" in refusal("a: &a 1\nb: [" + ", ".join(["*a"] * 300) + "]\n")[1]


def test_deep_nesting_is_refused_before_it_hurts() -> None:
    assert "nested deeper" in refusal("a: " + "[" * 5000 + "]" * 5000)[1]


def test_a_syntax_error_names_its_line() -> None:
    assert refusal("a: 1\nb: [1,\nc: 2\n")[0] in ("a.yaml:3", "a.yaml:4")
    assert refusal("a: 1\n\tb: 2\n")[0] == "a.yaml:2"


def test_a_control_character_names_its_line() -> None:
    assert refusal("a: 1\nb: x\x01y\n")[0] == "a.yaml:2"


def test_a_second_document_is_refused() -> None:
    where, message = refusal("a: 1\n---\nb: 2\n")
    assert (where, "second document" in message) == ("a.yaml:2", True)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "~"])
def test_an_empty_file_is_an_empty_mapping(text: str) -> None:
    assert plain(read_text(text, "a.yaml")) == {}


@pytest.mark.parametrize("text", ["[1]", "word", "42"])
def test_anything_but_a_mapping_is_refused(text: str) -> None:
    assert refusal(text)[0] == "a.yaml:1"


def test_a_file_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match="UTF-8") as caught:
        read_file(path, "a.yaml")
    assert caught.value.where == "a.yaml:2"


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert plain(read_file(path, "a.yaml")) == {"a": 1}


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="larger than"):
        read_file(path, "a.yaml")


def test_a_file_that_can_not_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't read a\.yaml: No such file"):
        read_file(tmp_path / "nowhere.yaml", "a.yaml")


def test_both_parsers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """libyaml's where it is there, Python's own elsewhere."""
    import yaml

    from seamark.config import reader

    text = "a: &x [1, 'two', \"three\", ~]\nb: *x\nc: |\n  text\nd: {e: no, f: 1.5}\n"
    quick = read_text(text, "a.yaml")
    monkeypatch.setattr(reader, "_Loader", yaml.SafeLoader)
    slow = read_text(text, "a.yaml")
    assert (plain(quick), quick.key_places) == (plain(slow), slow.key_places)
    assert isinstance(quick.entries["a"], ListNode)
    assert isinstance(quick.entries["d"], MapNode)
