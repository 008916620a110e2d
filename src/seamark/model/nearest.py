"""What was probably meant: the nearest of the names there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip of, None when nothing is near."""
    folded = {other.casefold(): other for other in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def or_nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'orders'?`, or nothing."""
    found = nearest(name, known)
    return f"; did you mean {found!r}?" if found else ""
