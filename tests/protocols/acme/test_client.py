"""What an ACME server may require of a client, with a real server."""

import msgspec
import pytest

from postern.messaging.certificates.model import FIRST_RETRY
from tests.messaging.certificates.conftest import (
    HOST,
    http_port,
    no_earlier_certificates,
    pebble,
    pebble_options,
    server,
    settings,
)
from tests.messaging.certificates.test_issuing import certificate_of, issue
from tests.peers.pebble import needs_pebble

__all__ = ["http_port", "no_earlier_certificates", "pebble", "pebble_options", "server", "settings"]

pytestmark = needs_pebble


@pytest.mark.parametrize("pebble_options", [{"rejected_nonces": 30}], indirect=True)
async def test_refused_nonces_are_replaced(world, server, run_due_work):
    assert (await issue(world, run_due_work)).chain is not None


KEY = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"


@pytest.mark.parametrize("pebble_options", [{"external_accounts": {"kid-1": KEY}}], indirect=True)
async def test_an_authority_may_require_an_account_of_its_own(world, clock, server, run_due_work):
    refused = await issue(world, run_due_work)
    assert "(externalAccountRequired)" in refused.problem
    world.settings = msgspec.structs.replace(world.settings, acme_eab_key_id="kid-1", acme_eab_hmac_key=KEY)
    clock.move(FIRST_RETRY)
    await run_due_work()
    assert (await certificate_of(world, HOST)).chain
