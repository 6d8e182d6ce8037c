"""Logout messages by HTTP-Redirect and HTTP-POST: parsing, and rejection of changed ones."""

import base64
from dataclasses import replace
from datetime import timedelta

import pytest
from lxml import etree

from postern.protocols.saml.logout import Binding, read_logout_request, read_logout_response
from postern.protocols.saml.request import logout_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import IdentityProvider, keys, signed, xml_time
from tests.protocols.saml.conftest import NOW, SP

SLO_URL = f"{SP}/slo"


def read_request(raw, connection, binding=Binding.REDIRECT, **more):
    return read_logout_request(raw, binding=binding, connection=connection, now=NOW, **more)


def read_response(raw, connection, binding=Binding.REDIRECT, expected=("_asked",)):
    return read_logout_response(raw, binding=binding, connection=connection, expected_request_ids=expected, now=NOW)


def rejection_reason(read, *arguments, **more) -> SamlRejectionReason:
    with pytest.raises(SamlRejected) as caught:
        read(*arguments, **more)
    assert any(not step.ok for step in caught.value.trace)
    return caught.value.reason


def signed_form_value(idp, message: bytes, signing_keys=None) -> str:
    return base64.b64encode(etree.tostring(signed(etree.fromstring(message), signing_keys or idp.keys))).decode()


def with_root_attribute(message: bytes, name: str, value: str) -> bytes:
    root = etree.fromstring(message)
    root.set(name, value)
    return etree.tostring(root)


def test_a_request_by_redirect_is_parsed(idp, connection):
    message = idp.logout_request(SLO_URL, id="_out")
    result = read_request(idp.redirect("SAMLRequest", message, "go back"), connection)
    assert (result.id, result.name_id, result.session_indexes) == ("_out", "maria@acme.example", ["_session-1"])
    assert result.relay_state == "go back"
    assert result.issuer == idp.entity_id


def test_a_request_by_post_is_parsed(idp, connection):
    result = read_request(
        signed_form_value(idp, idp.logout_request(SLO_URL)), connection, Binding.POST, relay_state="r"
    )
    assert (result.name_id, result.relay_state) == ("maria@acme.example", "r")


def test_a_response_by_both_bindings_is_parsed(idp, connection):
    message = idp.logout_response(SLO_URL, "_asked")
    assert read_response(idp.redirect("SAMLResponse", message), connection).success
    assert read_response(signed_form_value(idp, message), connection, Binding.POST).in_response_to == "_asked"


def test_a_response_with_a_failure_status_is_parsed(idp, connection):
    message = idp.logout_response(SLO_URL, "_asked", status="urn:oasis:names:tc:SAML:2.0:status:Responder")
    result = read_response(idp.redirect("SAMLResponse", message), connection)
    assert not result.success
    assert result.status.endswith("Responder")


def test_a_message_that_is_almost_eleven_minutes_old_is_accepted(idp, connection):
    older = replace(idp, now=NOW - timedelta(minutes=10, seconds=59))
    assert (
        read_request(older.redirect("SAMLRequest", older.logout_request(SLO_URL)), connection).name_id
        == "maria@acme.example"
    )


def test_an_unsolicited_response_is_refused(idp, connection):
    message = idp.redirect("SAMLResponse", idp.logout_response(SLO_URL, "_other"))
    assert rejection_reason(read_response, message, connection) is SamlRejectionReason.WRONG_IN_RESPONSE_TO


def test_a_response_has_the_id_of_the_request(connection):
    raw = logout_response(connection, id="_a", destination="https://idp.example", now=NOW, in_response_to="_out")
    assert etree.fromstring(raw).get("InResponseTo") == "_out"


