"""SAML metadata: parsing the metadata of identity providers, and writing the metadata of this service provider."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from lxml import etree

from postern.kernel.http.problems import BadRequest, ContentTooLarge
from postern.kernel.values import Record, timestamp
from postern.protocols.saml.certificates import Certificate, CertificateRefused, base64_der, read_certificate
from postern.protocols.saml.connection import EMAIL_NAME_ID, MAX_IDP_CERTIFICATES, PERSISTENT_NAME_ID, POST, REDIRECT
from postern.protocols.saml.document import DS, MD, SAMLP, XENC, XENC11, Element, children, parse_datetime, tag, text_of

MAX_METADATA_BYTES = 100 * 1024
MAX_ENTITY_ID_CHARS = 1024
"""SAML core §8.3.6."""
MAX_URL_CHARS = 2048


class SamlMetadataTooLarge(ContentTooLarge, code="metadata_too_large"):
    """The identity provider's metadata is larger than 100 KB."""


class SamlMetadataRefused(BadRequest, code="metadata_refused"):
    """The document is not usable metadata of one SAML 2.0 identity provider."""


class IdentityProvider(Record, kw_only=True):
    """An identity provider as described by its metadata."""

    entity_id: str
    sso_redirect_url: str | None
    sso_post_url: str | None
    slo_redirect_url: str | None
    slo_post_url: str | None
    slo_response_url: str | None
    """The URL for logout responses (ResponseLocation), the same for both bindings; None if they are sent to the URL for
    logout requests."""
    certificates: list[Certificate]
    """The signing certificates; a signature by any of them is valid."""
    name_id_formats: list[str]
    want_authn_requests_signed: bool
    valid_until: datetime | None


class ServiceProvider(Record, kw_only=True):
    """The content of this service's metadata for one connection.

    Certificates are PEM.
    """

    entity_id: str
    acs_url: str
    slo_url: str | None = None
    signing_certificates: Sequence[str]
    encryption_certificates: Sequence[str] = ()
    next_certificates: Sequence[str] = ()
    """Those that will sign later. They are published without `use`, which means any use (SAML metadata §2.4.1.1): of
    several certificates for signing, Keycloak imports only the last, and other identity providers only the first."""
    name_id_formats: Sequence[str] = (EMAIL_NAME_ID, PERSISTENT_NAME_ID)


def read_metadata(
    raw: bytes, *, now: datetime, entity_id: str | None = None, allow_http: bool = False
) -> IdentityProvider:
    """Parse an identity provider's metadata.

    `entity_id` selects one of several identity providers in an EntitiesDescriptor. URLs must use https unless
    `allow_http` is set. The signature of the metadata is not verified. Raises SamlMetadataTooLarge above 100 KB, and
    SamlMetadataRefused with the reason if the metadata has expired at `now` or is not usable.
    """
    provider = _select_provider(_parse(raw), entity_id, now)
    provider_id = provider.get("entityID", "").strip()
    if not provider_id or len(provider_id) > MAX_ENTITY_ID_CHARS:
        raise SamlMetadataRefused(f"The entity id must have 1 to {MAX_ENTITY_ID_CHARS:,} characters.")
    roles = [role for role in children(provider, MD, "IDPSSODescriptor") if _supports_saml2(role)]
    if len(roles) != 1:
        raise SamlMetadataRefused(
            f"{provider_id} has {len(roles)} identity provider roles for SAML 2.0; exactly one is required."
        )
    role = roles[0]
    result = IdentityProvider(
        entity_id=provider_id,
        sso_redirect_url=_endpoint_url(role, "SingleSignOnService", REDIRECT, allow_http),
        sso_post_url=_endpoint_url(role, "SingleSignOnService", POST, allow_http),
        slo_redirect_url=_endpoint_url(role, "SingleLogoutService", REDIRECT, allow_http),
        slo_post_url=_endpoint_url(role, "SingleLogoutService", POST, allow_http),
        slo_response_url=_logout_response_url(role, allow_http),
        certificates=_signing_certificates(role),
        name_id_formats=[text for element in children(role, MD, "NameIDFormat") if (text := text_of(element))],
        want_authn_requests_signed=role.get("WantAuthnRequestsSigned", "").strip() in {"true", "1"},
        valid_until=_require_unexpired((provider, role), now),
    )
    if result.sso_redirect_url is None and result.sso_post_url is None:
        raise SamlMetadataRefused(f"{provider_id} has no SingleSignOnService for HTTP-Redirect or HTTP-POST.")
    return result


