"""Signature wrapping (XSW 1 to 8, after Somorovsky et al., "On Breaking SAML", 2012) and its younger relatives.

The attacker holds one honest response for an account of their own and anybody's certificates. Every case
puts an assertion for `root@acme.example` somewhere; none of them may be accepted at all.
"""

import base64
import hmac
from functools import cache
from itertools import product

import pytest
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected
from tests.peers.identity_provider import DS, SAML, SAMLP, IdentityProvider, encrypted_xml, keys, signed
from tests.protocols.saml.conftest import NOW, REQUEST, agreed_with, honest

ASSERTION, SIGNATURE, NAME = f"{{{SAML}}}Assertion", f"{{{DS}}}Signature", f"{{{SAML}}}NameID"
VICTIM = "root@acme.example"
WAYS = {
    "assertion": {"sign_assertion": True, "sign_response": False},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_assertion": True, "sign_response": True},
}
KEY_INFOS = ("kept", "removed", "attacker's")
IDENTIFIERS = ("same", "new", "none")


@cache
def honest_bytes(way: str) -> bytes:
    return honest(IdentityProvider(now=NOW, **WAYS[way]))


def attacked(way: str) -> tuple[etree._Element, etree._Element]:
    """The honest Response and an assertion of the attacker's, both free to be moved about."""
    response = etree.fromstring(honest_bytes(way))
    return response, evil_copy(response.find(ASSERTION))


def evil_copy(element: etree._Element, identifier: str = "_evil") -> etree._Element:
    """The same, unsigned, for the victim."""
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    for signature in list(copy.iter(SIGNATURE)):
        signature.getparent().remove(signature)
    for name in copy.iter(NAME):
        name.text = VICTIM
    copy.set("ID", identifier)
    return copy


def plain_copy(element: etree._Element) -> etree._Element:
    """The same without its own signature: what the digest was made over."""
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    for signature in copy.findall(SIGNATURE):
        copy.remove(signature)
    return copy


def signature_of(response: etree._Element) -> etree._Element:
    """The signature that there is: the assertion's if it has one, else the Response's."""
    own = response.find(f"{ASSERTION}/{SIGNATURE}")
    return own if own is not None else response.find(SIGNATURE)


def xsw1(response, evil):
    """The evil Response carries the signature, and the honest Response inside the signature."""
    outer = evil_copy(response, "_evil_response")
    outer.find(ASSERTION).set("ID", "_evil")
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    signature.append(plain_copy(response))
    outer.insert(1, signature)
    return outer


def xsw2(response, evil):
    """The evil Response carries the signature, with the honest Response before it."""
    outer = evil_copy(response, "_evil_response")
    outer.find(ASSERTION).set("ID", "_evil")
    outer.insert(1, etree.fromstring(etree.tostring(signature_of(response), with_tail=False)))
    outer.insert(1, plain_copy(response))
    return outer


def xsw3(response, evil):
    """The evil assertion stands before the honest one."""
    response.insert(response.index(response.find(ASSERTION)), evil)
    return response


def xsw4(response, evil):
    """The evil assertion contains the honest one."""
    own = response.find(ASSERTION)
    response.replace(own, evil)
    evil.append(own)
    return response


def xsw5(response, evil):
    """The evil assertion has taken the signature; the honest one follows without it."""
    own = response.find(ASSERTION)
    evil.insert(1, etree.fromstring(etree.tostring(signature_of(response), with_tail=False)))
    response.replace(own, evil)
    response.append(plain_copy(own))
    return response


def xsw6(response, evil):
    """As before, but the honest assertion is inside the signature."""
    own = response.find(ASSERTION)
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    signature.append(plain_copy(own))
    evil.insert(1, signature)
    response.replace(own, evil)
    return response


def xsw7(response, evil):
    """The evil assertion is an extension."""
    extensions = etree.Element(f"{{{SAMLP}}}Extensions")
    extensions.append(evil)
    response.insert(1, extensions)
    return response


