"""Records in which files of postern/ functions are called for one request. `script/measure-code` runs this file.

The test suite does not run it. Each flow is run a few times before it is recorded, so that calls that happen once per
process are not counted. Every thread and the render processes are recorded. The requests get to the application without
a socket, so the limits of a connection (`kernel/http/connections.py`) are not part of a flow.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from tests.call_recorder import CALLS, SWITCH, record_calls, record_calls_of_children
from tests.conftest import PASSWORD
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Sink

MAIL = {
    "from": "Acme <hello@example.com>",
    "html": '<p>Dear {{name}}, <a href="https://acme.example/offer">look</a></p>',
    "variables": {"name": "Ada"},
}
WARM_UP = 3


class Recorder:
    """Records the files in which functions are called between `begin` and `report`."""

    def __init__(self, folder: Path) -> None:
        self._switch, self._calls = folder / SWITCH, folder / CALLS

    def begin(self) -> None:
        """Start to record."""
        self._switch.touch()

    def report(self, flow: str) -> None:
        """Stop, and print the number and the names of the files."""
        self._switch.unlink()
        files = sorted(set(self._calls.read_text().splitlines()))
        self._calls.unlink()
        print(f"\nFLOW {flow} {len(files)} {' '.join(files)}")


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


@pytest.fixture(scope="module", autouse=True)
def recorder() -> Iterator[Recorder]:
    """Of the module, so that it exists before other fixtures start threads and processes."""
    with tempfile.TemporaryDirectory() as name:
        record_calls_of_children(Path(name))
        record_calls(Path(name))
        yield Recorder(Path(name))
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]


async def test_a_send_from_http_to_the_final_dot(project, zone, recorder):
    async with Sink() as sink:
        domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
        publish(zone, domain)
        assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
        relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
        changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
        assert changed.status_code == 200, changed.text
        for number in range(WARM_UP + 1):
            if number == WARM_UP:
                recorder.begin()
            # Processes keep compiled templates, so each e-mail has its own.
            mail = {**MAIL, "subject": f"Hello {{{{name}}}} {number}", "to": [f"a{number}@example.org"]}
            sent = await project.client.post("/emails", mail)
            assert sent.status_code == 201, sent.text
            while len(sink.messages) <= number:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)  # Until the outcome is recorded.
        recorder.report("send")


async def test_a_sign_in_of_a_customer(project, stranger, recorder):
    address = "ada@example.com"
    created = await project.client.post("/customers", {"email": address, "password": PASSWORD})
    assert created.status_code == 201, created.text
    for number in range(WARM_UP + 1):
        if number == WARM_UP:
            recorder.begin()
        signed_in = await stranger.post(
            f"/projects/{project.id}/auth/sign-in", {"email": address, "password": PASSWORD}
        )
        assert signed_in.status_code == 200, signed_in.text
    recorder.report("sign-in")
