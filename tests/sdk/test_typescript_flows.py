"""The main uses of the TypeScript SDK against a complete server."""

from pathlib import Path

import pytest

from postern.cli.bootstrap import BootstrapResult
from tests.sdk.typescript import linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAMS = Path(__file__).parent / "typescript_programs"


def variables(account: BootstrapResult) -> dict[str, str]:
    """The environment of a client."""
    return {
        "POSTERN_URL": account.base_url,
        "POSTERN_PROJECT": account.project_id,
        "POSTERN_KEY": account.secret_key,
        "TOKEN": account.developer_token,
    }


def test_main_flows(account: BootstrapResult, tmp_path: Path) -> None:
    program = linked_sdk(tmp_path) / "main_flows.mjs"
    program.write_text((PROGRAMS / program.name).read_text())
    run("node", program, folder=tmp_path, **variables(account))
