"""Messages that this service sends: AuthnRequest, LogoutRequest and LogoutResponse, by HTTP-Redirect or HTTP-POST.

HTTP-Redirect uses DEFLATE and a detached signature over the query (SAML bindings §3.4.4.1); HTTP-POST uses an
enveloped signature (§3.5.4). All messages are signed with RSA-SHA256.
"""

import base64
import secrets
import zlib
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from lxml import etree
from signxml.algorithms import CanonicalizationMethod, DigestAlgorithm, SignatureMethod
from signxml.signer import XMLSigner

from postern.kernel.values import timestamp
from postern.protocols.saml.connection import POST, SamlConnection
from postern.protocols.saml.document import DS, SAML, SAMLP, Element, tag

MAX_RELAY_STATE_BYTES = 80
"""SAML bindings §3.4.3."""
RSA_SHA256 = SignatureMethod.RSA_SHA256.value
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
RESPONDER = "urn:oasis:names:tc:SAML:2.0:status:Responder"

MessageParameter = Literal["SAMLRequest", "SAMLResponse"]


def new_message_id() -> str:
    """A new message ID of 160 random bits. It starts with `_` because an xs:ID must not start with a digit."""
    return "_" + secrets.token_hex(20)


def authn_request(
    connection: SamlConnection,
    *,
    id: str,
    destination: str,
    now: datetime,
    name_id_format: str | None = None,
    force_authn: bool = False,
) -> bytes:
    """An unsigned AuthnRequest (SAML core §3.4.1) that asks for a response by HTTP-POST to the connection's ACS URL."""
    root = _new_message("AuthnRequest", connection.sp_entity_id, id=id, destination=destination, now=now)
    root.set("ProtocolBinding", POST)
    root.set("AssertionConsumerServiceURL", connection.acs_url)
    if force_authn:
        root.set("ForceAuthn", "true")
    policy = etree.SubElement(root, tag(SAMLP, "NameIDPolicy"), AllowCreate="true")
    if name_id_format:
        policy.set("Format", name_id_format)
    return etree.tostring(root)


def logout_request(
    connection: SamlConnection,
    *,
    id: str,
    destination: str,
    now: datetime,
    name_id: str,
    format: str | None = None,
    session_index: str | None = None,
) -> bytes:
    """An unsigned LogoutRequest (SAML core §3.7.1) that asks the identity provider to end the user's session.

    Without `session_index`, it applies to all sessions of the user.
    """
    root = _new_message("LogoutRequest", connection.sp_entity_id, id=id, destination=destination, now=now)
    name_id_element = etree.SubElement(root, tag(SAML, "NameID"))
    name_id_element.text = name_id
    if format:
        name_id_element.set("Format", format)
    if session_index:
        etree.SubElement(root, tag(SAMLP, "SessionIndex")).text = session_index
    return etree.tostring(root)


def logout_response(
    connection: SamlConnection,
    *,
    id: str,
    destination: str,
    now: datetime,
    in_response_to: str,
    success: bool = True,
) -> bytes:
    """An unsigned LogoutResponse (SAML core §3.7.2) to the identity provider's LogoutRequest."""
    root = _new_message("LogoutResponse", connection.sp_entity_id, id=id, destination=destination, now=now)
    root.set("InResponseTo", in_response_to)
    status = etree.SubElement(root, tag(SAMLP, "Status"))
    etree.SubElement(status, tag(SAMLP, "StatusCode"), Value=SUCCESS if success else RESPONDER)
    return etree.tostring(root)


def redirect_url(
    location: str, message: bytes, *, field: MessageParameter, private_key: str, relay_state: str | None = None
) -> str:
    """The URL of an HTTP-Redirect message: `location` with the compressed message and its signature in the query.

    `private_key` is PEM. Raises ValueError if the relay state is longer than 80 bytes.
    """
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    compressed = compressor.compress(message) + compressor.flush()
    query = f"{field}={_escape(base64.b64encode(compressed).decode('ascii'))}"
    if relay_state is not None:
        query += f"&RelayState={_escape(_check_relay_state(relay_state))}"
    query += f"&SigAlg={_escape(RSA_SHA256)}"
    signature = _rsa_key(private_key).sign(query.encode("ascii"), padding.PKCS1v15(), hashes.SHA256())
    query += f"&Signature={_escape(base64.b64encode(signature).decode('ascii'))}"
    return location + ("&" if "?" in location else "?") + query


def post_fields(
    message: bytes, *, field: MessageParameter, private_key: str, certificate: str, relay_state: str | None = None
) -> dict[str, str]:
    """The form fields of an HTTP-POST message, with the signature inside the message.

    `private_key` and `certificate` are PEM. Raises ValueError if the relay state is longer than 80 bytes.
    """
    signed = sign_enveloped(message, private_key=private_key, certificate=certificate)
    fields: dict[str, str] = {field: base64.b64encode(signed).decode("ascii")}
    if relay_state is not None:
        fields["RelayState"] = _check_relay_state(relay_state)
    return fields


def sign_enveloped(message: bytes, *, private_key: str, certificate: str) -> bytes:
    """The message with an enveloped RSA-SHA256 signature directly after its Issuer. Key and certificate are PEM."""
    root = etree.fromstring(message, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    issuer = root.find(tag(SAML, "Issuer"))
    # signxml replaces this element with the signature. It computes the signature with the prefix `ds`;
    # with another prefix in the document, the canonical bytes would differ.
    placeholder = etree.Element(tag(DS, "Signature"), {"Id": "placeholder"}, nsmap={"ds": DS})
    root.insert(0 if issuer is None else 1, placeholder)
    signer = XMLSigner(
        signature_algorithm=SignatureMethod.RSA_SHA256,
        digest_algorithm=DigestAlgorithm.SHA256,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    return etree.tostring(
        signer.sign(
            root,
            key=private_key.encode("ascii"),
            cert=certificate,
            reference_uri=root.get("ID"),
            id_attribute="ID",
        )
    )


def _new_message(name: str, issuer: str, *, id: str, destination: str, now: datetime) -> Element:
    root = etree.Element(tag(SAMLP, name), nsmap={"samlp": SAMLP, "saml": SAML})
    root.set("ID", id)
    root.set("Version", "2.0")
    root.set("IssueInstant", timestamp(now))
    root.set("Destination", destination)
    etree.SubElement(root, tag(SAML, "Issuer")).text = issuer
    return root


def _rsa_key(pem: str) -> rsa.RSAPrivateKey:
    # This service generated the key; validating its primes again takes longer than signing.
    key = serialization.load_pem_private_key(pem.encode("ascii"), None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("The signing key must be RSA.")
    return key


def _check_relay_state(relay_state: str) -> str:
    """Return the relay state. Raises ValueError if it is too long."""
    if len(relay_state.encode()) > MAX_RELAY_STATE_BYTES:
        raise ValueError(f"A relay state has at most {MAX_RELAY_STATE_BYTES} bytes.")
    return relay_state


def _escape(value: str) -> str:
    return quote(value, safe="")
