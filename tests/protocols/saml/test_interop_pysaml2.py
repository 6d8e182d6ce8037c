"""Interoperation with the identity provider of pysaml2, which signs and encrypts with the xmlsec1 program."""

import base64
import shutil
import warnings
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.utils import CryptographyDeprecationWarning
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.authn_context import INTERNETPROTOCOLPASSWORD
from saml2.config import IdPConfig
from saml2.metadata import create_metadata_string
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.samlp import response_from_string
from saml2.sigver import pre_encryption_part
from saml2.xmldsig import DIGEST_SHA256, DIGEST_SHA512, SIG_RSA_SHA1, SIG_RSA_SHA256, SIG_RSA_SHA512

from postern.protocols.saml.certificates import new_sp_certificate
from postern.protocols.saml.connection import SamlConnection
from postern.protocols.saml.logout import Binding, read_logout_request, read_logout_response
from postern.protocols.saml.metadata import ServiceProvider, read_metadata, sp_metadata
from postern.protocols.saml.request import authn_request, logout_request, logout_response, post_fields, redirect_url
from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import keys
from tests.protocols.saml.conftest import SP

with warnings.catch_warnings():
    # pysaml2 names ciphers that cryptography has moved elsewhere.
    warnings.simplefilter("ignore", CryptographyDeprecationWarning)
    from saml2.server import Server

pytestmark = [
    pytest.mark.needs_tool("xmlsec1", "apt-get install xmlsec1"),
    pytest.mark.skipif(not shutil.which("xmlsec1"), reason="not installed: apt-get install xmlsec1"),
]
BASE = "https://pysaml2.example"
SP_KEYS = new_sp_certificate("mail.example", now=datetime.now(UTC))
AES256_GCM = "http://www.w3.org/2009/xmlenc11#aes256-gcm"
AUTHN = {"class_ref": INTERNETPROTOCOLPASSWORD, "authn_auth": BASE}
PERSON = NameID(format=NAMEID_FORMAT_PERSISTENT, text="maria-1")


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> IdPConfig:
    folder = tmp_path_factory.mktemp("pysaml2")
    (folder / "key.pem").write_text(keys().private_pem)
    (folder / "cert.pem").write_text(keys().pem)
    provider = ServiceProvider(
        entity_id=SP,
        acs_url=f"{SP}/acs",
        slo_url=f"{SP}/slo",
        signing_certificates=(SP_KEYS.certificate,),
        encryption_certificates=(SP_KEYS.certificate,),
    )
    (folder / "sp.xml").write_bytes(sp_metadata(provider))
    settings = {
        "entityid": f"{BASE}/idp",
        "key_file": str(folder / "key.pem"),
        "cert_file": str(folder / "cert.pem"),
        "metadata": {"local": [str(folder / "sp.xml")]},
        "xmlsec_binary": shutil.which("xmlsec1"),
        "service": {
            "idp": {
                "endpoints": {
                    "single_sign_on_service": [
                        (f"{BASE}/login", BINDING_HTTP_REDIRECT),
                        (f"{BASE}/login", BINDING_HTTP_POST),
                    ],
                    "single_logout_service": [
                        (f"{BASE}/logout", BINDING_HTTP_REDIRECT),
                        (f"{BASE}/logout", BINDING_HTTP_POST),
                    ],
                },
                "want_authn_requests_signed": True,
                "policy": {"default": {"attribute_restrictions": None, "lifetime": {"minutes": 5}}},
            }
        },
    }
    return IdPConfig().load(settings)


@pytest.fixture(scope="module")
def server(config) -> Server:
    return Server(config=config)


@pytest.fixture(scope="module")
def connection(config) -> SamlConnection:
    """A connection that is configured from the provider's metadata only."""
    result = read_metadata(create_metadata_string(None, config=config), now=datetime.now(UTC))
    assert result.want_authn_requests_signed
    assert result.sso_redirect_url == f"{BASE}/login"
    assert result.slo_post_url == f"{BASE}/logout"
    return SamlConnection(
        sp_entity_id=SP,
        acs_url=f"{SP}/acs",
        slo_url=f"{SP}/slo",
        idp_entity_id=result.entity_id,
        idp_certificates=tuple(certificate.pem for certificate in result.certificates),
        decryption_keys=(SP_KEYS.private_key,),
    )


def new_authn_request(connection) -> bytes:
    return authn_request(connection, id="_asked", destination=f"{BASE}/login", now=datetime.now(UTC))


def parse_with_pysaml2(server, connection, binding: str):
    """Let pysaml2 parse our request; it checks the signature and the schema."""
    if binding == BINDING_HTTP_POST:
        fields = post_fields(
            new_authn_request(connection),
            field="SAMLRequest",
            private_key=SP_KEYS.private_key,
            certificate=SP_KEYS.certificate,
        )
        return server.parse_authn_request(fields["SAMLRequest"], binding)
    url = redirect_url(
        f"{BASE}/login", new_authn_request(connection), field="SAMLRequest", private_key=SP_KEYS.private_key
    )
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    return server.parse_authn_request(
        query["SAMLRequest"], binding, sigalg=query["SigAlg"], signature=query["Signature"]
    )


@pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST])
def test_pysaml2_accepts_requests(server, connection, binding):
    request = parse_with_pysaml2(server, connection, binding).message
    assert request.issuer.text == SP
    assert server.response_args(request)["destination"] == f"{SP}/acs"


SIGNING_OPTIONS = {
    "assertion": {"sign_assertion": True, "sign_response": False},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_assertion": True, "sign_response": True},
    "both, sha512": {
        "sign_assertion": True,
        "sign_response": True,
        "sign_alg": SIG_RSA_SHA512,
        "digest_alg": DIGEST_SHA512,
    },
}


