"""Metadata: how an identity provider describes itself to us, and how we describe ourselves."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlsplit

from lxml import etree

from postern.kernel.http.problems import BadRequest, ContentTooLarge
from postern.kernel.values import Record, timestamp
from postern.protocols.saml.certificates import Certificate, CertificateRefused, bare, read_certificate
from postern.protocols.saml.connection import EMAIL_NAME_ID, MAX_IDP_CERTIFICATES, PERSISTENT_NAME_ID, POST, REDIRECT
from postern.protocols.saml.document import DS, MD, SAMLP, XENC, XENC11, Element, children, moment, tag, text_of

MAX_METADATA_BYTES = 100 * 1024
MAX_ENTITY_ID_CHARS = 1024
"""SAML core §8.3.6."""
MAX_URL_CHARS = 2048
CONTENT_TYPE = "application/samlmetadata+xml"


class SamlMetadataTooLarge(ContentTooLarge, code="metadata_too_large"):
    """An identity provider's metadata may have 100 KB."""


class SamlMetadataRefused(BadRequest, code="metadata_refused"):
    """That is not the metadata of one SAML 2.0 identity provider."""


class IdentityProvider(Record, kw_only=True):
    """An identity provider as its metadata describes it."""

    entity_id: str
    sso_redirect_url: str | None
    sso_post_url: str | None
    slo_redirect_url: str | None
    slo_post_url: str | None
    slo_response_url: str | None
    """Where answers to logout requests go, if not where requests go."""
    certificates: list[Certificate]
    """The signing certificates; any of them may sign."""
    name_id_formats: list[str]
    want_authn_requests_signed: bool
    valid_until: datetime | None


class ServiceProvider(Record, kw_only=True):
    """What one connection says about us. Certificates are PEM: the current one first, then the next."""

    entity_id: str
    acs_url: str
    slo_url: str | None = None
    signing_certificates: Sequence[str]
    encryption_certificates: Sequence[str] = ()
    name_id_formats: Sequence[str] = (EMAIL_NAME_ID, PERSISTENT_NAME_ID)


def read_metadata(
    raw: bytes, *, now: datetime, entity_id: str | None = None, allow_http: bool = False
) -> IdentityProvider:
    """What the XML of an identity provider says.

    A collection of several needs the `entity_id` that is meant. Addresses must be https unless
    `allow_http`. Raises MetadataTooLarge beyond 100 KB, else SamlMetadataRefused with the reason.
    """
    provider = _one_provider(_parse(raw), entity_id, now)
    name = provider.get("entityID", "").strip()
    if not name or len(name) > MAX_ENTITY_ID_CHARS:
        raise SamlMetadataRefused(f"The entity id must have 1 to {MAX_ENTITY_ID_CHARS:,} characters.")
    roles = [each for each in children(provider, MD, "IDPSSODescriptor") if _speaks_saml(each)]
    if len(roles) != 1:
        raise SamlMetadataRefused(f"{name} has {len(roles)} identity provider roles for SAML 2.0 instead of one.")
    role = roles[0]
    found = IdentityProvider(
        entity_id=name,
        sso_redirect_url=_address(role, "SingleSignOnService", REDIRECT, allow_http),
        sso_post_url=_address(role, "SingleSignOnService", POST, allow_http),
        slo_redirect_url=_address(role, "SingleLogoutService", REDIRECT, allow_http),
        slo_post_url=_address(role, "SingleLogoutService", POST, allow_http),
        slo_response_url=_answers(role, allow_http),
        certificates=_signing_certificates(role),
        name_id_formats=[text for each in children(role, MD, "NameIDFormat") if (text := text_of(each))],
        want_authn_requests_signed=role.get("WantAuthnRequestsSigned", "").strip() in {"true", "1"},
        valid_until=_valid_until(provider, role, now),
    )
    if found.sso_redirect_url is None and found.sso_post_url is None:
        raise SamlMetadataRefused(f"{name} has no sign-on address for redirects or forms.")
    return found


