"""Ports for peers that are away."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nobodys_port() -> Iterator[socket.socket]:
    """A port of loopback that is taken and where nobody listens, until somebody does who wants this very one.

    One that was only found free may be another process's a moment later. The socket may listen itself, or, as long
    as it does not, somebody else who reuses addresses.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held
