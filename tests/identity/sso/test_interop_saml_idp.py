"""Interoperability with npm's saml-idp over HTTP: metadata, sign-in and logout."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import httpx
import lxml.html
import pytest
from cryptography.hazmat.primitives import serialization

from postern.kernel.config import Settings
from postern.protocols.saml.certificates import load_certificate
from tests.conftest import Client
from tests.identity.sso.conftest import REDIRECT_URL
from tests.peers.identity_provider import keys, posted

PEER = Path(__file__).parents[2] / "peers" / "saml_idp"
INSTALL = "npm install --no-package-lock --prefix tests/peers/saml_idp"
ISSUER = "urn:saml-idp.example"
START_SECONDS = 60
GCM = "http://www.w3.org/2009/xmlenc11#aes256-gcm"

pytestmark = [
    pytest.mark.needs_node,
    pytest.mark.skipif(
        not shutil.which("node") or not (PEER / "node_modules" / "saml-idp").is_dir(),
        reason=f"saml-idp is not installed: {INSTALL}",
    ),
]

SIGNED_PARTS = {
    "assertion": {"signResponse": "no"},
    "response": {"signAssertion": "no"},
    "both": {},
    "assertion, encrypted": {"signResponse": "no", "encryptAssertion": "yes"},
    "both, encrypted": {"encryptAssertion": "yes"},
}


@pytest.fixture
def settings(tmp_path, zone):
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        dns=(f"{zone.address}:{zone.port}",),
        outbound_allow=(ip_network("127.0.0.0/8"),),
    )


@contextmanager
def serving(folder: Path, connection: dict[str, str]) -> Iterator[str]:
    """Run the identity provider with this connection as its only service provider; yields its base URL."""
    (folder / "key.pem").write_bytes(
        keys().private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    public = load_certificate(connection["spCertificate"]).public_key()
    (folder / "sp-key.pem").write_bytes(
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    (folder / "cert.pem").write_text(keys().pem)
    (folder / "sp-cert.pem").write_text(connection["spCertificate"])
    options = {
        "host": "127.0.0.1",
        "port": "0",
        "issuer": ISSUER,
        "acsUrl": connection["spAcsUrl"],
        "sloUrl": connection["spSloUrl"],
        "audience": connection["spEntityId"],
        "cert": str(folder / "cert.pem"),
        "key": str(folder / "key.pem"),
        "encryptionCert": str(folder / "sp-cert.pem"),
        "encryptionPublicKey": str(folder / "sp-key.pem"),
    }
    command = ["node", "--no-deprecation", str(PEER / "node_modules" / "saml-idp" / "bin" / "run.js")]
    command += [argument for name, value in options.items() for argument in (f"--{name}", value)]
    log_file = folder / "log.txt"
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port_in(log_file, process)}"
        finally:
            process.terminate()


def port_in(log_file: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that the provider prints when it is ready."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if match := re.search(r"http://localhost:(\d+)", log_file.read_text()):
            return int(match[1])
        time.sleep(0.05)
    raise AssertionError(f"saml-idp did not start: {log_file.read_text()}")


@pytest.mark.parametrize("parts", SIGNED_PARTS)
async def test_sign_in_and_logout_with_saml_idp(acme, tmp_path, parts):
    await acme.connect(active=False)
    with serving(tmp_path, acme.connection) as base:
        async with httpx.AsyncClient(base_url=base, timeout=60) as network:
            await network.post("/settings", data={"encryptionAlgorithm": GCM, **SIGNED_PARTS[parts]})
            changed = await acme.change(idpMetadataUrl=f"{base}/metadata")
            assert (changed["idpEntityId"], changed["idpSsoUrl"]) == (ISSUER, f"{base}/saml/sso")
            activated = await acme.client.post(f"{acme.connection_path}/activate")
            assert activated.status_code == 200, activated.text
            browser = acme.browser()
            page_with_forms = lxml.html.fromstring(
                (await network.get((await browser.start()).headers["location"])).text
            )
            (sign_in,) = [
                page_with_forms for page_with_forms in page_with_forms.forms if page_with_forms.action == "/signin"
            ]
            email = acme.address("saml.jackson")
            fields = {name: value or "" for name, value in sign_in.fields.items() if name}
            page = await network.post("/signin", data=fields | {"userName": email, "email": email})
            acme.advance_clock_to_now()
            signed_in = await browser.exchange_code(await browser.post(*posted(page.text)))
            assert signed_in["customer"]["email"] == email
            (trace,) = await acme.traces()
            assert trace["outcome"] == "ACCEPTED"
            customer_client = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            logout_url = (await customer_client.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            assert logout_url.startswith(f"{base}/saml/slo")
            logout_page = await network.get(logout_url)
        assert logout_page.status_code == 200, logout_page.text
        action, logout_form = posted(logout_page.text)
        assert action == acme.connection["spSloUrl"]
        acme.advance_clock_to_now()
        final_redirect = await browser.post(action, logout_form)
        assert (final_redirect.status_code, final_redirect.headers["location"]) == (303, REDIRECT_URL)
        assert (await customer_client.get("/me")).status_code == 401
