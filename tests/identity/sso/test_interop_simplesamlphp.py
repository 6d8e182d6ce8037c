"""Interoperability with Debian's SimpleSAMLphp over HTTP: metadata, sign-in and logout."""

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

WAYS = {
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
    """A value as PHP writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ", ".join(php(each) for each in value) + "]"
    if isinstance(value, dict):
        return "[" + ", ".join(f"{php(name)} => {php(each)}" for name, each in value.items()) + "]"
    return str(value)


def free_port() -> int:
    """A port below those that the system hands out by itself, so that nobody gets it before PHP does."""
    for port in random.sample(range(20_000, 32_000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("There is no free port.")


@contextmanager
def serving(folder: Path, connection: dict, email: str, way: dict[str, bool]) -> Iterator[str]:
    """The provider, with one person and this connection as its one service provider; yields its address."""
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
        "secretsalt": "of one test",
        "auth.adminpassword": "of one test",
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
    person = {"uid": ["maria-1"], "email": [email], "displayName": ["Maria Söhne"], "groups": ["staff", "admins & co"]}
    sources = {"people": {0: "exampleauth:UserPass", "maria:secret": person}}
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
            **way,
        }
    }
    (folder / "config.php").write_text(f"<?php $config = {php(config)};")
    (folder / "authsources.php").write_text(f"<?php $config = {php(sources)};")
    (folder / "metadata" / "saml20-idp-hosted.php").write_text(f"<?php $metadata = {php(hosted)};")
    (folder / "metadata" / "saml20-sp-remote.php").write_text(f"<?php $metadata = {php(remote)};")
    environment = os.environ | {"SIMPLESAMLPHP_CONFIG_DIR": str(folder)}
    command = ["php", "-S", base.removeprefix("http://"), "-t", str(WWW)]
    said = folder / "said.txt"
    with (
        said.open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment) as process,
    ):
        try:
            until = time.monotonic() + START_SECONDS
            while "started" not in said.read_text():
                assert process.poll() is None, said.read_text()
                assert time.monotonic() < until, said.read_text()
                time.sleep(0.05)
            yield base
        finally:
            process.terminate()


@pytest.mark.parametrize("way", WAYS)
async def test_sign_in_and_logout_with_simplesamlphp(acme, tmp_path, way):
    await acme.connect(active=False)
    email = acme.address("maria")
    folder = tmp_path / "simplesamlphp"
    folder.mkdir()
    with serving(folder, acme.connection, email, WAYS[way]) as base:
        async with httpx.AsyncClient(base_url=base, follow_redirects=True, timeout=60) as network:
            changed = await acme.change(idpMetadataUrl=f"{base}/saml2/idp/metadata.php")
            assert changed["idpEntityId"] == base
            # What it encrypts is always in AES-128-CBC, which a connection takes only where it says so.
            await acme.change(allowAesCbc="assertion.encryption" in WAYS[way])
            activated = await acme.client.post(f"{acme.here}/activate")
            assert activated.status_code == 200, activated.text
            browser = acme.browser()
            page = await network.get((await browser.start()).headers["location"])
            assert page.status_code == 200, page.text
            form = next(each for each in lxml.html.fromstring(page.text).forms if "AuthState" in each.fields)
            known = {"AuthState": form.fields["AuthState"], "username": "maria", "password": "secret"}
            answer = await network.post(str(page.url), data=known)
            assert "SAMLResponse" in answer.text, answer.text
            acme.keep_up()
            signed_in = await browser.redeem(await browser.post(*posted(answer.text)))
            customer = signed_in["customer"]
            assert (customer["email"], customer["name"]) == (email, "Maria Söhne")
            (trace,) = await acme.traces()
            assert (trace["outcome"], trace["reason"]) == ("ACCEPTED", None)
            assert any(each["step"] == "decryption" for each in trace["steps"]) == ("assertion.encryption" in WAYS[way])
            mine = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            out = (await mine.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            assert re.match(rf"{base}/saml2/idp/SingleLogoutService.php\?SAMLRequest=", out)
            sent = await network.get(out, follow_redirects=False)
            while sent.is_redirect and not sent.headers["location"].startswith(acme.connection["spSloUrl"]):
                sent = await network.get(sent.headers["location"], follow_redirects=False)
            assert sent.is_redirect, sent.text
        acme.keep_up()
        back = await browser.client.get(sent.headers["location"])
        assert (back.status_code, back.headers["location"]) == (303, REDIRECT_URL)
        assert (await mine.get("/me")).status_code == 401
