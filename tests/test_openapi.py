"""The OpenAPI document and the API reference: complete, without linter findings, and usable without a network."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator, Registry

from postern import instance
from postern.app import OPERATIONS, make_app
from postern.examples import EXAMPLES
from postern.kernel.http.openapi import document, object_types
from postern.kernel.http.operation import FORM
from postern.kernel.values import to_json
from postern.platform.events.payloads import PAYLOADS
from postern.reference import REFERENCE
from tests.conftest import Client

SPECTRAL = Path(__file__).parent / "peers" / "spectral"
INSTALL_SPECTRAL = "npm install --no-package-lock --prefix tests/peers/spectral"
JSDOM = Path(__file__).parent / "peers" / "docs_page"
INSTALL_JSDOM = "npm install --no-package-lock --prefix tests/peers/docs_page"
DOCUMENTED = [operation for operation in OPERATIONS if not operation.hidden]
DOCUMENT: dict[str, Any] = json.loads(to_json(document(OPERATIONS, EXAMPLES, REFERENCE, PAYLOADS)))


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (SPECTRAL / "node_modules" / ".bin" / "spectral").exists()),
    reason=f"Spectral is not installed: {INSTALL_SPECTRAL}",
)
def test_spectral_reports_no_problems(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    file.write_bytes(to_json(DOCUMENT))
    result = subprocess.run(
        [SPECTRAL / "node_modules/.bin/spectral", "lint", "-r", SPECTRAL / ".spectral.json", "--format", "json", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (JSDOM / "node_modules" / "jsdom").exists()),
    reason=f"jsdom is not installed: {INSTALL_JSDOM}",
)
async def test_the_reference_shows_an_operation_with_examples(stranger: Any, tmp_path: Path) -> None:
    path = "/projects/{projectId}/access/check"
    # The page shows everything expanded, which takes minutes in jsdom for a large document.
    one_operation = {**DOCUMENT, "paths": {path: DOCUMENT["paths"][path]}, "webhooks": {}}
    (tmp_path / "openapi.json").write_bytes(to_json(one_operation))
    (tmp_path / "bundle.js").write_bytes((await stranger.http.get("/docs/assets/swagger-ui-bundle.js")).content)
    start = (await stranger.http.get("/assets/docs.js")).text
    (tmp_path / "start.js").write_text(start.replace('docExpansion: "none"', 'docExpansion: "full"'))
    texts = ['"reason": "PROJECT_ROLE"', "There is no such customer."]
    command = ["node", JSDOM / "read.cjs", tmp_path, *texts]
    result = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=300)
    for text in texts:
        assert text in result.stdout, result.stdout[:1_000] + result.stderr


@pytest.mark.parametrize("operation", DOCUMENTED, ids=lambda operation: f"{operation.method} {operation.wire_path}")
def test_an_operation_is_documented_completely(operation: Any) -> None:
    entry = DOCUMENT["paths"][operation.wire_path][operation.method.lower()]
    assert entry["summary"]
    assert entry["description"]
    assert entry["tags"] == [operation.area]
    assert entry.get("x-permission") == operation.needs
    if operation.needs:
        assert f"`{operation.needs}`" in entry["description"]
    if operation.body is not None:
        assert entry["requestBody"]["content"][operation.takes]["examples"]
    for problem in operation.problems:
        content = entry["responses"][str(problem.status)]["content"]["application/problem+json"]
        example = content["examples"][problem.code()]["$ref"].removeprefix("#/components/examples/")
        assert DOCUMENT["components"]["examples"][example]["value"]["detail"] == problem.message()
    names = {parameter["name"] for parameter in entry["parameters"] if parameter["in"] == "path"}
    assert names == set(re.findall(r"{(\w+)}", operation.wire_path))


JSON_RESPONSES = [
    pytest.param(media, id=f"{method.upper()} {path} {status}")
    for path, methods in DOCUMENT["paths"].items()
    for method, entry in methods.items()
    for status, response in entry["responses"].items()
    for media_type, media in response.get("content", {}).items()
    if status.startswith("2") and media_type == "application/json"
]


@pytest.mark.parametrize("media", JSON_RESPONSES)
def test_response_examples_fit_their_schemas(media: dict[str, Any]) -> None:
    examples = [example["value"] for example in media["examples"].values()]
    assert examples
    validator = validator_of(media["schema"], complete_schemas())
    for example in examples:
        assert [error.message for error in validator.iter_errors(example)] == []


def test_examples_of_media_types_fit_their_schemas() -> None:
    """What Spectral checks with the rule `oas3-valid-media-example`, which takes half of its time for that."""
    registry = Registry([(BASE, DOCUMENT)])
    validators, count = dict[str, Draft202012Validator](), 0
    for place, media in media_of_document():
        assert "example" not in media, place
        key = json.dumps(media["schema"])
        if key not in validators:
            validators[key] = validator_of(media["schema"], registry)
        for name, example in media.get("examples", {}).items():
            errors = [error.message for error in validators[key].iter_errors(resolved(example)["value"])]
            assert errors == [], f"{place} {name}"
            count += 1
    assert count > 2_000


def media_of_document() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of `content` in the document, of requests and responses, with its place."""
    for path, methods in DOCUMENT["paths"].items():
        for method, entry in methods.items():
            for body in [entry.get("requestBody", {}), *entry["responses"].values()]:
                for media_type, media in resolved(body).get("content", {}).items():
                    yield f"{method.upper()} {path} {media_type}", media


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """A part of the document, or the component that it refers to."""
    if "$ref" not in part:
        return part
    *_, kind, name = part["$ref"].split("/")
    return DOCUMENT["components"][kind][name]


