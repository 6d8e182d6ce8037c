"""The catalogues in docs/guide are what the code says. Asked in a process of its own: tests make problems too."""

import subprocess
import sys
from pathlib import Path


def test_the_catalogues_are_what_the_code_says() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "tests.catalogues", "--check"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert checked.returncode == 0, checked.stderr
