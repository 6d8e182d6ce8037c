"""Files and functions that docs/architecture mentions exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs/architecture.md", *sorted((ROOT / "docs/architecture").glob("*.md"))]
FILES = [file.relative_to(ROOT).as_posix() for folder in ("postern", "tests") for file in (ROOT / folder).rglob("*")]
NAMES = {
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
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`([a-z_/]+(?:\.py|/))`", page.read_text())
    missing = [path for path in mentioned if not any(f"/{file}".endswith(f"/{path.rstrip(chr(47))}") for file in FILES)]
    assert mentioned
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_functions_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`(_?[a-z]+_[a-z_]+)`", page.read_text())
    assert [name for name in mentioned if name not in NAMES] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_architecture_docs_resolve(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
