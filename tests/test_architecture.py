"""Files and functions that docs/architecture mentions exist."""

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs/architecture.md", *sorted((ROOT / "docs/architecture").glob("*.md"))]


@cache
def files() -> frozenset[str]:
    """The paths of all files and folders of the code and the tests, without the packages that peers need."""
    found: set[str] = set()
    for name in ("postern", "tests"):
        for folder, folders, names in os.walk(ROOT / name):
            folders[:] = [each for each in folders if each not in PACKAGES]
            found.update(Path(folder, each).relative_to(ROOT).as_posix() for each in folders + names)
    return frozenset(found)


PACKAGES = {"node_modules", "packages", "debian_packages", "__pycache__"}


@cache
def names() -> frozenset[str]:
    """The names of functions, classes, arguments, attributes and variables in the code."""
    return frozenset(
        name
        for file in (ROOT / "postern").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in (
            [node.name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else
            [node.arg] if isinstance(node, ast.arg) else
            [node.attr] if isinstance(node, ast.Attribute) else
            [node.id] if isinstance(node, ast.Name) else
            [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
        )
    )  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`([a-z_/]+(?:\.py|/))`", page.read_text())
    ends = {path: f"/{path.rstrip('/')}" for path in mentioned}
    missing = [path for path, end in ends.items() if not any(f"/{file}".endswith(end) for file in files())]
    assert mentioned
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_functions_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`(_?[a-z]+_[a-z_]+)`", page.read_text())
    assert [name for name in mentioned if name not in names()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_architecture_docs_resolve(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
