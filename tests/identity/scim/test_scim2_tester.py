"""scim2-tester, which checks a SCIM server, against a running one."""

import asyncio
import sys
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.identity.scim.conftest import MEDIA_TYPE
from tests.identity.sso.test_spid_sp_test import serving

TOOL = Path(__file__).parents[2] / "peers" / "scim2_tester"
INSTALL = "python3 -m pip install --no-deps --target {0}/packages -r {0}/requirements.txt".format(
    "tests/peers/scim2_tester"
)

pytestmark = [
    pytest.mark.needs_tool("scim2-tester", INSTALL),
    pytest.mark.skipif(not (TOOL / "packages").is_dir(), reason=f"scim2-tester is not installed: {INSTALL}"),
]


@pytest.fixture
def check(monkeypatch) -> Any:
    """A function that runs all checks of the tool against a base URL."""
    monkeypatch.syspath_prepend(TOOL / "packages")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from httpx2 import Client  # type: ignore[import-not-found]
        from scim2_client.engines.httpx2 import SyncSCIMClient  # type: ignore[import-not-found]
        from scim2_tester import check_server  # type: ignore[import-not-found]

    def run(base_url: str, token: str) -> list[Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": MEDIA_TYPE}
        with Client(base_url=base_url, headers=headers, timeout=60) as client, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check_server(SyncSCIMClient(client))

    yield run
    for name in [
        module for module in sys.modules if module.split(".")[0].startswith(("scim2_", "httpx2", "httpcore2"))
    ]:
        del sys.modules[name]


async def test_scim2_tester_has_no_findings(acme, check):
    await acme.change(allowOtherDomains=True)
    async with serving(acme.scim.app) as base:
        url = base + urlsplit(acme.connection["baseUrl"]).path
        results = await asyncio.to_thread(check, url, acme.scim.token)
    findings = [
        f"{result.status.name}: {result.title} {result.resource_type} {result.reason}"
        for result in results
        if result.status.name not in ("SUCCESS", "SKIPPED", "COMPLIANT", "ACCEPTABLE")
    ]
    assert not findings, "\n".join(findings)
    assert sum(result.status.name == "SUCCESS" for result in results) > 100
    assert {"User", "Group"} <= {result.resource_type for result in results}
