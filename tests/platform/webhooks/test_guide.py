"""The example endpoint of the guide, run unchanged, accepts requests of Postern and no others."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.http_receiver import http_receiver

GUIDE = Path(__file__).parents[3] / "docs/guide/webhooks.md"


@pytest.fixture
async def port() -> int:
    """A port that is probably free: a server used it a moment ago."""
    async with http_receiver() as receiver:
        return receiver.port


async def test_the_endpoint_of_the_guide_verifies_what_we_send(
    subscribe, record_events, project, run_due_work, world, port
):
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    subscription = await subscribe(url=f"http://127.0.0.1:{port}/")
    environment = {**os.environ, "WEBHOOK_SECRET": subscription.secret, "PORT": str(port)}
    endpoint = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        result = {}
        for _ in range(600):
            result = (await project.client.post(f"/webhooks/{subscription.id}/test")).json()
            if result["status"] is not None:
                break
            await asyncio.sleep(0.1)
        assert (result["status"], result["ok"]) == (204, True)
        await record_events()
        await run_due_work()
        assert (await subscription.delivery())["responseStatus"] == 204
        rotated = await project.client.post(f"/webhooks/{subscription.id}/rotate-secret")
        assert rotated.status_code == 200
        assert (await project.client.post(f"/webhooks/{subscription.id}/test")).json()["ok"], (
            "the old secret still signs"
        )
        await project.client.post(f"/webhooks/{subscription.id}/rotate-secret")
        assert (await project.client.post(f"/webhooks/{subscription.id}/test")).json()["status"] == 401, (
            "the old secret is no longer valid"
        )
    finally:
        endpoint.kill()
        output = endpoint.communicate()[0].decode().split()
    assert output == ["webhook.test", "email.delivered", "webhook.test", "invalid", "signature"]
