"""Connectors are found by real entry points: packages that the tests put on the path."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from seamark import registry
from seamark.config.pipeline import PipelineConfig
from seamark.config.project import Project
from seamark.errors import ConfigError

PLUG_IN = """
    from dataclasses import dataclass
    from pathlib import Path

    from pydantic import Field

    from seamark.config.options import Options
    from seamark.config.secret import Secret
    from seamark.destinations.base import DestinationConnector
    from seamark.sources.base import SourceConnector
    from seamark.state.store import StateStoreConnector

    class TideOptions(Options):
        harbour: str = Field(description="Where the tide is read.")
        password: Secret | None = Field(None, description="For the harbour.")

    @dataclass
    class Opened:
        options: TideOptions
        root: Path

    source = SourceConnector("tide", "Tides of a harbour.", TideOptions, Opened, (("modes", "append"),))
    destination = DestinationConnector("tide", "A harbour.", TideOptions, Opened)
    store = StateStoreConnector("tide", "Marks on a pole.", TideOptions, Opened)
    nothing = 42
"""


def install(folder: Path, package: str, module: str, entry_points: str) -> None:
    """A package as pip leaves it: a module, and a dist-info folder with its entry points."""
    (folder / f"{package}.py").write_text(textwrap.dedent(module), encoding="utf-8")
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points), encoding="utf-8")


@pytest.fixture
def tide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in package with one connector of each role; the folder that it is installed in."""
    folder = tmp_path / "site"
    folder.mkdir()
    install(
        folder,
        "seamark_tide",
        PLUG_IN,
        """
        [seamark.sources]
        tide = seamark_tide:source
        [seamark.destinations]
        tide = seamark_tide:destination
        [seamark.state_stores]
        tide = seamark_tide:store
        """,
    )
    monkeypatch.syspath_prepend(str(folder))
    return folder


def pipeline(folder: Path, text: str) -> PipelineConfig:
    path = folder / "p.yaml"
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return Project.containing(path, {"WORD": "hunter2"}).load(path)


GOOD = """
    pipeline: p
    source: {type: tide, harbour: Hamburg, password: "${WORD}"}
    destination: {type: tide, harbour: Bremen}
    streams: a
    stateful_ingestion:
      state_provider: {type: tide, harbour: Kiel}
"""


def test_what_seamark_brings_registers_as_plug_ins_do() -> None:
    assert {"postgres", "sqlite"} <= set(registry.kinds(registry.SOURCE))
    assert "delta" in registry.kinds(registry.DESTINATION)
    assert {"postgres", "sqlite"} <= set(registry.kinds(registry.STATE_STORE))


def test_a_plug_in_is_found(tide: Path) -> None:
    assert registry.source("tide").summary == "Tides of a harbour."
    assert registry.destination("tide").summary == "A harbour."
    assert registry.state_store("tide").summary == "Marks on a pole."


def test_a_pipeline_opens_what_it_names(tide: Path, tmp_path: Path) -> None:
    config = pipeline(tmp_path, GOOD)
    source, destination = registry.open_source(config), registry.open_destination(config)
    store = registry.open_state_store(Project.find(tmp_path, {}), config)
    assert [opened.options.harbour for opened in (source, destination, store)] == ["Hamburg", "Bremen", "Kiel"]  # type: ignore[attr-defined]
    assert {opened.root for opened in (source, destination, store)} == {tmp_path}  # type: ignore[attr-defined]
    assert source.options.password.reveal() == "hunter2"  # type: ignore[attr-defined]
    assert "hunter2" not in repr(source)


def test_a_project_opens_its_store_without_a_pipeline(tide: Path, tmp_path: Path) -> None:
    (tmp_path / "seamark.yaml").write_text("state_store: {type: tide, harbour: Emden}\n")
    assert registry.open_state_store(Project.find(tmp_path, {})).options.harbour == "Emden"  # type: ignore[attr-defined]


def test_options_can_be_checked_without_opening(tide: Path, tmp_path: Path) -> None:
    registry.check_options(pipeline(tmp_path, GOOD))
    with pytest.raises(ConfigError, match="destination: unknown key 'harbor'"):
        registry.check_options(pipeline(tmp_path, GOOD.replace("Bremen", "Bremen, harbor: x")))


