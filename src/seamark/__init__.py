"""Seamark: state-backed incremental ingestion on Spark."""

__version__ = "0.1.0"
