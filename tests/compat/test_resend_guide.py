"""The examples of docs/guide/resend.md, which are those of the READMEs of both packages, send mail that arrives."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from email import message_from_bytes, policy
from pathlib import Path

import httpx
import pytest

from tests.compat.conftest import Installation
from tests.compat.resend_guide import GUIDE

NODE = Path(__file__).parents[1] / "peers/resend_node"
INSTALL = "npm install --no-package-lock --prefix tests/peers/resend_node"
needs_package = pytest.mark.skipif(
    not (shutil.which("node") and (NODE / "node_modules/resend").exists()),
    reason=f"The package resend is not installed: {INSTALL}",
)


def block(language: str) -> str:
    """The first block of the guide in a language."""
    match = re.search(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert match, f"The guide has no block of {language}."
    return match[1]


async def verified_domain(installation: Installation, name: str) -> None:
    """Add a sending domain, publish its records, and verify it."""
    base = f"{installation.server.url}/projects/{installation.account.project_id}/domains"
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {installation.account.secret_key}"}) as client:
        created = await client.post(base, json={"domain": name})
        if created.status_code == 409:  # Another test has added it.
            return
        domain = created.json()
        installation.publish(domain["records"])
        verified = await client.post(f"{base}/{domain['id']}/verify")
        assert verified.json()["status"] == "VERIFIED"


async def run_example(installation: Installation, folder: Path, command: str) -> str:
    """Run the shell block of the guide and then `command`; returns the output."""
    environment = {
        **os.environ,
        "POSTERN_URL": installation.server.url,
        "POSTERN_KEY": installation.account.secret_key,
        "NODE_PATH": str(NODE / "node_modules"),
    }
    result = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-c", f"set -eu\n{block('sh')}\n{command}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


async def arrived(installation: Installation) -> str:
    """The html of the next message that arrives at the mail server."""
    async with asyncio.timeout(60):
        while not installation.sink.messages:
            await asyncio.sleep(0.02)
    message = message_from_bytes(installation.sink.messages[0].raw, policy=policy.default)
    assert message["Subject"] == "Hello from Postern"
    assert message["From"] == "Acme <hello@acme.example>"
    body = message.get_body(("html",))
    assert body is not None
    return body.get_content()


async def test_the_python_example_sends_a_mail_that_arrives(installation: Installation, tmp_path: Path):
    await verified_domain(installation, "acme.example")
    (tmp_path / "send.py").write_text(block("python"))
    await run_example(installation, tmp_path, f"{sys.executable} send.py")
    assert "<strong>It works!</strong>" in await arrived(installation)


@pytest.mark.needs_node
@needs_package
async def test_the_node_example_sends_a_mail_that_arrives(installation: Installation, tmp_path: Path):
    await verified_domain(installation, "acme.example")
    (tmp_path / "send.mjs").write_text(f"{block('js')}\nif (error) throw new Error(error.message);\n")
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    await run_example(installation, tmp_path, "node send.mjs")
    assert "<strong>It works!</strong>" in await arrived(installation)