def xsw8(response, evil):
    """The honest assertion is an object of the signature that the evil one carries."""
    own = response.find(ASSERTION)
    signature = etree.fromstring(etree.tostring(signature_of(response), with_tail=False))
    etree.SubElement(signature, f"{{{DS}}}Object").append(plain_copy(own))
    evil.insert(1, signature)
    response.replace(own, evil)
    return response


ATTACKS = (xsw1, xsw2, xsw3, xsw4, xsw5, xsw6, xsw7, xsw8)


def with_key_info(response: etree._Element, choice: str) -> None:
    for info in list(response.iter(f"{{{DS}}}KeyInfo")):
        if choice == "removed":
            info.getparent().remove(info)
        elif choice == "attacker's":
            for certificate in info.iter(f"{{{DS}}}X509Certificate"):
                certificate.text = "".join(keys("attacker").pem.splitlines()[1:-1])


def with_identifier(response: etree._Element, choice: str, own: str) -> None:
    for element in response.iter():
        if element.get("ID") in {"_evil", "_evil_response"}:
            if choice == "same":
                element.set("ID", own)
            elif choice == "none":
                del element.attrib["ID"]


def in_a_namespace(response: etree._Element) -> bytes:
    return etree.tostring(response).replace(b"<samlp:Response ", b'<samlp:Response xmlns:evil="urn:evil" ', 1)


DECORATIONS = {
    "extra namespaces": in_a_namespace,
    "a comment in the name": lambda root: etree.tostring(root).replace(b"root@", b"ro<!-- -->ot@"),
    "a comment in the digest": lambda root: etree.tostring(root).replace(b"DigestValue>", b"DigestValue><!--a-->", 1),
    "an instruction": lambda root: etree.tostring(root).replace(b"root@", b"root<?php ?>@"),
    "a doctype": lambda root: b"<!DOCTYPE a [<!ATTLIST saml:Assertion ID ID #IMPLIED>]>" + etree.tostring(root),
    "cdata": lambda root: etree.tostring(root).replace(VICTIM.encode(), b"<![CDATA[root@acme.example]]>"),
}


def need_refusal(raw: bytes, **changes: object) -> SamlRefusalReason:
    connection = agreed_with(IdentityProvider(), allow_idp_initiated=True, **changes)
    with pytest.raises(SamlRejected) as caught:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)
    return caught.value.reason


@pytest.mark.parametrize("way", WAYS)
def test_the_unmodified_responses_are_accepted(way):
    connection = agreed_with(IdentityProvider())
    found = read_response(honest_bytes(way), connection=connection, expected_request_ids={REQUEST}, now=NOW)
    assert found.name_id == "maria@acme.example"


WRAPPED = [*product(ATTACKS, WAYS, KEY_INFOS, IDENTIFIERS)]
DECORATED = [*product(ATTACKS, WAYS, DECORATIONS)]
ENCRYPTED = [*product((xsw3, xsw4, xsw5, xsw6, xsw7, xsw8), WAYS, ("clear honest", "both encrypted", "whole"))]


@pytest.mark.parametrize(
    ("attack", "way", "key_info", "identifier"), WRAPPED, ids=lambda each: getattr(each, "__name__", each)
)
def test_no_wrapping_is_accepted(attack, way, key_info, identifier):
    response, evil = attacked(way)
    own = response.find(ASSERTION).get("ID")
    wrapped = attack(response, evil)
    with_key_info(wrapped, key_info)
    with_identifier(wrapped, identifier, own)
    raw = etree.tostring(wrapped)
    assert VICTIM.encode() in raw
    need_refusal(raw)


@pytest.mark.parametrize(("attack", "way", "decoration"), DECORATED, ids=lambda each: getattr(each, "__name__", each))
def test_no_wrapping_with_further_changes_is_accepted(attack, way, decoration):
    need_refusal(DECORATIONS[decoration](attack(*attacked(way))))


