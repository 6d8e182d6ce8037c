"""The short form of `bench.hostile`: hostile templates for a real API and worker that also serve an ordinary client."""

import subprocess
import sys


def test_hostile_templates_neither_crash_processes_nor_delay_other_mail():
    """Regression test of S1, S2, S3 (tests/defects.md)."""
    result = subprocess.run(
        [sys.executable, "-m", "bench.hostile", "--short"], capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr[-4_000:]}"
