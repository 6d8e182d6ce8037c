"""The OpenAPI document and the API reference: complete, without linter findings, and usable without a network."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_origin

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator

from postern.app import OPERATIONS
from postern.examples import EXAMPLES
from postern.kernel.http.openapi import document, object_types
from postern.kernel.http.operation import FORM
from postern.kernel.values import to_json
from postern.reference import REFERENCE

SPECTRAL = Path(__file__).parent / "peers" / "spectral"
INSTALL = "npm install --no-package-lock --prefix tests/peers/spectral"
READER = Path(__file__).parent / "peers" / "docs_page"
INSTALL_READER = "npm install --no-package-lock --prefix tests/peers/docs_page"
SHOWN = [each for each in OPERATIONS if not each.hidden]
DOCUMENT: dict[str, Any] = json.loads(to_json(document(OPERATIONS, EXAMPLES, REFERENCE)))


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (SPECTRAL / "node_modules" / ".bin" / "spectral").exists()),
    reason=f"Spectral is not installed: {INSTALL}",
)
def test_spectral_reports_no_problems(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    file.write_bytes(to_json(DOCUMENT))
    linted = subprocess.run(
        [SPECTRAL / "node_modules/.bin/spectral", "lint", "-r", SPECTRAL / ".spectral.json", "--format", "json", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (READER / "node_modules" / "jsdom").exists()),
    reason=f"jsdom is not installed: {INSTALL_READER}",
)
async def test_the_reference_shows_an_operation_with_examples(stranger: Any, tmp_path: Path) -> None:
    path = "/projects/{projectId}/access/check"
    one = {**DOCUMENT, "paths": {path: DOCUMENT["paths"][path]}}
    (tmp_path / "openapi.json").write_bytes(to_json(one))
    (tmp_path / "bundle.js").write_bytes((await stranger.http.get("/docs/assets/swagger-ui-bundle.js")).content)
    start = (await stranger.http.get("/assets/docs.js")).text
    (tmp_path / "start.js").write_text(start.replace('docExpansion: "none"', 'docExpansion: "full"'))
    words = ['"reason": "PROJECT_ROLE"', "There is no such customer."]
    command = ["node", READER / "read.cjs", tmp_path, *words]
    shown = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=300)
    for each in words:
        assert each in shown.stdout, shown.stdout[:1_000] + shown.stderr


@pytest.mark.parametrize("each", SHOWN, ids=lambda each: f"{each.method} {each.wire_path}")
def test_an_operation_is_documented_completely(each: Any) -> None:
    entry = DOCUMENT["paths"][each.wire_path][each.method.lower()]
    assert entry["summary"]
    assert entry["description"]
    assert entry["tags"] == [each.area]
    assert entry.get("x-permission") == each.needs
    if each.needs:
        assert f"`{each.needs}`" in entry["description"]
    if each.body is not None:
        assert entry["requestBody"]["content"][each.takes]["examples"]
    for problem in each.problems:
        content = entry["responses"][str(problem.status)]["content"]["application/problem+json"]
        place = content["examples"][problem.code()]["$ref"].removeprefix("#/components/examples/")
        assert DOCUMENT["components"]["examples"][place]["value"]["detail"] == problem.message()
    named = {parameter["name"] for parameter in entry["parameters"] if parameter["in"] == "path"}
    assert named == set(re.findall(r"{(\w+)}", each.wire_path))


ANSWERS = [
    pytest.param(media, id=f"{method.upper()} {path} {status}")
    for path, methods in DOCUMENT["paths"].items()
    for method, entry in methods.items()
    for status, answer in entry["responses"].items()
    for media_type, media in answer.get("content", {}).items()
    if status.startswith("2") and media_type == "application/json"
]


@pytest.mark.parametrize("media", ANSWERS)
def test_response_examples_fit_their_schemas(media: dict[str, Any]) -> None:
    examples = [each["value"] for each in media["examples"].values()]
    assert examples
    schema = {**media["schema"], "components": {"schemas": whole(DOCUMENT["components"]["schemas"])}}
    validator = Draft202012Validator(schema, validate_formats=True)
    for example in examples:
        assert [error.message for error in validator.iter_errors(example)] == []


def whole(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas of records with every field demanded, as answers carry them, and no other allowed."""
    return {
        name: {**schema, "required": [*schema["properties"]], "additionalProperties": False}
        if "properties" in schema
        else schema
        for name, schema in schemas.items()
    }


