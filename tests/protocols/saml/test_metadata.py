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


def described(**changes) -> ServiceProvider:
    current, following = (new_sp_certificate("mail.example", now=NOW).certificate for _ in range(2))
    honest = {
        "entity_id": SP,
        "acs_url": f"{SP}/acs",
        "slo_url": f"{SP}/slo",
        "signing_certificates": (current, following),
        "encryption_certificates": (current,),
    }
    return ServiceProvider(**(honest | changes))


def test_the_service_metadata_is_valid_and_complete(metadata_schema):
    provider = described()
    raw = sp_metadata(provider, valid_until=NOW + timedelta(days=7))
    metadata_schema.validate(raw)
    root = etree.fromstring(raw)
    assert root.get("entityID") == SP
    uses = [key.get("use") for key in root.iter(f"{{{MD}}}KeyDescriptor")]
    assert uses == ["signing", "signing", "encryption"]
    shown = [read_certificate(each.text).pem for each in root.iter(f"{{{DS}}}X509Certificate")]
    assert shown == [*provider.signing_certificates, *provider.encryption_certificates]
    acs = root.find(f".//{{{MD}}}AssertionConsumerService")
    assert (acs.get("Location"), acs.get("isDefault")) == (f"{SP}/acs", "true")
    assert {each.get("Location") for each in root.iter(f"{{{MD}}}SingleLogoutService")} == {f"{SP}/slo"}


def test_the_minimal_metadata_is_valid(metadata_schema):
    metadata_schema.validate(sp_metadata(described(slo_url=None, encryption_certificates=(), name_id_formats=())))


def test_the_schema_rejects_a_wrong_order(metadata_schema):
    root = etree.fromstring(sp_metadata(described()))
    role = root[0]
    role.append(role[0])
    assert not metadata_schema.is_valid(etree.tostring(root))


def test_the_metadata_of_a_provider_is_parsed():
    idp = IdentityProvider(now=NOW)
    found = read_metadata(idp.metadata(), now=NOW)
    assert found.entity_id == idp.entity_id
    assert found.sso_redirect_url == f"{idp.base}/login"
    assert found.slo_redirect_url == f"{idp.base}/logout"
    assert found.sso_post_url is None
    assert [each.pem for each in found.certificates] == [idp.certificate]
    assert found.certificates[0].not_after == idp.keys.certificate.not_valid_after_utc


def bare(pem: str) -> str:
    return "".join(pem.splitlines()[1:-1])


def key(certificate: str, use: str = ' use="signing"') -> str:
    return (
        f'<KeyDescriptor{use}><KeyInfo xmlns="{DS}"><X509Data><X509Certificate>{certificate}'
        "</X509Certificate></X509Data></KeyInfo></KeyDescriptor>"
    )


def written(
    *,
    entity_id="https://idp.example",
    head="",
    role_keys=None,
    url="https://idp.example/login",
    roles=1,
    dtd="",
):
    role_keys = key(bare(keys().pem)) if role_keys is None else role_keys
    role = (
        f'<IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="{SAMLP}">{role_keys}'
        f'<SingleSignOnService Binding="{REDIRECT}" Location="{url}"/></IDPSSODescriptor>'
    )
    return (
        f'{dtd}<EntityDescriptor xmlns="{MD}" entityID="{entity_id}"{head}>'
        f"<!-- made by hand -->{role * roles}"
        "</EntityDescriptor>"
    ).encode()


def test_signing_certificates_are_deduplicated_and_encryption_keys_ignored():
    many = (
        key("\n" + bare(keys().pem) + "\n")
        + key(bare(keys().pem))
        + key(bare(keys("next").pem), "")
        + key(bare(keys("other").pem), ' use="encryption"')
    )
    found = read_metadata(written(role_keys=many), now=NOW)
    assert [each.pem for each in found.certificates] == [keys().pem, keys("next").pem]
    assert found.want_authn_requests_signed


REFUSED = {
    "a doctype": (written(dtd="<!DOCTYPE a>"), "DOCTYPE"),
    "not xml": (b"hello", "well-formed"),
    "not metadata": (b"<a/>", "not SAML metadata"),
    "no entity id": (written(entity_id=""), "entity id"),
    "plain http": (written(url="http://idp.example/login"), "https"),
    "a script": (written(url="javascript:alert(1)"), "https"),
    "credentials": (written(url="https://a:b@idp.example/"), "https"),
    "no host": (written(url="https:///login"), "https"),
    "a broken host": (written(url="https://[::1/login"), "not a URL"),
    "ended": (written(head=' validUntil="2026-01-31T12:00:00Z"'), "expired"),
    "an end without a zone": (written(head=' validUntil="2027-01-31T12:00:00"'), "time zone"),
    "no certificate": (written(role_keys=""), "no signing certificate"),
    "a broken certificate": (written(role_keys=key("AAAA")), "cannot be used"),
    "two roles": (written(roles=2), "2 identity provider roles"),
    "no role": (written(roles=0), "0 identity provider roles"),
    "eleven certificates": (
        written(role_keys="".join(key(bare(keys(f"many {n}", curve=True).pem)) for n in range(11))),
        "more than 10",
    ),
}


@pytest.mark.parametrize(("raw", "word"), REFUSED.values(), ids=REFUSED)
def test_unusable_metadata_is_refused_with_a_reason(raw, word):
    with pytest.raises(SamlMetadataRefused, match=word):
        read_metadata(raw, now=NOW)


def test_http_urls_are_accepted_only_if_allowed():
    raw = written(url="http://127.0.0.1:8080/login")
    assert read_metadata(raw, now=NOW, allow_http=True).sso_redirect_url == "http://127.0.0.1:8080/login"


def test_metadata_of_several_providers_needs_an_entity_id():
    both = written(entity_id="https://a.example") + written(entity_id="https://b.example")
    raw = f'<EntitiesDescriptor xmlns="{MD}">'.encode() + both + b"</EntitiesDescriptor>"
    with pytest.raises(SamlMetadataRefused, match="2 identity providers"):
        read_metadata(raw, now=NOW)
    assert read_metadata(raw, now=NOW, entity_id="https://b.example").entity_id == "https://b.example"


def test_metadata_is_limited_in_size():
    with pytest.raises(SamlMetadataTooLarge) as caught:
        read_metadata(written() + b" " * 100 * 1024, now=NOW)
    assert caught.value.status == 413


def test_the_service_certificate_is_valid_for_ten_years():
    pair = new_sp_certificate("mail.example", now=NOW)
    loaded = load_certificate(pair.certificate)
    assert isinstance(loaded.public_key(), rsa.RSAPublicKey)
    assert loaded.public_key().key_size == 2048
    assert loaded.not_valid_before_utc < NOW
    assert pair.not_after == loaded.not_valid_after_utc == NOW + timedelta(days=3650)


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
    der = bytearray(base64.b64decode(bare(keys().pem)))
    for at, byte in changes:
        der[at] = byte
    with contextlib.suppress(CertificateRefused):
        assert len(read_certificate(base64.b64encode(bytes(der)).decode()).fingerprint) == 64


def test_a_certificate_of_an_unknown_version_is_refused():
    der = bytearray(base64.b64decode(bare(keys().pem)))
    version = der.index(bytes([0xA0, 0x03, 0x02, 0x01, 0x02]))
    der[version + 4] = 7
    with pytest.raises(CertificateRefused):
        read_certificate(base64.b64encode(bytes(der)).decode())
