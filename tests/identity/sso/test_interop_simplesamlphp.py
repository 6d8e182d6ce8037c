"""Interoperability with Debian's SimpleSAMLphp over HTTP: metadata, sign-in and logout.

Only SAML: the package has no OpenID provider, which is a module that is distributed apart from it. Identity providers
over OpenID Connect are oidc-provider (`test_interop_oidc_provider`) and Keycloak (`test_interop_keycloak`).
"""

import os
import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import httpx
import lxml.html
import pytest

from postern.kernel.config import Settings
from tests.conftest import Client
from tests.identity.sso.conftest import REDIRECT_URL
from tests.peers.identity_provider import keys, posted

WWW = Path("/usr/share/simplesamlphp/www")
INSTALL = "apt-get install simplesamlphp php-cli php-xml"
START_SECONDS = 60
NAME_FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"

pytestmark = [
    pytest.mark.needs_tool("simplesamlphp", INSTALL),
    pytest.mark.skipif(not shutil.which("php") or not WWW.is_dir(), reason=f"not installed: {INSTALL}"),
]

SIGNED_PARTS = {
    "assertion": {"saml20.sign.response": False},
    "response": {"saml20.sign.assertion": False},
    "both": {},
    "assertion, encrypted": {"saml20.sign.response": False, "assertion.encryption": True},
    "both, encrypted": {"assertion.encryption": True},
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


def php(value: object) -> str:
    """A Python value as a PHP literal."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ", ".join(php(item) for item in value) + "]"
    if isinstance(value, dict):
        return "[" + ", ".join(f"{php(name)} => {php(item)}" for name, item in value.items()) + "]"
    return str(value)


def free_port() -> int:
    """A free port below the range of ephemeral ports, so that no other process gets it before PHP binds it."""
    for port in random.sample(range(20_000, 32_000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("There is no free port.")


@contextmanager
def serving(folder: Path, connection: dict, email: str, signing: dict[str, bool]) -> Iterator[str]:
    """Run the identity provider with one user and this connection as its only service provider; yields its base URL."""
    base = f"http://127.0.0.1:{free_port()}"
    for name in ("metadata", "cert", "log", "data", "tmp", "sessions"):
        (folder / name).mkdir()
    (folder / "cert" / "idp.pem").write_text(keys().private_pem)
    (folder / "cert" / "idp.crt").write_text(keys().pem)
    config = {
        "baseurlpath": f"{base}/",
        "certdir": f"{folder}/cert/",
        "loggingdir": f"{folder}/log/",
        "datadir": f"{folder}/data/",
        "tempdir": f"{folder}/tmp",
        "metadatadir": f"{folder}/metadata/",
        "secretsalt": "only for this test",
        "auth.adminpassword": "only for this test",
        "timezone": "UTC",
        "logging.handler": "file",
        "enable.saml20-idp": True,
        "module.enable": {"exampleauth": True},
        "session.cookie.secure": False,
        "session.phpsession.savepath": f"{folder}/sessions",
        "store.type": "phpsession",
        "metadata.sources": [{"type": "flatfile"}],
        "language.default": "en",
    }
    user = {"uid": ["maria-1"], "email": [email], "displayName": ["Maria Söhne"], "groups": ["staff", "admins & co"]}
    sources = {"people": {0: "exampleauth:UserPass", "maria:secret": user}}
    hosted = {
        base: {
            "host": "__DEFAULT__",
            "privatekey": "idp.pem",
            "certificate": "idp.crt",
            "auth": "people",
            "NameIDFormat": NAME_FORMAT,
            "authproc": {1: {"class": "saml:AttributeNameID", "attribute": "uid", "Format": NAME_FORMAT}},
            "redirect.validate": True,
            "redirect.sign": True,
        }
    }
    certificate = "".join(connection["spCertificate"].splitlines()[1:-1])
    remote = {
        connection["spEntityId"]: {
            "AssertionConsumerService": connection["spAcsUrl"],
            "SingleLogoutService": [{"Binding": REDIRECT, "Location": connection["spSloUrl"]}],
            "certData": certificate,
            "NameIDFormat": NAME_FORMAT,
            "validate.authnrequest": True,
            **signing,
        }
    }
    (folder / "config.php").write_text(f"<?php $config = {php(config)};")
    (folder / "authsources.php").write_text(f"<?php $config = {php(sources)};")
    (folder / "metadata" / "saml20-idp-hosted.php").write_text(f"<?php $metadata = {php(hosted)};")
    (folder / "metadata" / "saml20-sp-remote.php").write_text(f"<?php $metadata = {php(remote)};")
    environment = os.environ | {"SIMPLESAMLPHP_CONFIG_DIR": str(folder)}
    command = ["php", "-S", base.removeprefix("http://"), "-t", str(WWW)]
    log_file = folder / "log.txt"
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment) as process,
    ):
        try:
            deadline = time.monotonic() + START_SECONDS
            while "started" not in log_file.read_text():
                assert process.poll() is None, log_file.read_text()
                assert time.monotonic() < deadline, log_file.read_text()
                time.sleep(0.05)
            yield base
        finally:
            process.terminate()


@pytest.mark.parametrize("parts", SIGNED_PARTS)
async def test_sign_in_and_logout_with_simplesamlphp(acme, tmp_path, parts):
    await acme.connect(active=False)
    email = acme.address("maria")
    folder = tmp_path / "simplesamlphp"
    folder.mkdir()
    with serving(folder, acme.connection, email, SIGNED_PARTS[parts]) as base:
        async with httpx.AsyncClient(base_url=base, follow_redirects=True, timeout=60) as network:
            changed = await acme.change(idpMetadataUrl=f"{base}/saml2/idp/metadata.php")
            assert changed["idpEntityId"] == base
            # SimpleSAMLphp always encrypts with AES-128-CBC, which a connection accepts only with `allowAesCbc`.
            await acme.change(allowAesCbc="assertion.encryption" in SIGNED_PARTS[parts])
            activated = await acme.client.post(f"{acme.connection_path}/activate")
            assert activated.status_code == 200, activated.text
            browser = acme.browser()
            page = await network.get((await browser.start()).headers["location"])
            assert page.status_code == 200, page.text
            form = next(
                candidate for candidate in lxml.html.fromstring(page.text).forms if "AuthState" in candidate.fields
            )
            credentials = {"AuthState": form.fields["AuthState"], "username": "maria", "password": "secret"}
            answer = await network.post(str(page.url), data=credentials)
            assert "SAMLResponse" in answer.text, answer.text
            acme.advance_clock_to_now()
            signed_in = await browser.exchange_code(await browser.post(*posted(answer.text)))
            customer = signed_in["customer"]
            assert (customer["email"], customer["name"]) == (email, "Maria Söhne")
            (trace,) = await acme.traces()
            assert (trace["outcome"], trace["reason"]) == ("ACCEPTED", None)
            assert any(step["step"] == "decryption" for step in trace["steps"]) == (
                "assertion.encryption" in SIGNED_PARTS[parts]
            )
            customer_client = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            logout_url = (await customer_client.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            assert re.match(rf"{base}/saml2/idp/SingleLogoutService.php\?SAMLRequest=", logout_url)
            logout_redirect = await network.get(logout_url, follow_redirects=False)
            while logout_redirect.is_redirect and not logout_redirect.headers["location"].startswith(
                acme.connection["spSloUrl"]
            ):
                logout_redirect = await network.get(logout_redirect.headers["location"], follow_redirects=False)
            assert logout_redirect.is_redirect, logout_redirect.text
        acme.advance_clock_to_now()
        final_redirect = await browser.client.get(logout_redirect.headers["location"])
        assert (final_redirect.status_code, final_redirect.headers["location"]) == (303, REDIRECT_URL)
        assert (await customer_client.get("/me")).status_code == 401
