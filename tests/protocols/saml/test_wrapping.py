"""Signature wrapping (XSW 1 to 8 of Somorovsky et al., "On Breaking SAML", 2012) and later attacks on signatures.

The attacker has a valid response for an account of their own, and all public certificates. Each case adds an
assertion for `root@acme.example` to it; none of them may be accepted.
"""

import base64
import hmac
from functools import cache
from itertools import product

import pytest
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import DS, SAML, SAMLP, IdentityProvider, encrypted_xml, keys, signed
from tests.protocols.saml.conftest import NOW, REQUEST, connection_with, valid_response

ASSERTION, SIGNATURE, NAME_ID = f"{{{SAML}}}Assertion", f"{{{DS}}}Signature", f"{{{SAML}}}NameID"
VICTIM = "root@acme.example"
SIGNING_OPTIONS = {
    "assertion": {"sign_assertion": True, "sign_response": False},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_assertion": True, "sign_response": True},
}
KEY_INFOS = ("kept", "removed", "attacker's")
IDENTIFIERS = ("same", "new", "none")


@cache
def valid_bytes(signing: str) -> bytes:
    return valid_response(IdentityProvider(now=NOW, **SIGNING_OPTIONS[signing]))


def attack_material(signing: str) -> tuple[etree._Element, etree._Element]:
    """The valid Response and an unsigned assertion for the victim, which the attack then combines."""
    response = etree.fromstring(valid_bytes(signing))
    return response, evil_copy(response.find(ASSERTION))


def evil_copy(element: etree._Element, identifier: str = "_evil") -> etree._Element:
    """A copy without signatures, with the victim's name and another ID."""
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    for signature in list(copy.iter(SIGNATURE)):
        signature.getparent().remove(signature)
    for name in copy.iter(NAME_ID):
        name.text = VICTIM
    copy.set("ID", identifier)
    return copy


def plain_copy(element: etree._Element) -> etree._Element:
    """A copy without the element's own signature: the content that the digest covers."""
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    for signature in copy.findall(SIGNATURE):
        copy.remove(signature)
    return copy


def signature_of(response: etree._Element) -> etree._Element:
    """The signature of the assertion, or that of the Response if the assertion has none."""
    assertion_signature = response.find(f"{ASSERTION}/{SIGNATURE}")
    return assertion_signature if assertion_signature is not None else response.find(SIGNATURE)


def xsw1(response, evil):
    """The evil Response has the signature, which contains the valid Response."""
    evil_response = evil_copy(response, "_evil_response")
    evil_response.find(ASSERTION).set("ID", "_evil")
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    signature.append(plain_copy(response))
    evil_response.insert(1, signature)
    return evil_response


def xsw2(response, evil):
    """The evil Response has the signature, and the valid Response before it."""
    evil_response = evil_copy(response, "_evil_response")
    evil_response.find(ASSERTION).set("ID", "_evil")
    evil_response.insert(1, etree.fromstring(etree.tostring(signature_of(response), with_tail=False)))
    evil_response.insert(1, plain_copy(response))
    return evil_response


def xsw3(response, evil):
    """The evil assertion is before the valid one."""
    response.insert(response.index(response.find(ASSERTION)), evil)
    return response


def xsw4(response, evil):
    """The evil assertion contains the valid one."""
    valid_assertion = response.find(ASSERTION)
    response.replace(valid_assertion, evil)
    evil.append(valid_assertion)
    return response


def xsw5(response, evil):
    """The evil assertion has the signature; the valid one follows without it."""
    valid_assertion = response.find(ASSERTION)
    evil.insert(1, etree.fromstring(etree.tostring(signature_of(response), with_tail=False)))
    response.replace(valid_assertion, evil)
    response.append(plain_copy(valid_assertion))
    return response


def xsw6(response, evil):
    """The evil assertion has the signature, which contains the valid assertion."""
    valid_assertion = response.find(ASSERTION)
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    signature.append(plain_copy(valid_assertion))
    evil.insert(1, signature)
    response.replace(valid_assertion, evil)
    return response


