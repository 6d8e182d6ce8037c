"""The table of ASVS requirements is complete, and the tests in it exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs/security/asvs.md").read_text()
SECTIONS = {
    "3.1": 1,
    "3.2": 3,
    "3.3": 5,
    "3.4": 8,
    "3.5": 8,
    "3.6": 1,
    "3.7": 5,
    "6.1": 3,
    "6.2": 12,
    "6.3": 8,
    "6.4": 6,
    "6.5": 8,
    "6.6": 4,
    "6.7": 2,
    "6.8": 4,
    "7.1": 3,
    "7.2": 4,
    "7.3": 2,
    "7.4": 5,
    "7.5": 3,
    "7.6": 2,
    "9.1": 3,
    "9.2": 4,
}
ROWS = re.findall(r"^\| (\d+\.\d+\.\d+) \| (.+?) \| (.+) \|$", TABLE, re.MULTILINE)


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_requirement_is_listed_once():
    expected = [f"{section}.{number}" for section, count in SECTIONS.items() for number in range(1, count + 1)]
    assert [identifier for identifier, _, _ in ROWS] == expected


@pytest.mark.parametrize(("identifier", "evidence"), [(row[0], row[2]) for row in ROWS])
def test_referenced_tests_and_files_exist(identifier, evidence):
    for file, name in re.findall(r"(tests/[\w/]+\.py)::(\w+)", evidence):
        assert name in names_in(file), f"{identifier} names {file}::{name}"
    for file in re.findall(r"`((?:postern|docs)/[\w/.]+)`", evidence):
        assert (ROOT / file).exists(), f"{identifier} names {file}"
