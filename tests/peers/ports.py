"""Ports for servers that a test starts later, or never."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[socket.socket]:
    """A socket bound to a free port of 127.0.0.1 on which no server listens.

    A port that is only found to be free may be taken by another process. Until the block ends, a server can listen on
    this socket, or on another socket with SO_REUSEADDR as long as this one does not listen.
    """
    with socket.socket() as port_socket:
        port_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port_socket.bind(("127.0.0.1", 0))
        yield port_socket


def listening_socket(port: int = 0) -> socket.socket:
    """A socket that listens on a port of 127.0.0.1, by default a free one.

    asyncio switches Nagle's algorithm off only for connections whose socket names TCP as its protocol, which those of
    `socket.create_server` do not. With it, a response of two packets waits 40 ms for an acknowledgement.
    """
    listener = socket.create_server(("127.0.0.1", port))
    # The constructor asks the operating system for what it is not told.
    return socket.socket(fileno=listener.detach())
