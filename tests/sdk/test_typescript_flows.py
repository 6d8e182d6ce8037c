"""The TypeScript SDK against a complete server, in Node.js, Deno, Bun and a browser."""

import json
from pathlib import Path

import httpx
import pytest

from postern.cli.bootstrap import BootstrapResult
from tests.peers.chromium import CHROMIUM, open_browser
from tests.peers.fault_server import refused_url
from tests.sdk.recorder import Answer, recorder
from tests.sdk.typescript import ESBUILD, linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAMS = Path(__file__).parent / "typescript_programs"
RUNTIMES = Path(__file__).parent.parent / "peers" / "js_runtimes"
INSTALL_RUNTIMES = "npm install --no-package-lock --prefix tests/peers/js_runtimes"


def variables(account: BootstrapResult) -> dict[str, str]:
    """The environment of a client."""
    return {
        "POSTERN_URL": account.base_url,
        "POSTERN_PROJECT": account.project_id,
        "POSTERN_KEY": account.secret_key,
        "TOKEN": account.developer_token,
    }


def test_main_flows(account: BootstrapResult, tmp_path: Path) -> None:
    program = linked_sdk(tmp_path) / "main_flows.mjs"
    program.write_text((PROGRAMS / program.name).read_text())
    run("node", program, folder=tmp_path, **variables(account))


def runtime(name: str) -> list[str | Path]:
    """The command that runs a program in Node.js, Deno or Bun. Deno may only reach the network and read variables."""
    programs = RUNTIMES / "node_modules" / ".bin"
    return {
        "node": ["node"],
        "deno": [
            programs / "deno",
            "run",
            "--no-prompt",
            "--node-modules-dir=manual",
            "--allow-net=127.0.0.1",
            "--allow-env",
        ],
        "bun": [programs / "bun", "run", "--no-install"],
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        "node",
        *(
            pytest.param(
                name,
                marks=pytest.mark.skipif(
                    not (RUNTIMES / "node_modules" / ".bin" / name).exists(),
                    reason=f"{name} is not installed: {INSTALL_RUNTIMES}",
                ),
            )
            for name in ("deno", "bun")
        ),
    ],
)
def test_every_runtime_sends_and_verifies(account: BootstrapResult, tmp_path: Path, name: str) -> None:
    (tmp_path / "package.json").write_text('{"type": "module", "dependencies": {"@postern/sdk": "*"}}')
    program = linked_sdk(tmp_path) / "smoke.mjs"
    program.write_text((PROGRAMS / program.name).read_text())
    # A folder of its own keeps what Deno and Bun store away from the home folder.
    storage = {"DENO_DIR": str(tmp_path), "BUN_INSTALL_CACHE_DIR": str(tmp_path), "DENO_NO_UPDATE_CHECK": "1"}
    with refused_url() as refused:
        printed = run(*runtime(name), program, folder=tmp_path, REFUSED=refused, **variables(account), **storage)
    assert json.loads(printed) == {
        "listed": True,
        "event": "email.delivered",
        "import": "string",
        "refused": "not executed",
        "aborted": "stop",
    }


BROWSER_PROGRAM = """
import { headersOf, NotFoundError, Postern, SignInFailed } from "@postern/sdk";
globalThis.results = async (url, project, email, password) => {
  let token = null;
  const postern = new Postern({ url, project, key: () => token });
  const failed = await postern.auth.signIn({ email, password: "a wrong password" }).catch((error) => error);
  const signedIn = await postern.auth.signIn({ email, password });
  token = signedIn.accessToken;
  const me = await postern.auth.me();
  const renamed = await postern.auth.updateMe({ name: "Ada" });
  const sessions = await postern.auth.sessions.list();
  const forbidden = await postern.contacts.list({}, { retries: 0 }).catch((error) => error);
  const redirect = await postern.auth
    .startProviderSignIn("google", { redirectUrl: "https://app.example", codeChallenge: "x".repeat(43) })
    .catch((error) => error);
  return {
    failed: failed instanceof SignInFailed && Boolean(failed.requestId),
    email: me.email,
    name: renamed.name,
    sessions: sessions.length,
    requestId: Boolean(headersOf(me).get("x-request-id")),
    forbidden: forbidden.name,
    redirect: redirect instanceof Error,
  };
};
"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
def test_a_web_page_of_another_origin_calls_the_operations_of_customers(
    account: BootstrapResult, tmp_path: Path
) -> None:
    (linked_sdk(tmp_path) / "page.mjs").write_text(BROWSER_PROGRAM)
    bundle = ("--bundle", "--format=iife", "--platform=browser", "--outfile=page.js", "--log-level=error")
    run(ESBUILD, "page.mjs", *bundle, folder=tmp_path)
    page = b"<!doctype html><meta charset=utf-8><title>App</title><script>"
    page += (tmp_path / "page.js").read_bytes() + b"</script>"
    with recorder(lambda request: Answer(200, page, {"Content-Type": "text/html"})) as app:
        email, password = "browser@example.com", "a long password of a customer"
        developer = {"Authorization": f"Bearer {account.developer_token}"}
        with httpx.Client(base_url=account.base_url, headers=developer, timeout=60) as http:
            project = f"/projects/{account.project_id}"
            settings = {"settings": {"signIn": {"allowedOrigins": [app.url]}}}
            assert http.patch(project, json=settings).is_success
            customer = {"email": email, "password": password, "emailVerified": True}
            created = http.post(f"{project}/customers", json=customer)
            assert created.is_success, created.text
        with open_browser() as chromium:
            chromium.open(app.url)
            arguments = json.dumps([account.base_url, account.project_id, email, password])
            assert chromium.evaluate(f"results(...{arguments})") == {
                "failed": True,
                "email": email,
                "name": "Ada",
                "sessions": 1,
                "requestId": True,
                "forbidden": "ConnectionFailed",
                "redirect": True,
            }
