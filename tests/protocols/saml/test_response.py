import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives import hashes
from lxml import etree
from signxml import DigestAlgorithm, SignatureMethod

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected
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
from tests.protocols.saml.conftest import NOW, REQUEST, SP, agreed_with, honest

ASSERTION = f"{{{SAML}}}Assertion"
WAYS = {
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


def refused(raw, connection, **more) -> SamlRejected:
    with pytest.raises(SamlRejected) as caught:
        read(raw, connection, **more)
    assert any(not step.ok for step in caught.value.trace)
    return caught.value


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_valid_response_is_accepted_however_it_is_signed(way):
    idp = IdentityProvider(now=NOW, **way)
    found = read(honest(idp), agreed_with(idp))
    assert found.name_id == "maria@acme.example"
    assert found.format == "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
    assert found.session_index == "_session-1"
    assert found.attributes == {"email": ["maria@acme.example"], "groups": ["staff", "admins & co"]}
    assert found.friendly_names == {"emailFriendly": "email", "groupsFriendly": "groups"}
    assert found.in_response_to == REQUEST
    assert found.issuer == idp.entity_id
    assert found.authn_instant == NOW
    assert found.not_on_or_after == NOW + timedelta(minutes=5)
    assert found.encrypted == ("encrypt_for" in way)
    assert all(step.ok for step in found.trace)
    assert found.assertion_id.startswith("_")


def test_base64_with_and_without_line_breaks_is_accepted(idp, agreed):
    raw = honest(idp)
    assert read(base64.b64encode(raw).decode(), agreed).name_id == "maria@acme.example"
    assert read(base64.encodebytes(raw).decode(), agreed).name_id == "maria@acme.example"
    assert refused("not base64!", agreed).reason is SamlRefusalReason.NOT_BASE64


CLAIMS = {
    "another audience": ({"audience": "https://elsewhere.example"}, SamlRefusalReason.WRONG_AUDIENCE),
    "no audience": ({"audience": None}, SamlRefusalReason.WRONG_AUDIENCE),
    "another recipient": ({"recipient": "https://elsewhere.example/acs"}, SamlRefusalReason.WRONG_RECIPIENT),
    "no recipient": ({"recipient": None}, SamlRefusalReason.WRONG_RECIPIENT),
    "another destination": ({"destination": "https://elsewhere.example/acs"}, SamlRefusalReason.WRONG_DESTINATION),
    "another issuer": ({"issuer": "https://evil.example"}, SamlRefusalReason.WRONG_ISSUER),
    "another response issuer": ({"response_issuer": "https://evil.example"}, SamlRefusalReason.WRONG_ISSUER),
    "another request": ({"in_response_to": "_other"}, SamlRefusalReason.WRONG_IN_RESPONSE_TO),
    "another request inside": ({"inner_in_response_to": "_other"}, SamlRefusalReason.WRONG_IN_RESPONSE_TO),
    "a request that is not signed": ({"inner_in_response_to": None}, SamlRefusalReason.WRONG_IN_RESPONSE_TO),
    "nobody asked": ({"in_response_to": None}, SamlRefusalReason.UNSOLICITED),
    "not a bearer": ({"method": "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"}, SamlRefusalReason.NOT_CONFIRMED),
    "issued tomorrow": ({"now": NOW + timedelta(days=1)}, SamlRefusalReason.NOT_YET_VALID),
    "issued long ago": (
        {
            "now": NOW - timedelta(minutes=11, seconds=1),
            "confirmation_ends": NOW + timedelta(minutes=5),
            "conditions_end": NOW + timedelta(minutes=5),
        },
        SamlRefusalReason.EXPIRED,
    ),
    "an issuer that is no entity": ({"issuer_format": EMAIL_FORMAT}, SamlRefusalReason.WRONG_ISSUER),
    "no context of authentication": ({"authn_context": ""}, SamlRefusalReason.NO_AUTHN_STATEMENT),
    "an empty context": ({"authn_context": "<saml:AuthnContext/>"}, SamlRefusalReason.NO_AUTHN_STATEMENT),
    "a context of an empty class": (
        {"authn_context": "<saml:AuthnContext><saml:AuthnContextClassRef/></saml:AuthnContext>"},
        SamlRefusalReason.NO_AUTHN_STATEMENT,
    ),
    "valid later": ({"not_before": NOW + timedelta(seconds=61)}, SamlRefusalReason.NOT_YET_VALID),
    "conditions ended": ({"conditions_end": NOW - timedelta(seconds=60)}, SamlRefusalReason.EXPIRED),
    "confirmation ended": ({"confirmation_ends": NOW - timedelta(seconds=60)}, SamlRefusalReason.EXPIRED),
    "session ended": ({"session_ends": NOW - timedelta(seconds=60)}, SamlRefusalReason.EXPIRED),
    "no authentication": ({"authn_statement": False}, SamlRefusalReason.NO_AUTHN_STATEMENT),
    "an unknown condition": (
        {"extra_condition": '<saml:Condition xmlns:x="urn:x" xsi:type="x:OnlyOnSundays"/>'},
        SamlRefusalReason.UNKNOWN_CONDITION,
    ),
    "advice": ({"extra_in_assertion": "<saml:Advice/>"}, SamlRefusalReason.UNSUPPORTED),
    "version 1.1": ({"version": "1.1"}, SamlRefusalReason.WRONG_VERSION),
    "an empty name": ({"person": Person(name_id=" ")}, SamlRefusalReason.NO_SUBJECT),
    "an endless name": ({"person": Person(name_id="a" * 1025)}, SamlRefusalReason.NO_SUBJECT),
}


@pytest.mark.parametrize(("changes", "reason"), CLAIMS.values(), ids=CLAIMS)
def test_signed_conditions_that_do_not_hold_are_refused(idp, agreed, changes, reason):
    assert refused(honest(idp, **changes), agreed).reason is reason


BORDERS = {
    "not before": {"not_before": NOW + timedelta(seconds=60)},
    "conditions": {"conditions_end": NOW - timedelta(seconds=59)},
    "confirmation": {"confirmation_ends": NOW - timedelta(seconds=59)},
    "issued a minute ahead": {"now": NOW + timedelta(seconds=60), "not_before": NOW},
    "no destination on an unsigned response": {"destination": None},
    "issued as long ago as a request waits": {
        "now": NOW - timedelta(minutes=11),
        "confirmation_ends": NOW + timedelta(minutes=5),
        "conditions_end": NOW + timedelta(minutes=5),
    },
    "an issuer said to be an entity": {"issuer_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"},
    "no response issuer": {"response_issuer": None},
    "used once": {"extra_condition": "<saml:OneTimeUse/>"},
}


@pytest.mark.parametrize("changes", BORDERS.values(), ids=BORDERS)
def test_clock_skew_of_a_minute_is_accepted_and_optional_elements_can_be_absent(idp, agreed, changes):
    assert read(honest(idp, **changes), agreed).name_id == "maria@acme.example"


def test_clock_skew_is_limited_to_five_minutes(idp, agreed):
    late = honest(idp, confirmation_ends=NOW - timedelta(minutes=5))
    assert refused(late, agreed, skew=timedelta(days=1)).reason is SamlRefusalReason.EXPIRED


def test_the_trace_lists_every_wrong_setting(idp, agreed):
    wrong = refused(honest(idp, audience="https://typo.example", recipient="https://typo.example/acs"), agreed)
    assert wrong.reason is SamlRefusalReason.WRONG_AUDIENCE
    assert {step.step for step in wrong.trace if not step.ok} == {"audience", "recipient"}
    assert "https://typo.example instead of" in wrong.detail
    assert msgspec.json.decode(msgspec.json.encode(wrong.trace))[0]["step"] == "size"


def test_a_signed_response_must_have_a_destination():
    idp = IdentityProvider(now=NOW, sign_response=True)
    assert refused(honest(idp, destination=None), agreed_with(idp)).reason is SamlRefusalReason.WRONG_DESTINATION


def test_a_signed_response_must_have_the_right_issuer():
    idp = IdentityProvider(now=NOW, sign_response=True)
    assert refused(honest(idp, response_issuer=None), agreed_with(idp)).reason is SamlRefusalReason.WRONG_ISSUER


def test_the_subject_confirmation_must_match_the_request():
    idp = IdentityProvider(now=NOW, sign_response=True, sign_assertion=False)
    wrong = refused(honest(idp, inner_in_response_to=None), agreed_with(idp))
    assert wrong.reason is SamlRefusalReason.WRONG_IN_RESPONSE_TO


def test_idp_initiated_login_needs_the_connections_permission(idp):
    raw = honest(idp, in_response_to=None)
    assert read(raw, agreed_with(idp, allow_idp_initiated=True)).in_response_to is None
    answered = honest(idp, in_response_to="_answered")
    reason = refused(answered, agreed_with(idp, allow_idp_initiated=True)).reason
    assert reason is SamlRefusalReason.WRONG_IN_RESPONSE_TO


def test_a_failure_status_is_reported(idp, agreed):
    status = "urn:oasis:names:tc:SAML:2.0:status:Responder"
    wrong = refused(honest(replace_signing(idp), status=status, status_message="Not on Sundays"), agreed)
    assert wrong.reason is SamlRefusalReason.STATUS_NOT_SUCCESS
    assert "Not on Sundays" in wrong.detail


def replace_signing(idp):
    return replace(idp, sign_assertion=False)


def test_an_unsigned_response_is_refused(idp, agreed):
    assert refused(honest(replace_signing(idp)), agreed).reason is SamlRefusalReason.UNSIGNED


def test_a_signature_by_any_pinned_certificate_is_accepted(idp):
    both = (keys("other").pem, idp.certificate)
    assert read(honest(idp), agreed_with(idp, idp_certificates=both)).name_id == "maria@acme.example"


def test_an_unknown_certificate_is_reported(idp):
    wrong = refused(honest(idp), agreed_with(idp, idp_certificates=(keys("other").pem,)))
    assert wrong.reason is SamlRefusalReason.UNKNOWN_CERTIFICATE
    assert idp.keys.certificate.fingerprint(hashes.SHA256()).hex() in wrong.detail


def test_an_expired_certificate_is_refused_unless_allowed(idp):
    old = keys("old", not_after=datetime(2026, 1, 1, tzinfo=UTC))
    idp = replace(idp, keys=old)
    assert refused(honest(idp), agreed_with(idp)).reason is SamlRefusalReason.CERTIFICATE_EXPIRED
    assert read(honest(idp), agreed_with(idp, accept_expired_certificates=True)).issuer == idp.entity_id


WEAK = {
    "rsa-sha1": ({"method": SignatureMethod.RSA_SHA1}, SamlRefusalReason.WEAK_ALGORITHM),
    "sha1 digest": ({"digest": DigestAlgorithm.SHA1}, SamlRefusalReason.WEAK_ALGORITHM),
    "sha224": ({"digest": DigestAlgorithm.SHA224}, SamlRefusalReason.SIGNATURE_FORM),
    "inclusive": ({"c14n": "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"}, SamlRefusalReason.SIGNATURE_FORM),
    "with comments": (
        {"c14n": "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"},
        SamlRefusalReason.SIGNATURE_FORM,
    ),
}


@pytest.mark.parametrize(("how", "reason"), WEAK.values(), ids=WEAK)
def test_valid_signatures_in_other_forms_are_refused(idp, agreed, how, reason):
    response = etree.fromstring(honest(replace_signing(idp)))
    assertion = response.find(ASSERTION)
    response.replace(assertion, signed(assertion, idp.keys, **how))
    assert refused(etree.tostring(response), agreed).reason is reason


STRONG = {
    "rsa-sha384": ({"method": SignatureMethod.RSA_SHA384}, {}),
    "rsa-sha512": ({"method": SignatureMethod.RSA_SHA512, "digest": DigestAlgorithm.SHA512}, {}),
    "rsa-pss": ({"method": SignatureMethod.SHA256_RSA_MGF1}, {}),
    "ecdsa-sha384": ({"method": SignatureMethod.ECDSA_SHA384}, {"curve": True}),
}


@pytest.mark.parametrize(("how", "kind"), STRONG.values(), ids=STRONG)
def test_every_strong_algorithm_is_accepted_for_response_and_assertion(how, kind):
    idp = IdentityProvider(now=NOW, sign_assertion=False, keys=keys("strong", **kind))
    response = etree.fromstring(honest(idp))
    assertion = response.find(ASSERTION)
    response.replace(assertion, signed(assertion, idp.keys, **how))
    once = etree.tostring(response)
    twice = etree.tostring(signed(response, idp.keys, **how))
    for raw in (once, twice):
        assert read(raw, agreed_with(idp)).name_id == "maria@acme.example"
        changed = raw.replace(b"admins &amp; co", b"owners")
        assert changed != raw
        assert refused(changed, agreed_with(idp)).reason is SamlRefusalReason.CONTENT_CHANGED


def test_a_changed_assertion_and_an_unknown_key_have_different_reasons(idp, agreed):
    raw = honest(idp).replace(b">maria@acme.example</saml:NameID>", b">root@acme.example</saml:NameID>")
    assert refused(raw, agreed).reason is SamlRefusalReason.CONTENT_CHANGED


def test_cbc_is_decrypted_only_if_allowed():
    idp = IdentityProvider(now=NOW)
    response = etree.fromstring(honest(idp))
    encrypt_assertion(response, keys("sp").certificate, data_algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc")
    raw = etree.tostring(response)
    assert refused(raw, agreed_with(idp)).reason is SamlRefusalReason.ENCRYPTION_REFUSED
    assert read(raw, agreed_with(idp, allow_aes_cbc=True)).encrypted


CBC = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
XENC = "http://www.w3.org/2001/04/xmlenc#"


def test_all_decryption_errors_have_the_same_response(idp):
    """Whoever changes a ciphertext of AES-CBC learns nothing of what became of it.

    Defects: S8
    """
    answers = set()

    def ask(response):
        caught = refused(etree.tostring(response), agreed_with(idp, allow_aes_cbc=True))
        steps = tuple((step.step, step.ok) for step in caught.trace)
        answers.add((caught.reason, caught.detail, steps))

    def sealed():
        response = etree.fromstring(honest(idp))
        encrypt_assertion(response, keys("sp").certificate, data_algorithm=CBC)
        return response

    last_values = [f"{{{XENC}}}CipherValue"]
    for changed in range(0, 400, 7):
        response = sealed()
        carrier, data = sorted(response.iter(*last_values), key=lambda each: len(each.text))
        octets = bytearray(base64.b64decode(data.text))
        octets[-changed % len(octets)] ^= 1 + changed % 255
        data.text = base64.b64encode(octets).decode()
        ask(response)
    for cut in (1, 16, 32):
        response = sealed()
        carrier, data = sorted(response.iter(*last_values), key=lambda each: len(each.text))
        data.text = base64.b64encode(base64.b64decode(data.text)[:-cut]).decode()
        ask(response)
    response = sealed()
    carrier, data = sorted(response.iter(*last_values), key=lambda each: len(each.text))
    carrier.text = base64.b64encode(bytes(256)).decode()
    ask(response)
    for inside in (
        b"no xml",
        b"<a/>",
        b"\xff",
        b"",
        b"<!DOCTYPE a><a/>",
        etree.tostring(etree.fromstring(honest(idp))),
    ):
        response = etree.fromstring(honest(idp))
        made = etree.fromstring(encrypted_xml(inside, keys("sp").certificate, data_algorithm=CBC))
        response.replace(response.find(ASSERTION), made)
        ask(response)
    unsigned = etree.fromstring(honest(replace_signing(idp)))
    encrypt_assertion(unsigned, keys("sp").certificate, data_algorithm=CBC)
    ask(unsigned)
    assert [reason for reason, *_ in answers] == [SamlRefusalReason.DECRYPTION_FAILED], answers


def test_previous_and_next_keys_decrypt_too():
    idp = IdentityProvider(now=NOW, encrypt_for=keys("sp").certificate)
    two = (keys("next sp").private_pem, keys("sp").private_pem)
    assert read(honest(idp), agreed_with(idp, decryption_keys=two)).encrypted
    wrong = refused(honest(idp), agreed_with(idp, decryption_keys=(keys("next sp").private_pem,)))
    assert wrong.reason is SamlRefusalReason.DECRYPTION_FAILED


def test_an_unencrypted_assertion_is_refused_if_encryption_is_required(idp):
    assert refused(honest(idp), agreed_with(idp, want_encrypted=True)).reason is SamlRefusalReason.NOT_ENCRYPTED


def test_an_encrypted_assertion_must_be_signed(idp, agreed):
    response = etree.fromstring(honest(replace_signing(idp)))
    encrypt_assertion(response, keys("sp").certificate)
    assert refused(etree.tostring(response), agreed).reason is SamlRefusalReason.UNSIGNED


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", SamlRefusalReason.DOCTYPE),
        (b"no xml at all", SamlRefusalReason.MALFORMED),
        (b"<a/>", SamlRefusalReason.WRONG_MESSAGE),
        (b"\xff\xfe", SamlRefusalReason.NOT_UTF8),
        (b"", SamlRefusalReason.MALFORMED),
        (b"<a/><a/>", SamlRefusalReason.MALFORMED),
        (b"text <a/>", SamlRefusalReason.MALFORMED),
        (b"</inside><inside>", SamlRefusalReason.MALFORMED),
        (b"<a/></inside><inside><a/>", SamlRefusalReason.MALFORMED),
    ],
)
def test_encrypted_assertions_are_checked_like_others(idp, agreed, inside, reason):
    response = etree.fromstring(honest(idp))
    sealed = etree.fromstring(encrypted_xml(inside, keys("sp").certificate))
    response.replace(response.find(ASSERTION), sealed)
    with pytest.raises(SamlRejected) as caught:
        read(etree.tostring(response), agreed)
    assert caught.value.reason is reason


