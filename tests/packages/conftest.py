"""The packages of this tree, built once per run."""

import fcntl
import os
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


def build(*options: str) -> None:
    """Build packages of this tree, with the build backend of the environment instead of a downloaded one."""
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", *options, ROOT], check=True, capture_output=True)