def sp_metadata(provider: ServiceProvider, *, valid_until: datetime | None = None) -> bytes:
    """This service's metadata for one connection as an XML document (SAML metadata §2.4.4)."""
    root = etree.Element(tag(MD, "EntityDescriptor"), nsmap={"md": MD, "ds": DS})
    root.set("entityID", provider.entity_id)
    if valid_until:
        root.set("validUntil", timestamp(valid_until))
    role = etree.SubElement(root, tag(MD, "SPSSODescriptor"))
    role.set("protocolSupportEnumeration", SAMLP)
    role.set("AuthnRequestsSigned", "true")
    role.set("WantAssertionsSigned", "true")
    for certificate in provider.signing_certificates:
        _add_key(role, "signing", certificate)
    for certificate in provider.encryption_certificates:
        _advertise_encryption(_add_key(role, "encryption", certificate))
    for certificate in provider.next_certificates:
        _advertise_encryption(_add_key(role, None, certificate))
    if provider.slo_url:
        for binding in (REDIRECT, POST):
            etree.SubElement(role, tag(MD, "SingleLogoutService"), Binding=binding, Location=provider.slo_url)
    for name_id_format in provider.name_id_formats:
        etree.SubElement(role, tag(MD, "NameIDFormat")).text = name_id_format
    service = etree.SubElement(role, tag(MD, "AssertionConsumerService"))
    service.set("Binding", POST)
    service.set("Location", provider.acs_url)
    service.set("index", "0")
    service.set("isDefault", "true")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def require_browser_url(url: str, label: str, *, allow_http: bool = False) -> str:
    """Return `url` if browsers can be redirected to it; raise SamlMetadataRefused otherwise.

    It must have the scheme https (with `allow_http`, http is accepted, too) and a host, and no user name, fragment,
    space or character outside printable ASCII, and be at most MAX_URL_CHARS long.
    `label` names the URL in the error message.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise SamlMetadataRefused(f"The {label} is not a URL: {url[:200]!r}.") from None
    schemes = {"https", "http"} if allow_http else {"https"}
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= MAX_URL_CHARS
    if not is_plain or parts.scheme not in schemes or not parts.hostname or parts.username or parts.fragment:
        raise SamlMetadataRefused(
            f"The {label} must be an https URL of at most {MAX_URL_CHARS} ASCII characters, without user name and "
            f"fragment, not {url[:200]!r}."
        )
    return url


def _parse(raw: bytes) -> Element:
    """Parse metadata. Comments are common there and are dropped; a DOCTYPE is rejected."""
    if len(raw) > MAX_METADATA_BYTES:
        raise SamlMetadataTooLarge
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SamlMetadataRefused("The metadata is not UTF-8.") from None
    if "<!DOCTYPE" in text.upper():
        raise SamlMetadataRefused("The metadata has a DOCTYPE, which is not accepted.")
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
    # The search above runs before anything is parsed. This check finds a DOCTYPE that the search missed.
    if root.getroottree().docinfo.internalDTD is not None:
        raise SamlMetadataRefused("The metadata has a DOCTYPE, which is not accepted.")
    return root


def _select_provider(root: Element, entity_id: str | None, now: datetime) -> Element:
    if root.tag == tag(MD, "EntityDescriptor"):
        providers = [root]
    elif root.tag == tag(MD, "EntitiesDescriptor"):
        _require_unexpired((root,), now)
        providers = [
            entity for entity in children(root, MD, "EntityDescriptor") if children(entity, MD, "IDPSSODescriptor")
        ]
    else:
        raise SamlMetadataRefused(f"{etree.QName(root).localname} is not SAML metadata.")
    if entity_id is not None:
        providers = [entity for entity in providers if entity.get("entityID", "").strip() == entity_id]
    if len(providers) != 1:
        raise SamlMetadataRefused(
            f"{len(providers)} identity providers match; exactly one is required. Give the entity id to select one."
        )
    return providers[0]


def _supports_saml2(role: Element) -> bool:
    return SAMLP in role.get("protocolSupportEnumeration", "").split()


def _endpoint_url(role: Element, service: str, binding: str, allow_http: bool) -> str | None:
    for endpoint in children(role, MD, service):
        if endpoint.get("Binding") == binding:
            return require_browser_url(endpoint.get("Location", "").strip(), service, allow_http=allow_http)
    return None


def _logout_response_url(role: Element, allow_http: bool) -> str | None:
    for endpoint in children(role, MD, "SingleLogoutService"):
        if endpoint.get("Binding") in {REDIRECT, POST} and endpoint.get("ResponseLocation"):
            return require_browser_url(
                endpoint.get("ResponseLocation", "").strip(), "ResponseLocation", allow_http=allow_http
            )
    return None


def _signing_certificates(role: Element) -> list[Certificate]:
    """The certificates of all signing keys; a key without `use` is for signing and encryption (§2.4.1.1)."""
    certificates: dict[str, Certificate] = {}
    for key in children(role, MD, "KeyDescriptor"):
        if key.get("use", "signing") != "signing":
            continue
        for text in _certificate_texts(key):
            try:
                certificate = read_certificate(text)
            except CertificateRefused as error:
                raise SamlMetadataRefused(f"A signing certificate cannot be used: {error.detail}") from None
            certificates[certificate.fingerprint] = certificate
    if not certificates:
        raise SamlMetadataRefused("The metadata has no signing certificate.")
    if len(certificates) > MAX_IDP_CERTIFICATES:
        raise SamlMetadataRefused(f"The metadata has more than {MAX_IDP_CERTIFICATES} signing certificates.")
    return list(certificates.values())


def _certificate_texts(key: Element) -> Sequence[str]:
    return [
        certificate.text or ""
        for info in children(key, DS, "KeyInfo")
        for data in children(info, DS, "X509Data")
        for certificate in children(data, DS, "X509Certificate")
    ]


def _require_unexpired(elements: Sequence[Element], now: datetime) -> datetime | None:
    """Raise SamlMetadataRefused if a validUntil attribute of the elements has passed at `now`.

    Returns the earliest of the attributes, or None if there is none.
    """
    ends: list[datetime] = []
    for element in elements:
        text = element.get("validUntil")
        if text is None:
            continue
        end = parse_datetime(text)
        if end is None:
            raise SamlMetadataRefused(f"validUntil {text[:100]!r} is not a date and time with a time zone.")
        ends.append(end)
    if ends and min(ends) <= now:
        raise SamlMetadataRefused(f"The metadata expired at {timestamp(min(ends))}.")
    return min(ends, default=None)


def _add_key(role: Element, key_use: Literal["signing", "encryption"] | None, certificate: str) -> Element:
    descriptor = etree.SubElement(role, tag(MD, "KeyDescriptor"))
    if key_use:
        descriptor.set("use", key_use)
    data = etree.SubElement(etree.SubElement(descriptor, tag(DS, "KeyInfo")), tag(DS, "X509Data"))
    etree.SubElement(data, tag(DS, "X509Certificate")).text = base64_der(certificate)
    return descriptor


def _advertise_encryption(descriptor: Element) -> None:
    """List algorithms that this service decrypts, preferred first. AES-CBC is never listed, even if it is accepted."""
    for algorithm in (f"{XENC11}aes256-gcm", f"{XENC11}aes128-gcm", f"{XENC}rsa-oaep-mgf1p"):
        etree.SubElement(descriptor, tag(MD, "EncryptionMethod"), Algorithm=algorithm)
