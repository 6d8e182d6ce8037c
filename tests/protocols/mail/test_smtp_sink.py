"""The SMTP sink of the tests: its ledger has every acknowledged message, even if the sink is killed."""

import asyncio
import signal
import sys

from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Accepted, Envelope


async def test_a_killed_sink_has_stored_every_acknowledged_message(tmp_path):
    ledger = tmp_path / "ledger"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.peers.smtp_sink", "--ledger", ledger, stdout=asyncio.subprocess.PIPE
    )
    try:
        port = int(await process.stdout.readline())
        transport = RelayTransport([RelayServer(host="127.0.0.1", port=port, tls=Tls.NONE, max_connections=4)])
        accepted, ambiguous = set(), set()

        async def deliver(number: int) -> None:
            message_id = f"<{number}@a.test>"
            outcome = await transport.deliver(
                Envelope(mail_from="b@a.test", recipients=("x@b.test", "permfail@b.test"), message_id=message_id),
                f"Message-ID: {message_id}\r\nSubject: x\r\n\r\nHello\r\n".encode(),
            )
            if isinstance(outcome.results[0], Accepted):
                accepted.add(message_id)
            if outcome.ambiguous:
                ambiguous.add(message_id)
            if len(accepted) == 150 and process.returncode is None:
                process.send_signal(signal.SIGKILL)

        await asyncio.gather(*(deliver(number) for number in range(300)))
        await transport.aclose()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    lines = [line.split("\t") for line in ledger.read_text().splitlines()]
    stored = [message_id for _, message_id, _ in lines]
    assert {(recipient, sender) for recipient, _, sender in lines} == {("x@b.test", "b@a.test")}
    assert len(stored) == len(set(stored))
    assert accepted <= set(stored) <= accepted | ambiguous
    assert 150 <= len(accepted) < 300
