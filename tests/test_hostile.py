"""The short form of `bench.hostile`: hostile templates against a real API and worker, beside an ordinary client."""

import subprocess
import sys


def test_hostile_templates_neither_crash_processes_nor_delay_other_mail():
    """Defects: S1, S2, S3"""
    done = subprocess.run(
        [sys.executable, "-m", "bench.hostile", "--short"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4_000:]}"
