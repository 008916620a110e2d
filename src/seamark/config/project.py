"""The project: its root, and what `seamark.yaml` sets for all pipelines."""

from __future__ import annotations

from pydantic import Field

from seamark.config.options import Options


class SparkOptions(Options):
    """How Spark is started or reached."""

    master: str = Field("local[*]", description="`local[n]`, a cluster's URL, or `sc://…` for Spark Connect.")
    conf: dict[str, str] = Field(default_factory=dict, description="`spark.*` settings, passed on as they are.")
    memory: str | None = Field(None, description="The driver's memory, such as `4g`; sized to the machine when not set.")
    skip_below: int = Field(
        0, ge=0, description="Append and replace windows of up to so many rows are staged without starting Spark."
    )
    java_home: str | None = Field(None, description="The Java to use; found by itself when not set.")
