"""A whole sign-on and sign-out over HTTP with the honest identity provider, as a browser would carry it."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from postern.protocols.saml.certificates import new_sp_certificate
from postern.protocols.saml.logout import Binding, read_logout_response
from postern.protocols.saml.metadata import read_metadata
from postern.protocols.saml.request import authn_request, logout_request, new_message_id, redirect_url
from postern.protocols.saml.response import read_response
from tests.peers.identity_provider import IdentityProvider, posted
from tests.protocols.saml.conftest import SP, agreed_with


def test_metadata_login_and_logout():
    idp, pair, now = IdentityProvider(), new_sp_certificate("mail.example", now=datetime.now(UTC)), datetime.now(UTC)
    idp.service_urls[SP] = f"{SP}/slo"
    with idp.serving() as base:
        found = read_metadata(httpx.get(f"{base}/metadata", timeout=60).content, now=now, allow_http=True)
        agreed = agreed_with(idp, idp_certificates=[each.pem for each in found.certificates])

        asked = new_message_id()
        request = authn_request(agreed, id=asked, destination=found.sso_redirect_url, now=now)
        url = redirect_url(
            found.sso_redirect_url,
            request,
            field="SAMLRequest",
            private_key=pair.private_key,
            relay_state="/welcome",
        )
        action, fields = posted(httpx.get(url, timeout=60).text)
        assert (action, fields["RelayState"]) == (f"{SP}/acs", "/welcome")
        person = read_response(
            fields["SAMLResponse"], connection=agreed, expected_request_ids={asked}, now=datetime.now(UTC)
        )

        leaving = new_message_id()
        message = logout_request(
            agreed,
            id=leaving,
            destination=found.slo_redirect_url,
            now=now,
            name_id=person.name_id,
            format=person.format,
            session_index=person.session_index,
        )
        url = redirect_url(
            found.slo_redirect_url, message, field="SAMLRequest", private_key=pair.private_key, relay_state="bye"
        )
        back = urlsplit(httpx.get(url, timeout=60).headers["location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == f"{SP}/slo"
    answered = read_logout_response(
        back.query,
        binding=Binding.REDIRECT,
        connection=agreed,
        expected_request_ids={leaving},
        now=datetime.now(UTC),
    )
    assert answered.success
    assert answered.relay_state == "bye"
