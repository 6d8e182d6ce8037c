"""`script/setup` reports the cause of a failure, and installs every package that the tests import."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OFFLINE = """#!/bin/sh
case "$*" in
*"print(sys.executable)"*) echo "$0"; exit ;;
*CONFIG_ARGS*) exit {optimized} ;;
*"import ensurepip, pip"*) exit 0 ;;
"-m pip --version") exit {pip} ;;
"-m pip config"*) exit 1 ;;
"-m pip"*) echo "ERROR: $0 could not find a version of uv: connection refused" >&2; exit 1 ;;
"-m venv"*) echo "No module named ensurepip" >&2; exit 1 ;;
esac
exec {python} "$@"
"""
"""A program that behaves like a Python without ensurepip (as on Debian without python3-venv), offline.

`{pip}` is the exit status of `pip --version`, `{optimized}` that of the question whether it was compiled with
profile-guided optimization. Its error names it.
"""


def write_python(path: Path, *, pip: int = 0, optimized: bool = True) -> None:
    """Write a Python on which nothing can be installed."""
    path.write_text(OFFLINE.format(pip=pip, optimized=0 if optimized else 1, python=sys.executable))
    path.chmod(0o755)


def set_up(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `script/setup` in a fresh source tree, with the programs in `bin` and those that it needs."""
    for name in ("script/setup", "script/pins.py", "pyproject.toml", "uv.lock"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    # The path has no uv, with which pip would not be needed.
    path = folder / "bin"
    path.mkdir(exist_ok=True)
    for program in ("cat", "cksum", "dirname", "flock", "mkdir", "rm", "bash"):
        if installed := shutil.which(program):
            (path / program).symlink_to(installed)
    removed = ("PIP_", "UV_", "POSTERN_PYTHON")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(removed)}
    return subprocess.run(
        [shutil.which("bash") or "bash", folder / "script/setup", "run"],
        env={**inherited, "PATH": str(path), "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_failed_download_is_reported(tmp_path: Path) -> None:
    """If no registry can be reached, the message names the network, not a module that the fallback lacks.

    Regression test of N11 (tests/defects.md).
    """
    write_python(tmp_path / "python")
    result = set_up(tmp_path, POSTERN_PYTHON=str(tmp_path / "python"))
    assert result.returncode == 1
    assert "connection refused" in result.stderr
    assert "could not be downloaded" in result.stderr
    assert "HTTPS_PROXY" in result.stderr.strip().splitlines()[-1]
    assert "ensurepip" not in result.stderr


@pytest.mark.parametrize(("pip", "mirror"), [(1, ""), (0, "http://127.0.0.1:1/simple")])
def test_a_missing_system_package_is_reported(tmp_path: Path, pip: int, mirror: str) -> None:
    """Without pip or venv, the message names the package to install.

    Regression test of N11 (tests/defects.md).
    """
    write_python(tmp_path / "python", pip=pip)
    environment = {"PIP_INDEX_URL": mirror} if mirror else {}
    result = set_up(tmp_path, POSTERN_PYTHON=str(tmp_path / "python"), **environment)
    assert result.returncode == 1
    assert "apt-get install python3-" in result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("optimized", "named", "taken"),
    [
        ({"python3": True, "python3.13": True}, "", "python3"),
        ({"python3": False, "python3.13": True}, "", "python3.13"),
        ({"python3": False, "python3.13": True}, "python3", "python3"),
    ],
)
def test_an_optimized_python_is_taken(tmp_path: Path, optimized: dict[str, bool], named: str, taken: str) -> None:
    """One that was compiled without profile-guided optimization is taken only if it is named or the only one."""
    (tmp_path / "bin").mkdir()
    for name, is_optimized in optimized.items():
        write_python(tmp_path / "bin" / name, optimized=is_optimized)
    result = set_up(tmp_path, **({"POSTERN_PYTHON": named} if named else {}))
    assert f"{tmp_path / 'bin' / taken} could not find" in result.stderr


def test_a_python_that_is_named_must_exist(tmp_path: Path) -> None:
    """A Python that is named is never replaced by another one."""
    (tmp_path / "bin").mkdir()
    write_python(tmp_path / "bin" / "python3")
    result = set_up(tmp_path, POSTERN_PYTHON="python3.12")
    assert result.returncode == 1
    assert "POSTERN_PYTHON=python3.12 is not a Python 3.11 or newer." in result.stderr


INSTALLED_OTHERWISE = {
    "postern",
    "tests",
    "bench",
    "sdk",
    "postern_sdk",
    "psycopg_pool",
    "pip",
    "spid_sp_test",
    "scim2_tester",
    "scim2_client",
    "httpx2",
}
"""Modules of this repository, an extra of psycopg, pip (for `script/pins.py`), and a program in `tests/peers`."""
PROGRAMS = ("tests", "bench", "script", "sdk/generator", "sdk/python")


def test_packages_that_tests_and_programs_import_are_declared() -> None:
    """A package that is only a dependency of another package disappears when that package no longer needs it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    requirements = chain(
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        project["dependency-groups"]["dev"],
    )
    declared = {re.sub("[_.]", "-", re.split(r"[^\w.-]", text)[0].lower()) for text in requirements}
    distributions = packages_distributions()
    undeclared = {
        (module, file.relative_to(ROOT).as_posix())
        for folder in PROGRAMS
        for file in (ROOT / folder).rglob("*.py")
        if not {"packages", "node_modules"}.intersection(file.parts)
        for module in modules_imported(file) - INSTALLED_OTHERWISE - sys.stdlib_module_names
        if declared.isdisjoint(re.sub("[_.]", "-", name.lower()) for name in distributions.get(module, []))
    }
    assert undeclared == set()


def modules_imported(file: Path) -> set[str]:
    """The top-level names of the modules that a file imports."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    plain |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {module.partition(".")[0] for module in plain}
