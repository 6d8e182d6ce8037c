"""Metadata of identity providers and of this service, and their certificates."""

import base64
import contextlib
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from postern.kernel.http.problems import Problem
from postern.protocols.saml.certificates import (
    CertificateRefused,
    load_certificate,
    new_sp_certificate,
    read_certificate,
)
from postern.protocols.saml.metadata import (
    SamlMetadataRefused,
    SamlMetadataTooLarge,
    ServiceProvider,
    read_metadata,
    sp_metadata,
)
from tests.peers.identity_provider import DS, SAMLP, IdentityProvider, keys
from tests.protocols.saml.conftest import NOW, SP

MD = "urn:oasis:names:tc:SAML:2.0:metadata"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


def service_provider(**changes) -> ServiceProvider:
    current_certificate, next_certificate = (new_sp_certificate("mail.example", now=NOW).certificate for _ in range(2))
    defaults = {
        "entity_id": SP,
        "acs_url": f"{SP}/acs",
        "slo_url": f"{SP}/slo",
        "signing_certificates": (current_certificate,),
        "encryption_certificates": (current_certificate,),
        "next_certificates": (next_certificate,),
    }
    return ServiceProvider(**(defaults | changes))


def test_the_service_metadata_is_valid_and_complete(metadata_schema):
    provider = service_provider()
    raw = sp_metadata(provider, valid_until=NOW + timedelta(days=7))
    metadata_schema.validate(raw)
    root = etree.fromstring(raw)
    assert root.get("entityID") == SP
    uses = [key_descriptor.get("use") for key_descriptor in root.iter(f"{{{MD}}}KeyDescriptor")]
    assert uses == ["signing", "encryption", None], "identity providers that take one certificate take the current one"
    pems = [read_certificate(element.text).pem for element in root.iter(f"{{{DS}}}X509Certificate")]
    assert pems == [*provider.signing_certificates, *provider.encryption_certificates, *provider.next_certificates]
    acs = root.find(f".//{{{MD}}}AssertionConsumerService")
    assert (acs.get("Location"), acs.get("isDefault")) == (f"{SP}/acs", "true")
    assert {element.get("Location") for element in root.iter(f"{{{MD}}}SingleLogoutService")} == {f"{SP}/slo"}


def test_the_minimal_metadata_is_valid(metadata_schema):
    metadata_schema.validate(
        sp_metadata(
            service_provider(slo_url=None, encryption_certificates=(), next_certificates=(), name_id_formats=())
        )
    )


def test_the_schema_rejects_a_wrong_order(metadata_schema):
    root = etree.fromstring(sp_metadata(service_provider()))
    role = root[0]
    role.append(role[0])
    assert not metadata_schema.is_valid(etree.tostring(root))


def test_the_metadata_of_a_provider_is_parsed():
    idp = IdentityProvider(now=NOW)
    provider = read_metadata(idp.metadata(), now=NOW)
    assert provider.entity_id == idp.entity_id
    assert provider.sso_redirect_url == f"{idp.base}/login"
    assert provider.slo_redirect_url == f"{idp.base}/logout"
    assert provider.sso_post_url is None
    assert [certificate.pem for certificate in provider.certificates] == [idp.certificate]
    assert provider.certificates[0].not_after == idp.keys.certificate.not_valid_after_utc


def without_pem_lines(pem: str) -> str:
    return "".join(pem.splitlines()[1:-1])


def key_descriptor(certificate: str, use: str = ' use="signing"') -> str:
    return (
        f'<KeyDescriptor{use}><KeyInfo xmlns="{DS}"><X509Data><X509Certificate>{certificate}'
        "</X509Certificate></X509Data></KeyInfo></KeyDescriptor>"
    )


def metadata_document(
    *,
    entity_id="https://idp.example",
    attributes="",
    role_keys=None,
    url="https://idp.example/login",
    roles=1,
    dtd="",
):
    role_keys = key_descriptor(without_pem_lines(keys().pem)) if role_keys is None else role_keys
    role = (
        f'<IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="{SAMLP}">{role_keys}'
        f'<SingleSignOnService Binding="{REDIRECT}" Location="{url}"/></IDPSSODescriptor>'
    )
    return (
        f'{dtd}<EntityDescriptor xmlns="{MD}" entityID="{entity_id}"{attributes}>'
        f"<!-- made by hand -->{role * roles}"
        "</EntityDescriptor>"
    ).encode()