def test_every_field_has_a_meaningful_sample() -> None:
    """A field without an entry in postern/examples.py would be shown as 0, false or its own name."""
    assert sorted(EXAMPLES.unnamed) == [], "Say in postern/examples.py what these hold, as `Record.field` or `field`."


def test_every_sample_belongs_to_a_field() -> None:
    fields = {
        name
        for kind in object_types(SHOWN)
        for base in (get_origin(kind) or kind).__mro__
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct
        for field in base.__struct_encode_fields__
        for name in (field, f"{base.__name__}.{field}")
    }
    assert [name for name in EXAMPLES.samples if name not in fields] == []


def patterns_in(part: Any) -> set[str]:
    if isinstance(part, list):
        return set().union(*map(patterns_in, part))
    if not isinstance(part, dict):
        return set()
    own = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    return own.union(*map(patterns_in, part.values()))


def test_no_pattern_accepts_a_trailing_line_break() -> None:
    """Python's `$` matches before a final line feed as well; `(?!\\n)` before it does not."""
    patterns = patterns_in(DOCUMENT)
    assert len(patterns) > 10
    assert [each for each in patterns if each.endswith("$") and not each.endswith(r"(?!\n)$")] == []


async def test_the_reference_loads_nothing_from_other_hosts(stranger: Any) -> None:
    page = await stranger.http.get("/docs")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert not re.search(r"<script(?![^>]*src=)|\bon\w+=|https?://", page.text), "Nothing inline, nothing from afar."
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) == 3
    for address in addresses:
        assert address.startswith("/")
        assert (await stranger.http.get(address)).status_code == 200
    assert (await stranger.http.get("/openapi.json")).json() == DOCUMENT


# Clients made from the document ----------------------------------------------------------------------------------

GENERATORS = Path(__file__).parent / "peers" / "openapi_ts"
INSTALL_GENERATORS = "npm install --no-package-lock --prefix tests/peers/openapi_ts"
PYTHON_GENERATOR = Path(__file__).parent / "peers" / "openapi_python_client" / "packages"
INSTALL_PYTHON_GENERATOR = (
    "python3 -m pip install --no-deps --require-hashes --target tests/peers/openapi_python_client/packages "
    "-r tests/peers/openapi_python_client/requirements.txt"
)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
ENTRIES = [entry for methods in DOCUMENT["paths"].values() for entry in methods.values()]
PROPERTIES = [(name, field, told) for name, one in SCHEMAS.items() for field, told in one.get("properties", {}).items()]


def refers(part: Any) -> bool:
    return "$ref" in json.dumps(part)


def test_every_property_has_a_description_and_an_example() -> None:
    """Defects: N10"""
    assert len(PROPERTIES) > 1_400
    bare = [f"{name}.{field}" for name, field, told in PROPERTIES if not told.get("description")]
    assert bare == [], "Say in a string below the field, or in postern/reference.py, what these hold."
    without = [f"{name}.{field}" for name, field, told in PROPERTIES if not (refers(told) or told.get("examples"))]
    assert without == [], "Give these an example in postern/reference.py."


def test_examples_of_properties_fit() -> None:
    """Defects: N10"""
    for name, field, told in PROPERTIES:
        if refers(told):
            continue
        for example in told["examples"]:
            found = [each.message for each in Draft202012Validator(told).iter_errors(example)]
            assert found == [], f"{name}.{field}: {example!r}"