@pytest.mark.parametrize(("attack", "way", "what"), ENCRYPTED, ids=lambda each: getattr(each, "__name__", each))
def test_no_encrypted_wrapping_is_accepted(attack, way, what):
    """Anybody can encrypt for us: the attack may hide in one assertion, in both, or around them."""
    wrapped = attack(*attacked(way))
    for assertion in list(wrapped.iter(ASSERTION)):
        parent = assertion.getparent()
        outermost = parent is not None and parent.tag == f"{{{SAMLP}}}Response"
        evil = assertion.get("ID") == "_evil"
        if parent is None or not (outermost if what == "whole" else evil or what == "both encrypted"):
            continue
        sealed = encrypted_xml(etree.tostring(assertion, with_tail=False), keys("sp").certificate)
        parent.replace(assertion, etree.fromstring(sealed))
    need_refusal(etree.tostring(wrapped))


def test_at_least_two_hundred_attacks_are_tried():
    assert len(WRAPPED) + len(DECORATED) + len(ENCRYPTED) >= 400


def edited(way: str, pieces: list[tuple[bytes, bytes]]) -> bytes:
    """The honest bytes with some pieces of text exchanged; still XML."""
    raw = honest_bytes(way)
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_no_other_form_of_signature_is_accepted(form, way):
    need_refusal(edited(way, FORMS[form]))


@pytest.mark.parametrize("way", ["assertion", "response"])
def test_a_signature_by_the_attacker_is_refused(way):
    response, evil = attacked(way)
    response = plain_copy(response)
    response.replace(response.find(ASSERTION), evil)
    if way == "assertion":
        response.replace(evil, signed(evil, keys("attacker")))
    else:
        response = signed(response, keys("attacker"))
    assert need_refusal(etree.tostring(response)) is SamlRefusalReason.UNKNOWN_CERTIFICATE


def test_the_public_key_is_not_accepted_as_an_hmac_key():
    """GHSA-6vx8-pcwv-xhf4: an HMAC made with the public certificate as its key."""
    response, _ = attacked("assertion")
    raw = etree.tostring(response).replace(b"rsa-sha256", b"hmac-sha256").replace(b"maria@", b"root@")
    root = etree.fromstring(raw)
    info = root.find(f".//{{{DS}}}SignedInfo")
    mac = hmac.digest(
        IdentityProvider().certificate.encode(), etree.tostring(info, method="c14n", exclusive=True), "sha256"
    )
    root.find(f".//{{{DS}}}SignatureValue").text = base64.b64encode(mac).decode()
    assert need_refusal(etree.tostring(root)) is SamlRefusalReason.SIGNATURE_FORM


@pytest.mark.parametrize("way", WAYS)
def test_two_valid_assertions_in_one_response_are_refused(way):
    response, _ = attacked(way)
    other = etree.fromstring(honest(IdentityProvider(now=NOW, **WAYS[way])))
    response.append(other.find(ASSERTION))
    assert need_refusal(etree.tostring(response)) is SamlRefusalReason.SEVERAL_ASSERTIONS


def test_an_assertion_is_not_accepted_in_another_response():
    """The signature of the Response must cover the very assertion that is read."""
    response, evil = attacked("response")
    response.replace(response.find(ASSERTION), evil)
    assert need_refusal(etree.tostring(response)) is SamlRefusalReason.CONTENT_CHANGED


def test_a_signed_logout_response_is_no_login_response():
    idp = IdentityProvider(now=NOW)
    message = signed(etree.fromstring(idp.logout_response("https://mail.example", REQUEST)), idp.keys)
    assert need_refusal(etree.tostring(message)) is SamlRefusalReason.WRONG_MESSAGE


def test_a_bare_signed_assertion_is_refused():
    response, _ = attacked("assertion")
    raw = etree.tostring(response.find(ASSERTION), with_tail=False)
    assert need_refusal(raw) is SamlRefusalReason.WRONG_MESSAGE
