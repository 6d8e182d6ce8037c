"""schema.sql is what the migrations add up to."""

from postern.kernel.database.embedded import run_embedded
from tests.schema import SCHEMA, dump


def test_schema_is_what_the_migrations_add_up_to() -> None:
    with run_embedded() as server:
        written = dump(server, "postern")
    assert SCHEMA.read_text() == written, "Run script/schema."
