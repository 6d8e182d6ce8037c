"""Schemathesis generates requests from the OpenAPI document and sends them to a real server.

There must be no 5xx, no undocumented status or media type and no response that does not match its schema, and requests
that are invalid according to the document must be rejected. By default each operation gets a few requests, the same in
every run. To send more, random ones:

    POSTERN_FUZZ=200 script/test tests/test_schemathesis.py -n 2
"""

import asyncio
import logging
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
import requests
import schemathesis
import structlog
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from postern import examples
from postern.app import OPERATIONS
from postern.kernel.http.openapi import document
from postern.kernel.http.operation import Operation
from postern.reference import REFERENCE
from tests.peers.whole_server import WholeServer, whole_server

WAIT_SECONDS = 120
"""Long, because the machine may be slow."""
FUZZ_EXAMPLES = int(os.environ.get("POSTERN_FUZZ", "0"))
EXAMPLES = FUZZ_EXAMPLES or 3

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
"""All checks of Schemathesis except these: `positive_data_acceptance`, because rules that a schema cannot express (a
time must be in the future) reject valid input; `missing_required_header`, because no header is required;
`unsupported_method`, `ignored_auth`, `use_after_free` and `ensure_resource_availability`, because test_contract.py and
the tests of the features check this for every operation."""

BATCHES = (("POST", "/projects/{projectId}/emails/batch"), ("POST", "/projects/{projectId}/customers/import/rows"))
"""Their responses have an error for each invalid item (service.md, “Errors”, 3), and the others are processed."""

DOCUMENT = document(OPERATIONS, examples.EXAMPLES, REFERENCE)
OPERATION_BY_ROUTE: dict[tuple[str, str], Operation[Any, Any]] = {
    (operation.method, operation.wire_path): operation
    for operation in OPERATIONS
    # The response of a stream would last for minutes.
    if not operation.hidden and "text/event-stream" not in operation.media_types
}


@dataclass
class Actor:
    """An account with a project, one record of each kind, and four kinds of credentials."""

    server: WholeServer
    project: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    record_ids: dict[str, str] = field(default_factory=dict, repr=False)
    """Identifiers of existing records, by path such as `/projects/{projectId}/contacts/{id}`."""
    rejected_examples: dict[str, str] = field(default_factory=dict, repr=False)
    """The paths whose example body was rejected, and the response."""

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.server.url, timeout=WAIT_SECONDS)
        # Keeps the connection to the server for the next request, but no cookies.
        self.session = requests.Session()
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        # It would read all variables of the environment twice per request, for proxies.
        self.session.trust_env = False
        account = asyncio.run(self.server.account())
        self.project = account.project_id
        self.tokens["developer"] = account.developer_token
        base = f"/projects/{self.project}"
        for kind in ("SECRET", "PUBLISHABLE"):
            created = self._call("POST", f"{base}/api-keys", {"name": kind, "type": kind})
            self.tokens[f"{kind.lower()}_key"] = created.json()["key"]
        self._call("PATCH", base, {"settings": {"signIn": {"verifyEmail": "LATER"}}})
        customer = {"email": f"{uuid4().hex}@example.com", "password": "a long password of a customer"}
        signed_up = self.http.post(f"{base}/auth/sign-up", json=customer)
        assert signed_up.status_code == 201, signed_up.text
        self.tokens["customer"] = signed_up.json()["accessToken"]
        self._create_records()

    def is_alive(self) -> bool:
        """Whether the credentials are still valid: some operations revoke them."""
        for kind in ("developer", "secret_key"):
            headers = {"Authorization": f"Bearer {self.tokens[kind]}"}
            response = self.http.get(f"/projects/{self.project}", headers=headers)
            if response.status_code != 200 or response.json()["settings"]["rateLimit"] is not None:
                return False
        headers = {"Authorization": f"Bearer {self.tokens['customer']}"}
        return self.http.get(f"/projects/{self.project}/auth/me", headers=headers).status_code == 200

    def token_for(self, operation: Operation[Any, Any], number: int) -> str | None:
        """One of the credentials that an operation accepts, chosen by `number`; None for no credential."""
        kinds = sorted(operation.accepts - {"anonymous"}) + ([""] if "anonymous" in operation.accepts else [])
        return self.tokens.get(kinds[number % len(kinds)]) if kinds else None

    def path_parameters(self, wire_path: str) -> dict[str, str]:
        """Path parameters of an existing record, as far as there is one."""
        parameters: dict[str, str] = {}
        for number, part in enumerate(parts := wire_path.split("/")):
            if part.startswith("{"):
                name = part.strip("{}")
                project = self.project if name in ("projectId", "appId") else None
                value = project or self.record_ids.get("/".join(parts[: number + 1]))
                if value:
                    parameters[name] = value
        return parameters

    def _create_records(self) -> None:
        """Create a record with the example of each POST operation, and read all lists, to learn identifiers."""
        operations = sorted(OPERATION_BY_ROUTE.values(), key=lambda operation: operation.wire_path.count("/"))
        for operation in operations:
            if operation.method == "POST" and operation.example is not None and "developer" in operation.accepts:
                response = self._call("POST", self.fill(operation.wire_path), operation.example)
                assert response.status_code < 500, f"{operation.wire_path}: {response.text}"
                if response.status_code >= 400:
                    self.rejected_examples[operation.wire_path] = response.text
                else:
                    self._remember_ids(operation.wire_path, response.json())
        for operation in operations:
            if operation.method == "GET" and "developer" in operation.accepts:
                response = self._call("GET", self.fill(operation.wire_path))
                if response.status_code == 200 and response.headers["content-type"] == "application/json":
                    self._remember_ids(operation.wire_path, response.json())

    def _remember_ids(self, collection: str, value: Any) -> None:
        """Store the identifiers of the first record in the response of `collection`."""
        items = value.get("data", [value]) if isinstance(value, dict) else value
        if not items or not isinstance(items, list) or not isinstance(items[0], dict):
            return
        record_paths = {
            path[: path.index("}", len(collection)) + 1]
            for _, path in OPERATION_BY_ROUTE
            if path.startswith(f"{collection}/{{")
        }
        for record_path in record_paths:
            name = record_path.rpartition("{")[2].rstrip("}")
            for candidate in (name, "id", "key", "address", "email"):
                if isinstance(items[0].get(candidate), str):
                    self.record_ids.setdefault(record_path, items[0][candidate])
                    break

    def fill(self, wire_path: str) -> str:
        """The path with the identifiers of existing records."""
        for name, value in self.path_parameters(wire_path).items():
            wire_path = wire_path.replace("{" + name + "}", quote(value, safe=""))
        return wire_path

    def _call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens['developer']}"}
        return self.http.request(method, path, json=body, headers=headers)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    previous_config = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with whole_server(tmp_path_factory.mktemp("fuzzed")) as server:
        yield server
    structlog.configure(**previous_config)