def test_signing_certificates_are_deduplicated_and_encryption_keys_ignored():
    key_descriptors = (
        key_descriptor("\n" + without_pem_lines(keys().pem) + "\n")
        + key_descriptor(without_pem_lines(keys().pem))
        + key_descriptor(without_pem_lines(keys("next").pem), "")
        + key_descriptor(without_pem_lines(keys("other").pem), ' use="encryption"')
    )
    provider = read_metadata(metadata_document(role_keys=key_descriptors), now=NOW)
    assert [certificate.pem for certificate in provider.certificates] == [keys().pem, keys("next").pem]
    assert provider.want_authn_requests_signed


REFUSED = {
    "a doctype": (metadata_document(dtd="<!DOCTYPE a>"), "DOCTYPE"),
    "not xml": (b"hello", "well-formed"),
    "not metadata": (b"<a/>", "not SAML metadata"),
    "no entity id": (metadata_document(entity_id=""), "entity id"),
    "plain http": (metadata_document(url="http://idp.example/login"), "https"),
    "a script": (metadata_document(url="javascript:alert(1)"), "https"),
    "credentials": (metadata_document(url="https://a:b@idp.example/"), "https"),
    "no host": (metadata_document(url="https:///login"), "https"),
    "a broken host": (metadata_document(url="https://[::1/login"), "not a URL"),
    "ended": (metadata_document(attributes=' validUntil="2026-01-31T12:00:00Z"'), "expired"),
    "an end without a zone": (metadata_document(attributes=' validUntil="2027-01-31T12:00:00"'), "time zone"),
    "no certificate": (metadata_document(role_keys=""), "no signing certificate"),
    "a broken certificate": (metadata_document(role_keys=key_descriptor("AAAA")), "cannot be used"),
    "two roles": (metadata_document(roles=2), "2 identity provider roles"),
    "no role": (metadata_document(roles=0), "0 identity provider roles"),
    "eleven certificates": (
        metadata_document(
            role_keys="".join(key_descriptor(without_pem_lines(keys(f"many {n}", curve=True).pem)) for n in range(11))
        ),
        "more than 10",
    ),
}


@pytest.mark.parametrize(("raw", "word"), REFUSED.values(), ids=REFUSED)
def test_unusable_metadata_is_refused_with_a_reason(raw, word):
    with pytest.raises(SamlMetadataRefused, match=word):
        read_metadata(raw, now=NOW)


def test_http_urls_are_accepted_only_if_allowed():
    raw = metadata_document(url="http://127.0.0.1:8080/login")
    assert read_metadata(raw, now=NOW, allow_http=True).sso_redirect_url == "http://127.0.0.1:8080/login"


def test_metadata_of_several_providers_needs_an_entity_id():
    both = metadata_document(entity_id="https://a.example") + metadata_document(entity_id="https://b.example")
    raw = f'<EntitiesDescriptor xmlns="{MD}">'.encode() + both + b"</EntitiesDescriptor>"
    with pytest.raises(SamlMetadataRefused, match="2 identity providers"):
        read_metadata(raw, now=NOW)
    assert read_metadata(raw, now=NOW, entity_id="https://b.example").entity_id == "https://b.example"


def test_metadata_is_limited_in_size():
    with pytest.raises(SamlMetadataTooLarge) as caught:
        read_metadata(metadata_document() + b" " * 100 * 1024, now=NOW)
    assert caught.value.status == 413


def test_the_service_certificate_is_valid_for_ten_years():
    pair = new_sp_certificate("mail.example", now=NOW)
    certificate = load_certificate(pair.certificate)
    assert isinstance(certificate.public_key(), rsa.RSAPublicKey)
    assert certificate.public_key().key_size == 2048
    assert certificate.not_valid_before_utc < NOW
    assert pair.not_after == certificate.not_valid_after_utc == NOW + timedelta(days=3650)


def test_weak_and_invalid_certificates_are_refused():
    assert issubclass(CertificateRefused, Problem)
    for text in ("", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "A" * 20_000):
        with pytest.raises(CertificateRefused):
            read_certificate(text)


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@settings(max_examples=400, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 320), st.sampled_from([0, 1, 2, 3, 127, 128, 255])), min_size=1, max_size=3
    )
)
def test_a_mutated_certificate_is_parsed_or_refused(changes):
    der = bytearray(base64.b64decode(without_pem_lines(keys().pem)))
    for at, byte in changes:
        der[at] = byte
    with contextlib.suppress(CertificateRefused):
        assert len(read_certificate(base64.b64encode(bytes(der)).decode()).fingerprint) == 64


def test_a_certificate_of_an_unknown_version_is_refused():
    der = bytearray(base64.b64decode(without_pem_lines(keys().pem)))
    version = der.index(bytes([0xA0, 0x03, 0x02, 0x01, 0x02]))
    der[version + 4] = 7
    with pytest.raises(CertificateRefused):
        read_certificate(base64.b64encode(bytes(der)).decode())