def test_repeated_attributes_are_merged(idp, agreed):
    more = (
        '<saml:AttributeStatement><saml:Attribute Name="groups">'
        "<saml:AttributeValue>late</saml:AttributeValue>"
        '<saml:AttributeValue xsi:nil="true"/>'
        "<saml:AttributeValue><saml:Issuer>x</saml:Issuer></saml:AttributeValue>"
        "<saml:AttributeValue><saml:NameID>pairwise</saml:NameID></saml:AttributeValue>"
        "</saml:Attribute></saml:AttributeStatement>"
    )
    found = read(honest(idp, extra_in_assertion=more), agreed)
    assert found.attributes["groups"] == ["staff", "admins & co", "late", "pairwise"]


def test_all_audience_restrictions_must_match(idp, agreed):
    wider = restriction("https://a.example", SP)
    assert read(honest(idp, extra_condition=wider), agreed).name_id
    assert (
        refused(honest(idp, extra_condition=restriction("https://a.example")), agreed).reason
        is SamlRefusalReason.WRONG_AUDIENCE
    )


def restriction(*audiences: str) -> str:
    named = "".join(f"<saml:Audience>{audience}</saml:Audience>" for audience in audiences)
    return f"<saml:AudienceRestriction>{named}</saml:AudienceRestriction>"
