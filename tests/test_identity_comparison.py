"""What the page that compares identity features says of Postern is verified by tests that exist."""

import re

import pytest

from tests.doc_tables import REFERENCE, missing_tests, rows_of

ROWS = rows_of("docs/guide/identity-comparison.md")
HEADER, FEATURES = ROWS[0], ROWS[1:]
REFERENCES = re.compile(rf"{REFERENCE.pattern}(?:, {REFERENCE.pattern})*")


def test_the_table_has_all_columns():
    assert HEADER == ["feature", "Postern", "Clerk", "WorkOS", "Auth0", "Keycloak", "Zitadel", "tests of Postern"]
    assert {len(row) for row in ROWS} == {len(HEADER)}
    assert len({row[0] for row in FEATURES}) == len(FEATURES)
    assert all(all(row[:-1]) for row in FEATURES), "a cell says nothing"


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row[0])
def test_what_postern_does_has_tests_and_what_it_does_not_has_none(row):
    if row[1] == "no":
        assert row[-1] == ""
        return
    assert REFERENCES.fullmatch(row[-1]), "one test or several, separated by a comma and a space"
    assert missing_tests(row[-1]) == []
    named = row[-1].split(", ")
    assert len(set(named)) == len(named), "a test is named twice"
