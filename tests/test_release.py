"""`script/release` rejects invalid releases and leaves the tree unchanged."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository on branch main with the files that a release changes."""
    for name in ("script/release", "pyproject.toml", "uv.lock", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    setup, client = tmp_path / "script/setup", tmp_path / "script/client"
    for program in (setup, client):
        program.write_text("#!/bin/sh\n")
    check = tmp_path / "script/check"
    check.write_text("#!/bin/sh\necho The tests fail. >&2\nexit 1\n")
    for program in (setup, client, check):
        program.chmod(0o755)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path)
    return tmp_path


def git(tree: Path, *words: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *identity, *words], cwd=tree, check=True, capture_output=True, text=True).stdout


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "--quiet", "-m", "A tree")


def release(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["script/release", *words], cwd=tree, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", ["", "1", "v1.0.0", "1.0.0.0", "1.0.0; touch x"])
def test_versions_are_validated(tree, version):
    result = release(tree, version)
    assert (result.returncode, "Name the version" in result.stderr) == (1, True)


def test_uncommitted_changes_are_rejected(tree):
    (tree / "new").write_text("")
    assert "Commit or stash" in release(tree, "0.2.0").stderr


def test_a_branch_other_than_main_is_rejected(tree):
    git(tree, "switch", "--quiet", "-c", "topic")
    assert "made from main" in release(tree, "0.2.0").stderr


def test_a_released_version_is_rejected(tree):
    git(tree, "tag", "v0.2.0")
    assert "There is a tag v0.2.0 already." in release(tree, "0.2.0").stderr


def test_a_changelog_without_new_entries_is_rejected(tree):
    log = tree / "CHANGELOG.md"
    log.write_text(log.read_text().replace(", not released yet", ", 2026-01-31"))
    commit(tree)
    assert "not released yet" in release(tree, "0.2.0").stderr


def test_a_failed_check_leaves_the_tree_unchanged(tree):
    result = release(tree, "0.2.0")
    assert result.returncode == 1
    assert "The tests fail." in result.stderr
    assert "the tree is as it was" in result.stderr
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "tag") == ""
