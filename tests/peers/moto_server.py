"""Amazon SES as moto implements it, in a process on loopback.

    with moto_server() as ses:
        ses.verify("example.com")     # a verified identity of the account
        ... POSTERN_SES_ENDPOINT = ses.url
        ses.messages                  # what was sent

As a process: `python -m tests.peers.moto_server` prints its port and runs until its standard input is closed.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import httpx

REGION = "eu-central-1"
SCOPE = f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/{REGION}/ses/aws4_request"
"""By this, moto finds service and region; it checks no signatures."""


class SesMessage(NamedTuple):
    """A message that moto accepted."""

    id: str
    source: str
    recipients: set[str]
    """The envelope recipients, and the addresses in To and Cc: moto does not tell them apart."""
    raw: bytes


class MotoServer:
    """A running moto."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False, timeout=60)

    def reset(self) -> None:
        """Forget all messages and identities."""
        assert self._http.post("/moto-api/reset").status_code == 200

    def verify(self, identity: str) -> None:
        """Add a domain from which mail can be sent."""
        reply = self._http.post(
            "/v2/email/identities",
            json={"EmailIdentity": identity},
            headers={"Authorization": f"{SCOPE}, SignedHeaders=host, Signature=none"},
        )
        assert reply.status_code == 200, reply.text

    @property
    def messages(self) -> list[SesMessage]:
        """The messages that were accepted, in order."""
        rows = self._http.get("/moto-api/data.json").json()["ses"]["RawMessage"]
        return [
            SesMessage(row["id"], row["source"], set(row["destinations"]), row["raw_data"].encode()) for row in rows
        ]

    def close(self) -> None:
        """Close the connection to the process."""
        self._http.close()


@contextmanager
def moto_server() -> Iterator[MotoServer]:
    """Run moto; the process ends with the block."""
    command = [sys.executable, "-m", "tests.peers.moto_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            server = MotoServer(f"http://127.0.0.1:{int(process.stdout.readline())}")
            try:
                yield server
            finally:
                server.close()
        finally:
            process.stdin.close()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    """Run moto until standard input is closed."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    print(port, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