def test_wrong_options_are_named_at_their_line(tide: Path, tmp_path: Path) -> None:
    config = pipeline(tmp_path, GOOD.replace("harbour: Hamburg", "harbor: Hamburg"))
    with pytest.raises(ConfigError) as caught:
        registry.open_source(config)
    assert caught.value.where.endswith("p.yaml:2")
    assert "'harbour' is required" in caught.value.message
    assert "unknown key 'harbor' (did you mean 'harbour'?" in caught.value.message


def test_an_unknown_kind_suggests_the_nearest_at_its_line(tide: Path, tmp_path: Path) -> None:
    config = pipeline(tmp_path, GOOD.replace("source: {type: tide", "source: {type: tied"))
    with pytest.raises(ConfigError, match=r"source\.type: there is no source 'tied'") as caught:
        registry.open_source(config)
    assert caught.value.where.endswith("p.yaml:2")
    assert "did you mean 'tide'?" in caught.value.hint
    assert "install its package" in caught.value.hint


def test_the_page_on_connectors_is_what_they_say() -> None:
    page = Path(__file__).parents[1] / "docs" / "reference" / "connectors.md"
    written = page.read_text(encoding="utf-8")
    assert written == registry.connector_reference(), "python -m seamark.registry > docs/reference/connectors.md"


def test_each_role_has_its_own_kinds(tide: Path) -> None:
    with pytest.raises(ConfigError, match="there is no destination 'sqlite'") as caught:
        registry.destination("sqlite")
    assert "delta" in caught.value.hint


def test_a_plug_in_that_can_not_be_imported_is_named(tide: Path) -> None:
    install(
        tide,
        "seamark_broken",
        "import a_module_that_is_not_there\n",
        "[seamark.sources]\nbroken = seamark_broken:source\n",
    )
    with pytest.raises(
        ConfigError, match=r"the source 'broken' of seamark_broken 1\.2 can't be loaded: ModuleNotFoundError"
    ) as caught:
        registry.source("broken")
    assert "a_module_that_is_not_there" in caught.value.message
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_plug_in_that_names_something_else_is_refused(tide: Path) -> None:
    install(
        tide, "seamark_odd", "", "[seamark.sources]\nodd = seamark_tide:nothing\nturned = seamark_tide:destination\n"
    )
    with pytest.raises(ConfigError, match=r"the source 'odd' of seamark_odd 1\.2 is no SourceConnector but a int"):
        registry.source("odd")
    with pytest.raises(ConfigError, match="is no SourceConnector but a DestinationConnector"):
        registry.source("turned")


def test_two_packages_with_one_kind_are_named(tide: Path) -> None:
    install(tide, "seamark_rival", "", "[seamark.sources]\ntide = seamark_rival:source\n")
    with pytest.raises(ConfigError, match=r"in several packages: seamark_rival 1\.2, seamark_tide 1\.2"):
        registry.source("tide")


def test_a_package_that_is_found_twice_is_one(tide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable install often is."""
    again = tmp_path / "again"
    again.mkdir()
    install(again, "seamark_tide", PLUG_IN, "[seamark.sources]\ntide = seamark_tide:source\n")
    monkeypatch.syspath_prepend(str(again))
    assert registry.source("tide").kind == "tide"


def test_only_the_one_asked_for_is_imported(tide: Path) -> None:
    install(tide, "seamark_loud", "raise SystemExit('imported')\n", "[seamark.sources]\nloud = seamark_loud:source\n")
    assert registry.source("tide").kind == "tide"
    assert "loud" in registry.kinds(registry.SOURCE)


def test_all_connectors_are_listed_with_what_is_wrong(tide: Path) -> None:
    install(tide, "seamark_broken2", "1 / 0\n", "[seamark.sources]\nbroken2 = seamark_broken2:source\n")
    found = {(info.role, info.kind): info for info in registry.all_connectors()}
    assert found["source", "tide"].capabilities == (("modes", "append"),)
    assert found["state store", "tide"].summary == "Marks on a pole."
    assert "ZeroDivisionError" in found["source", "broken2"].problem
    assert found["source", "tide"].problem == ""


def test_the_schema_has_every_plug_in_that_loads(tide: Path) -> None:
    install(tide, "seamark_broken3", "1 / 0\n", "[seamark.sources]\nbroken3 = seamark_broken3:source\n")
    schema = registry.pipeline_json_schema()
    assert "source.tide" in schema["$defs"]
    assert "source.broken3" not in schema["$defs"]
    assert "### `type: tide`" in registry.connector_reference()
