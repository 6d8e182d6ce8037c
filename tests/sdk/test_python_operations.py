"""Every operation is called with both Python clients, and what is sent is compared with the API's document."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from postern_sdk import AsyncPostern, Postern, types

from sdk.generator.model import read, read_names
from tests.sdk.api_document import api_document
from tests.sdk.python_samples import CSV, PROJECT, Sample, samples, source
from tests.sdk.samples import entries

REPOSITORY = Path(__file__).parent.parent.parent


@dataclass
class Recorder:
    """The last request, and the response that each request gets."""

    url: str = ""
    request: dict[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@pytest.fixture(scope="module")
def listed() -> list[Sample]:
    """A sample of each operation."""
    return samples(read(api_document(), read_names()))


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    """An HTTP server that records requests and replies with what the test says."""
    recorder = Recorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            recorder.request = {"method": self.command, "target": self.path, "headers": headers, "body": body}
            # The test prepares the next response as soon as the client has this one.
            reply = recorder.body
            self.send_response(recorder.status)
            for name, value in {**recorder.headers, "Content-Length": str(len(reply))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield recorder
    server.shutdown()
    server.server_close()


def prepare_response(recorder: Recorder, sample: Sample) -> Any:
    """Let the recorder reply with the example of the operation; returns its JSON value."""
    entry = entries()[sample.operation.id]
    status, response = next(
        (int(status), response) for status, response in sorted(entry["responses"].items()) if status[0] in "23"
    )
    recorder.status, recorder.headers, recorder.body = status, {}, b""
    if 300 <= status < 400:
        recorder.headers = {"Location": "https://app.example.com/"}
    for media_type, content in response.get("content", {}).items():
        recorder.headers["Content-Type"] = media_type
        if media_type == "application/json":
            value = next(iter(content["examples"].values()))["value"]
            recorder.body = json.dumps(value).encode()
            return value
        recorder.body = b"<p>text</p>"
    return None


def check_request(recorder: Recorder, sample: Sample) -> None:
    """The last request is the one that the document describes."""
    sent, operation = recorder.request, sample.operation
    url = urlsplit(sent["target"])
    assert (sent["method"], url.path) == (operation.method, sample.path)
    assert dict(parse_qsl(url.query, strict_parsing=bool(url.query))) == sample.query
    expected = {"authorization": "Bearer pk_test", **sample.headers}
    assert {name: sent["headers"].get(name) for name in expected} == expected
    assert sent["headers"]["user-agent"].startswith("postern-python/")
    assert ("idempotency-key" in sent["headers"]) == operation.idempotent
    if operation.body is None:
        assert sent["body"] == b""
        assert "content-type" not in sent["headers"]
    elif operation.body.kind == "json":
        assert json.loads(sent["body"] or b"{}") == sample.body
    elif operation.body.kind == "form":
        assert dict(parse_qsl(sent["body"].decode())) == sample.body
    else:
        assert sent["body"] == CSV


def check_result(sample: Sample, example: Any, result: Any) -> None:
    """Nothing of the example is lost in the result."""
    match sample.operation.response:
        case "empty":
            assert result is None
        case "redirect":
            assert result == "https://app.example.com/"
        case "text":
            assert result == "<p>text</p>"
        case "bytes":
            assert result == b"<p>text</p>"
        case _:
            if sample.operation.page is not None:
                entries = example if isinstance(example, list) else example["data"]
                result, example = result.data, entries
            assert plain(msgspec.to_builtins(result)) == plain(example)


def plain(value: Any) -> Any:
    """JSON with times in one form, and without members that are absent on one side and null on the other."""
    match value:
        case dict():
            return {name: plain(member) for name, member in value.items() if member is not None}
        case list():
            return [plain(entry) for entry in value]
        case str():
            return value.replace(".000Z", "Z")
        case _:
            return value


def load(listed: list[Sample], *, is_async: bool) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source(listed, is_async=is_async), "samples", "exec"), namespace)
    return namespace


def test_the_synchronous_client_sends_every_operation(recorder: Recorder, listed: list[Sample]) -> None:
    functions = load(listed, is_async=False)
    with Postern(recorder.url, "pk_test", PROJECT) as client:
        for sample in listed:
            example = prepare_response(recorder, sample)
            result = functions[sample.function](client)
            check_request(recorder, sample)
            check_result(sample, example, result)


async def test_the_asynchronous_client_sends_every_operation(recorder: Recorder, listed: list[Sample]) -> None:
    functions = load(listed, is_async=True)
    async with AsyncPostern(recorder.url, "pk_test", PROJECT) as client:
        for sample in listed:
            example = prepare_response(recorder, sample)
            result = await functions[sample.function](client)
            check_request(recorder, sample)
            check_result(sample, example, result)


def test_a_call_of_every_operation_passes_the_strict_type_check(tmp_path: Path, listed: list[Sample]) -> None:
    for name, is_async in (("samples.py", False), ("async_samples.py", True)):
        (tmp_path / name).write_text(source(listed, is_async=is_async))
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": [str(REPOSITORY / "sdk/python")],
        "include": ["."],
        "reportUnusedImport": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    program = Path(sys.executable).parent / "basedpyright"
    checked = subprocess.run(
        [program, "--project", tmp_path, "--pythonpath", sys.executable], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    assert "0 errors, 0 warnings" in checked.stdout


async def test_cookies_are_not_kept(recorder: Recorder) -> None:
    recorder.status, recorder.headers, recorder.body = 200, {"Set-Cookie": "session=ada; Path=/"}, b"<p>page</p>"
    with Postern(recorder.url, "k", PROJECT) as client:
        for _ in range(2):
            client.pages.sign_in()
            assert "cookie" not in recorder.request["headers"]
    async with AsyncPostern(recorder.url, "k", PROJECT) as async_client:
        for _ in range(2):
            await async_client.pages.sign_in()
            assert "cookie" not in recorder.request["headers"]


def test_emails_of_a_batch_may_be_objects_or_dicts(recorder: Recorder, listed: list[Sample]) -> None:
    prepare_response(recorder, next(sample for sample in listed if sample.operation.id == "sendEmailBatch"))
    with Postern(recorder.url, "pk_test", PROJECT) as client:
        client.emails.send_batch(
            emails=[
                types.Email(to=["a@example.com"], from_="b@example.com", reply_to="c@example.com", template_id=None),
                {"to": ["a@example.com"], "from": "b@example.com", "replyTo": "c@example.com", "templateId": None},
            ]
        )
    first, second = json.loads(recorder.request["body"])["emails"]
    assert first == second
    assert set(first) == {"to", "from", "replyTo", "templateId"}
