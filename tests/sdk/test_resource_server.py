"""`postern_sdk.resource_server` and `@postern/sdk/resource-server`: which tokens an API accepts, and what clients are
told."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from postern_sdk.dpop import MemoryOfProofs
from postern_sdk.errors import ConfigurationError
from postern_sdk.resource_server import WELL_KNOWN, ResourceServer
from postern_sdk.sessions import PermissionDenied, TokenExpired, TokenInvalid

from tests.identity.oauth.keys import ABSENT as ABSENT_CLAIM
from tests.identity.oauth.keys import ClientKey
from tests.sdk.token_issuer import ABSENT, WAIT_SECONDS, TokenIssuer, token_issuer
from tests.sdk.typescript import linked_sdk, needs_typescript

NOTES = "https://notes.example.com/mcp"
METADATA = "https://notes.example.com/.well-known/oauth-protected-resource/mcp"
CLIENT = "0198c000-0000-7000-8000-000000000009"
TOKEN: dict[str, Any] = {"aud": NOTES, "client_id": CLIENT, "scope": "notes:read notes:write", "sid": ABSENT}
FORGED: list[dict[str, Any]] = [
    {"aud": ABSENT},
    {"aud": "https://photos.example.com"},
    {"aud": f"{NOTES}/"},
    {"aud": [NOTES]},
    {"iss": "https://evil.example.com"},
    {"client_id": ABSENT},
    {"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}},
    {"headers": {"typ": "JWT"}},
]


def api_token(issuer: TokenIssuer, **changes: Any) -> str:
    """A token for the API, with changed claims."""
    return issuer.token(**{**TOKEN, **changes})


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with token_issuer() as issuer:
        yield issuer


@pytest.fixture
def resource(issuer: TokenIssuer) -> ResourceServer:
    return ResourceServer(
        NOTES,
        scopes=["notes:read"],
        requires=["notes:read"],
        url=issuer.url,
        project=issuer.project,
        clock=lambda: issuer.now,
    )


async def test_a_token_says_what_the_client_may_do(issuer: TokenIssuer, resource: ResourceServer):
    access = resource.authenticate(api_token(issuer))
    assert access == await resource.authenticate_async(api_token(issuer))
    assert (access.client_id, access.is_customer, access.scopes) == (CLIENT, True, ("notes:read", "notes:write"))
    assert access.organization_permissions == ("beta:use", "invoices:read")
    with pytest.raises(PermissionDenied):
        access.require("invoices:read")  # A permission in an organization is no scope.
    machine = resource.authenticate(api_token(issuer, sub=CLIENT, org=ABSENT))
    assert (machine.is_customer, machine.organization_id) == (False, None)


def test_other_tokens_are_refused(issuer: TokenIssuer, resource: ResourceServer):
    for changes in FORGED:
        with pytest.raises(TokenInvalid):
            resource.authenticate(api_token(issuer, **changes))
    with pytest.raises(TokenInvalid):
        resource.authenticate(issuer.token())  # That of a session.
    with pytest.raises(TokenExpired):
        resource.authenticate(api_token(issuer, exp=int(issuer.now) - 60))
    for root in ("https://notes.example.com", "https://notes.example.com/"):
        api = ResourceServer(root, url=issuer.url, project=issuer.project)
        assert (api.resource, api.metadata_path) == ("https://notes.example.com", WELL_KNOWN)
    for wrong in ("notes", "https://notes.example.com/mcp?x", "https://notes.example.com/#x"):
        with pytest.raises(ConfigurationError):
            ResourceServer(wrong, url=issuer.url, project=issuer.project)


async def _application(scope: Any, receive: Any, send: Any) -> None:
    body = json.dumps(scope["state"]["access"].client_id).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def test_clients_are_led_to_the_authorization_server(issuer: TokenIssuer, resource: ResourceServer):
    transport = httpx.ASGITransport(app=resource.middleware(_application))
    async with httpx.AsyncClient(transport=transport, base_url="https://notes.example.com") as client:
        missing = await client.post("/mcp")
        assert missing.status_code == 401
        assert missing.headers["www-authenticate"] == f'Bearer resource_metadata="{METADATA}", scope="notes:read"'
        metadata = (await client.get(METADATA)).json()
        assert metadata == {
            "resource": NOTES,
            "authorization_servers": [issuer.issuer],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": ["ES256", "EdDSA", "RS256", "PS256"],
            "scopes_supported": ["notes:read"],
        }

        async def call(authorization: str) -> httpx.Response:
            return await client.post("/mcp", headers={"authorization": authorization})

        assert (await call(f"Bearer {api_token(issuer)}")).json() == CLIENT
        for wrong in ("Basic eDp5", "Bearer", f"DPoP {api_token(issuer)}"):
            assert (await call(wrong)).status_code == 401
        invalid = await call("Bearer x.y.z")
        assert invalid.headers["www-authenticate"].startswith('Bearer error="invalid_token", resource_metadata=')
        denied = await call(f"Bearer {api_token(issuer, scope='')}")
        assert (denied.status_code, denied.json()["error"]) == (403, "insufficient_scope")
        assert 'scope="notes:read"' in denied.headers["www-authenticate"]
        issuer.rotate()
        issuer.stop()
        assert (await call(f"Bearer {api_token(issuer)}")).status_code == 401, "forged tokens name unknown keys"
    spaced = ResourceServer(f"{NOTES}/a%20b", url=issuer.url, project=issuer.project)
    transport = httpx.ASGITransport(app=spaced.middleware(_application))
    async with httpx.AsyncClient(transport=transport) as client:
        assert (await client.get(spaced.metadata_url)).json()["resource"] == f"{NOTES}/a%20b"
    empty = ResourceServer(NOTES, url=issuer.url, project=issuer.project, clock=lambda: issuer.now)
    transport = httpx.ASGITransport(app=empty.middleware(_application))
    async with httpx.AsyncClient(transport=transport, base_url="https://notes.example.com") as client:
        response = await client.post("/mcp", headers={"authorization": f"Bearer {api_token(issuer)}"})
        assert response.status_code == 503


async def test_a_bound_token_needs_a_proof_of_its_key(issuer: TokenIssuer, resource: ResourceServer):
    key = ClientKey()
    token = api_token(issuer, cnf={"jkt": key.thumbprint})
    transport = httpx.ASGITransport(app=resource.middleware(_application))
    async with httpx.AsyncClient(transport=transport, base_url="https://notes.example.com") as client:

        async def call(*sent_proofs: str, sent: str = token, scheme: str = "DPoP") -> httpx.Response:
            headers = [("authorization", f"{scheme} {sent}"), *(("dpop", text) for text in sent_proofs)]
            return await client.post("/mcp?page=2", headers=headers)

        def signed(by: ClientKey = key, **claims: Any) -> str:
            method, url = claims.pop("method", "POST"), claims.pop("url", NOTES)
            return by.dpop_proof(method, url, None, now=issuer.now, **{"token": token, **claims})

        good = signed()
        accepted = await call(good)
        assert (accepted.status_code, accepted.json()) == (200, CLIENT)
        for algorithm in ("EdDSA", "RS256"):
            other = ClientKey(algorithm)
            bound = api_token(issuer, cnf={"jkt": other.thumbprint})
            assert (await call(signed(other, token=bound), sent=bound)).status_code == 200
        refused = {
            "it was used before": [good],
            "exactly one header": [],
            "one header DPoP": [signed(), signed()],
            "another key": [signed(ClientKey())],
            "another method": [signed(method="GET")],
            "another URL": [signed(url="https://photos.example.com/mcp")],
            "hash of the access token": [signed(token="other")],
            "ath is not": [signed(ath=ABSENT_CLAIM)],
            "jti": [signed(jti=ABSENT_CLAIM)],
            "the present time": [signed(iat=int(issuer.now) - 120)],
            "iat is not the present": [signed(iat=int(issuer.now) + 60)],
            "iat is not a number": [signed(iat="now")],
            "is not the present time": [signed(iat=10**400)],
            "typ is not": [signed(headers={"typ": "JWT"})],
            "missing or private": [signed(headers={"jwk": key.private_jwk})],
            "signature": [signed(headers={"jwk": ClientKey().jwk})],
            "not a JWT": ["x"],
        }
        for reason, sent_proofs in refused.items():
            response = await call(*sent_proofs)
            assert response.json()["error"] == "invalid_dpop_proof", reason
            assert (response.status_code, reason in response.json()["error_description"]) == (401, True), reason
            assert response.headers["www-authenticate"].startswith('DPoP error="invalid_dpop_proof"')
            assert 'algs="ES256 EdDSA RS256 PS256"' in response.headers["www-authenticate"]
        # A bound token is no Bearer token, and a Bearer token is not sent as a bound one.
        assert (await call(signed(), scheme="Bearer")).status_code == 401
        bearer = api_token(issuer)
        assert (await call(signed(token=bearer), sent=bearer)).json()["error"] == "invalid_token"


def test_used_proofs_are_kept_where_the_application_says(issuer: TokenIssuer):
    seen: dict[str, int] = {}

    class Shared:
        def remember(self, key: str, seconds: int) -> bool:
            assert isinstance(seconds, int)  # Of other numbers, `EX` of Redis makes an error.
            return seen.setdefault(key, seconds) == seconds and len(seen) == 1

    options: dict[str, Any] = {"url": issuer.url, "project": issuer.project, "clock": lambda: issuer.now}
    key = ClientKey()
    token = api_token(issuer, cnf={"jkt": key.thumbprint})
    text = key.dpop_proof("GET", NOTES, None, now=issuer.now, token=token)
    api = ResourceServer(NOTES, used_proofs=Shared(), **options)
    assert api.authenticate_dpop(token, text, method="GET", url=NOTES).client_id == CLIENT
    assert 60 <= next(iter(seen.values())) <= 75
    memory = MemoryOfProofs(lambda: issuer.now, limit=2)
    assert [memory.remember(name, 5) for name in ("a", "a", "b", "c", "a")] == [True, False, True, True, True]


@pytest.mark.needs_node
@needs_typescript
def test_the_typescript_sdk_decides_the_same(tmp_path: Any, issuer: TokenIssuer):
    cases: list[tuple[str, int]] = [
        (f"Bearer {api_token(issuer)}", 200),
        (f"bearer {api_token(issuer)}", 200),
        ("", 401),
        ("Basic eDp5", 401),
        ("Bearer x.y.z", 401),
        (f"Bearer {issuer.token()}", 401),
        *((f"Bearer {api_token(issuer, **changes)}", 401) for changes in FORGED),
        (f"Bearer {api_token(issuer, exp=int(issuer.now) - 60)}", 401),
        (f"Bearer {api_token(issuer, scope='notes:write')}", 403),
    ]
    program = """
        import { ResourceServer } from "@postern/sdk/resource-server";
        const { url, project, now, resource, requests } = JSON.parse(process.argv[2]);
        const options = { url, project, now: () => now * 1000, scopes: ["notes:read"], requires: ["notes:read"] };
        const server = new ResourceServer(resource, options);
        const results = [];
        for (const authorization of requests) {
          const answer = await server.handle(new Request(resource, { method: "POST", headers: { authorization } }));
          const challenge = answer instanceof Response ? answer.headers.get("www-authenticate") : null;
          results.push(answer instanceof Response ? [answer.status, challenge] : [200, answer.clientId]);
        }
        const metadata = await (await server.handle(new Request(server.metadataUrl))).json();
        const hosts = ["https://notes.example.com", "https://notes.example.com/"];
        const root = hosts.map((host) => new ResourceServer(host, options)).map((s) => [s.resource, s.metadataUrl]);
        console.log(JSON.stringify({ results, metadata, root }));
    """
    folder = linked_sdk(tmp_path)
    (folder / "resource.mjs").write_text(program)
    settings = {
        "url": issuer.url,
        "project": issuer.project,
        "now": issuer.now,
        "resource": NOTES,
        "requests": [authorization for authorization, _ in cases],
    }
    command = [str(shutil.which("node")), "resource.mjs", json.dumps(settings)]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=WAIT_SECONDS)
    answer = json.loads(printed.stdout)
    assert [status for status, _ in answer["results"]] == [status for _, status in cases]
    assert answer["results"][0][1] == CLIENT
    assert answer["results"][2][1] == f'Bearer scope="notes:read", resource_metadata="{METADATA}"'
    assert answer["results"][-1][1].startswith('Bearer error="insufficient_scope", scope="notes:read"')
    assert answer["metadata"]["authorization_servers"] == [issuer.issuer]
    assert answer["root"] == [["https://notes.example.com", f"https://notes.example.com{WELL_KNOWN}"]] * 2
