"""Writes schema.sql, the dump of the schema that the migrations create, and records checksums of new migrations."""

import sys
from pathlib import Path

from postern.kernel.database.embedded import EmbeddedPostgres, run_embedded
from postern.kernel.database.migrations import migrate, migrations, migrations_folder

SCHEMA = Path(__file__).parent.parent / "schema.sql"
CHECKSUMS = migrations_folder() / "CHECKSUMS"
"""SHA-256 of each migration, in the format of `sha256sum`; a line is added with a migration and never changes."""
NOTE = "-- Written by script/schema from migrations/; do not edit.\n\n"


def dump(server: EmbeddedPostgres, database: str) -> str:
    """Migrate an empty `database` and return its schema, without the parts that depend on the PostgreSQL release."""
    migrate(server.url(database))
    dumped = (line for line in server.dump_schema(database).splitlines() if not line.startswith(("--", "\\")))
    # Settings of the session that restores the dump are not part of the schema.
    lines = [line for line in dumped if not line.startswith(("SET ", "SELECT pg_catalog.set_config"))]
    paragraphs = (part.strip("\n") for part in "\n".join(lines).split("\n\n"))
    return NOTE + "\n\n".join(part for part in paragraphs if part) + "\n"


def read_checksums() -> dict[str, str]:
    """The recorded SHA-256 of each migration by name."""
    lines = (line.split() for line in CHECKSUMS.read_text().splitlines())
    return {Path(file).stem: checksum for checksum, file in lines}


def add_checksums() -> None:
    """Record new migrations. A changed one keeps its recorded checksum, and tests/kernel/test_migrations.py fails."""
    recorded = read_checksums()
    new = [migration for migration in migrations() if migration.name not in recorded]
    with CHECKSUMS.open("a") as file:
        file.writelines(f"{migration.checksum}  {migration.name}.sql\n" for migration in new)


def main() -> None:
    """Write the dump; with `--check` only compare it, and exit with an error if it differs."""
    if "--check" not in sys.argv:
        add_checksums()
    with run_embedded() as server:
        text = dump(server, "postern")
    if SCHEMA.exists() and SCHEMA.read_text() == text:
        return
    if "--check" in sys.argv:
        sys.exit("schema.sql does not match the migrations: run script/schema.")
    SCHEMA.write_text(text)
    print("schema.sql written.")


if __name__ == "__main__":
    main()
