"""A minimal SAML identity provider that conforms to the standard, in process or over HTTP on loopback.

It signs with signxml, independently of Postern's code, and every claim can be changed: `sign_on(…)` returns a Response,
`answer(url)` the Response to an AuthnRequest in a redirect URL, and `serving()` serves `/metadata`, `/logout`, and
`/login`, a page that posts the Response without asking for a password.
"""

import base64
import html
import os
import threading
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

import lxml.html
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID
from lxml import etree
from signxml import CanonicalizationMethod, DigestAlgorithm, SignatureMethod, XMLSigner

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"
DS = "http://www.w3.org/2000/09/xmldsig#"
XENC = "http://www.w3.org/2001/04/xmlenc#"
XS = "http://www.w3.org/2001/XMLSchema"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
OAEP = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
AES256_GCM = "http://www.w3.org/2009/xmlenc11#aes256-gcm"


@dataclass(frozen=True)
class Keys:
    """A private key and its certificate."""

    private: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def private_pem(self) -> str:
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()


@cache
def keys(
    name: str = "idp",
    *,
    not_before: datetime = datetime(2020, 1, 1, tzinfo=UTC),
    not_after: datetime = datetime(2040, 1, 1, tzinfo=UTC),
    curve: bool = False,
) -> Keys:
    """Create a key and a self-signed certificate; the same arguments always give the same keys."""
    private = ec.generate_private_key(ec.SECP256R1()) if curve else rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(not_after)
        .sign(private, hashes.SHA256())
    )
    return Keys(private, certificate)


@dataclass(frozen=True)
class Person:
    """The person who signs on."""

    name_id: str = "maria@acme.example"
    format: str = EMAIL_FORMAT
    attributes: dict[str, list[str]] = field(
        default_factory=lambda: {"email": ["maria@acme.example"], "groups": ["staff", "admins & co"]}
    )
    session_index: str = "_session-1"


@dataclass(frozen=True)
class Claims:
    """The contents of a Response. None omits the attribute or element; `"same"` uses the value it usually has."""

    now: datetime
    acs_url: str | None
    audience: str | None
    issuer: str
    person: Person = Person()
    in_response_to: str | None = None
    inner_in_response_to: str | None = "same"
    """InResponseTo of the SubjectConfirmationData."""
    destination: str | None = "same"
    recipient: str | None = "same"
    status: str = SUCCESS
    status_message: str | None = None
    method: str = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
    life: timedelta = timedelta(minutes=5)
    """How long the confirmation and the conditions are valid, unless they have times of their own below."""
    not_before: datetime | None = None
    confirmation_ends: datetime | None = None
    conditions_end: datetime | None = None
    session_ends: datetime | None = None
    authn_statement: bool = True
    authn_context: str = (
        "<saml:AuthnContext><saml:AuthnContextClassRef>"
        "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
        "</saml:AuthnContextClassRef></saml:AuthnContext>"
    )
    issuer_format: str | None = None
    response_issuer: str | None = "same"
    version: str = "2.0"
    extra_condition: str = ""
    extra_in_assertion: str = ""


