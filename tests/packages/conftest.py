"""The packages of this tree, built once per run."""

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Packages:
    """The built files: the source archive, and the wheel that was built from it."""

    sdist: Path
    wheel: Path


@pytest.fixture(scope="session")
def packages() -> Packages:
    """Build the source archive and, from it, the wheel: `python -m build`. Processes of one run share the files."""
    folder = Path(os.environ["POSTERN_TEST_RUN"]) / "dist"
    with (folder.parent / "dist.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build("--outdir", str(folder))
    [sdist], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Packages(sdist, wheel)


UV = shutil.which("uv") or next((str(path) for path in [ROOT / ".tools/bin/uv"] if path.exists()), "")
needs_uv = pytest.mark.skipif(not UV, reason="uv is missing; install it with: python3 -m pip install uv")


@pytest.fixture(scope="session")
def installed_postern(packages: Packages) -> Path:
    """The command `postern` of an otherwise empty environment into which the wheel was installed."""
    folder = Path(os.environ["POSTERN_TEST_RUN"]) / "environment"
    with (folder.parent / "environment.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
            install = [UV, "pip", "install", "--quiet", "--python", folder, packages.wheel]
            subprocess.run([*install, *constraints(folder)], check=True)
    return folder / "bin/postern"


def constraints(folder: Path) -> list[str]:
    """Options that limit the dependencies to the versions of uv.lock, so that the tests do not depend on the date."""
    file = folder / "constraints.txt"
    with file.open("w") as pins:
        subprocess.run([sys.executable, ROOT / "script/pins.py", "run", "plain"], stdout=pins, check=True)
    return ["--constraints", str(file)]


def build(*options: str) -> None:
    """Build packages of this tree, with the build backend of the environment instead of a downloaded one."""
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", *options, ROOT], check=True, capture_output=True)
