"""A complete sign-on and logout over HTTP with the test identity provider; the test sends what a browser would."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from postern.protocols.saml.certificates import new_sp_certificate
from postern.protocols.saml.logout import Binding, read_logout_response
from postern.protocols.saml.metadata import read_metadata
from postern.protocols.saml.request import authn_request, logout_request, new_message_id, redirect_url
from postern.protocols.saml.response import read_response
from tests.peers.identity_provider import IdentityProvider, posted
from tests.protocols.saml.conftest import SP, connection_with


def test_metadata_login_and_logout():
    idp, sp_keys, now = IdentityProvider(), new_sp_certificate("mail.example", now=datetime.now(UTC)), datetime.now(UTC)
    idp.service_urls[SP] = f"{SP}/slo"
    with idp.serving() as base:
        provider = read_metadata(httpx.get(f"{base}/metadata", timeout=60).content, now=now, allow_http=True)
        connection = connection_with(idp, idp_certificates=[certificate.pem for certificate in provider.certificates])

        request_id = new_message_id()
        request = authn_request(connection, id=request_id, destination=provider.sso_redirect_url, now=now)
        url = redirect_url(
            provider.sso_redirect_url,
            request,
            field="SAMLRequest",
            private_key=sp_keys.private_key,
            relay_state="/welcome",
        )
        action, fields = posted(httpx.get(url, timeout=60).text)
        assert (action, fields["RelayState"]) == (f"{SP}/acs", "/welcome")
        login = read_response(
            fields["SAMLResponse"], connection=connection, expected_request_ids={request_id}, now=datetime.now(UTC)
        )

        logout_id = new_message_id()
        message = logout_request(
            connection,
            id=logout_id,
            destination=provider.slo_redirect_url,
            now=now,
            name_id=login.name_id,
            format=login.format,
            session_index=login.session_index,
        )
        url = redirect_url(
            provider.slo_redirect_url, message, field="SAMLRequest", private_key=sp_keys.private_key, relay_state="bye"
        )
        location = urlsplit(httpx.get(url, timeout=60).headers["location"])
    assert f"{location.scheme}://{location.netloc}{location.path}" == f"{SP}/slo"
    logout_response_message = read_logout_response(
        location.query,
        binding=Binding.REDIRECT,
        connection=connection,
        expected_request_ids={logout_id},
        now=datetime.now(UTC),
    )
    assert logout_response_message.success
    assert logout_response_message.relay_state == "bye"
