"""`@postern/sdk/sessions` and `/sign-in`: tokens, their keys and permissions, and sessions in cookies."""

import shutil
from pathlib import Path

import pytest

from tests.sdk.typescript import built_sdk, linked_sdk, needs_typescript, run
from tests.sdk.web_frameworks import install_package

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAMS = Path(__file__).parent / "programs"


def test_the_verifier_refuses_forged_tokens_and_survives_an_unavailable_server(tmp_path):
    """The cases of `programs/sessions.test.mjs`: valid and forged tokens, key rotation, and a server that is down,
    slow or answers garbage."""
    shutil.copy(PROGRAMS / "sessions.test.mjs", linked_sdk(tmp_path))
    printed = run("node", "--test", "--test-reporter=tap", "sessions.test.mjs", folder=tmp_path)
    assert "# fail 0" in printed
    assert "# tests 2" in printed, printed[-1_000:]


def test_the_sign_in_keeps_sessions_while_the_server_has_trouble(tmp_path):
    """The cases of `programs/sign_in.test.mjs`, with the few functions of Next.js that its adapter calls."""
    shutil.copy(PROGRAMS / "sign_in.test.mjs", tmp_path)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    install_package(built_sdk(), modules)
    (modules / "next").mkdir()
    (modules / "next" / "headers.js").write_text("exports.headers = async () => globalThis.receivedHeaders;")
    (modules / "next" / "server.js").write_text("exports.NextResponse = Response;")
    (modules / "next" / "navigation.js").write_text("exports.redirect = (path) => { throw new Error(path); };")
    printed = run("node", "--test", "--test-reporter=tap", "sign_in.test.mjs", folder=tmp_path)
    assert "# fail 0" in printed