def changed_queries(idp) -> dict[str, tuple[str, SamlRejectionReason]]:
    query = idp.redirect("SAMLRequest", idp.logout_request(SLO_URL), "state")
    parts = dict(part.split("=", 1) for part in query.split("&"))
    stranger = replace(idp, keys=keys("stranger"))
    return {
        "another relay state": (query.replace("=state", "=other"), SamlRejectionReason.SIGNATURE_INVALID),
        "no relay state": (query.replace("RelayState=state&", ""), SamlRejectionReason.SIGNATURE_INVALID),
        "no signature": (query.rpartition("&Signature")[0], SamlRejectionReason.UNSIGNED),
        "no algorithm": (query.replace("&SigAlg=" + parts["SigAlg"], ""), SamlRejectionReason.UNSIGNED),
        "sha1": (query.replace("rsa-sha256", "rsa-sha1"), SamlRejectionReason.WEAK_ALGORITHM),
        "hmac": (query.replace("rsa-sha256", "hmac-sha256"), SamlRejectionReason.SIGNATURE_FORM),
        "elliptic": (query.replace("rsa-sha256", "ecdsa-sha256"), SamlRejectionReason.SIGNATURE_INVALID),
        "twice": (f"{query}&SAMLRequest={parts['SAMLRequest']}", SamlRejectionReason.MALFORMED),
        "twice, escaped": (f"{query}&%53AMLRequest={parts['SAMLRequest']}", SamlRejectionReason.MALFORMED),
        "both": (f"{query}&SAMLResponse={parts['SAMLRequest']}", SamlRejectionReason.MALFORMED),
        "a stranger": (
            stranger.redirect("SAMLRequest", idp.logout_request(SLO_URL)),
            SamlRejectionReason.SIGNATURE_INVALID,
        ),
        "signature not base64": (query.replace("&Signature=", "&Signature=%2A"), SamlRejectionReason.NOT_BASE64),
        "another issuer": (
            idp.redirect("SAMLRequest", replace(idp, entity_id="https://evil.example").logout_request(SLO_URL)),
            SamlRejectionReason.WRONG_ISSUER,
        ),
        "another place": (
            idp.redirect("SAMLRequest", idp.logout_request(f"{SP}/elsewhere")),
            SamlRejectionReason.WRONG_DESTINATION,
        ),
        "a response as a request": (
            idp.redirect("SAMLRequest", idp.logout_response(SLO_URL, "_asked")),
            SamlRejectionReason.WRONG_MESSAGE,
        ),
        "issued later": (
            idp.redirect("SAMLRequest", replace(idp, now=NOW + timedelta(hours=1)).logout_request(SLO_URL)),
            SamlRejectionReason.NOT_YET_VALID,
        ),
        "issued long ago": (
            idp.redirect(
                "SAMLRequest", replace(idp, now=NOW - timedelta(minutes=11, seconds=1)).logout_request(SLO_URL)
            ),
            SamlRejectionReason.EXPIRED,
        ),
        "issued at no readable time": (
            idp.redirect("SAMLRequest", with_root_attribute(idp.logout_request(SLO_URL), "IssueInstant", "yesterday")),
            SamlRejectionReason.MALFORMED,
        ),
        "ends at no readable time": (
            idp.redirect("SAMLRequest", with_root_attribute(idp.logout_request(SLO_URL), "NotOnOrAfter", "tomorrow")),
            SamlRejectionReason.MALFORMED,
        ),
        "ended": (
            idp.redirect(
                "SAMLRequest",
                with_root_attribute(idp.logout_request(SLO_URL), "NotOnOrAfter", xml_time(NOW - timedelta(minutes=1))),
            ),
            SamlRejectionReason.EXPIRED,
        ),
        "endless": (query + "&x=" + "y" * 70_000, SamlRejectionReason.TOO_LARGE),
        "empty": ("", SamlRejectionReason.UNSIGNED),
    }


CASES = tuple(changed_queries(IdentityProvider(now=NOW)))


@pytest.mark.parametrize("case", CASES)
def test_a_changed_redirect_is_refused(idp, connection, case):
    query, reason = changed_queries(idp)[case]
    assert rejection_reason(read_request, query, connection) is reason


def test_a_form_must_be_signed_by_a_pinned_certificate(idp, connection):
    message = idp.logout_request(SLO_URL)
    unsigned = base64.b64encode(message).decode()
    assert rejection_reason(read_request, unsigned, connection, Binding.POST) is SamlRejectionReason.UNSIGNED
    signed_by_other_key = signed_form_value(idp, message, keys("stranger"))
    assert (
        rejection_reason(read_request, signed_by_other_key, connection, Binding.POST)
        is SamlRejectionReason.UNKNOWN_CERTIFICATE
    )
    altered = base64.b64encode(base64.b64decode(signed_form_value(idp, message)).replace(b"maria@", b"root@")).decode()
    assert rejection_reason(read_request, altered, connection, Binding.POST) is SamlRejectionReason.CONTENT_CHANGED


def test_a_deflate_bomb_is_not_decompressed(idp, connection):
    bomb = idp.redirect("SAMLRequest", b"<a>" + b" " * 50_000_000 + b"</a>")
    assert len(bomb) < 100_000
    assert rejection_reason(read_request, bomb, connection) is SamlRejectionReason.TOO_LARGE
