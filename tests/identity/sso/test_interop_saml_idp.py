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

WAYS = {
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
    """The provider with this connection as its one service provider; yields its address."""
    (folder / "key.pem").write_bytes(
        keys().private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    public = load_certificate(connection["spCertificate"]).public_key()
    (folder / "theirs.pem").write_bytes(
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    (folder / "cert.pem").write_text(keys().pem)
    (folder / "their-cert.pem").write_text(connection["spCertificate"])
    told = {
        "host": "127.0.0.1",
        "port": "0",
        "issuer": ISSUER,
        "acsUrl": connection["spAcsUrl"],
        "sloUrl": connection["spSloUrl"],
        "audience": connection["spEntityId"],
        "cert": str(folder / "cert.pem"),
        "key": str(folder / "key.pem"),
        "encryptionCert": str(folder / "their-cert.pem"),
        "encryptionPublicKey": str(folder / "theirs.pem"),
    }
    command = ["node", "--no-deprecation", str(PEER / "node_modules" / "saml-idp" / "bin" / "run.js")]
    command += [word for name, value in told.items() for word in (f"--{name}", value)]
    said = folder / "said.txt"
    with (
        said.open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port_in(said, process)}"
        finally:
            process.terminate()


def port_in(said: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that the provider prints when it is ready."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"http://localhost:(\d+)", said.read_text()):
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(f"saml-idp did not start: {said.read_text()}")


@pytest.mark.parametrize("way", WAYS)
async def test_sign_in_and_logout_with_saml_idp(acme, tmp_path, way):
    await acme.connect(active=False)
    with serving(tmp_path, acme.connection) as base:
        async with httpx.AsyncClient(base_url=base, timeout=60) as network:
            await network.post("/settings", data={"encryptionAlgorithm": GCM, **WAYS[way]})
            changed = await acme.change(idpMetadataUrl=f"{base}/metadata")
            assert (changed["idpEntityId"], changed["idpSsoUrl"]) == (ISSUER, f"{base}/saml/sso")
            activated = await acme.client.post(f"{acme.here}/activate")
            assert activated.status_code == 200, activated.text
            browser = acme.browser()
            form = lxml.html.fromstring((await network.get((await browser.start()).headers["location"])).text)
            (sign_in,) = [each for each in form.forms if each.action == "/signin"]
            email = acme.address("saml.jackson")
            fields = {name: value or "" for name, value in sign_in.fields.items() if name}
            page = await network.post("/signin", data=fields | {"userName": email, "email": email})
            acme.keep_up()
            signed_in = await browser.redeem(await browser.post(*posted(page.text)))
            assert signed_in["customer"]["email"] == email
            (trace,) = await acme.traces()
            assert trace["outcome"] == "ACCEPTED"
            mine = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            out = (await mine.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            assert out.startswith(f"{base}/saml/slo")
            sent = await network.get(out)
        assert sent.status_code == 200, sent.text
        action, answer = posted(sent.text)
        assert action == acme.connection["spSloUrl"]
        acme.keep_up()
        back = await browser.post(action, answer)
        assert (back.status_code, back.headers["location"]) == (303, REDIRECT_URL)
        assert (await mine.get("/me")).status_code == 401
