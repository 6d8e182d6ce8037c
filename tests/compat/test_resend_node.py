"""The package `resend` for Node.js with nothing changed but its URL: each public method works or answers 501."""

import asyncio
import json
import os
import subprocess

import pytest

from tests.compat.conftest import Installation
from tests.compat.resend_guide import ROWS
from tests.compat.test_resend_guide import NODE, needs_package
from tests.peers.http_receiver import Reply

EXPECTED = {name: row.result for row in ROWS for name in row.node}
"""The result of each method by the table of the guide."""


@pytest.mark.needs_node
@needs_package
async def test_every_method_works_or_answers_501(installation: Installation):
    receiver, published = installation.receiver, asyncio.Event()
    receiver.script("/publish", Reply(until=published))
    process = asyncio.create_task(asyncio.to_thread(run_script, installation))
    while not receiver.received("/publish") and not process.done():
        await asyncio.sleep(0.02)
    if not process.done():
        installation.publish(json.loads(receiver.received("/publish")[0].body))
    published.set()
    printed = json.loads(await process)
    assert sorted(printed["methods"]) == sorted(EXPECTED)
    assert printed["outcomes"] == EXPECTED


def run_script(installation: Installation) -> str:
    environment = {
        **os.environ,
        "RESEND_BASE_URL": f"{installation.server.url}/compat/resend",
        "RESEND_API_KEY": installation.account.secret_key,
    }
    arguments = ["node", "methods.mjs", "node.example", installation.receiver.url("/publish")]
    result = subprocess.run(
        arguments, cwd=NODE, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
