"""The tests in the tables of attacks and conformance modules exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/security/openid.md").read_text()
FILES = dict(re.findall(r"`(\w+)` is\s+(tests/[\w/]+\.py)", PAGE))
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| section", "| module"))]


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_tables_are_read():
    assert len(FILES) == 13
    assert len(ROWS) > 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_referenced_tests_exist(row):
    references = re.findall(r"(\w+)::(\w+)", row)
    assert references or "**not met**" in row, row
    for file, name in references:
        assert name in names_in(FILES[file]), f"{file}::{name}"
