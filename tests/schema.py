"""Writes schema.sql, the dump of what the migrations add up to, or checks that it is up to date."""

import sys
from pathlib import Path

from postern.kernel.database.embedded import EmbeddedPostgres, run_embedded
from postern.kernel.database.migrations import migrate

SCHEMA = Path(__file__).parent.parent / "schema.sql"
NOTE = "-- Written by script/schema from migrations/; do not edit.\n\n"


def dump(server: EmbeddedPostgres, database: str) -> str:
    """Migrate an empty `database` and return its definition without what differs from release to release."""
    migrate(server.url(database))
    said = (line for line in server.dump_schema(database).splitlines() if not line.startswith(("--", "\\")))
    # Settings of the session that restores the dump say nothing about the schema.
    lines = [line for line in said if not line.startswith(("SET ", "SELECT pg_catalog.set_config"))]
    paragraphs = (part.strip("\n") for part in "\n".join(lines).split("\n\n"))
    return NOTE + "\n\n".join(part for part in paragraphs if part) + "\n"


def main() -> None:
    """Write the dump; with `--check` only compare it."""
    with run_embedded() as server:
        text = dump(server, "postern")
    if SCHEMA.exists() and SCHEMA.read_text() == text:
        return
    if "--check" in sys.argv:
        sys.exit("schema.sql is not what the migrations add up to: run script/schema.")
    SCHEMA.write_text(text)
    print("schema.sql written.")


if __name__ == "__main__":
    main()
