"""The Python package `resend` with nothing changed but its URL: each of its public methods works or answers 501."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import resend

from tests.compat.conftest import Installation
from tests.compat.resend_guide import ROWS, WORKS
from tests.compat.resend_python import Recorder, all_methods, call_everything

METHODS = all_methods()
EXPECTED = {name: row.result for row in ROWS for name in row.python}
"""The result of each method by the table of the guide."""


def call_sync(name: str, *args: Any, **kwargs: Any) -> Any:
    return METHODS[name](*args, **kwargs)


def call_async(name: str, *args: Any, **kwargs: Any) -> Any:
    return asyncio.run(METHODS[f"{name}_async"](*args, **kwargs))


def test_every_method_of_the_package_is_in_the_table_of_the_guide():
    assert sorted(EXPECTED) == sorted(name for name in METHODS if not name.endswith("_async"))
    twins = {name.removesuffix("_async") for name in METHODS if name.endswith("_async")}
    assert set(EXPECTED) - twins == {"Webhooks.verify"}


@pytest.mark.parametrize(("mode", "call"), [("sync", call_sync), ("async", call_async)], ids=["sync", "async"])
async def test_every_method_works_or_answers_501(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, mode: str, call: Callable[..., Any]
):
    monkeypatch.setattr(resend, "api_url", f"{installation.server.url}/compat/resend")
    monkeypatch.setattr(resend, "api_key", installation.account.secret_key)
    recorder = Recorder(call)
    loop = asyncio.get_running_loop()

    def deliver(webhook_id: str) -> None:
        asyncio.run_coroutine_threadsafe(wait_for_hook(installation, f"/{mode}"), loop).result()

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # `Audiences` is deprecated.
            call_everything(
                recorder, f"{mode}.example", installation.receiver.url(f"/{mode}"), installation.publish, deliver
            )

    await asyncio.to_thread(run)
    verify_hook(installation, f"/{mode}", recorder)
    assert {name: outcome(result) for name, result in recorder.results.items()} == EXPECTED


def verify_hook(installation: Installation, path: str, recorder: Recorder) -> None:
    """Verify the first request to the webhook with the package, and that a changed body is rejected."""
    request = installation.receiver.received(path)[0]
    options: Any = {
        "payload": request.body.decode(),
        "headers": {name: request.headers[f"svix-{name}"] for name in ("id", "timestamp", "signature")},
        "webhook_secret": recorder.results["Webhooks.create"]["signing_secret"],
    }
    recorder.results["Webhooks.verify"] = resend.Webhooks.verify(options)
    with pytest.raises(ValueError, match="signature"):
        resend.Webhooks.verify({**options, "payload": "{}"})


def outcome(result: Any) -> str:
    """The text of the guide's table for a result."""
    if not isinstance(result, resend.exceptions.ResendError):
        return WORKS
    return str(result) if (result.code, result.error_type) == (501, "not_implemented") else f"{result.code} {result}"


async def wait_for_hook(installation: Installation, path: str) -> None:
    """Wait until the receiver got a request for the path."""
    async with asyncio.timeout(60):
        while not installation.receiver.received(path):
            await asyncio.sleep(0.02)