BASE = "urn:document"
"""The URI under which a registry has the document or its schemas."""


def validator_of(schema: dict[str, Any], registry: Registry) -> Draft202012Validator:
    """A validator of a schema in the document. With a registry, only the schemas it refers to are compiled."""
    absolute = json.loads(json.dumps(schema).replace('"$ref": "#', f'"$ref": "{BASE}#'))
    return Draft202012Validator(absolute, registry=registry, validate_formats=True)


@cache
def complete_schemas() -> Registry:
    return Registry([(BASE, {"components": {"schemas": strict(DOCUMENT["components"]["schemas"])}})])


def strict(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas with every property required, as responses have them, and no other properties allowed."""
    return {
        name: {**schema, "required": [*schema["properties"]], "additionalProperties": False}
        if "properties" in schema
        else schema
        for name, schema in schemas.items()
    }


def test_every_field_has_a_meaningful_sample() -> None:
    """A field without an entry in postern/examples.py would have the example 0, false or its name."""
    assert sorted(EXAMPLES.without_sample) == [], "Add a sample to postern/examples.py, as `Record.field` or `field`."


def test_every_sample_belongs_to_a_field() -> None:
    fields = {
        name
        for kind in [*object_types(DOCUMENTED), *(payload.data for payload in PAYLOADS)]
        for base in (get_origin(kind) or kind).__mro__
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct
        for field in base.__struct_encode_fields__
        for name in (field, f"{base.__name__}.{field}")
    }
    assert [name for name in EXAMPLES.samples if name not in fields] == []


def patterns_in(part: Any) -> set[str]:
    """All regular expressions in a part of the document."""
    if isinstance(part, list):
        return set().union(*map(patterns_in, part))
    if not isinstance(part, dict):
        return set()
    patterns = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    return patterns.union(*map(patterns_in, part.values()))


def test_no_pattern_accepts_a_trailing_line_break() -> None:
    """Python's `$` matches before a final line feed as well; `(?!\\n)` before it does not."""
    patterns = patterns_in(DOCUMENT)
    assert len(patterns) > 10
    assert [pattern for pattern in patterns if pattern.endswith("$") and not pattern.endswith(r"(?!\n)$")] == []


async def test_the_reference_loads_nothing_from_other_hosts(stranger: Any) -> None:
    page = await stranger.http.get("/docs")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert not re.search(r"<script(?![^>]*src=)|\bon\w+=|https?://", page.text), "no inline script and no other host"
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) == 3
    for address in addresses:
        assert address.startswith("/")
        assert (await stranger.http.get(address)).status_code == 200
    assert (await stranger.http.get("/openapi.json")).json() == DOCUMENT


