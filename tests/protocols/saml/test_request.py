"""Messages that this service sends: content, schema and signatures."""

import base64
import zlib
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from lxml import etree
from signxml import SignatureConfiguration, XMLVerifier

from postern.protocols.saml.certificates import load_certificate, new_sp_certificate
from postern.protocols.saml.connection import PERSISTENT_NAME_ID
from postern.protocols.saml.request import (
    authn_request,
    logout_request,
    logout_response,
    new_message_id,
    post_fields,
    redirect_url,
)
from tests.peers.identity_provider import SAML, SAMLP
from tests.protocols.saml.conftest import NOW, SP

SSO = "https://idp.example/login?tenant=7"
SP_KEYS = new_sp_certificate("mail.example", now=NOW)


def messages(connection) -> list[bytes]:
    common = {"destination": SSO, "now": NOW}
    return [
        authn_request(connection, id="_1", name_id_format=PERSISTENT_NAME_ID, force_authn=True, **common),
        authn_request(connection, id="_2", **common),
        logout_request(connection, id="_3", name_id="a&b", format=PERSISTENT_NAME_ID, session_index="_s", **common),
        logout_response(connection, id="_4", in_response_to="_5", **common),
        logout_response(connection, id="_6", in_response_to="_5", success=False, **common),
    ]


def test_requests_are_valid_by_the_schema(connection, protocol_schema):
    for message in messages(connection):
        protocol_schema.validate(message)
        fields = post_fields(
            message, field="SAMLRequest", private_key=SP_KEYS.private_key, certificate=SP_KEYS.certificate
        )
        protocol_schema.validate(base64.b64decode(fields["SAMLRequest"]))


def test_a_request_has_its_issuer_and_the_acs_url(connection):
    root = etree.fromstring(messages(connection)[0])
    assert root.findtext(f"{{{SAML}}}Issuer") == SP
    assert root.get("AssertionConsumerServiceURL") == f"{SP}/acs"
    assert root.get("Destination") == SSO
    assert root.get("IssueInstant") == "2026-01-31T12:00:00.000Z"
    assert root.get("ForceAuthn") == "true"
    assert root.find(f"{{{SAMLP}}}NameIDPolicy").get("Format") == PERSISTENT_NAME_ID


def test_a_redirect_signature_covers_the_query_as_sent(connection):
    message = messages(connection)[1]
    url = redirect_url(SSO, message, field="SAMLRequest", private_key=SP_KEYS.private_key, relay_state="/inbox?a=1&b")
    query = urlsplit(url).query
    fields = {name: values[0] for name, values in parse_qs(query).items()}
    assert fields["tenant"] == "7"
    assert fields["RelayState"] == "/inbox?a=1&b"
    assert zlib.decompress(base64.b64decode(fields["SAMLRequest"]), -15) == message
    signed, _, signature = query.removeprefix("tenant=7&").rpartition("&Signature=")
    key = load_certificate(SP_KEYS.certificate).public_key()
    raw = base64.b64decode(unquote(signature))
    key.verify(raw, signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        key.verify(raw, signed.replace("inbox", "outbox").encode(), padding.PKCS1v15(), hashes.SHA256())


def test_a_post_request_has_an_enveloped_signature(connection):
    fields = post_fields(
        messages(connection)[1],
        field="SAMLRequest",
        private_key=SP_KEYS.private_key,
        certificate=SP_KEYS.certificate,
        relay_state="x",
    )
    assert fields["RelayState"] == "x"
    result = XMLVerifier().verify(
        base64.b64decode(fields["SAMLRequest"]),
        x509_cert=SP_KEYS.certificate,
        id_attribute="ID",
        expect_config=SignatureConfiguration(location="./", verification_time=NOW),
    )
    assert result.signed_xml.get("ID") == "_2"


def test_a_relay_state_has_at_most_eighty_bytes(connection):
    message = messages(connection)[1]
    redirect_url(SSO, message, field="SAMLRequest", private_key=SP_KEYS.private_key, relay_state="x" * 80)
    with pytest.raises(ValueError, match="80"):
        redirect_url(SSO, message, field="SAMLRequest", private_key=SP_KEYS.private_key, relay_state="ä" * 41)


def test_ids_are_unique_and_do_not_begin_with_a_digit():
    message_ids = {new_message_id() for _ in range(100)}
    assert len(message_ids) == 100
    assert all(message_id.startswith("_") and len(message_id) == 41 for message_id in message_ids)
