"""One complete server for all tests of the SDKs."""

import asyncio
from collections.abc import Iterator

import pytest

from postern.cli.bootstrap import BootstrapResult
from tests.peers.whole_server import whole_server


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BootstrapResult]:
    """The credentials of an account on a complete server, which runs until the end of the tests."""
    with whole_server(tmp_path_factory.mktemp("sdk-server")) as server:
        yield asyncio.run(server.account())