@dataclass
class IdentityProvider:
    """One identity provider: its entity id and URLs, its keys, and what it signs."""

    entity_id: str = "https://idp.example/metadata"
    base: str = "https://idp.example"
    keys: Keys = field(default_factory=keys)
    person: Person = field(default_factory=Person)
    sign_response: bool = False
    sign_assertion: bool = True
    encrypt_for: x509.Certificate | None = None
    now: datetime | None = None
    """The time of its messages; None for the current time."""
    service_urls: dict[str, str] = field(default_factory=dict)
    """The single logout URL of each service provider, by entity id."""

    @property
    def certificate(self) -> str:
        """The signing certificate in PEM."""
        return self.keys.pem

    def claims(self, **changes: object) -> Claims:
        """Valid claims, with these fields changed."""
        valid = Claims(
            now=self.now or datetime.now(UTC),
            acs_url=None,
            audience=None,
            issuer=self.entity_id,
            person=self.person,
        )
        return replace(valid, **changes)  # type: ignore[arg-type]

    def sign_on(self, claims: Claims) -> bytes:
        """A Response with one assertion, signed and encrypted as configured."""
        response = etree.fromstring(response_xml(claims))
        assertion = response.find(f"{{{SAML}}}Assertion")
        if self.sign_assertion:
            response.replace(assertion, signed(assertion, self.keys))
        if self.encrypt_for is not None:
            encrypt_assertion(response, self.encrypt_for)
        if self.sign_response:
            response = signed(response, self.keys)
        return etree.tostring(response)

    def answer(self, url: str, **changes: object) -> tuple[str, dict[str, str]]:
        """Answer the AuthnRequest in a redirect URL; returns the URL to post to and the form fields.

        `changes` are fields of Claims.
        """
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        request = etree.fromstring(zlib.decompress(base64.b64decode(query["SAMLRequest"]), -15))
        acs_url = request.get("AssertionConsumerServiceURL")
        response = self.sign_on(
            self.claims(
                **{
                    "acs_url": acs_url,
                    "audience": request.findtext(f"{{{SAML}}}Issuer"),
                    "in_response_to": request.get("ID"),
                    **changes,
                }
            )
        )
        fields = {"SAMLResponse": base64.b64encode(response).decode()}
        if "RelayState" in query:
            fields["RelayState"] = query["RelayState"]
        return acs_url, fields

    def logout_request(self, destination: str, *, name_id: str | None = None, id: str | None = None) -> bytes:
        """A LogoutRequest, unsigned: sign it with `signed` or send it with `redirect`."""
        now = (self.now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f'<p:LogoutRequest xmlns:p="{SAMLP}" xmlns:a="{SAML}" ID="{id or new_id()}" Version="2.0"'
            f' IssueInstant="{now}" Destination="{destination}"><a:Issuer>{self.entity_id}</a:Issuer>'
            f'<a:NameID Format="{self.person.format}">{html.escape(name_id or self.person.name_id)}'
            "</a:NameID>"
            f"<p:SessionIndex>{self.person.session_index}</p:SessionIndex></p:LogoutRequest>"
        ).encode()

    def logout_response(self, destination: str, in_response_to: str, *, status: str = SUCCESS) -> bytes:
        """A LogoutResponse, unsigned."""
        now = (self.now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f'<p:LogoutResponse xmlns:p="{SAMLP}" xmlns:a="{SAML}" ID="{new_id()}" Version="2.0"'
            f' IssueInstant="{now}" Destination="{destination}" InResponseTo="{in_response_to}">'
            f"<a:Issuer>{self.entity_id}</a:Issuer>"
            f'<p:Status><p:StatusCode Value="{status}"/></p:Status></p:LogoutResponse>'
        ).encode()

    def redirect(self, name: str, message: bytes, relay_state: str | None = None) -> str:
        """The signed query of a redirect with a message; `name` is `SAMLRequest` or `SAMLResponse`."""
        compressor = zlib.compressobj(wbits=-15)
        compressed = compressor.compress(message) + compressor.flush()
        query = f"{name}={quote(base64.b64encode(compressed), safe='')}"
        if relay_state is not None:
            query += f"&RelayState={quote(relay_state, safe='')}"
        query += f"&SigAlg={quote(RSA_SHA256, safe='')}"
        signature = self.keys.private.sign(query.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{query}&Signature={quote(base64.b64encode(signature), safe='')}"

    def metadata(self) -> bytes:
        """The metadata document of this provider."""
        certificate = "".join(self.keys.pem.splitlines()[1:-1])
        redirect = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
        return (
            f'<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{self.entity_id}">'
            f'<IDPSSODescriptor protocolSupportEnumeration="{SAMLP}"><KeyDescriptor use="signing">'
            f'<KeyInfo xmlns="{DS}"><X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo>'
            f'</KeyDescriptor><SingleLogoutService Binding="{redirect}" Location="{self.base}/logout"/>'
            f'<SingleSignOnService Binding="{redirect}" Location="{self.base}/login"/>'
            "</IDPSSODescriptor></EntityDescriptor>"
        ).encode()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve `/login`, `/logout` and `/metadata` on loopback; yields the base URL."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.base = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self.base
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/metadata":
                return self.respond(200, "application/samlmetadata+xml", provider.metadata())
            if path == "/login":
                action, fields = provider.answer(self.path)
                return self.respond(200, "text/html; charset=utf-8", posting_page(action, fields).encode())
            if path == "/logout":
                return self.log_out()
            return self.respond(404, "text/plain", b"no such page")

        def log_out(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            if "SAMLRequest" not in query:
                return self.respond(200, "text/plain", b"signed out")
            request = etree.fromstring(zlib.decompress(base64.b64decode(query["SAMLRequest"][0]), -15))
            logout_url = provider.service_urls[request.findtext(f"{{{SAML}}}Issuer")]
            message = provider.logout_response(logout_url, request.get("ID"))
            self.send_response(302)
            relay_state = query.get("RelayState", [None])[0]
            self.send_header("Location", f"{logout_url}?{provider.redirect('SAMLResponse', message, relay_state)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()

        def respond(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def posting_page(action: str, fields: dict[str, str]) -> str:
    """A page that submits its form by script when it is loaded."""
    inputs = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in fields.items()
    )
    return (
        f'<!doctype html><body onload="document.forms[0].submit()">'
        f'<form method="post" action="{html.escape(action)}">{inputs}<button>Go on</button></form>'
    )


def posted(page: str) -> tuple[str, dict[str, str]]:
    """The form of a page, as a browser would submit it: its action and its fields."""
    form = lxml.html.fromstring(page).forms[0]
    return form.action, {name: value for name, value in form.fields.items() if name}


def new_id() -> str:
    return f"_{uuid.uuid4().hex}"


def response_xml(claims: Claims) -> bytes:
    """The unsigned Response with these claims."""
    recipient = claims.acs_url if claims.recipient == "same" else claims.recipient
    destination = claims.acs_url if claims.destination == "same" else claims.destination
    inner = claims.in_response_to if claims.inner_in_response_to == "same" else claims.inner_in_response_to
    ends = claims.now + claims.life
    confirmation = {
        "NotOnOrAfter": xml_time(claims.confirmation_ends or ends),
        "Recipient": recipient,
        "InResponseTo": inner,
    }
    conditions = {
        "NotBefore": xml_time(claims.not_before or claims.now - timedelta(seconds=5)),
        "NotOnOrAfter": xml_time(claims.conditions_end or ends),
    }
    head = {"ID": new_id(), "Version": claims.version, "IssueInstant": xml_time(claims.now)}
    response_head = head | {
        "ID": new_id(),
        "Destination": destination,
        "InResponseTo": claims.in_response_to,
    }
    response_issuer = claims.issuer if claims.response_issuer == "same" else claims.response_issuer
    audience = (
        f"<saml:AudienceRestriction><saml:Audience>{claims.audience}</saml:Audience></saml:AudienceRestriction>"
        if claims.audience
        else ""
    )
    session = {
        "AuthnInstant": xml_time(claims.now),
        "SessionIndex": claims.person.session_index,
        "SessionNotOnOrAfter": xml_time(claims.session_ends) if claims.session_ends else None,
    }
    statement = (
        f"<saml:AuthnStatement{attributes_xml(session)}>{claims.authn_context}</saml:AuthnStatement>"
        if claims.authn_statement
        else ""
    )
    attributes = "".join(
        f'<saml:Attribute Name="{html.escape(name)}" FriendlyName="{html.escape(name)}Friendly">'
        + "".join(
            f'<saml:AttributeValue xmlns:xs="{XS}" xsi:type="xs:string">{html.escape(value)}</saml:AttributeValue>'
            for value in values
        )
        + "</saml:Attribute>"
        for name, values in claims.person.attributes.items()
    )
    message = f"<samlp:StatusMessage>{claims.status_message}</samlp:StatusMessage>" if claims.status_message else ""
    kind = attributes_xml({"Format": claims.issuer_format})
    assertion = (
        f"<saml:Assertion{attributes_xml(head)}><saml:Issuer{kind}>{claims.issuer}</saml:Issuer>"
        f'<saml:Subject><saml:NameID Format="{claims.person.format}">{html.escape(claims.person.name_id)}'
        "</saml:NameID>"
        f'<saml:SubjectConfirmation Method="{claims.method}">'
        f"<saml:SubjectConfirmationData{attributes_xml(confirmation)}/></saml:SubjectConfirmation></saml:Subject>"
        f"<saml:Conditions{attributes_xml(conditions)}>{audience}{claims.extra_condition}</saml:Conditions>"
        f"{statement}<saml:AttributeStatement>{attributes}</saml:AttributeStatement>{claims.extra_in_assertion}"
        "</saml:Assertion>"
    )
    if claims.status != SUCCESS:
        assertion = ""
    issuer = f"<saml:Issuer>{response_issuer}</saml:Issuer>" if response_issuer else ""
    return (
        f'<samlp:Response xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"{attributes_xml(response_head)}>{issuer}'
        f'<samlp:Status><samlp:StatusCode Value="{claims.status}"/>{message}</samlp:Status>'
        f"{assertion}</samlp:Response>"
    ).encode()


def xml_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def attributes_xml(attributes: dict[str, str | None]) -> str:
    return "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items() if value is not None)


def signed(
    element: etree._Element,
    by: Keys,
    *,
    method: SignatureMethod | None = None,
    digest: DigestAlgorithm = DigestAlgorithm.SHA256,
    c14n: str = "http://www.w3.org/2001/10/xml-exc-c14n#",
) -> etree._Element:
    """A copy of the element with an enveloped signature after its Issuer, where identity providers place it."""
    element = etree.fromstring(etree.tostring(element, with_tail=False))
    element.insert(1, etree.Element(f"{{{DS}}}Signature", {"Id": "placeholder"}, nsmap={"ds": DS}))
    default = SignatureMethod.RSA_SHA256 if isinstance(by.private, rsa.RSAPrivateKey) else SignatureMethod.ECDSA_SHA256
    signer = Signer(
        signature_algorithm=method or default,
        digest_algorithm=digest,
        c14n_algorithm=CanonicalizationMethod(c14n),
    )
    signed_element = signer.sign(
        element, key=by.private, cert=by.pem, reference_uri=element.get("ID"), id_attribute="ID"
    )
    return etree.fromstring(etree.tostring(signed_element))


class Signer(XMLSigner):
    """Also signs with deprecated methods such as SHA-1: some tests need a correct signature by a weak method."""

    def check_deprecated_methods(self) -> None:
        pass


def encrypt_assertion(
    response: etree._Element, certificate: x509.Certificate, *, data_algorithm: str = AES256_GCM
) -> None:
    """Replace the assertion with an EncryptedAssertion for the holder of that certificate."""
    assertion = response.find(f"{{{SAML}}}Assertion")
    plain = etree.tostring(assertion, with_tail=False)
    response.replace(assertion, etree.fromstring(encrypted_xml(plain, certificate, data_algorithm=data_algorithm)))


def encrypted_xml(plain: bytes, certificate: x509.Certificate, *, data_algorithm: str = AES256_GCM) -> bytes:
    """An EncryptedAssertion whose content is `plain`."""
    key, nonce = os.urandom(32), os.urandom(12)
    if data_algorithm == AES256_GCM:
        ciphertext = nonce + AESGCM(key).encrypt(nonce, plain, None)
    else:
        pad = 16 - len(plain) % 16
        iv = os.urandom(16)
        encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
        ciphertext = iv + encryptor.update(plain + os.urandom(pad - 1) + bytes([pad])) + encryptor.finalize()
    public = certificate.public_key()
    encrypted_key = public.encrypt(key, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))
    return (
        f'<saml:EncryptedAssertion xmlns:saml="{SAML}" xmlns:xenc="{XENC}" xmlns:ds="{DS}">'
        '<xenc:EncryptedData Type="http://www.w3.org/2001/04/xmlenc#Element">'
        f'<xenc:EncryptionMethod Algorithm="{data_algorithm}"/><ds:KeyInfo><xenc:EncryptedKey>'
        f'<xenc:EncryptionMethod Algorithm="{OAEP}"><ds:DigestMethod Algorithm="{DS}sha1"/>'
        "</xenc:EncryptionMethod>"
        f"<xenc:CipherData><xenc:CipherValue>{base64.b64encode(encrypted_key).decode()}"
        "</xenc:CipherValue></xenc:CipherData>"
        "</xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>"
        f"{base64.b64encode(ciphertext).decode()}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>"
        "</saml:EncryptedAssertion>"
    ).encode()
