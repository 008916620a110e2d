"""Makes sure that a Postgres server's programs are there, by Debian's package if need be. Starts nothing."""

from __future__ import annotations

import sys

from environment import SetupFailed, apt_install


def main() -> int:
    sys.path.insert(0, ".")
    from tests.servers import ServerMissing, postgres_programs

    try:
        postgres_programs()
    except ServerMissing:
        print("Installing Debian's postgresql for the tests", flush=True)
        try:
            apt_install("postgresql")
            postgres_programs()
        except (SetupFailed, ServerMissing) as failure:
            print(f"Setting up Postgres for the tests failed: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