@pytest.fixture(scope="module")
def actors(server: WholeServer) -> list[Actor]:
    return [Actor(server)]


@pytest.fixture
def actor(actors: list[Actor], server: WholeServer) -> Actor:
    if not actors[-1].is_alive():
        actors.append(Actor(server))
    return actors[-1]


config = schemathesis.Config.from_dict(
    {
        **({} if FUZZ_EXAMPLES else {"seed": 1}),
        "generation": {
            "max-examples": EXAMPLES,
            "deterministic": not FUZZ_EXAMPLES,
            # Links accept unknown query parameters, because proxies and mail programs append some.
            "allow-extra-parameters": False,
            # The credential comes from the actor.
            "with-security-parameters": False,
        },
        # `test_other_methods_are_rejected` checks this once for each path.
        "phases": {"coverage": {"unexpected-methods": []}},
        # Nested steps have 16,000 combinations of boundary values.
        "operations": [
            {"include-path": path, "phases": {"coverage": {"enabled": bool(FUZZ_EXAMPLES)}}}
            for path in (
                "/projects/{projectId}/automations",
                "/projects/{projectId}/automations/{id}",
                "/projects/{projectId}/automations/{id}/dry-run",
            )
        ],
    }
)
schema = schemathesis.openapi.from_dict(DOCUMENT, config=config)


SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not FUZZ_EXAMPLES,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


# The server uses `random` in its thread, which Hypothesis attributes to the test.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize(("method", "path"), sorted(OPERATION_BY_ROUTE))
def test_the_server_conforms_to_the_openapi_document(method: str, path: str, actor: Actor) -> None:
    """`@schema.parametrize()` would generate the requests of all operations in every process of a run."""
    wrong_types = Counter[str]()

    def send(case: Case, actor: Actor) -> None:
        if FUZZ_EXAMPLES or not is_repetition(case, wrong_types):
            send_and_check(case, actor)

    test = build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=send,
        given_kwargs={},
        feedback=FeedbackSources(),
        explicit_settings=SETTINGS,
    )
    test(actor=actor)


def is_repetition(case: Case, wrong_types: Counter[str]) -> bool:
    """Whether a request differs from another one only in the wrong type of a value. `wrong_types` counts them by field.

    Schemathesis sends five wrong types for each field and parameter, nearly half of its requests, and the same two
    functions reject them. A field gets null, which may have a meaning of its own, and one or two of the others.
    """
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData) or data.scenario is not CoverageScenario.INCORRECT_TYPE:
        return False
    if has_null(case.body) or "invalid items" in data.description:
        return False
    name = f"{data.parameter} {data.description}"
    wrong_types[name] += 1
    return wrong_types[name] % 4 != zlib.crc32(f"{case.method} {case.path} {name}".encode()) % 4


def has_null(value: Any) -> bool:
    """Whether a value of JSON is null or an object with a null in it, at any depth."""
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    if isinstance(value, list):
        return any(has_null(item) for item in value if isinstance(item, dict))
    return value is None


def send_and_check(case: Case, actor: Actor) -> None:
    """Send a generated request; raises FailureGroup if the response does not conform to the document."""
    operation = OPERATION_BY_ROUTE[case.method, case.path]
    number = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode("utf-8", "surrogatepass"))
    if number % 4:
        case.path_parameters = {**(case.path_parameters or {}), **actor.path_parameters(operation.wire_path)}
    token = actor.token_for(operation, number)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    checks = list(CHECKS)
    if (case.method, case.path) in BATCHES:
        checks.remove(negative_data_rejection)
    response = case.call_and_validate(
        base_url=actor.server.url, session=actor.session, headers=headers, checks=checks, timeout=WAIT_SECONDS
    )
    if (case.method, case.path) in BATCHES and response.status_code == 201:
        assert case.meta is not None
        assert not case.meta.generation.mode.is_negative or any(item["error"] for item in response.json()["data"])


@pytest.mark.parametrize("path", sorted({path for _, path in OPERATION_BY_ROUTE}))
def test_other_methods_are_rejected(path: str, actor: Actor) -> None:
    allowed = {method for method, operation_path in OPERATION_BY_ROUTE if operation_path == path} | {"HEAD", "OPTIONS"}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - allowed:
        response = actor.http.request(method, actor.fill(path))
        assert response.status_code == 405, f"{method}: {response.text}"
        assert method not in response.headers["allow"].split(", ")
        assert response.json()["code"] == "method_not_allowed"
