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

import httpx
import pytest
import uvicorn
from postern_sdk.resource_server import ResourceServer

from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.test_interop import SECONDS, signed_in
from tests.peers.ports import listening_socket
from tests.peers.whole_server import whole_server

PEER = Path(__file__).parents[2] / "peers" / "mcp_client"
INSTALL = "npm install --no-package-lock --prefix tests/peers/mcp_client"
REDIRECT_URI = "http://127.0.0.1:33418/callback"
EMAIL = "ada@example.com"
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
def served(app: Any, listener: socket.socket) -> Iterator[None]:
    """Serve an ASGI application on loopback."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        listener.close()


@pytest.mark.needs_node
@pytest.mark.skipif(
    not shutil.which("node") or not (PEER / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir(),
    reason=f"the SDK of MCP is not installed: {INSTALL}",
)
def test_an_mcp_client_signs_in_by_discovery_alone(tmp_path: Path) -> None:
    with whole_server(tmp_path) as server:
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
        command = ["node", str(PEER / "client.mjs")]
        with (
            served(resource.middleware(mcp_server), listener),
            httpx.Client(timeout=SECONDS) as browser,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer,
        ):
            assert peer.stdin is not None
            assert peer.stdout is not None
            print(json.dumps({"url": notes, "redirectUri": REDIRECT_URI}), file=peer.stdin, flush=True)
            begun = json.loads(peer.stdout.readline())
            assert parse_qs(urlsplit(begun["url"]).query)["resource"] == [notes]
            assert begun["client"]["client_id"]
            returned = urlsplit(signed_in(browser, begun["url"], EMAIL).headers["location"])
            parameters = parse_qs(returned.query)
            assert f"{returned.scheme}://{returned.netloc}{returned.path}" == REDIRECT_URI
            assert (parameters["state"], parameters["iss"]) == (["state-of-the-client"], [issuer])
            print(json.dumps({"code": parameters["code"][0]}), file=peer.stdin, flush=True)
            result = json.loads(peer.stdout.readline())
            token = result["tokens"]["access_token"]
            access = resource.authenticate(token)
            assert result["tools"] == ["whoami"]
            assert result["text"] == f"{access.subject} by {begun['client']['client_id']}"
            assert result["tokens"]["refresh_token"]
            assert peer.wait(SECONDS) == 0
            with pytest.raises(Exception, match="another project or API"):
                other.authenticate(token)
            bearer = {"authorization": f"Bearer {token}"}
            assert browser.get(f"{issuer}/oauth/userinfo", headers=bearer).status_code == 401