def xsw7(response, evil):
    """The evil assertion is in the Extensions of the Response."""
    extensions = etree.Element(f"{{{SAMLP}}}Extensions")
    extensions.append(evil)
    response.insert(1, extensions)
    return response


def xsw8(response, evil):
    """The evil assertion has the signature, with the valid assertion in an Object element."""
    valid_assertion = response.find(ASSERTION)
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    etree.SubElement(signature, f"{{{DS}}}Object").append(plain_copy(valid_assertion))
    evil.insert(1, signature)
    response.replace(valid_assertion, evil)
    return response


ATTACKS = (xsw1, xsw2, xsw3, xsw4, xsw5, xsw6, xsw7, xsw8)


def with_key_info(response: etree._Element, choice: str) -> None:
    for info in list(response.iter(f"{{{DS}}}KeyInfo")):
        if choice == "removed":
            info.getparent().remove(info)
        elif choice == "attacker's":
            for certificate in info.iter(f"{{{DS}}}X509Certificate"):
                certificate.text = "".join(keys("attacker").pem.splitlines()[1:-1])


def with_identifier(response: etree._Element, choice: str, signed_id: str) -> None:
    for element in response.iter():
        if element.get("ID") in {"_evil", "_evil_response"}:
            if choice == "same":
                element.set("ID", signed_id)
            elif choice == "none":
                del element.attrib["ID"]


def with_extra_namespace(response: etree._Element) -> bytes:
    return etree.tostring(response).replace(b"<samlp:Response ", b'<samlp:Response xmlns:evil="urn:evil" ', 1)


DECORATIONS = {
    "extra namespaces": with_extra_namespace,
    "a comment in the name": lambda root: etree.tostring(root).replace(b"root@", b"ro<!-- -->ot@"),
    "a comment in the digest": lambda root: etree.tostring(root).replace(b"DigestValue>", b"DigestValue><!--a-->", 1),
    "an instruction": lambda root: etree.tostring(root).replace(b"root@", b"root<?php ?>@"),
    "a doctype": lambda root: b"<!DOCTYPE a [<!ATTLIST saml:Assertion ID ID #IMPLIED>]>" + etree.tostring(root),
    "cdata": lambda root: etree.tostring(root).replace(VICTIM.encode(), b"<![CDATA[root@acme.example]]>"),
}


def assert_rejected(raw: bytes, **changes: object) -> SamlRejectionReason:
    """Assert that a response is rejected, and return the reason."""
    connection = connection_with(IdentityProvider(), allow_idp_initiated=True, **changes)
    with pytest.raises(SamlRejected) as caught:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)
    return caught.value.reason


@pytest.mark.parametrize("signing", SIGNING_OPTIONS)
def test_the_unmodified_responses_are_accepted(signing):
    connection = connection_with(IdentityProvider())
    login = read_response(valid_bytes(signing), connection=connection, expected_request_ids={REQUEST}, now=NOW)
    assert login.name_id == "maria@acme.example"


WRAPPED = [*product(ATTACKS, SIGNING_OPTIONS, KEY_INFOS, IDENTIFIERS)]
DECORATED = [*product(ATTACKS, SIGNING_OPTIONS, DECORATIONS)]
ENCRYPTED = [
    *product(
        (xsw3, xsw4, xsw5, xsw6, xsw7, xsw8), SIGNING_OPTIONS, ("evil encrypted", "both encrypted", "outer encrypted")
    )
]


@pytest.mark.parametrize(
    ("attack", "signing", "key_info", "identifier"), WRAPPED, ids=lambda value: getattr(value, "__name__", value)
)
def test_no_wrapping_is_accepted(attack, signing, key_info, identifier):
    response, evil = attack_material(signing)
    signed_id = response.find(ASSERTION).get("ID")
    wrapped = attack(response, evil)
    with_key_info(wrapped, key_info)
    with_identifier(wrapped, identifier, signed_id)
    raw = etree.tostring(wrapped)
    assert VICTIM.encode() in raw
    assert_rejected(raw)


