"""The attack of `bench.hostile`, in short: a real API and worker, and an ordinary client beside it."""

import subprocess
import sys


def test_hostile_templates_end_no_process_and_hold_up_no_mail_of_others():
    """Defects: S1, S2, S3"""
    done = subprocess.run(
        [sys.executable, "-m", "bench.hostile", "--short"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4_000:]}"
