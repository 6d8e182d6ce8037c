"""schema.sql matches the result of the migrations."""

from postern.kernel.database.embedded import run_embedded
from tests.schema import SCHEMA, dump


def test_schema_sql_matches_the_migrations() -> None:
    with run_embedded() as server:
        dumped = dump(server, "postern")
    assert SCHEMA.read_text() == dumped, "Run script/schema."
