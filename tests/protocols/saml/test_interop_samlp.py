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
PAIR = new_sp_certificate("mail.example", now=datetime.now(UTC))

pytestmark = [
    pytest.mark.needs_node,
    pytest.mark.skipif(
        not shutil.which("node") or not (PEER / "node_modules" / "samlp").is_dir(),
        reason=f"samlp is not installed: {INSTALL}",
    ),
]

network = httpx.Client(timeout=60)

WAYS = {
    "assertion": {"signAssertion": True},
    "assertion, prefixed": {"signAssertion": True, "prefix": "ds"},
    "response": {"signAssertion": False, "signResponse": True},
    "both": {"signAssertion": True, "signResponse": True, "prefix": "ds"},
    "assertion, encrypted": {"signAssertion": True, "encrypted": True},
    "both, encrypted": {"signAssertion": True, "signResponse": True, "encrypted": True},
}


@contextmanager
def serving(**settings):
    public = load_certificate(PAIR.certificate).public_key()
    if settings.pop("encrypted", False):
        settings |= {
            "encryptionCert": PAIR.certificate,
            "encryptionPublicKey": public.public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            ).decode(),
        }
    told = {
        "issuer": ISSUER,
        "cert": keys().pem,
        "key": keys().private_pem,
        "spCert": PAIR.certificate,
        "spEntityId": SP,
        "acsUrl": f"{SP}/acs",
        "sloUrl": f"{SP}/slo",
        "logoutBinding": REDIRECT,
        "signResponse": False,
        "prefix": "",
    } | settings
    command = ["node", "--no-deprecation", str(PEER / "idp.cjs"), json.dumps(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def agreed() -> SamlConnection:
    return SamlConnection(
        sp_entity_id=SP,
        acs_url=f"{SP}/acs",
        slo_url=f"{SP}/slo",
        idp_entity_id=ISSUER,
        idp_certificates=(keys().pem,),
        decryption_keys=(PAIR.private_key,),
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_login_with_samlp(way):
    now = datetime.now(UTC)
    with serving(**WAYS[way]) as base:
        request = authn_request(agreed(), id="_asked", destination=f"{base}/login", now=now)
        url = redirect_url(
            f"{base}/login", request, field="SAMLRequest", private_key=PAIR.private_key, relay_state="state"
        )
        page = network.get(url)
    assert page.status_code == 200, page.text
    action, fields = posted(page.text)
    assert action == f"{SP}/acs"
    found = read_response(
        fields["SAMLResponse"], connection=agreed(), expected_request_ids={"_asked"}, now=datetime.now(UTC)
    )
    assert found.name_id == "maria@acme.example"
    assert found.attributes["groups"] == ["staff", "admins"]
    assert found.attributes["name"] == ["Maria & Söhne"]
    assert found.session_index == "session-1"
    assert found.encrypted == ("encrypted" in WAYS[way])


def test_samlp_refuses_an_unsigned_request():
    now = datetime.now(UTC)
    with serving(signAssertion=True) as base:
        request = authn_request(agreed(), id="_asked", destination=f"{base}/login", now=now)
        stranger = keys("stranger").private_pem
        page = network.get(redirect_url(f"{base}/login", request, field="SAMLRequest", private_key=stranger))
    assert page.status_code == 400


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_the_service_provider(binding):
    now = datetime.now(UTC)
    with serving(logoutBinding=REDIRECT if binding is Binding.REDIRECT else POST) as base:
        request = logout_request(
            agreed(),
            id="_out",
            destination=f"{base}/logout",
            now=now,
            name_id="maria@acme.example",
            session_index="session-1",
        )
        answer = network.get(
            redirect_url(f"{base}/logout", request, field="SAMLRequest", private_key=PAIR.private_key, relay_state="r")
        )
    raw = sent(answer, binding, "SAMLResponse")
    found = read_logout_response(
        raw, binding=binding, connection=agreed(), expected_request_ids={"_out"}, now=datetime.now(UTC)
    )
    assert found.success
    assert found.in_response_to == "_out"


@pytest.mark.parametrize("binding", Binding)
def test_a_logout_initiated_by_samlp(binding):
    with serving(logoutBinding=REDIRECT if binding is Binding.REDIRECT else POST) as base:
        asking = network.get(f"{base}/logout")
        raw = sent(asking, binding, "SAMLRequest")
        now = datetime.now(UTC)
        found = read_logout_request(raw, binding=binding, connection=agreed(), now=now)
        assert found.name_id == "maria@acme.example"
        assert found.session_indexes == ["session-1"]
        if binding is Binding.POST:
            return
        answer = logout_response(agreed(), id="_done", destination=f"{base}/logout", now=now, in_response_to=found.id)
        done = network.get(
            redirect_url(
                f"{base}/logout",
                answer,
                field="SAMLResponse",
                private_key=PAIR.private_key,
                relay_state=found.relay_state,
            )
        )
    assert done.status_code == 200, done.text


def sent(answer: httpx.Response, binding: Binding, field: str) -> str:
    """What the browser carries to us: the query of the redirect, or the field of the form."""
    if binding is Binding.POST:
        assert answer.status_code == 200, answer.text
        action, fields = posted(answer.text)
        assert action == f"{SP}/slo"
        return fields[field]
    assert answer.status_code == 302, answer.text
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == f"{SP}/slo"
    return where.query
