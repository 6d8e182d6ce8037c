"""What the page that compares identity features says of Postern is verified by tests that exist."""

import pytest

from tests.doc_tables import REFERENCE, missing_tests, rows_of

ROWS = rows_of("docs/guide/identity-comparison.md")
HEADER, FEATURES = ROWS[0], ROWS[1:]


def test_the_table_has_all_columns():
    assert HEADER == ["feature", "Postern", "Clerk", "WorkOS", "Auth0", "Keycloak", "Zitadel", "test of Postern"]
    assert {len(row) for row in ROWS} == {len(HEADER)}
    assert len({row[0] for row in FEATURES}) == len(FEATURES)


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row[0])
def test_what_postern_does_has_a_test_and_what_it_does_not_has_none(row):
    if row[1] == "no":
        assert row[-1] == ""
    else:
        assert REFERENCE.fullmatch(row[-1])
        assert missing_tests(row[-1]) == []
