"""What the page that compares identity features says of Postern is verified by tests that exist."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/guide/identity-comparison.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
HEADER, FEATURES = ROWS[0], ROWS[1:]


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / f"{file}.py").read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_table_has_all_columns():
    assert HEADER == ["feature", "Postern", "Clerk", "WorkOS", "Auth0", "Keycloak", "Zitadel", "test of Postern"]
    assert {len(row) for row in ROWS} == {len(HEADER)}


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row[0])
def test_what_postern_does_has_a_test_and_what_it_does_not_has_none(row):
    file, _, name = row[-1].partition("::")
    if row[1] == "no":
        assert row[-1] == ""
    else:
        assert name in names_in(file), row[-1]
