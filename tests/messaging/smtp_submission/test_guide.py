"""The examples of docs/guide/smtp.md work."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messaging.smtp_submission.conftest import Submission
from tests.test_guides import GUIDE, blocks_of

PORT_OF_GUIDE = "2587"


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
async def test_the_examples_send(project, submission: Submission, run_due_work, tmp_path: Path):
    environment = {**os.environ, "POSTERN_KEY": project.secret_key}
    blocks = blocks_of("smtp.md")
    assert [language for language, _ in blocks] == ["bash", "python"]
    for language, text in blocks:
        program = ["bash", "-euc"] if language == "bash" else [sys.executable, "-c"]
        assert PORT_OF_GUIDE in text
        command = [*program, text.replace(PORT_OF_GUIDE, str(submission.starttls_port))]
        result = await asyncio.to_thread(
            subprocess.run, command, env=environment, cwd=tmp_path, capture_output=True, check=False, timeout=120
        )
        assert result.returncode == 0, result.stderr.decode()
    await run_due_work()
    log = (await project.client.get("/emails/logs")).json()["data"]
    assert [(item["status"], item["to"], item["tags"]) for item in log] == [
        ("DELIVERED", ["Ada <ada@example.com>"], []),
        ("DELIVERED", ["Ada <ada@example.com>"], ["welcome"]),
    ]


async def test_the_guide_names_all_options():
    from postern.messaging.smtp_submission.rules import _OPTION_NAMES

    guide = (GUIDE / "smtp.md").read_text()
    assert [name for name in _OPTION_NAMES if f"| `{name}` |" not in guide] == []