@pytest.mark.parametrize(
    ("attack", "signing", "decoration"), DECORATED, ids=lambda value: getattr(value, "__name__", value)
)
def test_no_wrapping_with_further_changes_is_accepted(attack, signing, decoration):
    assert_rejected(DECORATIONS[decoration](attack(*attack_material(signing))))


@pytest.mark.parametrize(
    ("attack", "signing", "encrypted"), ENCRYPTED, ids=lambda value: getattr(value, "__name__", value)
)
def test_no_encrypted_wrapping_is_accepted(attack, signing, encrypted):
    """Everybody can encrypt for this service: the evil assertion, both, or the outer one is encrypted."""
    wrapped = attack(*attack_material(signing))
    for assertion in list(wrapped.iter(ASSERTION)):
        parent = assertion.getparent()
        outermost = parent is not None and parent.tag == f"{{{SAMLP}}}Response"
        evil = assertion.get("ID") == "_evil"
        if parent is None or not (
            outermost if encrypted == "outer encrypted" else evil or encrypted == "both encrypted"
        ):
            continue
        encrypted_element = encrypted_xml(etree.tostring(assertion, with_tail=False), keys("sp").certificate)
        parent.replace(assertion, etree.fromstring(encrypted_element))
    assert_rejected(etree.tostring(wrapped))


def test_at_least_two_hundred_attacks_are_tried():
    assert len(WRAPPED) + len(DECORATED) + len(ENCRYPTED) >= 400


def replace_pieces(signing: str, pieces: list[tuple[bytes, bytes]]) -> bytes:
    """The bytes of the valid response with some pieces of text replaced; still XML."""
    raw = valid_bytes(signing)
    for before, after in pieces:
        assert before in raw
        raw = raw.replace(before, after)
    etree.fromstring(raw)
    return raw


EXCLUSIVE = b'<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>'
ENVELOPED = b'<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>'
XSLT = (
    b'<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><xsl:stylesheet version="1.0" '
    b'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><xsl:for-each '
    b'select="//. | //@*"><xsl:for-each select="//. | //@*"><xsl:for-each select="//. | //@*"><a/>'
    b"</xsl:for-each></xsl:for-each></xsl:for-each></xsl:template></xsl:stylesheet></ds:Transform>"
)
XPATH = (
    b'<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116">'
    b"<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath></ds:Transform>"
)
FORMS = {
    "an xslt transform": [(EXCLUSIVE, XSLT)],
    "a third transform": [(EXCLUSIVE, XSLT + EXCLUSIVE)],
    "an xpath transform": [(ENVELOPED, XPATH)],
    "no enveloped transform": [(ENVELOPED, b"")],
    "two enveloped transforms": [(EXCLUSIVE, ENVELOPED)],
    "no transforms": [(ENVELOPED, b""), (EXCLUSIVE, b"")],
    "the whole document": [(b'<ds:Reference URI="#', b'<ds:Reference URI="" Id="')],
    "an xpointer": [(b'<ds:Reference URI="#', b'<ds:Reference URI="#xpointer(/)" Id="')],
    "a file": [(b'<ds:Reference URI="#', b'<ds:Reference URI="file:///etc/passwd" Id="')],
    "an address": [(b'<ds:Reference URI="#', b'<ds:Reference URI="http://127.0.0.1:9/" Id="')],
    "two hashes": [(b'<ds:Reference URI="#', b'<ds:Reference URI="##')],
    "an hmac": [(b"xmldsig-more#rsa-sha256", b"xmldsig-more#hmac-sha256")],
    "an hmac of another length": [
        (
            b'xmldsig-more#rsa-sha256"/>',
            b'xmldsig-more#hmac-sha256"><ds:HMACOutputLength>0</ds:HMACOutputLength></ds:SignatureMethod>',
        )
    ],
    "no signature at all": [(b"rsa-sha256", b"none")],
    "a second SignedInfo": [(b"</ds:SignedInfo>", b"</ds:SignedInfo><ds:SignedInfo/>")],
    "a second Reference": [(b"</ds:Reference>", b"</ds:Reference><ds:Reference/>")],
    "a second digest": [(b"</ds:DigestValue>", b"</ds:DigestValue><ds:DigestValue/>")],
    "an element in the digest": [(b"<ds:DigestValue>", b"<ds:DigestValue><ds:a/>")],
    "an empty digest": [(b"<ds:DigestValue>", b'<ds:DigestValue a="'), (b"</ds:DigestValue>", b'"/>')],
    "a manifest": [(b"</ds:Signature>", b"<ds:Object><ds:Manifest/></ds:Object></ds:Signature>")],
    "a relative namespace": [(b"<ds:SignedInfo", b'<ds:SignedInfo xmlns:a="../void"')],
    "a list of prefixes that is not one": [
        (
            EXCLUSIVE,
            EXCLUSIVE[:-2]
            + b'><ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="'
            + b" ".join(b"p%d" % n for n in range(40))
            + b'"/></ds:Transform>',
        )
    ],
    "another namespace for the signature": [
        (b"http://www.w3.org/2000/09/xmldsig#", b"http://www.w3.org/2000/09/xmldsig")
    ],
    "another identifier": [(b'" Version="2.0"', b'" saml:ID="_evil" Version="2.0"'), (b"maria@acme", b"root@acme")],
}


