"""Relays that a project names stand on this machine here: its addresses are opened as an operator may do."""

import msgspec
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))
