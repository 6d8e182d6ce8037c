"""The TypeScript client under failures of the server and the network: the table that both languages share."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.fault_server import CASES, TABLE, FaultServer, fault_server, refused_url
from tests.sdk.typescript import linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAM = Path(__file__).parent / "typescript_programs" / "faults.mjs"
TABLE_FILE = Path(__file__).parent / "faults.json"


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with fault_server() as server:
        yield server


async def test_every_case(server: FaultServer, tmp_path: Path) -> None:
    program = linked_sdk(tmp_path) / PROGRAM.name
    program.write_text(PROGRAM.read_text())
    with refused_url() as refused:
        printed = await asyncio.to_thread(run, "node", program, TABLE_FILE, server.base, refused, folder=tmp_path)
    outcomes = json.loads(printed)
    for index, (case, outcome) in enumerate(zip(CASES, outcomes, strict=True)):
        try:
            check(case, outcome, server.received(index, "node"))
        except AssertionError as error:
            raise AssertionError(f"{case['name']}: {outcome}") from error


def check(case: dict[str, Any], outcome: dict[str, Any], received: list[Any]) -> None:
    """Compare the outcome of a case with the table. Raises AssertionError."""
    assert len(received) == case["requests"]
    assert len({(sent.method, sent.path, sent.body, sent.headers.get("idempotency-key")) for sent in received}) <= 1
    if case["call"] == "send" and received:
        assert received[0].headers["idempotency-key"]
        assert json.loads(received[0].body) == TABLE["arguments"]["send"]
    error = outcome.get("error")
    if case.get("cancel"):
        assert error["message"] == "cancelled by the caller"
        return
    if "error" not in case:
        assert error is None
        assert case["result"].items() <= outcome["result"].items()
        return
    assert error is not None
    assert case["error"] in error["classes"]
    assert case["error"] in (error["name"], "APIError")
    assert case.get("messageContains", "") in error["message"]
    if "ConnectionFailed" in error["classes"]:
        assert error["mayHaveBeenExecuted"] == case["mayHaveBeenExecuted"]
        assert ("may have been executed" in error["message"]) == case["mayHaveBeenExecuted"]
    if "APIError" in error["classes"]:
        assert (error["status"], error["code"]) == (case.get("status", error["status"]), case.get("code", ""))
    else:
        assert error.get("idempotencyKey") == (received[0].headers.get("idempotency-key") if received else None) or (
            not received and error["idempotencyKey"]
        )
    if "requestId" in case:
        assert error["requestId"] == case["requestId"]
        assert case["requestId"] in error["message"]