@pytest.mark.parametrize("signing", SIGNING_OPTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_no_other_form_of_signature_is_accepted(form, signing):
    assert_rejected(replace_pieces(signing, FORMS[form]))


@pytest.mark.parametrize("signing", ["assertion", "response"])
def test_a_signature_by_the_attacker_is_refused(signing):
    response, evil = attack_material(signing)
    response = plain_copy(response)
    response.replace(response.find(ASSERTION), evil)
    if signing == "assertion":
        response.replace(evil, signed(evil, keys("attacker")))
    else:
        response = signed(response, keys("attacker"))
    assert assert_rejected(etree.tostring(response)) is SamlRejectionReason.UNKNOWN_CERTIFICATE


def test_the_public_key_is_not_accepted_as_an_hmac_key():
    """GHSA-6vx8-pcwv-xhf4: an HMAC made with the public certificate as its key."""
    response, _ = attack_material("assertion")
    raw = etree.tostring(response).replace(b"rsa-sha256", b"hmac-sha256").replace(b"maria@", b"root@")
    root = etree.fromstring(raw)
    info = root.find(f".//{{{DS}}}SignedInfo")
    mac = hmac.digest(
        IdentityProvider().certificate.encode(), etree.tostring(info, method="c14n", exclusive=True), "sha256"
    )
    root.find(f".//{{{DS}}}SignatureValue").text = base64.b64encode(mac).decode()
    assert assert_rejected(etree.tostring(root)) is SamlRejectionReason.SIGNATURE_FORM


@pytest.mark.parametrize("signing", SIGNING_OPTIONS)
def test_two_valid_assertions_in_one_response_are_refused(signing):
    response, _ = attack_material(signing)
    other = etree.fromstring(valid_response(IdentityProvider(now=NOW, **SIGNING_OPTIONS[signing])))
    response.append(other.find(ASSERTION))
    assert assert_rejected(etree.tostring(response)) is SamlRejectionReason.SEVERAL_ASSERTIONS


def test_an_assertion_is_not_accepted_in_another_response():
    """The signature of the Response must cover the assertion that is read."""
    response, evil = attack_material("response")
    response.replace(response.find(ASSERTION), evil)
    assert assert_rejected(etree.tostring(response)) is SamlRejectionReason.CONTENT_CHANGED


def test_a_signed_logout_response_is_no_login_response():
    idp = IdentityProvider(now=NOW)
    message = signed(etree.fromstring(idp.logout_response("https://mail.example", REQUEST)), idp.keys)
    assert assert_rejected(etree.tostring(message)) is SamlRejectionReason.WRONG_MESSAGE


def test_a_bare_signed_assertion_is_refused():
    response, _ = attack_material("assertion")
    raw = etree.tostring(response.find(ASSERTION), with_tail=False)
    assert assert_rejected(raw) is SamlRejectionReason.WRONG_MESSAGE
