from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import BaseModel

from seamark.config import reference
from seamark.config.catalog import Catalog
from seamark.config.json_schema import pipeline_json_schema
from seamark.config.pipeline import PipelineFile, StatefulIngestionOptions
from seamark.config.project import ProjectFile
from seamark.config.reference import config_reference, connector_reference
from seamark.config.spark import SparkOptions
from seamark.config.stream_options import CursorOptions, PatternOptions, StreamOptions, StreamRules
from tests.config.test_json_schema import CATALOG

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "config.md"
MODELS = (
    ProjectFile, PipelineFile, StatefulIngestionOptions, SparkOptions,
    StreamOptions, StreamRules, CursorOptions, PatternOptions,
)  # fmt: skip


def test_the_page_is_what_the_models_say() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == config_reference(), "python -m seamark.config.reference > docs/reference/config.md"


@pytest.mark.parametrize("model", MODELS)
def test_every_field_is_described_and_on_the_page(model: type[BaseModel]) -> None:
    page = config_reference()
    for name, info in model.model_fields.items():
        assert info.description, f"{model.__name__}.{name}"
        assert f"| `{name}` |" in page


def test_every_link_on_the_page_leads_somewhere() -> None:
    page = config_reference()
    headings = {line.lstrip("# ").strip() for line in page.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= headings


def test_the_example_is_a_good_file() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", config_reference(), re.DOTALL)
    schema = pipeline_json_schema(Catalog())
    for section in ("source", "destination"):
        schema["properties"][section] = {}
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(example))


def test_rows_of_tables_have_as_many_cells_as_their_heads() -> None:
    for page in (config_reference(), connector_reference(CATALOG)):
        for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def test_connectors_are_described_with_their_options() -> None:
    page = connector_reference(CATALOG)
    assert "### `type: server`\n\nA server.\n" in page
    assert "| `url` | secret text | required | Where it is. |" in page
    assert "| `port` | whole number | `5432` | The port. |" in page


def test_the_module_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    import runpy

    assert reference.__file__
    runpy.run_path(reference.__file__, run_name="__main__")
    assert capsys.readouterr().out == config_reference()