async def test_the_document_is_written_once_at_the_first_request(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing it takes half a second: a server that is not asked for it does not start later for it."""
    written = []

    def write(*arguments: Any) -> Any:
        written.append(arguments)
        return document(*arguments)

    monkeypatch.setattr(instance, "document", write)
    client = Client(make_app(world))
    assert not written
    responses = await asyncio.gather(*(client.http.get("/openapi.json") for _ in range(3)))
    assert [response.json() for response in responses] == [DOCUMENT] * 3
    assert len(written) == 1


# Clients generated from the document ----------------------------------------------------------------------------------

GENERATORS = Path(__file__).parent / "peers" / "openapi_ts"
INSTALL_GENERATORS = "npm install --no-package-lock --prefix tests/peers/openapi_ts"
PYTHON_GENERATOR = Path(__file__).parent / "peers" / "openapi_python_client" / "packages"
INSTALL_PYTHON_GENERATOR = (
    "python3 -m pip install --no-deps --require-hashes --target tests/peers/openapi_python_client/packages "
    "-r tests/peers/openapi_python_client/requirements.txt"
)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
ENTRIES = [entry for methods in DOCUMENT["paths"].values() for entry in methods.values()]
PROPERTIES = [
    (name, field, schema) for name, record in SCHEMAS.items() for field, schema in record.get("properties", {}).items()
]
"""Schema name, property name and schema of each property."""


def has_reference(part: Any) -> bool:
    return "$ref" in json.dumps(part)


def test_every_property_has_a_description_and_an_example() -> None:
    """Regression test of N10 (tests/defects.md)."""
    assert len(PROPERTIES) > 1_400
    undescribed = [f"{name}.{field}" for name, field, schema in PROPERTIES if not schema.get("description")]
    assert undescribed == [], "Describe them in a string below the field, or in postern/reference.py."
    without_example = [
        f"{name}.{field}" for name, field, schema in PROPERTIES if not (has_reference(schema) or schema.get("examples"))
    ]
    assert without_example == [], "Add examples in postern/reference.py."


def test_examples_of_properties_fit() -> None:
    """Regression test of N10 (tests/defects.md)."""
    for name, field, schema in PROPERTIES:
        if has_reference(schema):
            continue
        for example in schema["examples"]:
            errors = [error.message for error in Draft202012Validator(schema).iter_errors(example)]
            assert errors == [], f"{name}.{field}: {example!r}"


def test_references_in_the_document_resolve() -> None:
    """Regression test of N10 (tests/defects.md)."""
    fields = {field for _, field, _ in PROPERTIES}
    for key in [*REFERENCE.fields, *REFERENCE.examples]:
        assert key.rpartition(".")[2] in fields, f"postern/reference.py: {key}"


def test_schema_and_operation_names_are_valid_identifiers() -> None:
    """Regression test of N10 (tests/defects.md)."""
    for name, schema in SCHEMAS.items():
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]+", name), name
        assert schema["title"] == name
    ids = [entry["operationId"] for entry in ENTRIES]
    assert len({identifier.lower() for identifier in ids}) == len(ids)
    assert [identifier for identifier in ids if not re.fullmatch(r"[a-z][A-Za-z0-9]+", identifier)] == []
    assert not {"Goodbye", "Tried", "Asked", "Linked", "Change"} & set(SCHEMAS)
    assert [identifier for identifier in ids if re.search(r"Of(Accounts|Organizations|Customers)$", identifier)] == []


def test_every_array_says_what_its_items_are() -> None:
    untyped = [f"{name}.{field}" for name, field, schema in PROPERTIES if schema.get("items", schema) == {}]
    assert untyped == []
    assert SCHEMAS["EmailBatch"]["properties"]["emails"]["items"] == {"$ref": "#/components/schemas/Email"}


def test_no_property_has_a_default() -> None:
    """Regression test of N10 (tests/defects.md)."""
    assert [f"{name}.{field}" for name, field, schema in PROPERTIES if "default" in schema] == []


def test_fields_of_responses_are_required() -> None:
    """Regression test of N10 (tests/defects.md)."""
    for name in ("EmailLogEntryPage", "EmailLogEntry", "Campaign", "Customer", "ProblemDocument"):
        assert set(SCHEMAS[name]["required"]) == set(SCHEMAS[name]["properties"]), name


def test_every_body_and_response_has_a_schema() -> None:
    """Regression test of N10 (tests/defects.md)."""
    for entry in ENTRIES:
        contents = [entry.get("requestBody", {}).get("content", {})]
        contents += [response.get("content", {}) for response in entry["responses"].values()]
        for content in contents:
            for media_type, media in content.items():
                assert media.get("schema"), (entry["operationId"], media_type)
                if media_type == FORM:
                    assert media["schema"]["properties"], entry["operationId"]


async def test_response_headers_are_documented(project: Any, new_project: Any) -> None:
    """Regression test of N10 (tests/defects.md)."""
    known = {name.lower() for name in DOCUMENT["components"]["headers"]}
    standard = {"content-type", "content-length", "cache-control", "x-content-type-options", "x-request-id"}
    created = await project.client.post("/contacts", {"email": "ada@example.com"})
    mail = {"to": ["a@example.com"], "from": "a@acme.example", "subject": "x", "html": "<p>x</p>"}
    for _ in range(2):
        sent = await project.client.post("/emails", mail, headers={"idempotency-key": "one"})
    await project.client.post("/emails", mail)
    responses = {
        ("/projects/{projectId}/contacts", "post"): created,
        ("/projects/{projectId}/contacts/{id}", "get"): await project.client.get(f"/contacts/{created.json()['id']}"),
        ("/projects/{projectId}/emails", "post"): sent,
        ("/projects/{projectId}/emails/logs", "get"): await project.client.get("/emails/logs?limit=1"),
        ("/projects/{projectId}/contacts/export", "get"): await project.client.get("/contacts/export"),
    }
    for (path, method), response in responses.items():
        headers = DOCUMENT["paths"][path][method]["responses"][str(response.status_code)]["headers"]
        assert "X-Request-Id" in headers
        documented = {name.lower() for name in headers}
        assert set(response.headers) - standard <= documented <= known, path
    assert "etag" in responses[("/projects/{projectId}/contacts/{id}", "get")].headers
    limited = next(iter(DOCUMENT["paths"]["/auth/sign-in"].values()))["responses"]["429"]
    assert "Retry-After" in limited["headers"]


@pytest.mark.needs_node
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_every_pattern_is_valid_in_javascript(tmp_path: Path) -> None:
    """Regression test of N10 (tests/defects.md)."""
    (tmp_path / "patterns.json").write_text(json.dumps(sorted(patterns_in(DOCUMENT))))
    script = f"""
      const patterns = JSON.parse(require("node:fs").readFileSync("{tmp_path}/patterns.json", "utf8"));
      for (const pattern of patterns) new RegExp(pattern, "u");
      console.log(patterns.length);
    """
    result = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr


def run_in(folder: Path, *command: str | Path, **env: str) -> str:
    """Run a program without a network (its proxies do not exist) and return its output. Raises AssertionError."""
    no_proxy_server = "http://127.0.0.1:9"
    result = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={
            **os.environ,
            "HTTPS_PROXY": no_proxy_server,
            "HTTP_PROXY": no_proxy_server,
            "ALL_PROXY": no_proxy_server,
            "CI": "1",
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout[-4_000:] + result.stderr[-4_000:]
    return result.stdout + result.stderr


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
  const subject: string | undefined = log.data?.data[0]?.subject;
  const contact = await postern.POST("/projects/{projectId}/contacts", {
    params: { path },
    body: { email: "ada@example.com" },
  });
  // @ts-expect-error an e-mail must have recipients
  await postern.POST("/projects/{projectId}/emails", { params: { path }, body: { from: "a@b.example" } });
  return `${sent.data.id} ${sent.data.status} ${subject} ${contact.data?.id}`;
}

type Names = keyof operations;
export const all: Record<Names, true> = NAMES;
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
  const subject: string | undefined = log.data?.data[0]?.subject;
  const contact = await createContact({ path, body: { email: "ada@example.com" } });
  return `${sent.data?.id} ${sent.data?.status} ${subject} ${contact.data?.id}`;
}

import * as sdk from "./client/sdk.gen";
export const all: Record<string, unknown> = { NAMES };
"""


def operation_ids() -> list[str]:
    return [entry["operationId"] for entry in ENTRIES]


@pytest.mark.needs_node
@needs_generators
def test_openapi_typescript_generates_types_of_every_operation(tmp_path: Path) -> None:
    """Regression test of N10 (tests/defects.md)."""
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
    """Regression test of N10 (tests/defects.md)."""
    (tmp_path / "node_modules").symlink_to(GENERATORS / "node_modules")
    (tmp_path / "openapi.json").write_bytes(to_json(DOCUMENT))
    (tmp_path / "tsconfig.json").write_text(json.dumps(PROJECT_FILE))
    # In an array, the compiler would compare the type of each function with the types of all others.
    names = ", ".join(f"{name}: sdk.{name}" for name in operation_ids())
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
    """Regression test of N10 (tests/defects.md)."""
    (tmp_path / "openapi.json").write_bytes(to_json(DOCUMENT))
    (tmp_path / "config.yaml").write_text("post_hooks: []\npackage_name_override: client\n")
    output = run_in(
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
    assert "will not be generated" not in output, output
    assert "Unable to process schema" not in output, output
    assert "Could not find reference" not in output, output
    generated = {file.stem.replace("_", "") for file in (tmp_path / "client" / "api").glob("*/*.py")}
    assert {name.lower() for name in operation_ids()} - generated == set()
    (tmp_path / "calls.py").write_text(PYTHON_CALLS)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["calls.py"]}')
    # Without it, the checker takes the packages of the `python` in PATH, which may lack those of the client.
    run_in(tmp_path, sys.executable, "-m", "basedpyright", "-p", ".", "--pythonpath", sys.executable)
    script = "import calls, importlib, pkgutil, client.api as api\n"
    script += "[importlib.import_module(m.name) for m in pkgutil.walk_packages(api.__path__, 'client.api.')]"
    run_in(tmp_path, sys.executable, "-c", script)


# The page --------------------------------------------------------------------------------------------------------

SWAGGER_UI = Path(__file__).parent.parent / "postern" / "web" / "assets" / "swagger-ui"


def test_the_reference_uses_unmodified_published_files() -> None:
    """Regression test of N10 (tests/defects.md)."""
    lines = (SWAGGER_UI / "SHA256SUMS").read_text().splitlines()
    for line in lines:
        checksum, name = line.split()
        assert hashlib.sha256((SWAGGER_UI / name).read_bytes()).hexdigest() == checksum, name
    assert {line.split()[1] for line in lines} | {"SHA256SUMS", "README.md"} == {
        file.name for file in SWAGGER_UI.iterdir()
    }
    assert "Apache License" in (SWAGGER_UI / "LICENSE").read_text()
