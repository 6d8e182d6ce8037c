"""The relays of test projects run on this machine, so its addresses are allowed (POSTERN_OUTBOUND_ALLOW)."""

import msgspec
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))