def test_references_in_the_document_resolve() -> None:
    """Defects: N10"""
    fields = {field for _, field, _ in PROPERTIES}
    for key in [*REFERENCE.fields, *REFERENCE.examples]:
        assert key.rpartition(".")[2] in fields, f"postern/reference.py: {key}"


def test_schema_and_operation_names_are_valid_identifiers() -> None:
    """Defects: N10"""
    for name, one in SCHEMAS.items():
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]+", name), name
        assert one["title"] == name
    ids = [entry["operationId"] for entry in ENTRIES]
    assert len({each.lower() for each in ids}) == len(ids)
    assert [each for each in ids if not re.fullmatch(r"[a-z][A-Za-z0-9]+", each)] == []
    assert not {"Goodbye", "Tried", "Asked", "Linked", "Change"} & set(SCHEMAS)
    assert [each for each in ids if re.search(r"Of(Accounts|Organizations|Customers)$", each)] == []


def test_no_default_makes_a_field_required() -> None:
    """Defects: N10"""
    assert [f"{name}.{field}" for name, field, told in PROPERTIES if "default" in told] == []


def test_fields_of_responses_are_required() -> None:
    """Defects: N10"""
    for name in ("EmailLogEntryPage", "EmailLogEntry", "Campaign", "Customer", "ProblemDocument"):
        assert set(SCHEMAS[name]["required"]) == set(SCHEMAS[name]["properties"]), name


def test_every_body_and_response_has_a_schema() -> None:
    """Defects: N10"""
    for entry in ENTRIES:
        contents = [entry.get("requestBody", {}).get("content", {})]
        contents += [answer.get("content", {}) for answer in entry["responses"].values()]
        for content in contents:
            for media_type, media in content.items():
                assert media.get("schema"), (entry["operationId"], media_type)
                if media_type == FORM:
                    assert media["schema"]["properties"], entry["operationId"]


async def test_response_headers_are_documented(project: Any, new_project: Any) -> None:
    """Defects: N10"""
    known = {name.lower() for name in DOCUMENT["components"]["headers"]}
    standard = {"content-type", "content-length", "cache-control", "x-content-type-options", "x-request-id"}
    made = await project.client.post("/contacts", {"email": "ada@example.com"})
    mail = {"to": ["a@example.com"], "from": "a@acme.example", "subject": "x", "html": "<p>x</p>"}
    for _ in range(2):
        sent = await project.client.post("/emails", mail, headers={"idempotency-key": "one"})
    await project.client.post("/emails", mail)
    answers = {
        ("/projects/{projectId}/contacts", "post"): made,
        ("/projects/{projectId}/contacts/{id}", "get"): await project.client.get(f"/contacts/{made.json()['id']}"),
        ("/projects/{projectId}/emails", "post"): sent,
        ("/projects/{projectId}/emails/logs", "get"): await project.client.get("/emails/logs?limit=1"),
        ("/projects/{projectId}/contacts/export", "get"): await project.client.get("/contacts/export"),
    }
    for (path, method), answer in answers.items():
        told = DOCUMENT["paths"][path][method]["responses"][str(answer.status_code)]["headers"]
        assert "X-Request-Id" in told
        named = {name.lower() for name in told}
        assert set(answer.headers) - standard <= named <= known, path
    assert "etag" in answers[("/projects/{projectId}/contacts/{id}", "get")].headers
    limited = next(iter(DOCUMENT["paths"]["/auth/sign-in"].values()))["responses"]["429"]
    assert "Retry-After" in limited["headers"]