def respond_with_pysaml2(server, connection, **options) -> str:
    request = parse_with_pysaml2(server, connection, BINDING_HTTP_REDIRECT).message
    return str(
        server.create_authn_response(
            {"mail": ["maria@acme.example"], "givenName": ["Mária & co"]},
            userid="maria",
            name_id=PERSON,
            authn=AUTHN,
            **server.response_args(request),
            **({"sign_alg": SIG_RSA_SHA256, "digest_alg": DIGEST_SHA256} | options),
        )
    )


def read(response: str, connection):
    raw = base64.b64encode(response.encode()).decode()
    return read_response(raw, connection=connection, expected_request_ids={"_asked"}, now=datetime.now(UTC))


@pytest.mark.parametrize("options", SIGNING_OPTIONS.values(), ids=SIGNING_OPTIONS)
def test_a_login_with_pysaml2(server, connection, options):
    result = read(respond_with_pysaml2(server, connection, **options), connection)
    assert (result.name_id, result.format) == ("maria-1", NAMEID_FORMAT_PERSISTENT)
    assert result.attributes[result.friendly_names["mail"]] == ["maria@acme.example"]
    assert result.attributes[result.friendly_names["givenName"]] == ["Mária & co"]
    assert result.in_response_to == "_asked"


def test_an_assertion_that_xmlsec1_encrypted_is_decrypted(server, connection, tmp_path):
    certificate = tmp_path / "sp.pem"
    certificate.write_text(SP_KEYS.certificate)
    signed = server.create_authn_response(
        {"mail": ["maria@acme.example"]},
        in_response_to="_asked",
        destination=f"{SP}/acs",
        sp_entity_id=SP,
        userid="maria",
        name_id=PERSON,
        authn=AUTHN,
        sign_assertion=True,
        sign_response=False,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
    )
    encrypted = server.sec.encrypt_assertion(
        response_from_string(str(signed)),
        str(certificate),
        pre_encryption_part(msg_enc=AES256_GCM),
        key_type="aes-256",
    )
    result = read(encrypted, connection)
    assert result.encrypted
    assert result.name_id == "maria-1"


def test_triple_des_is_refused(server, connection):
    """pysaml2 encrypts with Triple DES by default."""
    with pytest.raises(SamlRejected) as caught:
        read(respond_with_pysaml2(server, connection, sign_assertion=True, encrypt_assertion=True), connection)
    assert caught.value.reason is SamlRejectionReason.ENCRYPTION_REFUSED
    assert "tripledes" in caught.value.detail


def test_sha1_is_refused(server, connection):
    with pytest.raises(SamlRejected) as caught:
        read(respond_with_pysaml2(server, connection, sign_assertion=True, sign_alg=SIG_RSA_SHA1), connection)
    assert caught.value.reason is SamlRejectionReason.WEAK_ALGORITHM


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_pysaml2(server, connection, binding):
    saml2_binding = BINDING_HTTP_REDIRECT if binding is Binding.REDIRECT else BINDING_HTTP_POST
    _, message = server.create_logout_request(
        f"{SP}/slo",
        SP,
        name_id=PERSON,
        session_indexes=["session-1"],
        sign=binding is Binding.POST,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
    )
    result = read_logout_request(
        sent_by_browser(server, saml2_binding, str(message), "SAMLRequest"),
        binding=binding,
        connection=connection,
        now=datetime.now(UTC),
    )
    assert (result.name_id, result.session_indexes) == ("maria-1", ["session-1"])
    response_message = logout_response(
        connection, id="_done", destination=f"{BASE}/logout", now=datetime.now(UTC), in_response_to=result.id
    )
    fields = post_fields(
        response_message, field="SAMLResponse", private_key=SP_KEYS.private_key, certificate=SP_KEYS.certificate
    )
    parsed = server.parse_logout_request_response(fields["SAMLResponse"], BINDING_HTTP_POST)
    assert parsed.response.in_response_to == result.id


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_the_service_provider(server, connection, binding):
    saml2_binding = BINDING_HTTP_REDIRECT if binding is Binding.REDIRECT else BINDING_HTTP_POST
    message = logout_request(
        connection,
        id="_out",
        destination=f"{BASE}/logout",
        now=datetime.now(UTC),
        name_id="maria-1",
        format=NAMEID_FORMAT_PERSISTENT,
        session_index="session-1",
    )
    fields = post_fields(message, field="SAMLRequest", private_key=SP_KEYS.private_key, certificate=SP_KEYS.certificate)
    request = server.parse_logout_request(fields["SAMLRequest"], BINDING_HTTP_POST)
    response_message = server.create_logout_response(
        request.message,
        [saml2_binding],
        sign=binding is Binding.POST,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
    )
    result = read_logout_response(
        sent_by_browser(server, saml2_binding, str(response_message), "SAMLResponse"),
        binding=binding,
        connection=connection,
        expected_request_ids={"_out"},
        now=datetime.now(UTC),
    )
    assert result.success


def sent_by_browser(server, saml2_binding: str, message: str, field: str) -> str:
    """What the browser sends to us: the query of the redirect, or the field of the form."""
    if saml2_binding == BINDING_HTTP_POST:
        return base64.b64encode(message.encode()).decode()
    info = server.apply_binding(
        saml2_binding, message, f"{SP}/slo", "state", response=field == "SAMLResponse", sign=True, sigalg=SIG_RSA_SHA256
    )
    return urlsplit(dict(info["headers"])["Location"]).query
