"""Access checks: OpenFGA (Go), with its records in memory and in PostgreSQL, beside Postern's operation.

Each question is whether a user may do something in an organization, by the role that the user has there; the answer is
always yes. Both sides know 10,000 users in 1,000 organizations, and answer over HTTP on 8 connections.
"""

import json
import random
import urllib.request
from contextlib import ExitStack
from typing import Any, Final
from uuid import UUID

import uvloop

from bench import access
from bench.customers import Action, Connection, repeat
from bench.emails import free_port, percentile, post
from bench.peers.postern import served
from bench.peers.running import (
    Measurement,
    Seconds,
    find_program,
    listens,
    run_as_peer,
    scratch,
    seconds_of,
    since,
    started,
)
from postern.kernel.database.embedded import run_embedded

USERS, ORGANIZATIONS, ROLES, PERMISSIONS = 10_000, 1_000, 100, 100
CONNECTIONS: Final = 8
SECONDS: Final = 8.0
BATCH: Final = 100
"""Tuples of one write request: OpenFGA's limit."""
DATABASE_ADDRESS: Final = "127.0.87.1"
"""Where the bundled PostgreSQL listens on its usual port for a program that cannot use its socket."""
MODEL: Final = {
    "schema_version": "1.1",
    "type_definitions": [
        {"type": "user"},
        {
            "type": "role",
            "relations": {"assignee": {"this": {}}},
            "metadata": {"relations": {"assignee": {"directly_related_user_types": [{"type": "user"}]}}},
        },
        {
            "type": "organization",
            "relations": {"can_write": {"this": {}}},
            "metadata": {
                "relations": {"can_write": {"directly_related_user_types": [{"type": "role", "relation": "assignee"}]}}
            },
        },
    ],
}


def rate_of(port: int, action: Action, seconds: Seconds, connections: int = CONNECTIONS) -> Measurement:
    """Repeat a request on each connection, after a short warm-up."""
    uvloop.run(repeat(port, connections, 2.0, action))
    before = seconds()
    rate, times = uvloop.run(repeat(port, connections, SECONDS, action))
    used = since(before, seconds(), len(times))
    return Measurement(rate, used, f"p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms")


def postern() -> Measurement:
    """`POST …/access/check` with a secret key."""
    chance = random.Random(7)
    with served() as (server, url, seconds):
        project, key, _ = server.project()
        access.fill(url, UUID(project), USERS, ORGANIZATIONS, ROLES, PERMISSIONS)

        async def check(connection: Connection, _: int) -> None:
            number = chance.randint(1, USERS)
            role = number * 2 % ROLES + 1
            permission = (role * 7 + chance.randint(1, 20) * 31) % PERMISSIONS + 1
            body = {
                "permission": f"area{permission}:write",
                "customerId": str(UUID(int=number)),
                "organizationId": str(UUID(int=number % ORGANIZATIONS + 1)),
            }
            status, answer = await connection.send(post(f"/projects/{project}/access/check", key, body))
            assert (status, b'"allowed":true' in answer) == (200, True), answer

        return rate_of(server.port, check, seconds)


def openfga(engine: str) -> Measurement:
    """`POST /stores/…/check` with the given datastore engine: `memory` or `postgres`. Raises PeerMissing."""
    program = find_program(
        "OPENFGA",
        "openfga",
        "run `go install github.com/openfga/openfga/cmd/openfga@latest` and set OPENFGA to its path",
    )
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        port, grpc_port = free_port(), free_port()
        roots: dict[str, int] = {}
        datastore = ["--datastore-engine", engine]
        if engine == "postgres":
            database_folder = stack.enter_context(scratch())
            settings = {"listen_addresses": DATABASE_ADDRESS}
            database = stack.enter_context(run_embedded(database_folder / "data", settings=settings))
            assert database.pid
            roots["PostgreSQL"] = database.pid
            uri = f"postgres://postern@{DATABASE_ADDRESS}:5432/postern?sslmode=disable"
            datastore += ["--datastore-uri", uri]
            run_as_peer([program, "migrate", *datastore], folder)
        command = [program, "run", *datastore, "--http-addr", f"127.0.0.1:{port}"]
        command += ["--grpc-addr", f"127.0.0.1:{grpc_port}", "--playground-enabled=false", "--metrics-enabled=false"]
        command += ["--log-level", "error"]
        process = stack.enter_context(started(command, folder, ready=lambda: listens(port)))
        return _checks(port, seconds_of(OpenFGA=process.pid, **roots))


def _checks(port: int, seconds: Seconds) -> Measurement:
    chance = random.Random(7)
    store = _call(port, "/stores", {"name": "bench"})["id"]
    model = _call(port, f"/stores/{store}/authorization-models", MODEL)["authorization_model_id"]
    tuples = [
        {"user": f"role:{n}#assignee", "relation": "can_write", "object": f"organization:{n}"}
        for n in range(1, ORGANIZATIONS + 1)
    ]
    tuples += [
        {"user": f"user:{n}", "relation": "assignee", "object": f"role:{n % ORGANIZATIONS + 1}"}
        for n in range(1, USERS + 1)
    ]
    for start in range(0, len(tuples), BATCH):
        written = {"tuple_keys": tuples[start : start + BATCH]}
        _call(port, f"/stores/{store}/write", {"writes": written, "authorization_model_id": model})

    async def check(connection: Connection, _: int) -> None:
        number = chance.randint(1, USERS)
        question = {
            "user": f"user:{number}",
            "relation": "can_write",
            "object": f"organization:{number % ORGANIZATIONS + 1}",
        }
        request = post(f"/stores/{store}/check", "-", {"tuple_key": question, "authorization_model_id": model})
        status, answer = await connection.send(request)
        assert (status, b'"allowed":true' in answer) == (200, True), answer

    return rate_of(port, check, seconds)


def _call(port: int, path: str, body: object) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)
