"""Interoperation with Auth0's samlp (npm), which signs with xml-crypto and encrypts with xml-encryption."""

import json
import shutil
import subprocess
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives import serialization

from postern.protocols.saml.certificates import load_certificate, new_sp_certificate
from postern.protocols.saml.connection import POST, REDIRECT, SamlConnection
from postern.protocols.saml.logout import Binding, read_logout_request, read_logout_response
from postern.protocols.saml.request import authn_request, logout_request, logout_response, redirect_url
from postern.protocols.saml.response import read_response
from tests.peers.identity_provider import keys, posted
from tests.protocols.saml.conftest import SP

PEER = Path(__file__).parents[2] / "peers" / "samlp"
INSTALL = "npm install --no-package-lock --prefix tests/peers/samlp"
ISSUER = "urn:samlp.example"
SP_KEYS = new_sp_certificate("mail.example", now=datetime.now(UTC))

pytestmark = [
    pytest.mark.needs_node,
    pytest.mark.skipif(
        not shutil.which("node") or not (PEER / "node_modules" / "samlp").is_dir(),
        reason=f"samlp is not installed: {INSTALL}",
    ),
]

http = httpx.Client(timeout=60)

SIGNING_OPTIONS = {
    "assertion": {"signAssertion": True},
    "assertion, prefixed": {"signAssertion": True, "prefix": "ds"},
    "response": {"signAssertion": False, "signResponse": True},
    "both": {"signAssertion": True, "signResponse": True, "prefix": "ds"},
    "assertion, encrypted": {"signAssertion": True, "encrypted": True},
    "both, encrypted": {"signAssertion": True, "signResponse": True, "encrypted": True},
}


@contextmanager
def running_samlp(**settings):
    public = load_certificate(SP_KEYS.certificate).public_key()
    if settings.pop("encrypted", False):
        settings |= {
            "encryptionCert": SP_KEYS.certificate,
            "encryptionPublicKey": public.public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            ).decode(),
        }
    peer_settings = {
        "issuer": ISSUER,
        "cert": keys().pem,
        "key": keys().private_pem,
        "spCert": SP_KEYS.certificate,
        "spEntityId": SP,
        "acsUrl": f"{SP}/acs",
        "sloUrl": f"{SP}/slo",
        "logoutBinding": REDIRECT,
        "signResponse": False,
        "prefix": "",
    } | settings
    command = ["node", "--no-deprecation", str(PEER / "idp.cjs"), json.dumps(peer_settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def connection() -> SamlConnection:
    return SamlConnection(
        sp_entity_id=SP,
        acs_url=f"{SP}/acs",
        slo_url=f"{SP}/slo",
        idp_entity_id=ISSUER,
        idp_certificates=(keys().pem,),
        decryption_keys=(SP_KEYS.private_key,),
    )


@pytest.mark.parametrize("case", SIGNING_OPTIONS)
def test_a_login_with_samlp(case):
    now = datetime.now(UTC)
    with running_samlp(**SIGNING_OPTIONS[case]) as base:
        request = authn_request(connection(), id="_asked", destination=f"{base}/login", now=now)
        url = redirect_url(
            f"{base}/login", request, field="SAMLRequest", private_key=SP_KEYS.private_key, relay_state="state"
        )
        page = http.get(url)
    assert page.status_code == 200, page.text
    action, fields = posted(page.text)
    assert action == f"{SP}/acs"
    result = read_response(
        fields["SAMLResponse"], connection=connection(), expected_request_ids={"_asked"}, now=datetime.now(UTC)
    )
    assert result.name_id == "maria@acme.example"
    assert result.attributes["groups"] == ["staff", "admins"]
    assert result.attributes["name"] == ["Maria & Söhne"]
    assert result.session_index == "session-1"
    assert result.encrypted == ("encrypted" in SIGNING_OPTIONS[case])


def test_samlp_refuses_an_unsigned_request():
    now = datetime.now(UTC)
    with running_samlp(signAssertion=True) as base:
        request = authn_request(connection(), id="_asked", destination=f"{base}/login", now=now)
        stranger = keys("stranger").private_pem
        page = http.get(redirect_url(f"{base}/login", request, field="SAMLRequest", private_key=stranger))
    assert page.status_code == 400


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_the_service_provider(binding):
    now = datetime.now(UTC)
    with running_samlp(logoutBinding=REDIRECT if binding is Binding.REDIRECT else POST) as base:
        request = logout_request(
            connection(),
            id="_out",
            destination=f"{base}/logout",
            now=now,
            name_id="maria@acme.example",
            session_index="session-1",
        )
        response = http.get(
            redirect_url(
                f"{base}/logout", request, field="SAMLRequest", private_key=SP_KEYS.private_key, relay_state="r"
            )
        )
    raw = sent_by_browser(response, binding, "SAMLResponse")
    result = read_logout_response(
        raw, binding=binding, connection=connection(), expected_request_ids={"_out"}, now=datetime.now(UTC)
    )
    assert result.success
    assert result.in_response_to == "_out"


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_samlp(binding):
    with running_samlp(logoutBinding=REDIRECT if binding is Binding.REDIRECT else POST) as base:
        response = http.get(f"{base}/logout")
        raw = sent_by_browser(response, binding, "SAMLRequest")
        now = datetime.now(UTC)
        result = read_logout_request(raw, binding=binding, connection=connection(), now=now)
        assert result.name_id == "maria@acme.example"
        assert result.session_indexes == ["session-1"]
        if binding is Binding.POST:
            return
        response = logout_response(
            connection(), id="_done", destination=f"{base}/logout", now=now, in_response_to=result.id
        )
        response = http.get(
            redirect_url(
                f"{base}/logout",
                response,
                field="SAMLResponse",
                private_key=SP_KEYS.private_key,
                relay_state=result.relay_state,
            )
        )
    assert response.status_code == 200, response.text


def sent_by_browser(response: httpx.Response, binding: Binding, field: str) -> str:
    """What the browser sends to us: the query of the redirect, or the field of the form."""
    if binding is Binding.POST:
        assert response.status_code == 200, response.text
        action, fields = posted(response.text)
        assert action == f"{SP}/slo"
        return fields[field]
    assert response.status_code == 302, response.text
    location = urlsplit(response.headers["location"])
    assert f"{location.scheme}://{location.netloc}{location.path}" == f"{SP}/slo"
    return location.query
