"""Tables of pages that name tests, as `folder/file::test`: the tests that they name must exist."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
REFERENCE = re.compile(r"([\w/]+)::(\w+)")


def rows_of(page: str) -> list[list[str]]:
    """The cells of each row of the tables of a page, with the rows of their headings."""
    lines = (ROOT / page).read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


@cache
def names_in(file: str) -> frozenset[str]:
    """The functions of a file; its path is relative to the root."""
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def missing_tests(text: str, folder: str = "tests") -> list[str]:
    """The references in `text` to tests that do not exist. Files are relative to `folder`."""
    return [f"{file}::{name}" for file, name in REFERENCE.findall(text) if name not in names_in(f"{folder}/{file}.py")]
