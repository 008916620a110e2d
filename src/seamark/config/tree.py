"""A file's content as a tree whose every key and value knows its file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Plain = str | int | float | bool | None


@dataclass(frozen=True)
class Place:
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class ScalarNode:
    """One value. `reference` names what it was expanded from (`${SHOP_URL}`): such a value is never shown."""

    place: Place
    value: Plain = field(repr=False)
    reference: str = ""
    looked_up: tuple[str, ...] = field(default=(), repr=False)
    """What its references gave, piece by piece."""


@dataclass(frozen=True)
class ListNode:
    place: Place
    items: tuple[Node, ...]


@dataclass(frozen=True)
class MapNode:
    """Keys are text as it was written, whatever YAML would make of them (`on`, `null`, `1`)."""

    place: Place
    entries: Mapping[str, Node]
    key_places: Mapping[str, Place]

    def get(self, key: str) -> Node | None:
        return self.entries.get(key)

    def without(self, *keys: str) -> MapNode:
        rest = {key: node for key, node in self.entries.items() if key not in keys}
        return MapNode(self.place, rest, self.key_places)


Node = ScalarNode | ListNode | MapNode


def empty_map(place: Place) -> MapNode:
    return MapNode(place, {}, {})


def plain(node: Node) -> Any:
    """The bare Python values."""
    if isinstance(node, MapNode):
        return {key: plain(value) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    return node.value


def scalars(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, MapNode):
        for value in node.entries.values():
            yield from scalars(value)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from scalars(item)
    else:
        yield node


def place_of(node: Node, *path: str | int) -> Place:
    """Where the key at the end of `path` stands; as far along the path as the file goes."""
    place = node.place
    for step in path:
        if isinstance(node, MapNode) and step in node.entries:
            place, node = node.key_places[str(step)], node.entries[str(step)]
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            place = node.place
        else:
            break
    return place


def describe(node: Node) -> str:
    """What kind of thing it is, for people."""
    if isinstance(node, MapNode):
        return "a mapping"
    if isinstance(node, ListNode):
        return "a list"
    if node.value is None:
        return "nothing"
    return {bool: "true or false", int: "a number", float: "a number"}.get(type(node.value), "text")
