"""Sign-in and tokens of customers: Keycloak (Java) with PostgreSQL, beside Postern.

64 customers, whose passwords both sides hash by argon2id with 19 MiB, two iterations and one thread; 32 connections.
A refresh token can be used once.
"""

import itertools
import json
import os
import shutil
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import uvloop

from bench.customers import (
    CONNECTIONS,
    CUSTOMERS,
    PASSWORD,
    Action,
    Connection,
    create_sessions,
    import_customers,
    reading,
    refreshing,
    repeat,
    sign_in_request,
)
from bench.emails import free_port, percentile
from bench.peers.access import DATABASE_ADDRESS
from bench.peers.postern import served
from bench.peers.running import (
    Failed,
    Measurement,
    PeerMissing,
    Seconds,
    listens,
    own,
    scratch,
    seconds_of,
    since,
    started,
)
from postern.kernel.database.embedded import run_embedded

SECONDS: Final = 4.0
REALM: Final = "/realms/bench/protocol/openid-connect"
CLIENT: Final = {"client_id": "bench", "client_secret": "a secret of the benchmark"}
ARGON2: Final = {"iterations": 2, "memory": 19_456, "parallelism": 1}
"""The parameters of Postern's password hashes. Keycloak's own are 5 iterations with 7,168 KiB."""
SIGN_IN, REFRESH, PROFILE, CHECK = "password sign-in", "token refresh", "profile by access token", "token check"


def rates(port: int, actions: Mapping[str, Action], seconds: Seconds, warm_up: float) -> dict[str, Measurement]:
    """Repeat each action on all connections after a warm-up in seconds."""
    measured: dict[str, Measurement] = {}
    for name, action in actions.items():
        uvloop.run(repeat(port, CONNECTIONS, warm_up, action))
        before = seconds()
        rate, times = uvloop.run(repeat(port, CONNECTIONS, SECONDS, action))
        used = since(before, seconds(), len(times))
        remark = f"p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms"
        measured[name] = Measurement(rate, used, remark)
    return measured


def postern() -> Mapping[str, Measurement]:
    """Sign-ins, refreshes, and `GET …/auth/me`, which checks the token, its session and the customer."""
    with served() as (server, _, seconds):
        project, _, addresses = import_customers(server, CUSTOMERS)
        sessions = uvloop.run(create_sessions(server.port, project, addresses))

        async def sign_in(connection: Connection, number: int) -> None:
            status, body = await connection.send(sign_in_request(project, addresses[number]))
            assert status == 200, body

        actions = {
            SIGN_IN: sign_in,
            REFRESH: refreshing(project, sessions),
            PROFILE: reading(project, sessions),
        }
        measured = rates(server.port, actions, seconds, warm_up=0.5)
        return {**measured, CHECK: measured[PROFILE]}


def keycloak() -> Mapping[str, Measurement]:
    """Direct access grants, refreshes, userinfo, and token introspection. Raises PeerMissing."""
    distribution = Path(os.environ.get("KEYCLOAK", "keycloak")).absolute()
    if not (distribution / "bin/kc.sh").exists() or not shutil.which("java"):
        raise PeerMissing(
            f"there is no Keycloak in {distribution}: unpack org.keycloak:keycloak-quarkus-dist from Maven, set "
            "KEYCLOAK to its folder, and install Java 17 or newer"
        )
    port = free_port()
    settings = {"listen_addresses": DATABASE_ADDRESS}
    with scratch() as folder, scratch() as database_folder:
        home = folder / "keycloak"
        shutil.copytree(distribution, home)
        (home / "data/import").mkdir(parents=True)
        (home / "data/import/bench.json").write_text(json.dumps(realm()))
        for path in (home, *home.rglob("*")):
            own(path, folder)
        options = {
            "db": "postgres",
            "db-url": f"jdbc:postgresql://{DATABASE_ADDRESS}:5432/postern",
            "db-username": "postern",
            "db-password": "any",
            "http-enabled": "true",
            "http-host": "127.0.0.1",
            "http-port": port,
            "hostname-strict": "false",
            "cache": "local",
            "log-level": "WARN",
            **{f"spi-password-hashing--argon2--{name}": value for name, value in ARGON2.items()},
        }
        command = [home / "bin/kc.sh", "start", "--import-realm", *(f"--{name}={options[name]}" for name in options)]
        with (
            run_embedded(database_folder / "data", settings=settings) as database,
            started(command, folder, ready=lambda: listens(port)) as process,
        ):
            assert database.pid
            sessions = uvloop.run(_sign_in_all(port))
            seconds = seconds_of(Keycloak=process.pid, PostgreSQL=database.pid)
            return rates(port, _actions(sessions), seconds, warm_up=10.0)


