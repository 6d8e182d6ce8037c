"""An MCP client of others signs a customer in by discovery alone, and calls an MCP server that the SDK protects."""

import asyncio
import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import certifi
import httpx
import pytest
import uvicorn
from postern_sdk.resource_server import ResourceServer

from postern.kernel.outbound.ssrf import read_networks
from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.test_interop import SECONDS, signed_in
from tests.peers.ports import listening_socket
from tests.peers.smtp_sink import certificate
from tests.peers.whole_server import whole_server

PEER = Path(__file__).parents[2] / "peers" / "mcp_client"
INSTALL = "npm install --no-package-lock --prefix tests/peers/mcp_client"
REDIRECT_URI = "http://127.0.0.1:33418/callback"
EMAIL = "ada@example.com"
CLIENT_HOST = "terminal.example.com"
METADATA_URL = f"https://{CLIENT_HOST}:{{port}}/client.json"
TOOL = {"name": "whoami", "description": "Who calls.", "inputSchema": {"type": "object"}}


async def mcp_server(scope: Any, receive: Any, send: Any) -> None:
    """The least that a server of MCP must answer, with JSON and without sessions."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message.get("more_body"):
            break
    status, answer = 405, None
    if scope["method"] == "POST":
        call = json.loads(body)
        access = scope["state"]["access"]
        capabilities = {
            "protocolVersion": call.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1.0.0"},
        }
        results = {
            "initialize": capabilities,
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": f"{access.subject} by {access.client_id}"}]},
        }
        result = results.get(call["method"])
        status, answer = (
            (202, None) if result is None else (200, {"jsonrpc": "2.0", "id": call["id"], "result": result})
        )
    content = b"" if answer is None else json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


@contextmanager
def served(app: Any, listener: socket.socket, **options: Any) -> Iterator[None]:
    """Serve an ASGI application on loopback."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", **options))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        listener.close()


class Session:
    """A sign-in of the MCP client, and a call of a tool."""

    def __init__(self, browser: httpx.Client, issuer: str, **settings: str) -> None:
        command = ["node", str(PEER / "client.mjs")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            print(json.dumps({"redirectUri": REDIRECT_URI, **settings}), file=peer.stdin, flush=True)
            begun = json.loads(peer.stdout.readline())
            assert parse_qs(urlsplit(begun["url"]).query)["resource"] == [settings["url"]]
            self.client_id: str = begun["client"]["client_id"]
            returned = urlsplit(signed_in(browser, begun["url"], EMAIL).headers["location"])
            parameters = parse_qs(returned.query)
            assert f"{returned.scheme}://{returned.netloc}{returned.path}" == REDIRECT_URI
            assert (parameters["state"], parameters["iss"]) == (["state-of-the-client"], [issuer])
            print(json.dumps({"code": parameters["code"][0]}), file=peer.stdin, flush=True)
            self.result: dict[str, Any] = json.loads(peer.stdout.readline())
            assert peer.wait(SECONDS) == 0
        self.access_token: str = self.result["tokens"]["access_token"]


async def client_document(scope: Any, receive: Any, send: Any) -> None:
    """The website of a client, with its metadata."""
    document = {
        "client_id": METADATA_URL.format(port=scope["server"][1]),
        "client_name": "Notes in the terminal",
        "redirect_uris": [REDIRECT_URI],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    }
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(document).encode()})


@pytest.mark.needs_node
@pytest.mark.skipif(
    not shutil.which("node") or not (PEER / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir(),
    reason=f"the SDK of MCP is not installed: {INSTALL}",
)
def test_an_mcp_client_signs_in_by_discovery_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate_file, key_file = certificate(CLIENT_HOST)
    monkeypatch.setattr(certifi, "where", lambda: str(certificate_file))  # The only authority that the server trusts.
    with whole_server(tmp_path, outbound_allow=tuple(read_networks("127.0.0.0/8"))) as server:
        server.zone.add(CLIENT_HOST, "A", "127.0.0.1")
        account = asyncio.run(server.account())
        issuer = f"{server.url}/projects/{account.project_id}"
        listener = listening_socket()
        notes, photos = (f"http://127.0.0.1:{listener.getsockname()[1]}/{name}" for name in ("notes", "photos"))
        headers = {"authorization": f"Bearer {account.developer_token}"}
        with httpx.Client(base_url=issuer, headers=headers, timeout=SECONDS) as developer:
            settings = {"verifyEmail": "LATER", "clientRegistration": "OPEN"}
            developer.patch("", json={"settings": {"signIn": settings}}).raise_for_status()
            api = {"identifier": notes, "name": "Northwind Notes", "scopes": []}
            developer.post("/oauth-resources", json=api).raise_for_status()
            customer = {"email": EMAIL, "password": GOOD, "name": "Ada Lovelace"}
            httpx.post(f"{issuer}/auth/sign-up", json=customer, timeout=SECONDS).raise_for_status()
        options = {"url": server.url, "project": account.project_id}
        resource, other = ResourceServer(notes, **options), ResourceServer(photos, **options)
        website = listening_socket()
        metadata_url = METADATA_URL.format(port=website.getsockname()[1])
        with (
            served(resource.middleware(mcp_server), listener),
            served(client_document, website, ssl_certfile=certificate_file, ssl_keyfile=key_file),
            httpx.Client(timeout=SECONDS) as browser,
        ):
            session = Session(browser, issuer, url=notes)
            token = session.access_token
            access = resource.authenticate(token)
            assert session.result["tools"] == ["whoami"]
            assert session.result["text"] == f"{access.subject} by {session.client_id}"
            assert session.result["tokens"]["refresh_token"]
            with pytest.raises(Exception, match="another project or API"):
                other.authenticate(token)
            bearer = {"authorization": f"Bearer {token}"}
            assert browser.get(f"{issuer}/oauth/userinfo", headers=bearer).status_code == 401
            # With the URL of its metadata, it does not register itself.
            with httpx.Client(base_url=issuer, headers=headers, timeout=SECONDS) as developer:
                settings = {"clientRegistration": "OFF", "clientMetadataDocuments": True}
                developer.patch("", json={"settings": {"signIn": settings}}).raise_for_status()
            with httpx.Client(timeout=SECONDS) as other_browser:
                session = Session(other_browser, issuer, url=notes, clientMetadataUrl=metadata_url)
            assert session.client_id == metadata_url
            assert session.result["text"] == f"{access.subject} by {metadata_url}"
