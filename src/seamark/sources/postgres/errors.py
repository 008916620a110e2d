"""From what Postgres, psycopg and ADBC raise to what Seamark raises: grouped by what to do, without secrets."""

from __future__ import annotations

import re

from seamark.config.secret import Secret, redact
from seamark.errors import SourceError, SourceUnavailable

_UNAVAILABLE = {
    "53300": "raise max_connections, or run fewer at once",
    "55P03": "another session holds a lock on the table; try again when it is done",
    "40001": "on a replica, hot_standby_feedback=on keeps rows that are still read; or read from the primary",
    "57P01": "the server ended the session (a restart, or someone's pg_terminate_backend); run again",
}
_REFUSED = {
    "28P01": "check the user and password in `url`",
    "28000": "check the user in `url` and the server's pg_hba.conf",
    "3D000": "check the database's name in `url`",
    "42501": "grant the user what is missing: GRANT SELECT ON the table, USAGE ON its schema",
    "57014": "raise `statement_timeout`, or give the cursor an index so that statements are short",
    "42P01": "the table is gone or was renamed since the run was planned",
    "22021": "rows hold text that is not what the database's encoding says: correct them, or leave them out with "
    "`where:`",
    "42703": "the column is gone or was renamed since the run was planned",
}
_SNAPSHOT_GONE = ("invalid snapshot identifier", "could not import the requested snapshot", "snapshot does not exist")


def translated(error: Exception, doing: str, *secrets: Secret) -> SourceError:
    """The error to raise for `error`, which came up while `doing`."""
    text = redact(_words(error), *secrets)
    code = getattr(error, "sqlstate", None) or _code_of(text, str(error))
    if any(words in text for words in _SNAPSHOT_GONE):
        return SourceUnavailable(
            f"{doing}: the session that holds the snapshot is gone ({text})",
            "nothing was moved; run again, and look for restarts or session limits on the server",
        )
    if code is None or code in _UNAVAILABLE or (code[:2] in ("08", "57") and code not in _REFUSED):
        hint = _UNAVAILABLE.get(code or "", "check that the server is up and reachable, and run again")
        return SourceUnavailable(f"{doing}: {text}", hint)
    return SourceError(f"{doing}: {text}", _REFUSED.get(code, ""))


def _words(error: Exception) -> str:
    """The server's own message in one line, without the statement and its position marks."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    for name, value in getattr(error, "details", None) or ():
        if name == "PG_DIAG_MESSAGE_PRIMARY":
            primary = value.decode(errors="replace") if isinstance(value, bytes) else value
    text = str(primary or error).split("Query was:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("LINE ")]
    said = re.sub(r"^\[libpq\] Execution error \[PGRES_FATAL_ERROR\]: (ERROR: +)?", "", "; ".join(lines))
    return said or type(error).__name__


def _code_of(text: str, raw: str) -> str | None:
    """The code of an error that carries none, as those of logins and of rows already under way do; None: no
    connection."""
    if 'database "' in text and "does not exist" in text:
        return "3D000"
    if 'role "' in text and "does not exist" in text:
        return "28000"
    if found := next((code for words, code in _WORDS.items() if words in text), None):
        return found
    said_by_the_server = "[PGRES_FATAL_ERROR]" in raw and "FATAL:" not in raw
    return "XX000" if said_by_the_server else None


_WORDS = {
    "password authentication failed": "28P01",
    "no password supplied": "28P01",
    "no pg_hba.conf entry": "28000",
    "is not permitted to log in": "28000",
    "too many": "53300",
    "remaining connection slots": "53300",
    "statement timeout": "57014",
    "conflict with recovery": "40001",
    "for encoding": "22021",
    "ReadRecord failed": "0A000",
}
