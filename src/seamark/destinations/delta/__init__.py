"""Delta: staged files become the table's own, and the checkpoint's number is committed with them."""

from seamark.destinations.delta.connector import connector

__all__ = ["connector"]