def realm() -> dict[str, Any]:
    """The realm that Keycloak imports: one client and the customers."""
    users = [
        {
            "username": f"ada{number}",
            "email": f"ada{number}@example.com",
            "emailVerified": True,
            "firstName": "Ada",
            "lastName": "Lovelace",
            "enabled": True,
            "credentials": [{"type": "password", "value": PASSWORD}],
        }
        for number in range(CUSTOMERS)
    ]
    client = {
        "clientId": CLIENT["client_id"],
        "secret": CLIENT["client_secret"],
        "protocol": "openid-connect",
        "publicClient": False,
        "standardFlowEnabled": False,
        "directAccessGrantsEnabled": True,
        # Keycloak tells a client only about tokens whose audience contains it.
        "protocolMappers": [
            {
                "name": "audience",
                "protocol": "openid-connect",
                "protocolMapper": "oidc-audience-mapper",
                "config": {"included.client.audience": CLIENT["client_id"], "access.token.claim": "true"},
            }
        ],
    }
    return {
        "realm": "bench",
        "enabled": True,
        "sslRequired": "none",
        "passwordPolicy": "hashAlgorithm(argon2)",
        "accessTokenLifespan": 3600,
        "revokeRefreshToken": True,
        "refreshTokenMaxReuse": 0,
        "clients": [client],
        "users": users,
    }


def form(path: str, **fields: str) -> bytes:
    """The octets of a POST request with form fields and the client's credentials."""
    content = urllib.parse.urlencode({**CLIENT, **fields}).encode()
    head = f"POST {REALM}{path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def _password_grant(number: int) -> bytes:
    return form("/token", grant_type="password", scope="openid", username=f"ada{number}", password=PASSWORD)


async def _sign_in_all(port: int) -> list[dict[str, Any]]:
    """Sign in five times with each customer; returns the responses. Raises Failed."""
    sessions: list[dict[str, Any]] = []
    async with Connection(port, 0) as connection:
        for number in range(CUSTOMERS):
            for _ in range(5):
                status, body = await connection.send(_password_grant(number))
                if status != 200:
                    raise Failed(f"Keycloak answers {status} to a sign-in: {body[:200]!r}")
                sessions.append(json.loads(body))
    return sessions


def _actions(sessions: list[dict[str, Any]]) -> dict[str, Action]:
    counter = itertools.count()

    async def sign_in(connection: Connection, number: int) -> None:
        status, body = await connection.send(_password_grant(number))
        assert status == 200, body

    async def refresh(connection: Connection, _: int) -> None:
        session = sessions[next(counter) % len(sessions)]
        request = form("/token", grant_type="refresh_token", refresh_token=session["refresh_token"])
        status, body = await connection.send(request)
        assert status == 200, body
        session.update(json.loads(body))

    async def profile(connection: Connection, number: int) -> None:
        token = sessions[number]["access_token"]
        head = f"GET {REALM}/userinfo HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n"
        status, body = await connection.send(head.encode())
        assert status == 200, body

    async def introspect(connection: Connection, number: int) -> None:
        status, body = await connection.send(form("/token/introspect", token=sessions[number]["access_token"]))
        assert (status, b'"active":true' in body) == (200, True), body

    return {SIGN_IN: sign_in, REFRESH: refresh, PROFILE: profile, CHECK: introspect}
