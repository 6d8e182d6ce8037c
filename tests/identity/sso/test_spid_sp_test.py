"""The responses of Italy's spid-sp-test, sent to a running server.

The tool creates and signs every response from its definitions. The test starts each sign-on itself, because the tool
expects requests with fields that SPID requires and SAML does not (a NameQualifier of the Issuer, an
AttributeConsumingServiceIndex).
"""

import asyncio
import shutil
import sys
import warnings
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import uvicorn
from lxml import etree

from postern.kernel.limits import RateLimiter
from postern.protocols.saml.document import SAML, inflate
from postern.protocols.saml.trace import SamlTrace
from tests.identity.sso.conftest import CHALLENGE, REDIRECT_URL
from tests.peers.identity_provider import keys
from tests.peers.ports import listening_socket

TOOL = Path(__file__).parents[2] / "peers" / "spid_sp_test"
INSTALL = "python3 -m pip install --no-deps --target {0}/packages -r {0}/requirements.txt".format(
    "tests/peers/spid_sp_test"
)
ISSUER = "https://spid.example"
START_SECONDS = 60

pytestmark = [
    pytest.mark.needs_tool("spid-sp-test", INSTALL),
    pytest.mark.needs_tool("xmlsec1", "apt-get install xmlsec1"),
    pytest.mark.skipif(not shutil.which("xmlsec1"), reason="not installed: apt-get install xmlsec1"),
    pytest.mark.skipif(not (TOOL / "packages").is_dir(), reason=f"spid-sp-test is not installed: {INSTALL}"),
]

ONLY_SPID = {
    "3": "SPID requires a signed assertion; SAML allows a signed Response instead (core §5.3).",
    "45": "SPID requires transient name identifiers; here an attribute is the subject, so any format is allowed.",
    "46": "As 45: a name identifier without a format has the unspecified format (core §2.2.2).",
    "47": "As 45: a format that the provider defines is allowed (core §8.3).",
    "48": "SPID requires a NameQualifier; in SAML it is optional (core §2.2.2).",
    "49": "As 48.",
    "71": "SPID requires a Format of the assertion's Issuer; in SAML it is optional (profiles §4.1.4.2).",
    "76": "SPID requires NotBefore; in SAML it is optional (core §2.5.1).",
    "97": "SPID has three authentication contexts; our request has none, so any is allowed (core §3.3.2.2.1).",
}
"""Cases that a SPID service provider must refuse and a SAML service provider may accept, with the reason."""
ACCEPTED_OR_REFUSED = {"103"}
"""Cases for which the tool allows both results."""


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve the application on a real socket; yields the base URL."""
    with listening_socket() as listening:
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve([listening]))
        try:
            async with asyncio.timeout(START_SECONDS):
                while not server.started:
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


@pytest.fixture
def tool(tmp_path, monkeypatch) -> Any:
    """The tool's check of responses, which signs with a key whose certificate the connection has."""
    monkeypatch.syspath_prepend(TOOL / "packages")
    monkeypatch.setenv("IDP_ENTITYID", ISSUER)
    with warnings.catch_warnings():
        # pysaml2 imports ciphers that cryptography has moved to another module, which causes warnings.
        warnings.simplefilter("ignore")
        from spid_sp_test.response import SpidSpResponseCheck  # type: ignore[import-not-found]

    (tmp_path / "key.pem").write_text(keys("spid").private_pem)
    check = SpidSpResponseCheck(key_file=str(tmp_path / "key.pem"), xmlsec_binary=shutil.which("xmlsec1"))
    yield check
    for name in [module for module in sys.modules if module.split(".")[0] == "spid_sp_test"]:
        del sys.modules[name]


def response_to(tool: Any, case: str, location: str, attributes: dict[str, str], now: datetime) -> bytes:
    """The response that the tool generates for a case, to the AuthnRequest in the redirect URL `location`."""
    query = parse_qs(urlsplit(location).query)
    request = etree.fromstring(inflate(b64decode(query["SAMLRequest"][0]), SamlTrace()))
    tool.authnreq_etree, tool.authnreq_attrs = request, request.attrib
    identifiers = (f"_{name}-{case}-{request.get('ID')}" for name in ("response", "assertion", "session"))
    tool.response_attrs = {
        "AuthnRequestID": request.get("ID"),
        "IssueInstant": request.get("IssueInstant"),
        "IssueInstantMillis": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "NotOnOrAfter": (now + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "AuthnIstant": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "AssertionConsumerURL": request.get("AssertionConsumerServiceURL"),
        "Audience": request.findtext(f"{{{SAML}}}Issuer"),
        "Issuer": ISSUER,
        "NameIDNameQualifier": ISSUER,
        "NameID": "that-transient-opaque-value",
        "AuthnContextClassRef": "https://www.spid.gov.it/SpidL1",
        "sign_response": True,
        "sign_assertion": True,
        **dict(zip(("ResponseID", "AssertionID", "SessionIndex"), identifiers, strict=True)),
    }
    definition = tool.load_test(case)
    certificate = definition.response_attrs.get("X509Certificate")
    xml = tool.sign(definition.render(user_attrs=attributes), key_file=definition.private_key, cert_file=certificate)
    return tool.post_xml(xml, tool.tests[case]).encode()


async def outcome(browser: httpx.AsyncClient, acs: str, response: bytes) -> str:
    """Post a response. Returns ACCEPTED if the redirect has a code for a session, otherwise REFUSED."""
    answer = await browser.post(acs, data={"SAMLResponse": b64encode(response).decode()})
    if answer.status_code == 403:
        return "REFUSED"
    assert answer.status_code == 303, f"{answer.status_code}: {answer.text}"
    assert answer.headers["location"].startswith(REDIRECT_URL)
    return "ACCEPTED" if "code=" in answer.headers["location"] else "REFUSED"


async def test_every_spid_sp_test_response_is_accepted_or_rejected_as_saml_requires(acme, tool, clock, world):
    fields = {
        "idpEntityId": ISSUER,
        "idpCertificate": [keys("spid").pem],
        "attributeMapping": {"subject": "fiscalNumber"},
    }
    await acme.connect(**fields)
    results, expected = {}, {}
    async with serving(acme.app) as base:
        acs = base + urlsplit(acme.connection["spAcsUrl"]).path
        login = base + urlsplit(acme.connection["loginUrl"]).path
        for case, definition in tool.tests.items():
            accepted = definition["status_codes"] == [200] or case in ONLY_SPID
            expected[case] = "ACCEPTED" if accepted else "REFUSED"
            world.limiter = RateLimiter()  # Otherwise the limit of sign-ons would be reached.
            async with httpx.AsyncClient(timeout=60) as browser:
                started = await browser.get(login, params={"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE})
                assert started.status_code == 302, started.text
                attributes = {"email": acme.address(f"person-{case}"), "fiscalNumber": f"TINIT-{case}", "name": "Maria"}
                response = response_to(tool, case, started.headers["location"], attributes, clock())
                results[case] = await outcome(browser, acs, response)
            clock.move(timedelta(seconds=1))
    wrong = [case for case in results if results[case] != expected[case] and case not in ACCEPTED_OR_REFUSED]
    assert not wrong, "\n".join(f"{results[case]}: {tool.tests[case]['name']}" for case in wrong)
    assert len(results) > 100
    assert set(ONLY_SPID) < set(results)