@pytest.mark.needs_node
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_every_pattern_is_valid_in_javascript(tmp_path: Path) -> None:
    """Defects: N10"""
    (tmp_path / "patterns.json").write_text(json.dumps(sorted(patterns_in(DOCUMENT))))
    script = f"""
      const patterns = JSON.parse(require("node:fs").readFileSync("{tmp_path}/patterns.json", "utf8"));
      for (const each of patterns) new RegExp(each, "u");
      console.log(patterns.length);
    """
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def run_in(folder: Path, *command: str | Path, **env: str) -> str:
    """What a program prints; fails where it does. It finds no network: its proxies lead nowhere."""
    nowhere = "http://127.0.0.1:9"
    done = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env={**os.environ, "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "ALL_PROXY": nowhere, "CI": "1", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    return done.stdout + done.stderr


needs_generators = pytest.mark.skipif(
    not (shutil.which("node") and (GENERATORS / "node_modules" / "typescript").exists()),
    reason=f"The generators are not installed: {INSTALL_GENERATORS}",
)
PROJECT_FILE = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "target": "ES2022",
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "lib": ["ES2022", "DOM", "DOM.Iterable"],
        "skipLibCheck": True,
        "types": [],
    },
    "include": ["*.ts"],
}
CALLS_BY_FETCH = """
import createClient from "openapi-fetch";
import type { operations, paths } from "./schema";

const postern = createClient<paths>({ baseUrl: "http://127.0.0.1:8080" });
const path = { projectId: "p" };

export async function quickstart(): Promise<string> {
  const sent = await postern.POST("/projects/{projectId}/emails", {
    params: { path },
    body: { to: ["ada@example.com"], from: "Acme <hello@acme.example>", subject: "Hello", html: "<p>Hi</p>" },
  });
  if (sent.error) return sent.error.code;
  const log = await postern.GET("/projects/{projectId}/emails/logs", {
    params: { path, query: { q: "ada", status: ["DELIVERED"] } },
  });
  const found: string | undefined = log.data?.data[0]?.subject;
  const contact = await postern.POST("/projects/{projectId}/contacts", {
    params: { path },
    body: { email: "ada@example.com" },
  });
  // @ts-expect-error an e-mail has somebody it is to
  await postern.POST("/projects/{projectId}/emails", { params: { path }, body: { from: "a@b.example" } });
  return `${sent.data.id} ${sent.data.status} ${found} ${contact.data?.id}`;
}

type Names = keyof operations;
export const every: Record<Names, true> = NAMES;
"""
CALLS_BY_SDK = """
import { createContact, listEmailLogs, sendEmail } from "./client";

const path = { projectId: "p" };

export async function quickstart(): Promise<string> {
  const sent = await sendEmail({
    path,
    body: { to: ["ada@example.com"], from: "Acme <hello@acme.example>", subject: "Hello", html: "<p>Hi</p>" },
  });
  if (sent.error) return sent.error.code;
  const log = await listEmailLogs({ path, query: { q: "ada", status: ["DELIVERED"] } });
  const found: string | undefined = log.data?.data[0]?.subject;
  const contact = await createContact({ path, body: { email: "ada@example.com" } });
  return `${sent.data?.id} ${sent.data?.status} ${found} ${contact.data?.id}`;
}

import * as sdk from "./client/sdk.gen";
export const every: unknown[] = [NAMES];
"""


def operation_ids() -> list[str]:
    return [entry["operationId"] for entry in ENTRIES]


@pytest.mark.needs_node
@needs_generators
def test_openapi_typescript_generates_types_of_every_operation(tmp_path: Path) -> None:
    """Defects: N10"""
    (tmp_path / "node_modules").symlink_to(GENERATORS / "node_modules")
    (tmp_path / "openapi.json").write_bytes(to_json(DOCUMENT))
    (tmp_path / "tsconfig.json").write_text(json.dumps(PROJECT_FILE))
    names = json.dumps(dict.fromkeys(operation_ids(), True))
    (tmp_path / "calls.ts").write_text(CALLS_BY_FETCH.replace("NAMES", names))
    run_in(tmp_path, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "schema.d.ts")
    run_in(tmp_path, "node_modules/.bin/tsc", "-p", ".")


