"""Records in which files of postern/ functions are called for one request. `script/measure-code` runs this file.

The test suite does not run it. Each flow is run a few times before it is recorded, so that calls that happen once per
process are not counted.
"""

import asyncio
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from tests.conftest import PASSWORD
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Sink

ROOT = Path(__file__).parent.parent / "postern"
RENDER_PROCESS_FILES = "render_process_files"
"""The file to which the render processes write the names of their files."""
MAIL = {
    "from": "Acme <hello@example.com>",
    "subject": "Hello {{name}}",
    "html": '<p>Dear {{name}}, <a href="https://acme.example/offer">look</a></p>',
    "variables": {"name": "Ada"},
}
WARM_UP = 3


class Recorder:
    """Collects the files in which functions are called while `on` is True, in this thread and those started later."""

    def __init__(self) -> None:
        self.on = False
        self.files: set[str] = set()
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if self.on and event == "call" and code.co_filename.startswith(str(ROOT)) and code.co_name != "<module>":
            self.files.add(code.co_filename)

    def report(self, flow: str, other_files: set[str] = frozenset()) -> None:  # pyright: ignore[reportArgumentType]
        files = sorted(str(Path(file).relative_to(ROOT)) for file in self.files | other_files)
        print(f"\nFLOW {flow} {len(files)} {' '.join(files)}")


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


@pytest.fixture
def recorder():
    recorder = Recorder()
    yield recorder
    sys.setprofile(None)
    threading.setprofile(None)  # pyright: ignore[reportArgumentType]


async def test_a_send_from_http_to_the_final_dot(project, zone, recorder, tmp_path):
    render_files = Path(RENDER_PROCESS_FILES)
    render_files.unlink(missing_ok=True)
    async with Sink() as sink:
        domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
        publish(zone, domain)
        assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
        relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
        changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
        assert changed.status_code == 200, changed.text
        for number in range(WARM_UP + 1):
            recorder.on = number == WARM_UP
            sent = await project.client.post("/emails", {**MAIL, "to": [f"a{number}@example.org"]})
            assert sent.status_code == 201, sent.text
            while len(sink.messages) <= number:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)  # Until the outcome is recorded.
        recorder.on = False
    recorder.report("send", set(render_files.read_text().split()) if render_files.exists() else set())


async def test_a_sign_in_of_a_customer(project, stranger, recorder):
    address = "ada@example.com"
    created = await project.client.post("/customers", {"email": address, "password": PASSWORD})
    assert created.status_code == 201, created.text
    for number in range(WARM_UP + 1):
        recorder.on = number == WARM_UP
        signed_in = await stranger.post(
            f"/projects/{project.id}/auth/sign-in", {"email": address, "password": PASSWORD}
        )
        assert signed_in.status_code == 200, signed_in.text
    recorder.on = False
    recorder.report("sign-in")
