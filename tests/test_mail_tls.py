"""The tests in the table of requirements on TLS of mail exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/security/mail-tls.md").read_text()
FILES = dict(re.findall(r"`(\w+)` is\s+(tests/[\w/]+\.py)", PAGE))
ROWS = re.findall(r"^\| (\d[\d., ]*) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_table_is_read():
    assert len(FILES) == 8
    assert len(ROWS) > 70


@pytest.mark.parametrize(("section", "requirement", "evidence"), ROWS)
def test_referenced_tests_exist(section, requirement, evidence):
    for file, name in re.findall(r"([\w/.]+)::(\w+)", evidence):
        assert name in names_in(FILES.get(file, file)), f"{section}, {requirement}: {file}::{name}"
