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
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected
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
PAIR = new_sp_certificate("mail.example", now=datetime.now(UTC))
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
        signing_certificates=(PAIR.certificate,),
        encryption_certificates=(PAIR.certificate,),
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
def agreed(config) -> SamlConnection:
    """The connection made of nothing but the provider's own metadata."""
    found = read_metadata(create_metadata_string(None, config=config), now=datetime.now(UTC))
    assert found.want_authn_requests_signed
    assert found.sso_redirect_url == f"{BASE}/login"
    assert found.slo_post_url == f"{BASE}/logout"
    return SamlConnection(
        sp_entity_id=SP,
        acs_url=f"{SP}/acs",
        slo_url=f"{SP}/slo",
        idp_entity_id=found.entity_id,
        idp_certificates=tuple(each.pem for each in found.certificates),
        decryption_keys=(PAIR.private_key,),
    )


def asked(agreed) -> bytes:
    return authn_request(agreed, id="_asked", destination=f"{BASE}/login", now=datetime.now(UTC))


def arrived(server, agreed, binding: str):
    """What pysaml2 makes of our request; it checks the signature and the schema."""
    if binding == BINDING_HTTP_POST:
        fields = post_fields(
            asked(agreed), field="SAMLRequest", private_key=PAIR.private_key, certificate=PAIR.certificate
        )
        return server.parse_authn_request(fields["SAMLRequest"], binding)
    url = redirect_url(f"{BASE}/login", asked(agreed), field="SAMLRequest", private_key=PAIR.private_key)
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    return server.parse_authn_request(
        query["SAMLRequest"], binding, sigalg=query["SigAlg"], signature=query["Signature"]
    )


@pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST])
def test_pysaml2_accepts_requests(server, agreed, binding):
    request = arrived(server, agreed, binding).message
    assert request.issuer.text == SP
    assert server.response_args(request)["destination"] == f"{SP}/acs"


WAYS = {
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


def responded(server, agreed, **way) -> str:
    request = arrived(server, agreed, BINDING_HTTP_REDIRECT).message
    return str(
        server.create_authn_response(
            {"mail": ["maria@acme.example"], "givenName": ["Mária & co"]},
            userid="maria",
            name_id=PERSON,
            authn=AUTHN,
            **server.response_args(request),
            **({"sign_alg": SIG_RSA_SHA256, "digest_alg": DIGEST_SHA256} | way),
        )
    )


def read(response: str, agreed):
    raw = base64.b64encode(response.encode()).decode()
    return read_response(raw, connection=agreed, expected_request_ids={"_asked"}, now=datetime.now(UTC))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_login_with_pysaml2(server, agreed, way):
    found = read(responded(server, agreed, **way), agreed)
    assert (found.name_id, found.format) == ("maria-1", NAMEID_FORMAT_PERSISTENT)
    assert found.attributes[found.friendly_names["mail"]] == ["maria@acme.example"]
    assert found.attributes[found.friendly_names["givenName"]] == ["Mária & co"]
    assert found.in_response_to == "_asked"


def test_an_assertion_that_xmlsec1_encrypted_is_decrypted(server, agreed, tmp_path):
    certificate = tmp_path / "sp.pem"
    certificate.write_text(PAIR.certificate)
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
    sealed = server.sec.encrypt_assertion(
        response_from_string(str(signed)),
        str(certificate),
        pre_encryption_part(msg_enc=AES256_GCM),
        key_type="aes-256",
    )
    found = read(sealed, agreed)
    assert found.encrypted
    assert found.name_id == "maria-1"


def test_triple_des_is_refused(server, agreed):
    """What pysaml2 does by default when it is told to encrypt."""
    with pytest.raises(SamlRejected) as caught:
        read(responded(server, agreed, sign_assertion=True, encrypt_assertion=True), agreed)
    assert caught.value.reason is SamlRefusalReason.ENCRYPTION_REFUSED
    assert "tripledes" in caught.value.detail


def test_sha1_is_refused(server, agreed):
    with pytest.raises(SamlRejected) as caught:
        read(responded(server, agreed, sign_assertion=True, sign_alg=SIG_RSA_SHA1), agreed)
    assert caught.value.reason is SamlRefusalReason.WEAK_ALGORITHM


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_pysaml2(server, agreed, binding):
    wire = BINDING_HTTP_REDIRECT if binding is Binding.REDIRECT else BINDING_HTTP_POST
    _, message = server.create_logout_request(
        f"{SP}/slo",
        SP,
        name_id=PERSON,
        session_indexes=["session-1"],
        sign=binding is Binding.POST,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
    )
    found = read_logout_request(
        carried(server, wire, str(message), "SAMLRequest"), binding=binding, connection=agreed, now=datetime.now(UTC)
    )
    assert (found.name_id, found.session_indexes) == ("maria-1", ["session-1"])
    answer = logout_response(
        agreed, id="_done", destination=f"{BASE}/logout", now=datetime.now(UTC), in_response_to=found.id
    )
    fields = post_fields(answer, field="SAMLResponse", private_key=PAIR.private_key, certificate=PAIR.certificate)
    taken = server.parse_logout_request_response(fields["SAMLResponse"], BINDING_HTTP_POST)
    assert taken.response.in_response_to == found.id


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_the_service_provider(server, agreed, binding):
    wire = BINDING_HTTP_REDIRECT if binding is Binding.REDIRECT else BINDING_HTTP_POST
    message = logout_request(
        agreed,
        id="_out",
        destination=f"{BASE}/logout",
        now=datetime.now(UTC),
        name_id="maria-1",
        format=NAMEID_FORMAT_PERSISTENT,
        session_index="session-1",
    )
    fields = post_fields(message, field="SAMLRequest", private_key=PAIR.private_key, certificate=PAIR.certificate)
    request = server.parse_logout_request(fields["SAMLRequest"], BINDING_HTTP_POST)
    answer = server.create_logout_response(
        request.message,
        [wire],
        sign=binding is Binding.POST,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
    )
    found = read_logout_response(
        carried(server, wire, str(answer), "SAMLResponse"),
        binding=binding,
        connection=agreed,
        expected_request_ids={"_out"},
        now=datetime.now(UTC),
    )
    assert found.success


def carried(server, wire: str, message: str, field: str) -> str:
    """What the browser carries to us: the query of the redirect, or the field of the form."""
    if wire == BINDING_HTTP_POST:
        return base64.b64encode(message.encode()).decode()
    info = server.apply_binding(
        wire, message, f"{SP}/slo", "state", response=field == "SAMLResponse", sign=True, sigalg=SIG_RSA_SHA256
    )
    return urlsplit(dict(info["headers"])["Location"]).query