def sp_metadata(provider: ServiceProvider, *, valid_until: datetime | None = None) -> bytes:
    """Our own metadata for one connection, in the order of the OASIS schema (SAML metadata §2.4.4)."""
    root = etree.Element(tag(MD, "EntityDescriptor"), nsmap={"md": MD, "ds": DS})
    root.set("entityID", provider.entity_id)
    if valid_until:
        root.set("validUntil", timestamp(valid_until))
    role = etree.SubElement(root, tag(MD, "SPSSODescriptor"))
    role.set("protocolSupportEnumeration", SAMLP)
    role.set("AuthnRequestsSigned", "true")
    role.set("WantAssertionsSigned", "true")
    for certificate in provider.signing_certificates:
        _key(role, "signing", certificate)
    for certificate in provider.encryption_certificates:
        _advertise_encryption(_key(role, "encryption", certificate))
    if provider.slo_url:
        for binding in (REDIRECT, POST):
            etree.SubElement(role, tag(MD, "SingleLogoutService"), Binding=binding, Location=provider.slo_url)
    for each in provider.name_id_formats:
        etree.SubElement(role, tag(MD, "NameIDFormat")).text = each
    service = etree.SubElement(role, tag(MD, "AssertionConsumerService"))
    service.set("Binding", POST)
    service.set("Location", provider.acs_url)
    service.set("index", "0")
    service.set("isDefault", "true")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def require_web_address(url: str, what: str, *, allow_http: bool = False) -> str:
    """The address, if a browser can be sent there: https, a host, no credentials, no fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise SamlMetadataRefused(f"The {what} is not an address: {url[:200]!r}.") from None
    schemes = {"https", "http"} if allow_http else {"https"}
    plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= MAX_URL_CHARS
    if not plain or parts.scheme not in schemes or not parts.hostname or parts.username or parts.fragment:
        raise SamlMetadataRefused(f"The {what} must be an https address, not {url[:200]!r}.")
    return url


def _parse(raw: bytes) -> Element:
    """Comments are common in metadata and carry nothing; a DOCTYPE is refused."""
    if len(raw) > MAX_METADATA_BYTES:
        raise SamlMetadataTooLarge
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SamlMetadataRefused("The metadata is not UTF-8.") from None
    if "<!DOCTYPE" in text.upper():
        raise SamlMetadataRefused("A DOCTYPE is never read.")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise SamlMetadataRefused(f"The metadata is not well-formed XML: {error.msg}") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise SamlMetadataRefused("A DOCTYPE is never read.")
    return root


def _one_provider(root: Element, entity_id: str | None, now: datetime) -> Element:
    if root.tag == tag(MD, "EntityDescriptor"):
        providers = [root]
    elif root.tag == tag(MD, "EntitiesDescriptor"):
        _valid_until(root, root, now)
        providers = [each for each in children(root, MD, "EntityDescriptor") if children(each, MD, "IDPSSODescriptor")]
    else:
        raise SamlMetadataRefused(f"{etree.QName(root).localname} is not SAML metadata.")
    if entity_id is not None:
        providers = [each for each in providers if each.get("entityID", "").strip() == entity_id]
    if len(providers) != 1:
        raise SamlMetadataRefused(f"{len(providers)} identity providers are described; it must be one.")
    return providers[0]


def _speaks_saml(role: Element) -> bool:
    return SAMLP in role.get("protocolSupportEnumeration", "").split()


def _address(role: Element, service: str, binding: str, allow_http: bool) -> str | None:
    for each in children(role, MD, service):
        if each.get("Binding") == binding:
            return require_web_address(each.get("Location", "").strip(), service, allow_http=allow_http)
    return None


def _answers(role: Element, allow_http: bool) -> str | None:
    for each in children(role, MD, "SingleLogoutService"):
        if each.get("Binding") in {REDIRECT, POST} and each.get("ResponseLocation"):
            return require_web_address(
                each.get("ResponseLocation", "").strip(), "ResponseLocation", allow_http=allow_http
            )
    return None


def _signing_certificates(role: Element) -> list[Certificate]:
    """The certificates of every key that may sign: a key without a use does everything (§2.4.1.1)."""
    found: dict[str, Certificate] = {}
    for key in children(role, MD, "KeyDescriptor"):
        if key.get("use", "signing") != "signing":
            continue
        for text in _certificate_texts(key):
            try:
                certificate = read_certificate(text)
            except CertificateRefused as error:
                raise SamlMetadataRefused(f"A signing certificate cannot be used: {error.detail}") from None
            found[certificate.fingerprint] = certificate
    if not found:
        raise SamlMetadataRefused("There is no signing certificate.")
    if len(found) > MAX_IDP_CERTIFICATES:
        raise SamlMetadataRefused(f"There are more than {MAX_IDP_CERTIFICATES} signing certificates.")
    return list(found.values())


def _certificate_texts(key: Element) -> Sequence[str]:
    return [
        certificate.text or ""
        for info in children(key, DS, "KeyInfo")
        for data in children(info, DS, "X509Data")
        for certificate in children(data, DS, "X509Certificate")
    ]


def _valid_until(provider: Element, role: Element, now: datetime) -> datetime | None:
    """The earlier end of the two; metadata that has ended is refused."""
    ends: list[datetime] = []
    for each in (provider, role):
        text = each.get("validUntil")
        if text is None:
            continue
        found = moment(text)
        if found is None:
            raise SamlMetadataRefused(f"validUntil {text[:100]!r} is not a moment with a time zone.")
        ends.append(found)
    if ends and min(ends) <= now:
        raise SamlMetadataRefused(f"This metadata was valid until {timestamp(min(ends))}.")
    return min(ends, default=None)


def _key(role: Element, use: str, certificate: str) -> Element:
    descriptor = etree.SubElement(role, tag(MD, "KeyDescriptor"), use=use)
    data = etree.SubElement(etree.SubElement(descriptor, tag(DS, "KeyInfo")), tag(DS, "X509Data"))
    etree.SubElement(data, tag(DS, "X509Certificate")).text = bare(certificate)
    return descriptor


def _advertise_encryption(descriptor: Element) -> None:
    """What we can open, the strongest first; a provider that looks here never chooses CBC."""
    for algorithm in (f"{XENC11}aes256-gcm", f"{XENC11}aes128-gcm", f"{XENC}rsa-oaep-mgf1p"):
        etree.SubElement(descriptor, tag(MD, "EncryptionMethod"), Algorithm=algorithm)
