"""The pages of the documentation as data: their links, anchors, fenced blocks and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
_MARK = re.compile(r"<!-- *(?P<text>.*?) *-->")
_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*)\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block. `mark` is the comment on the line above it, such as `runs` or `file: pipelines/shop.yaml`."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{shown(self.page)}:{self.line}"


def pages() -> list[Path]:
    """Every Markdown page that people read in the repository."""
    folders = ("docs", "deploy", "examples", "benchmarks")
    found = [page for folder in folders for page in sorted((REPOSITORY / folder).rglob("*.md"))]
    return [*(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *found]


def written_pages() -> list[Path]:
    """Those that are not generated."""
    return [page for page in pages() if "reference" not in page.parts]


def shown(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    fence, language, mark, begun, text = "", "", "", 0, list[str]()
    last = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        found = _FENCE.match(line)
        if fence and line.strip() == fence:
            yield Block(page, begun, language, mark, "\n".join(text) + "\n")
            fence = ""
        elif fence:
            text.append(line)
        elif found:
            comment = _MARK.fullmatch(last.strip())
            fence, language, begun, text = found["ticks"], found["language"], number, []
            mark = comment["text"] if comment else ""
        last = line


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    kept, fence = list[str](), ""
    for line in page.read_text(encoding="utf-8").splitlines():
        found = _FENCE.match(line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found:
            fence = found["ticks"]
        else:
            kept.append(line)
    return "\n".join(kept)


def anchors(page: Path) -> set[str]:
    """What headings can be linked by, spelled as GitHub spells it."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (unique := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(unique)
    return found


def links(page: Path) -> Iterator[str]:
    without_code = re.sub(r"`[^`\n]*`", "", prose(page))
    yield from re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code)


def code(page: Path) -> list[str]:
    """What stands in backticks in the running text."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(page))


def section(page: Path, name: str) -> str:
    """What stands between `<!-- types: name -->` and `<!-- end of types -->`."""
    found = re.search(
        rf"<!-- types: {name} -->\n(.*?)<!-- end of types -->", page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found, f"{shown(page)} has no section of {name} types"
    return found[1]
