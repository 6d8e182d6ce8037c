"""The writes of a response to its connection: the head goes out with the body, and waits for nothing else."""

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from postern.kernel.config import Settings
from postern.kernel.http.connections import LimitedProtocol, limited_protocol

LENGTH_4 = [(b"content-length", b"4")]


class RecordedTransport(asyncio.Transport):
    """Records what is written, and the end as `closed`."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 1), "sockname": ("192.0.2.2", 80)})
        self.writes: list[bytes] = []

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return b"closed" in self.writes

    def close(self) -> None:
        self.writes.append(b"closed")

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def writes_of(method: str, headers: list[tuple[bytes, bytes]], *parts: bytes, then: Any = None) -> list[bytes]:
    """The writes of a response with these headers, and with a body that the application sends in `parts`."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for index, part in enumerate(parts):
            await send({"type": "http.response.body", "body": part, "more_body": index < len(parts) - 1})
        if then is not None:
            raise then

    config = uvicorn.Config(app, http=limited_protocol(Settings()), ws="none", lifespan="off", log_config=None)
    config.load()
    protocol = config.http_protocol_class(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]
    assert isinstance(protocol, LimitedProtocol)
    transport = RecordedTransport()
    protocol.connection_made(transport)
    protocol.data_received(f"{method} / HTTP/1.1\r\nHost: postern\r\n\r\n".encode())
    await asyncio.gather(*protocol.tasks)
    writes = transport.writes.copy()
    protocol.connection_lost(None)
    return writes


@pytest.mark.parametrize(
    ("method", "parts", "bodies"),
    [
        ("GET", (b"body",), [b"body"]),
        ("GET", (b"bo", b"dy"), [b"bo", b"dy"]),
        ("HEAD", (b"body",), [b""]),
    ],
)
async def test_the_head_is_written_with_the_first_part_of_the_body(method, parts, bodies) -> None:
    writes = await writes_of(method, LENGTH_4, *parts)
    head, _, first = writes[0].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: 4" in head
    assert [first, *writes[1:]] == bodies


async def test_the_head_of_a_response_of_unknown_length_is_written_at_once() -> None:
    head, *rest = await writes_of("GET", [], b"body", b"")
    assert head.endswith(b"transfer-encoding: chunked\r\n\r\n")
    assert b"".join(rest) == b"4\r\nbody\r\n0\r\n\r\n"


async def test_the_head_is_written_if_the_application_fails_before_the_body() -> None:
    head, *rest = await writes_of("GET", LENGTH_4, then=ValueError("no body"))
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert rest == [b"closed"]
