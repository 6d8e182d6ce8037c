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
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
import schemathesis
import structlog
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
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
"""However busy the machine is."""
DEEP = int(os.environ.get("POSTERN_FUZZ", "0"))
EXAMPLES = DEEP or 5

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
"""All checks of Schemathesis but these, which the service means to answer otherwise:
`positive_data_acceptance`, because rules that a schema cannot say (an address exists, a time lies ahead) refuse
well-formed input; `missing_required_header`, because no header is required; `unsupported_method`,
`ignored_auth`, `use_after_free` and `ensure_resource_availability`, which tests/test_contract.py and the features'
own tests show for every operation, with records that are there."""

DOCUMENT = document(OPERATIONS, examples.EXAMPLES, REFERENCE)
BY_PLACE: dict[tuple[str, str], Operation[Any, Any]] = {
    (each.method, each.wire_path): each for each in OPERATIONS if not each.hidden
}


@dataclass
class Actor:
    """An account with a project and one of everything in it, and its four kinds of credentials."""

    server: WholeServer
    project: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict, repr=False)
    """The identifier of a record there is, by the path that leads to it."""
    refused: dict[str, str] = field(default_factory=dict, repr=False)
    """The examples that were refused, and why."""

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.server.url, timeout=WAIT_SECONDS)
        made = asyncio.run(self.server.account())
        self.project = made.project_id
        self.tokens["developer"] = made.developer_token
        base = f"/projects/{self.project}"
        for kind in ("SECRET", "PUBLISHABLE"):
            made = self._call("POST", f"{base}/api-keys", {"name": kind, "type": kind})
            self.tokens[f"{kind.lower()}_key"] = made.json()["key"]
        self._call("PATCH", base, {"settings": {"signIn": {"verifyEmail": "LATER"}}})
        customer = {"email": f"{uuid4().hex}@example.com", "password": "a password nobody has"}
        made = self.http.post(f"{base}/auth/sign-up", json=customer)
        assert made.status_code == 201, made.text
        self.tokens["customer"] = made.json()["accessToken"]
        self._make_one_of_everything()

    def is_alive(self) -> bool:
        """Whether the credentials still work: some operations end them."""
        for kind in ("developer", "secret_key"):
            headers = {"Authorization": f"Bearer {self.tokens[kind]}"}
            answer = self.http.get(f"/projects/{self.project}", headers=headers)
            if answer.status_code != 200 or answer.json()["settings"]["rateLimit"] is not None:
                return False
        headers = {"Authorization": f"Bearer {self.tokens['customer']}"}
        return self.http.get(f"/projects/{self.project}/auth/me", headers=headers).status_code == 200

    def token_for(self, each: Operation[Any, Any], chance: int) -> str | None:
        """One of the credentials that an operation accepts."""
        kinds = sorted(each.accepts - {"nobody"}) + ([""] if "nobody" in each.accepts else [])
        return self.tokens.get(kinds[chance % len(kinds)]) if kinds else None

    def path(self, wire_path: str) -> dict[str, str]:
        """Path parameters that lead to a record, as far as one is known."""
        found: dict[str, str] = {}
        for number, part in enumerate(parts := wire_path.split("/")):
            if part.startswith("{"):
                name = part.strip("{}")
                own = self.project if name in ("projectId", "appId") else None
                value = own or self.known.get("/".join(parts[: number + 1]))
                if value:
                    found[name] = value
        return found

    def _make_one_of_everything(self) -> None:
        shown = sorted(BY_PLACE.values(), key=lambda each: each.wire_path.count("/"))
        for each in shown:
            if each.method == "POST" and each.example is not None and "developer" in each.accepts:
                answer = self._call("POST", self.fill(each.wire_path), each.example)
                assert answer.status_code < 500, f"{each.wire_path}: {answer.text}"
                if answer.status_code >= 400:
                    self.refused[each.wire_path] = answer.text
                else:
                    self._learn(each.wire_path, answer.json())
        for each in shown:
            if each.method == "GET" and "developer" in each.accepts:
                answer = self._call("GET", self.fill(each.wire_path))
                if answer.status_code == 200 and answer.headers["content-type"] == "application/json":
                    self._learn(each.wire_path, answer.json())

    def _learn(self, collection: str, answer: Any) -> None:
        items = answer.get("data", [answer]) if isinstance(answer, dict) else answer
        if not items or not isinstance(items, list) or not isinstance(items[0], dict):
            return
        deeper = {
            path[: path.index("}", len(collection)) + 1] for _, path in BY_PLACE if path.startswith(f"{collection}/{{")
        }
        for place in deeper:
            name = place.rpartition("{")[2].rstrip("}")
            for candidate in (name, "id", "key", "address", "email"):
                if isinstance(items[0].get(candidate), str):
                    self.known.setdefault(place, items[0][candidate])
                    break

    def fill(self, wire_path: str) -> str:
        for name, value in self.path(wire_path).items():
            wire_path = wire_path.replace("{" + name + "}", quote(value, safe=""))
        return wire_path

    def _call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens['developer']}"}
        return self.http.request(method, path, json=body, headers=headers)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with whole_server(tmp_path_factory.mktemp("fuzzed")) as server:
        yield server
    structlog.reset_defaults()


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
        **({} if DEEP else {"seed": 1}),
        "generation": {
            "max-examples": EXAMPLES,
            "deterministic": not DEEP,
            # Unknown query parameters are ignored: what proxies and mail programs append is none of ours.
            "allow-extra-parameters": False,
            # The credential comes from the actor.
            "with-security-parameters": False,
        },
        # That other methods are refused is shown below, once for each address.
        "phases": {"coverage": {"unexpected-methods": []}},
        # Their steps nest in each other, which makes 16,000 combinations of boundary values of each.
        "operations": [
            {"include-path": path, "phases": {"coverage": {"enabled": bool(DEEP)}}}
            for path in ("/projects/{projectId}/automations", "/projects/{projectId}/automations/{id}")
        ],
    }
)
schema = schemathesis.openapi.from_dict(DOCUMENT, config=config)


# The server draws chance in its thread while Hypothesis draws here, and Hypothesis takes that for ours.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not DEEP,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_the_server_conforms_to_the_openapi_document(case: Case, actor: Actor) -> None:
    each = BY_PLACE[case.method, case.path]
    chance = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode("utf-8", "surrogatepass"))
    if chance % 4:
        case.path_parameters = {**(case.path_parameters or {}), **actor.path(each.wire_path)}
    token = actor.token_for(each, chance)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    case.call_and_validate(base_url=actor.server.url, headers=headers, checks=CHECKS, timeout=WAIT_SECONDS)


@pytest.mark.parametrize("path", sorted({path for _, path in BY_PLACE}))
def test_other_methods_are_rejected(path: str, actor: Actor) -> None:
    there = {method for method, place in BY_PLACE if place == path} | {"HEAD", "OPTIONS"}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - there:
        answer = actor.http.request(method, actor.fill(path))
        assert answer.status_code == 405, f"{method}: {answer.text}"
        assert method not in answer.headers["allow"].split(", ")
        assert answer.json()["code"] == "method_not_allowed"