@pytest.mark.needs_node
@needs_generators
def test_hey_api_generates_a_client_with_every_operation(tmp_path: Path) -> None:
    """Defects: N10"""
    (tmp_path / "node_modules").symlink_to(GENERATORS / "node_modules")
    (tmp_path / "openapi.json").write_bytes(to_json(DOCUMENT))
    (tmp_path / "tsconfig.json").write_text(json.dumps(PROJECT_FILE))
    names = ", ".join(f"sdk.{name}" for name in operation_ids())
    (tmp_path / "calls.ts").write_text(CALLS_BY_SDK.replace("NAMES", names))
    run_in(
        tmp_path, "node_modules/.bin/openapi-ts", "-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch"
    )
    run_in(tmp_path, "node_modules/.bin/tsc", "-p", ".")


PYTHON_CALLS = """
from client import AuthenticatedClient
from client.api.audiences import create_contact
from client.api.emails import list_email_logs, send_email
from client.models import Email, EmailLogEntryPage, NewContact, SendResult


def quickstart(client: AuthenticatedClient) -> str:
    mail = Email(to=["ada@example.com"], from_="Acme <hello@acme.example>", subject="Hello", html="<p>Hi</p>")
    sent = send_email.sync("p", client=client, body=mail)
    assert isinstance(sent, SendResult)
    log = list_email_logs.sync("p", client=client, q="ada")
    assert isinstance(log, EmailLogEntryPage)
    create_contact.sync("p", client=client, body=NewContact(email="ada@example.com"))
    return f"{sent.id} {sent.status} {log.data[0].subject} {log.total}"
"""


@pytest.mark.skipif(
    not PYTHON_GENERATOR.exists(), reason=f"openapi-python-client is not installed: {INSTALL_PYTHON_GENERATOR}"
)
def test_openapi_python_client_generates_a_client_with_every_operation(tmp_path: Path) -> None:
    """Defects: N10"""
    (tmp_path / "openapi.json").write_bytes(to_json(DOCUMENT))
    (tmp_path / "config.yaml").write_text("post_hooks: []\npackage_name_override: client\n")
    said = run_in(
        tmp_path,
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--path",
        "openapi.json",
        "--output-path",
        "client",
        "--meta",
        "none",
        "--config",
        "config.yaml",
        PYTHONPATH=str(PYTHON_GENERATOR),
    )
    assert "will not be generated" not in said, said
    assert "Unable to process schema" not in said, said
    assert "Could not find reference" not in said, said
    made = {file.stem.replace("_", "") for file in (tmp_path / "client" / "api").glob("*/*.py")}
    assert {name.lower() for name in operation_ids()} - made == set()
    (tmp_path / "calls.py").write_text(PYTHON_CALLS)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["calls.py"]}')
    run_in(tmp_path, sys.executable, "-m", "basedpyright", "-p", ".")
    tried = "import calls, importlib, pkgutil, client.api as api\n"
    tried += "[importlib.import_module(m.name) for m in pkgutil.walk_packages(api.__path__, 'client.api.')]"
    run_in(tmp_path, sys.executable, "-c", tried)


# The page --------------------------------------------------------------------------------------------------------

SWAGGER_UI = Path(__file__).parent.parent / "postern" / "web" / "assets" / "swagger-ui"


def test_the_reference_uses_unmodified_published_files() -> None:
    """Defects: N10"""
    lines = (SWAGGER_UI / "SHA256SUMS").read_text().splitlines()
    for line in lines:
        checksum, name = line.split()
        assert hashlib.sha256((SWAGGER_UI / name).read_bytes()).hexdigest() == checksum, name
    assert {line.split()[1] for line in lines} | {"SHA256SUMS", "README.md"} == {
        file.name for file in SWAGGER_UI.iterdir()
    }
    assert "Apache License" in (SWAGGER_UI / "LICENSE").read_text()
