"""The Python client under failures of the server and the network: the table that both languages share."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest
from postern_sdk import APIError, AsyncPostern, ConnectionFailed, InvalidResponse, Postern, errors, problems

from tests.peers.fault_server import CASES, TABLE, FaultServer, fault_server, refused_url

ALL = [pytest.param(index, id=case["name"]) for index, case in enumerate(CASES)]
NOT_CANCELLED = [pytest.param(index, id=case["name"]) for index, case in enumerate(CASES) if "cancel" not in case]
"""A synchronous call cannot be cancelled."""


@pytest.fixture(scope="module", autouse=True)
def no_jitter() -> Any:
    """Retries without a `Retry-After` follow at once, because the tests have nothing to spread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("random.uniform", lambda low, high: 0.0)
        yield


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with fault_server() as server:
        yield server


def url_of(case: int, name: str, server: FaultServer, stack: ExitStack) -> str:
    return stack.enter_context(refused_url()) if CASES[case].get("url") == "refused" else server.url(case, name)


def settings(case: int) -> dict[str, Any]:
    return {
        "key": "pk_test",
        "project": "p1",
        "timeout": CASES[case].get("timeoutSeconds", 30.0),
        "retries": CASES[case].get("retries", 2),
    }


def call(client: Any, case: int) -> Any:
    arguments = TABLE["arguments"]
    match CASES[case]["call"]:
        case "send":
            send = arguments["send"]
            return client.emails.send(to=send["to"], from_=send["from"], subject=send["subject"], text=send["text"])
        case "read":
            return client.customers.get(arguments["read"])
        case _:
            return client.audiences.create(name=arguments["create"]["name"])


def assert_outcome(case: int, name: str, server: FaultServer, result: Any, error: Exception | None) -> None:
    expected = CASES[case]
    received = server.received(case, name)
    assert len(received) == expected["requests"]
    assert len({(sent.method, sent.path, sent.body, sent.headers.get("idempotency-key")) for sent in received}) <= 1
    if expected["call"] == "send" and received:
        assert received[0].headers["idempotency-key"]
        assert json.loads(received[0].body) == TABLE["arguments"]["send"]
    for field, value in expected.get("result", {}).items():
        assert error is None
        assert getattr(result, field) == value
    if "error" not in expected:
        assert error is None
        return
    assert error is not None, result
    class_ = getattr(problems, expected["error"], None) or getattr(errors, expected["error"])
    assert isinstance(error, class_)
    assert expected.get("messageContains", "") in str(error)
    if isinstance(error, ConnectionFailed):
        assert error.may_have_been_executed == expected["mayHaveBeenExecuted"]
        assert ("may have been executed" in str(error)) == expected["mayHaveBeenExecuted"]
    if isinstance(error, APIError):
        assert (error.status, error.code) == (expected.get("status", error.status), expected.get("code", ""))
    if isinstance(error, APIError | InvalidResponse) and "requestId" in expected:
        assert error.request_id == expected["requestId"]
        assert expected["requestId"] in str(error)
    if isinstance(error, InvalidResponse) and received:
        assert error.idempotency_key == received[0].headers.get("idempotency-key")


@pytest.mark.parametrize("case", ALL)
async def test_the_asynchronous_client(case: int, server: FaultServer) -> None:
    name, result, error = uuid4().hex, None, None
    with ExitStack() as stack:
        async with AsyncPostern(url_of(case, name, server, stack), **settings(case)) as client:
            if CASES[case].get("cancel"):
                task = asyncio.ensure_future(call(client, case))
                await server.arrival(case, name)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                try:
                    result = await call(client, case)
                except errors.PosternError as raised:
                    error = raised
    assert_outcome(case, name, server, result, error)


@pytest.mark.parametrize("case", NOT_CANCELLED)
async def test_the_synchronous_client(case: int, server: FaultServer) -> None:
    def run(url: str) -> tuple[Any, Exception | None]:
        with Postern(url, **settings(case)) as client:
            try:
                return call(client, case), None
            except errors.PosternError as raised:
                return None, raised

    name = uuid4().hex
    with ExitStack() as stack:
        result, error = await asyncio.to_thread(run, url_of(case, name, server, stack))
    assert_outcome(case, name, server, result, error)
