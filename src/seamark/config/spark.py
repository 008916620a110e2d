"""How Spark is started or reached."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from seamark.config.options import Options


def _conf_text(value: Any) -> Any:
    """`8` and `true` are texts to Spark; people don't quote them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


ConfValue = Annotated[str, BeforeValidator(_conf_text, json_schema_input_type=str | int | float | bool)]


class SparkOptions(Options):
    """How Spark is started or reached."""

    master: str = Field("local[*]", description="`local[n]`, a cluster's URL, or `sc://…` for Spark Connect.")
    conf: dict[str, ConfValue] = Field(
        default_factory=dict, description="`spark.*` settings, passed on as they are; they win over Seamark's own."
    )
    memory: str | None = Field(
        None,
        pattern=r"^[0-9]+[kKmMgGtT]$",
        description="The driver's memory, such as `4g`; sized to the machine when not set.",
    )
    skip_below: int = Field(
        0, ge=0, description="Append and replace windows of up to so many rows are staged without starting Spark."
    )
    java_home: str | None = Field(None, description="The Java to use; found by itself when not set.")

    def over(self, base: SparkOptions) -> SparkOptions:
        """`base` with what is set here on top; `conf` is merged key by key."""
        changed = {name: getattr(self, name) for name in self.model_fields_set}
        if "conf" in changed:
            changed["conf"] = base.conf | self.conf
        return base.model_copy(update=changed)
