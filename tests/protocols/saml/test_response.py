"""Responses: signatures, claims, encryption, and the reasons for which they are rejected."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives import hashes
from lxml import etree
from signxml import DigestAlgorithm, SignatureMethod

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import (
    EMAIL_FORMAT,
    SAML,
    IdentityProvider,
    Person,
    encrypt_assertion,
    encrypted_xml,
    keys,
    signed,
)
from tests.protocols.saml.conftest import NOW, REQUEST, SP, connection_with, valid_response

ASSERTION = f"{{{SAML}}}Assertion"
SIGNING_OPTIONS = {
    "assertion": {},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_response": True},
    "assertion, encrypted": {"encrypt_for": keys("sp").certificate},
    "response, encrypted": {
        "sign_assertion": False,
        "sign_response": True,
        "encrypt_for": keys("sp").certificate,
    },
    "both, encrypted": {"sign_response": True, "encrypt_for": keys("sp").certificate},
    "elliptic curve": {"keys": keys("curve", curve=True)},
}


def read(raw, connection, *, expected=(REQUEST,), now=NOW, **more):
    return read_response(raw, connection=connection, expected_request_ids=expected, now=now, **more)


def rejection(raw, connection, **more) -> SamlRejected:
    with pytest.raises(SamlRejected) as caught:
        read(raw, connection, **more)
    assert any(not step.ok for step in caught.value.trace)
    return caught.value


@pytest.mark.parametrize("options", SIGNING_OPTIONS.values(), ids=SIGNING_OPTIONS)
def test_a_valid_response_is_accepted_however_it_is_signed(options):
    idp = IdentityProvider(now=NOW, **options)
    login = read(valid_response(idp), connection_with(idp))
    assert login.name_id == "maria@acme.example"
    assert login.format == "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
    assert login.session_index == "_session-1"
    assert login.attributes == {"email": ["maria@acme.example"], "groups": ["staff", "admins & co"]}
    assert login.friendly_names == {"emailFriendly": "email", "groupsFriendly": "groups"}
    assert login.in_response_to == REQUEST
    assert login.issuer == idp.entity_id
    assert login.authn_instant == NOW
    assert login.not_on_or_after == NOW + timedelta(minutes=5)
    assert login.encrypted == ("encrypt_for" in options)
    assert all(step.ok for step in login.trace)
    assert login.assertion_id.startswith("_")


def test_base64_with_and_without_line_breaks_is_accepted(idp, connection):
    raw = valid_response(idp)
    assert read(base64.b64encode(raw).decode(), connection).name_id == "maria@acme.example"
    assert read(base64.encodebytes(raw).decode(), connection).name_id == "maria@acme.example"
    assert rejection("not base64!", connection).reason is SamlRejectionReason.NOT_BASE64


CLAIMS = {
    "another audience": ({"audience": "https://elsewhere.example"}, SamlRejectionReason.WRONG_AUDIENCE),
    "no audience": ({"audience": None}, SamlRejectionReason.WRONG_AUDIENCE),
    "another recipient": ({"recipient": "https://elsewhere.example/acs"}, SamlRejectionReason.WRONG_RECIPIENT),
    "no recipient": ({"recipient": None}, SamlRejectionReason.WRONG_RECIPIENT),
    "another destination": ({"destination": "https://elsewhere.example/acs"}, SamlRejectionReason.WRONG_DESTINATION),
    "another issuer": ({"issuer": "https://evil.example"}, SamlRejectionReason.WRONG_ISSUER),
    "another response issuer": ({"response_issuer": "https://evil.example"}, SamlRejectionReason.WRONG_ISSUER),
    "another request": ({"in_response_to": "_other"}, SamlRejectionReason.WRONG_IN_RESPONSE_TO),
    "another request inside": ({"inner_in_response_to": "_other"}, SamlRejectionReason.WRONG_IN_RESPONSE_TO),
    "a request that is not signed": ({"inner_in_response_to": None}, SamlRejectionReason.WRONG_IN_RESPONSE_TO),
    "an unsolicited response": ({"in_response_to": None}, SamlRejectionReason.UNSOLICITED),
    "not a bearer": ({"method": "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"}, SamlRejectionReason.NOT_CONFIRMED),
    "issued tomorrow": ({"now": NOW + timedelta(days=1)}, SamlRejectionReason.NOT_YET_VALID),
    "issued long ago": (
        {
            "now": NOW - timedelta(minutes=11, seconds=1),
            "confirmation_ends": NOW + timedelta(minutes=5),
            "conditions_end": NOW + timedelta(minutes=5),
        },
        SamlRejectionReason.EXPIRED,
    ),
    "an issuer that is no entity": ({"issuer_format": EMAIL_FORMAT}, SamlRejectionReason.WRONG_ISSUER),
    "no context of authentication": ({"authn_context": ""}, SamlRejectionReason.NO_AUTHN_STATEMENT),
    "an empty context": ({"authn_context": "<saml:AuthnContext/>"}, SamlRejectionReason.NO_AUTHN_STATEMENT),
    "a context of an empty class": (
        {"authn_context": "<saml:AuthnContext><saml:AuthnContextClassRef/></saml:AuthnContext>"},
        SamlRejectionReason.NO_AUTHN_STATEMENT,
    ),
    "valid later": ({"not_before": NOW + timedelta(seconds=61)}, SamlRejectionReason.NOT_YET_VALID),
    "conditions ended": ({"conditions_end": NOW - timedelta(seconds=60)}, SamlRejectionReason.EXPIRED),
    "confirmation ended": ({"confirmation_ends": NOW - timedelta(seconds=60)}, SamlRejectionReason.EXPIRED),
    "session ended": ({"session_ends": NOW - timedelta(seconds=60)}, SamlRejectionReason.EXPIRED),
    "session end is no readable time": (
        {"session_ends": datetime(9500, 1, 1, tzinfo=UTC)},  # Years after 9000 are not read.
        SamlRejectionReason.MALFORMED,
    ),
    "no authentication": ({"authn_statement": False}, SamlRejectionReason.NO_AUTHN_STATEMENT),
    "an unknown condition": (
        {"extra_condition": '<saml:Condition xmlns:x="urn:x" xsi:type="x:OnlyOnSundays"/>'},
        SamlRejectionReason.UNKNOWN_CONDITION,
    ),
    "advice": ({"extra_in_assertion": "<saml:Advice/>"}, SamlRejectionReason.UNSUPPORTED),
    "version 1.1": ({"version": "1.1"}, SamlRejectionReason.WRONG_VERSION),
    "an empty name": ({"person": Person(name_id=" ")}, SamlRejectionReason.NO_SUBJECT),
    "a name that is too long": ({"person": Person(name_id="a" * 1025)}, SamlRejectionReason.NO_SUBJECT),
}


@pytest.mark.parametrize(("changes", "reason"), CLAIMS.values(), ids=CLAIMS)
def test_signed_conditions_that_do_not_hold_are_refused(idp, connection, changes, reason):
    assert rejection(valid_response(idp, **changes), connection).reason is reason


ACCEPTED_LIMITS = {
    "not before": {"not_before": NOW + timedelta(seconds=60)},
    "conditions": {"conditions_end": NOW - timedelta(seconds=59)},
    "confirmation": {"confirmation_ends": NOW - timedelta(seconds=59)},
    "issued a minute ahead": {"now": NOW + timedelta(seconds=60), "not_before": NOW},
    "no destination on an unsigned response": {"destination": None},
    "issued eleven minutes ago": {
        "now": NOW - timedelta(minutes=11),
        "confirmation_ends": NOW + timedelta(minutes=5),
        "conditions_end": NOW + timedelta(minutes=5),
    },
    "an issuer said to be an entity": {"issuer_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"},
    "no response issuer": {"response_issuer": None},
    "used once": {"extra_condition": "<saml:OneTimeUse/>"},
}


@pytest.mark.parametrize("changes", ACCEPTED_LIMITS.values(), ids=ACCEPTED_LIMITS)
def test_clock_skew_of_a_minute_is_accepted_and_optional_elements_can_be_absent(idp, connection, changes):
    assert read(valid_response(idp, **changes), connection).name_id == "maria@acme.example"


def test_clock_skew_is_limited_to_five_minutes(idp, connection):
    late = valid_response(idp, confirmation_ends=NOW - timedelta(minutes=5))
    assert rejection(late, connection, skew=timedelta(days=1)).reason is SamlRejectionReason.EXPIRED


def test_the_trace_lists_every_wrong_setting(idp, connection):
    rejected = rejection(
        valid_response(idp, audience="https://typo.example", recipient="https://typo.example/acs"), connection
    )
    assert rejected.reason is SamlRejectionReason.WRONG_AUDIENCE
    assert {step.step for step in rejected.trace if not step.ok} == {"audience", "recipient"}
    assert "https://typo.example instead of" in rejected.detail
    assert msgspec.json.decode(msgspec.json.encode(rejected.trace))[0]["step"] == "size"


def test_a_signed_response_must_have_a_destination():
    idp = IdentityProvider(now=NOW, sign_response=True)
    assert (
        rejection(valid_response(idp, destination=None), connection_with(idp)).reason
        is SamlRejectionReason.WRONG_DESTINATION
    )


def test_a_signed_response_must_have_the_right_issuer():
    idp = IdentityProvider(now=NOW, sign_response=True)
    assert (
        rejection(valid_response(idp, response_issuer=None), connection_with(idp)).reason
        is SamlRejectionReason.WRONG_ISSUER
    )


def test_the_subject_confirmation_must_match_the_request():
    idp = IdentityProvider(now=NOW, sign_response=True, sign_assertion=False)
    rejected = rejection(valid_response(idp, inner_in_response_to=None), connection_with(idp))
    assert rejected.reason is SamlRejectionReason.WRONG_IN_RESPONSE_TO


def test_idp_initiated_login_needs_the_connections_permission(idp):
    raw = valid_response(idp, in_response_to=None)
    assert read(raw, connection_with(idp, allow_idp_initiated=True)).in_response_to is None
    other_request = valid_response(idp, in_response_to="_answered")
    reason = rejection(other_request, connection_with(idp, allow_idp_initiated=True)).reason
    assert reason is SamlRejectionReason.WRONG_IN_RESPONSE_TO


def test_a_failure_status_is_reported(idp, connection):
    status = "urn:oasis:names:tc:SAML:2.0:status:Responder"
    rejected = rejection(
        valid_response(without_signature(idp), status=status, status_message="Not on Sundays"), connection
    )
    assert rejected.reason is SamlRejectionReason.STATUS_NOT_SUCCESS
    assert "Not on Sundays" in rejected.detail


def without_signature(idp):
    return replace(idp, sign_assertion=False)


def test_an_unsigned_response_is_refused(idp, connection):
    assert rejection(valid_response(without_signature(idp)), connection).reason is SamlRejectionReason.UNSIGNED


def test_a_signature_by_any_pinned_certificate_is_accepted(idp):
    both = (keys("other").pem, idp.certificate)
    assert read(valid_response(idp), connection_with(idp, idp_certificates=both)).name_id == "maria@acme.example"


def test_an_unknown_certificate_is_reported(idp):
    rejected = rejection(valid_response(idp), connection_with(idp, idp_certificates=(keys("other").pem,)))
    assert rejected.reason is SamlRejectionReason.UNKNOWN_CERTIFICATE
    assert idp.keys.certificate.fingerprint(hashes.SHA256()).hex() in rejected.detail


def test_an_expired_certificate_is_refused_unless_allowed(idp):
    old = keys("old", not_after=datetime(2026, 1, 1, tzinfo=UTC))
    idp = replace(idp, keys=old)
    assert rejection(valid_response(idp), connection_with(idp)).reason is SamlRejectionReason.CERTIFICATE_EXPIRED
    assert read(valid_response(idp), connection_with(idp, accept_expired_certificates=True)).issuer == idp.entity_id


WEAK = {
    "rsa-sha1": ({"method": SignatureMethod.RSA_SHA1}, SamlRejectionReason.WEAK_ALGORITHM),
    "sha1 digest": ({"digest": DigestAlgorithm.SHA1}, SamlRejectionReason.WEAK_ALGORITHM),
    "sha224": ({"digest": DigestAlgorithm.SHA224}, SamlRejectionReason.SIGNATURE_FORM),
    "inclusive": ({"c14n": "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"}, SamlRejectionReason.SIGNATURE_FORM),
    "with comments": (
        {"c14n": "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"},
        SamlRejectionReason.SIGNATURE_FORM,
    ),
}


@pytest.mark.parametrize(("options", "reason"), WEAK.values(), ids=WEAK)
def test_valid_signatures_in_other_forms_are_refused(idp, connection, options, reason):
    response = etree.fromstring(valid_response(without_signature(idp)))
    assertion = response.find(ASSERTION)
    response.replace(assertion, signed(assertion, idp.keys, **options))
    assert rejection(etree.tostring(response), connection).reason is reason


STRONG = {
    "rsa-sha384": ({"method": SignatureMethod.RSA_SHA384}, {}),
    "rsa-sha512": ({"method": SignatureMethod.RSA_SHA512, "digest": DigestAlgorithm.SHA512}, {}),
    "rsa-pss": ({"method": SignatureMethod.SHA256_RSA_MGF1}, {}),
    "ecdsa-sha384": ({"method": SignatureMethod.ECDSA_SHA384}, {"curve": True}),
}


@pytest.mark.parametrize(("options", "key_options"), STRONG.values(), ids=STRONG)
def test_every_strong_algorithm_is_accepted_for_response_and_assertion(options, key_options):
    idp = IdentityProvider(now=NOW, sign_assertion=False, keys=keys("strong", **key_options))
    response = etree.fromstring(valid_response(idp))
    assertion = response.find(ASSERTION)
    response.replace(assertion, signed(assertion, idp.keys, **options))
    signed_once = etree.tostring(response)
    signed_twice = etree.tostring(signed(response, idp.keys, **options))
    for raw in (signed_once, signed_twice):
        assert read(raw, connection_with(idp)).name_id == "maria@acme.example"
        changed = raw.replace(b"admins &amp; co", b"owners")
        assert changed != raw
        assert rejection(changed, connection_with(idp)).reason is SamlRejectionReason.CONTENT_CHANGED


def test_a_changed_assertion_and_an_unknown_key_have_different_reasons(idp, connection):
    raw = valid_response(idp).replace(b">maria@acme.example</saml:NameID>", b">root@acme.example</saml:NameID>")
    assert rejection(raw, connection).reason is SamlRejectionReason.CONTENT_CHANGED


def test_cbc_is_decrypted_only_if_allowed():
    idp = IdentityProvider(now=NOW)
    response = etree.fromstring(valid_response(idp))
    encrypt_assertion(response, keys("sp").certificate, data_algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc")
    raw = etree.tostring(response)
    assert rejection(raw, connection_with(idp)).reason is SamlRejectionReason.ENCRYPTION_REFUSED
    assert read(raw, connection_with(idp, allow_aes_cbc=True)).encrypted


CBC = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
XENC = "http://www.w3.org/2001/04/xmlenc#"


def test_all_decryption_errors_have_the_same_response(idp):
    """An attacker who changes a ciphertext of AES-CBC does not learn whether it still decrypts to valid XML.

    Regression test of S8 (tests/defects.md).
    """
    observed = set()

    def observe(response):
        caught = rejection(etree.tostring(response), connection_with(idp, allow_aes_cbc=True))
        steps = tuple((step.step, step.ok) for step in caught.trace)
        observed.add((caught.reason, caught.detail, steps))

    def encrypted_response():
        response = etree.fromstring(valid_response(idp))
        encrypt_assertion(response, keys("sp").certificate, data_algorithm=CBC)
        return response

    last_values = [f"{{{XENC}}}CipherValue"]
    for position in range(0, 400, 7):
        response = encrypted_response()
        encrypted_key, encrypted_data = sorted(response.iter(*last_values), key=lambda element: len(element.text))
        ciphertext = bytearray(base64.b64decode(encrypted_data.text))
        ciphertext[-position % len(ciphertext)] ^= 1 + position % 255
        encrypted_data.text = base64.b64encode(ciphertext).decode()
        observe(response)
    for cut in (1, 16, 32):
        response = encrypted_response()
        encrypted_key, encrypted_data = sorted(response.iter(*last_values), key=lambda element: len(element.text))
        encrypted_data.text = base64.b64encode(base64.b64decode(encrypted_data.text)[:-cut]).decode()
        observe(response)
    response = encrypted_response()
    encrypted_key, encrypted_data = sorted(response.iter(*last_values), key=lambda element: len(element.text))
    encrypted_key.text = base64.b64encode(bytes(256)).decode()
    observe(response)
    for plaintext in (
        b"no xml",
        b"<a/>",
        b"\xff",
        b"",
        b"<!DOCTYPE a><a/>",
        etree.tostring(etree.fromstring(valid_response(idp))),
    ):
        response = etree.fromstring(valid_response(idp))
        encrypted = etree.fromstring(encrypted_xml(plaintext, keys("sp").certificate, data_algorithm=CBC))
        response.replace(response.find(ASSERTION), encrypted)
        observe(response)
    unsigned = etree.fromstring(valid_response(without_signature(idp)))
    encrypt_assertion(unsigned, keys("sp").certificate, data_algorithm=CBC)
    observe(unsigned)
    assert [reason for reason, *_ in observed] == [SamlRejectionReason.DECRYPTION_FAILED], observed


def test_previous_and_next_keys_decrypt_too():
    idp = IdentityProvider(now=NOW, encrypt_for=keys("sp").certificate)
    two = (keys("next sp").private_pem, keys("sp").private_pem)
    assert read(valid_response(idp), connection_with(idp, decryption_keys=two)).encrypted
    rejected = rejection(valid_response(idp), connection_with(idp, decryption_keys=(keys("next sp").private_pem,)))
    assert rejected.reason is SamlRejectionReason.DECRYPTION_FAILED


def test_an_unencrypted_assertion_is_refused_if_encryption_is_required(idp):
    assert (
        rejection(valid_response(idp), connection_with(idp, want_encrypted=True)).reason
        is SamlRejectionReason.NOT_ENCRYPTED
    )


def test_an_encrypted_assertion_must_be_signed(idp, connection):
    response = etree.fromstring(valid_response(without_signature(idp)))
    encrypt_assertion(response, keys("sp").certificate)
    assert rejection(etree.tostring(response), connection).reason is SamlRejectionReason.UNSIGNED


@pytest.mark.parametrize(
    ("plaintext", "reason"),
    [
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", SamlRejectionReason.DOCTYPE),
        (b"no xml at all", SamlRejectionReason.MALFORMED),
        (b"<a/>", SamlRejectionReason.WRONG_MESSAGE),
        (b"\xff\xfe", SamlRejectionReason.NOT_UTF8),
        (b"", SamlRejectionReason.MALFORMED),
        (b"<a/><a/>", SamlRejectionReason.MALFORMED),
        (b"text <a/>", SamlRejectionReason.MALFORMED),
        (b"</wrapper><wrapper>", SamlRejectionReason.MALFORMED),
        (b"<a/></wrapper><wrapper><a/>", SamlRejectionReason.MALFORMED),
    ],
)
def test_encrypted_assertions_are_checked_like_others(idp, connection, plaintext, reason):
    response = etree.fromstring(valid_response(idp))
    encrypted_response = etree.fromstring(encrypted_xml(plaintext, keys("sp").certificate))
    response.replace(response.find(ASSERTION), encrypted_response)
    with pytest.raises(SamlRejected) as caught:
        read(etree.tostring(response), connection)
    assert caught.value.reason is reason


def test_repeated_attributes_are_merged(idp, connection):
    statement = (
        '<saml:AttributeStatement><saml:Attribute Name="groups">'
        "<saml:AttributeValue>late</saml:AttributeValue>"
        '<saml:AttributeValue xsi:nil="true"/>'
        "<saml:AttributeValue><saml:Issuer>x</saml:Issuer></saml:AttributeValue>"
        "<saml:AttributeValue><saml:NameID>pairwise</saml:NameID></saml:AttributeValue>"
        "</saml:Attribute></saml:AttributeStatement>"
    )
    login = read(valid_response(idp, extra_in_assertion=statement), connection)
    assert login.attributes["groups"] == ["staff", "admins & co", "late", "pairwise"]


def test_all_audience_restrictions_must_match(idp, connection):
    wider = restriction("https://a.example", SP)
    assert read(valid_response(idp, extra_condition=wider), connection).name_id
    assert (
        rejection(valid_response(idp, extra_condition=restriction("https://a.example")), connection).reason
        is SamlRejectionReason.WRONG_AUDIENCE
    )


def restriction(*audiences: str) -> str:
    audience_elements = "".join(f"<saml:Audience>{audience}</saml:Audience>" for audience in audiences)
    return f"<saml:AudienceRestriction>{audience_elements}</saml:AudienceRestriction>"
