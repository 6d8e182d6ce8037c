"""Signatures by the xmlsec1 program in the shape that Okta and AD FS give them: prefixes that are named.

`xs` stands only inside the value of `xsi:type`, so exclusive canonicalization would drop its declaration;
a PrefixList keeps it (Exclusive XML Canonicalization §2.1).
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected
from tests.peers.identity_provider import DS, SAML, SAMLP, XS, IdentityProvider
from tests.protocols.saml.conftest import NOW, REQUEST, agreed_with, honest

pytestmark = [
    pytest.mark.needs_tool("xmlsec1", "apt-get install xmlsec1"),
    pytest.mark.skipif(not shutil.which("xmlsec1"), reason="not installed: apt-get install xmlsec1"),
]
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
SHA512 = "http://www.w3.org/2001/04/xmlenc#sha512"


def template(identifier: str, prefixes: str) -> etree._Element:
    """A signature for xmlsec1 to fill in."""
    named = f'<ec:InclusiveNamespaces xmlns:ec="{EXCLUSIVE}" PrefixList="{prefixes}"/>' if prefixes else ""
    return etree.fromstring(
        f'<ds:Signature xmlns:ds="{DS}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}">{named}'
        "</ds:CanonicalizationMethod>"
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"/>'
        f'<ds:Reference URI="#{identifier}"><ds:Transforms>'
        '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>'
        f'<ds:Transform Algorithm="{EXCLUSIVE}">{named}</ds:Transform></ds:Transforms>'
        f'<ds:DigestMethod Algorithm="{SHA512}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>'
        "<ds:SignatureValue/></ds:Signature>"
    )


def signed_by_xmlsec1(
    root: etree._Element, place: etree._Element, folder: Path, idp: IdentityProvider, prefixes: str
) -> etree._Element:
    """The document with `place` signed by the program."""
    place.insert(1, template(place.get("ID"), prefixes))
    (folder / "key.pem").write_text(idp.keys.private_pem)
    (folder / "in.xml").write_bytes(etree.tostring(root))
    kinds = {f"{{{SAML}}}Assertion": f"{SAML}:Assertion", f"{{{SAMLP}}}Response": f"{SAMLP}:Response"}
    here = "/*/*[local-name()='Signature']" if place is root else "/*/*/*[local-name()='Signature']"
    command = ["xmlsec1", "--sign", "--privkey-pem", "key.pem", "--output", "out.xml", "--node-xpath", here]
    for kind in kinds.values():
        command += ["--id-attr:ID", kind]
    subprocess.run([*command, "in.xml"], cwd=folder, check=True, capture_output=True, timeout=120)
    return etree.fromstring((folder / "out.xml").read_bytes())


@pytest.mark.parametrize("prefixes", ["", "xs", "xs xsi saml", "#default xs"])
@pytest.mark.parametrize("places", ["assertion", "response", "both"])
def test_a_signature_with_inclusive_namespace_prefixes_is_verified(tmp_path, prefixes, places):
    idp = IdentityProvider(now=NOW, sign_assertion=False)
    raw = honest(idp).replace(f' xmlns:xs="{XS}"'.encode(), b"")
    root = etree.fromstring(raw.replace(b"<samlp:Response ", f'<samlp:Response xmlns:xs="{XS}" '.encode(), 1))
    if places != "response":
        root = signed_by_xmlsec1(root, root.find(f"{{{SAML}}}Assertion"), tmp_path, idp, prefixes)
    if places != "assertion":
        root = signed_by_xmlsec1(root, root, tmp_path, idp, prefixes)
    raw = etree.tostring(root)
    assert said(raw, idp).attributes["groups"] == ["staff", "admins & co"]
    with pytest.raises(SamlRejected) as caught:
        said(raw.replace(b">staff<", b">owner<"), idp)
    assert caught.value.reason is SamlRefusalReason.CONTENT_CHANGED


def said(raw: bytes, idp: IdentityProvider):
    return read_response(raw, connection=agreed_with(idp), expected_request_ids={REQUEST}, now=NOW)
