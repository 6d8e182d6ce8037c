"""Signatures by the xmlsec1 program with a PrefixList, as Okta and AD FS create them.

The prefix `xs` occurs only in values of `xsi:type`, so exclusive canonicalization would drop its declaration; a
PrefixList keeps it (Exclusive XML Canonicalization §2.1).
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import DS, SAML, SAMLP, XS, IdentityProvider
from tests.protocols.saml.conftest import NOW, REQUEST, connection_with, valid_response

pytestmark = [
    pytest.mark.needs_tool("xmlsec1", "apt-get install xmlsec1"),
    pytest.mark.skipif(not shutil.which("xmlsec1"), reason="not installed: apt-get install xmlsec1"),
]
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
SHA512 = "http://www.w3.org/2001/04/xmlenc#sha512"


def signature_template(identifier: str, prefixes: str) -> etree._Element:
    """A signature for xmlsec1 to fill in."""
    prefix_list = f'<ec:InclusiveNamespaces xmlns:ec="{EXCLUSIVE}" PrefixList="{prefixes}"/>' if prefixes else ""
    return etree.fromstring(
        f'<ds:Signature xmlns:ds="{DS}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}">{prefix_list}'
        "</ds:CanonicalizationMethod>"
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"/>'
        f'<ds:Reference URI="#{identifier}"><ds:Transforms>'
        '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>'
        f'<ds:Transform Algorithm="{EXCLUSIVE}">{prefix_list}</ds:Transform></ds:Transforms>'
        f'<ds:DigestMethod Algorithm="{SHA512}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>'
        "<ds:SignatureValue/></ds:Signature>"
    )


def signed_by_xmlsec1(
    root: etree._Element, target: etree._Element, folder: Path, idp: IdentityProvider, prefixes: str
) -> etree._Element:
    """The document `root` after xmlsec1 has signed the element `target` in it."""
    target.insert(1, signature_template(target.get("ID"), prefixes))
    (folder / "key.pem").write_text(idp.keys.private_pem)
    (folder / "in.xml").write_bytes(etree.tostring(root))
    kinds = {f"{{{SAML}}}Assertion": f"{SAML}:Assertion", f"{{{SAMLP}}}Response": f"{SAMLP}:Response"}
    xpath = "/*/*[local-name()='Signature']" if target is root else "/*/*/*[local-name()='Signature']"
    command = ["xmlsec1", "--sign", "--privkey-pem", "key.pem", "--output", "out.xml", "--node-xpath", xpath]
    for kind in kinds.values():
        command += ["--id-attr:ID", kind]
    subprocess.run([*command, "in.xml"], cwd=folder, check=True, capture_output=True, timeout=120)
    return etree.fromstring((folder / "out.xml").read_bytes())


@pytest.mark.parametrize("prefixes", ["", "xs", "xs xsi saml", "#default xs"])
@pytest.mark.parametrize("signed_elements", ["assertion", "response", "both"])
def test_a_signature_with_inclusive_namespace_prefixes_is_verified(tmp_path, prefixes, signed_elements):
    idp = IdentityProvider(now=NOW, sign_assertion=False)
    raw = valid_response(idp).replace(f' xmlns:xs="{XS}"'.encode(), b"")
    root = etree.fromstring(raw.replace(b"<samlp:Response ", f'<samlp:Response xmlns:xs="{XS}" '.encode(), 1))
    if signed_elements != "response":
        root = signed_by_xmlsec1(root, root.find(f"{{{SAML}}}Assertion"), tmp_path, idp, prefixes)
    if signed_elements != "assertion":
        root = signed_by_xmlsec1(root, root, tmp_path, idp, prefixes)
    raw = etree.tostring(root)
    assert read(raw, idp).attributes["groups"] == ["staff", "admins & co"]
    with pytest.raises(SamlRejected) as caught:
        read(raw.replace(b">staff<", b">owner<"), idp)
    assert caught.value.reason is SamlRejectionReason.CONTENT_CHANGED


def read(raw: bytes, idp: IdentityProvider):
    return read_response(raw, connection=connection_with(idp), expected_request_ids={REQUEST}, now=NOW)
