"""What customers, apps and directories ask for, beside the limit of each in the same run, in a project with a million
customers and 100,000 organizations.

    python -m bench.identity [--customers 1000000] [--organizations 100000] [--seconds 6] [--rounds 3]

All requests go by HTTP to one API process. Each round measures the limit and the requests in turns:

| requests | limit |
|---|---|
| sign-in by password | checks of an argon2id hash on all cores |
| token refresh | one row updated by its primary key, committed durably |
| introspection of a customer's access token, access check with explanation | one row read by its primary key |
| SCIM: create a user, in eight directories in turns | three rows inserted in one durable transaction |
| SCIM: a page of 200 users, of eight directories in turns | 200 documents read |

PostgreSQL (durable), the API and the load share the machine, so only the ratios are meaningful.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlencode, urlsplit
from uuid import UUID, uuid4

import psycopg
import structlog
import uvloop
from psycopg.sql import SQL

from bench.access import PERMISSIONS, fill
from bench.customers import (
    CONNECTIONS,
    CUSTOMERS,
    PASSWORD,
    Action,
    Connection,
    argon2_limit,
    create_sessions,
    get,
    import_customers,
    refreshing,
    repeat,
    sign_in_request,
)
from bench.emails import Server, percentile, post
from bench.scim import CUSTOMERS as CUSTOMER_ROW
from bench.scim import MEMBERS as MEMBER_ROW
from bench.scim import PAGE as BARE_PAGE
from bench.scim import USERS as USER_ROW
from postern.app import HOOKS, make_app
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.world import open_world
from tests.conftest import Client, Tenant
from tests.identity.customers.conftest import AuthClient
from tests.identity.oauth.conftest import Provider, parameters_of
from tests.identity.scim.conftest import USER

DIRECTORY_USERS = 1_000
"""Users of the directory before the first request."""
PAGE_SIZE = 200
WARM_UP_SECONDS = 1.0
FEW_CONNECTIONS = 8
"""Connections of the SCIM requests."""
SEARCH_INDEX = "customers_search"
"""The index that `bench.access.fill` drops, because a million rows take long to insert with it."""
VERIFIED_DOMAIN = """
    insert into organization_domains (project_id, id, organization_id, domain, status, token, verified_at,
                                      watched_since, created_at, updated_at)
    values (%s, gen_random_uuid(), %s, %s, 'VERIFIED', 'bench', now(), now(), now(), now())
"""


@dataclass
class Peer:
    """The server, the project in it, and what each part has prepared."""

    server: Server
    url: str
    project: str
    key: str
    developer_token: str
    customers: int
    organizations: int


@dataclass
class Directory:
    """A directory connection, and its ids as values of the bare statements."""

    domain: str
    path: str
    token: str
    values: dict[str, str]


Limit = Callable[[float], float]
"""A function that measures the limit for some seconds; returns operations per second."""


def database_limit(url: str, connections: int, run: Callable[[psycopg.AsyncConnection], Awaitable[None]]) -> Limit:
    """The rate at which PostgreSQL runs `run` over this number of connections."""

    def measure(seconds: float) -> float:
        async def all_connections() -> float:
            count, ends = 0, time.perf_counter() + seconds

            async def one_connection() -> None:
                nonlocal count
                async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                    while time.perf_counter() < ends:
                        await run(connection)
                        count += 1

            await asyncio.gather(*(one_connection() for _ in range(connections)))
            return count / seconds

        return uvloop.run(all_connections())

    return measure


def compare(peer: Peer, name: str, limit: Limit, action: Action, options: argparse.Namespace, connections: int) -> None:
    """Print the rate of requests beside the limit, measured in turns."""
    rates, ratios, durations = list[float](), list[float](), list[float]()
    uvloop.run(repeat(peer.server.port, connections, WARM_UP_SECONDS, action))
    before = limit(options.seconds / 2)
    limits = [before]
    for _ in range(options.rounds):
        rate, times = uvloop.run(repeat(peer.server.port, connections, options.seconds, action))
        after = limit(options.seconds / 2)
        limits.append(after)
        rates.append(rate)
        ratios.append(rate / ((before + after) / 2))
        durations += times
        before = after
    spread = f"{min(ratios):.3f}-{max(ratios):.3f}"
    print(
        f"{name:36} {statistics.median(rates):9,.0f}/s  p50 {percentile(durations, 0.5):6.1f} ms  "
        f"p99 {percentile(durations, 0.99):6.1f} ms  limit {statistics.median(limits):9,.0f}/s  "
        f"ratio {statistics.median(ratios):.3f} ({spread})",
        flush=True,
    )


def requests_that(answer: int, request_of: Callable[[int], bytes]) -> Action:
    """An action that sends the request with this number, counted over all connections, and expects a status."""
    counter = itertools.count()

    async def send(connection: Connection, _: int) -> None:
        status, body = await connection.send(request_of(next(counter)))
        assert status == answer, (status, body[:300])

    return send


def rows(peer: Peer, chance: random.Random, statement: LiteralString) -> Limit:
    """A statement about one customer, found by the primary key."""

    async def run(connection: psycopg.AsyncConnection) -> None:
        await connection.execute(SQL(statement), (peer.project, UUID(int=chance.randint(1, peer.customers))))

    return database_limit(peer.url, CONNECTIONS, run)


def measure_customers(peer: Peer, options: argparse.Namespace, addresses: list[str], tokens: list[str]) -> None:
    """Sign-ins, refreshes, introspections and access checks."""
    chance = random.Random(7)
    read = rows(peer, chance, "select email from customers where project_id = %s and id = %s")
    update = rows(peer, chance, "update customers set updated_at = now() where project_id = %s and id = %s")

    sign_ins = requests_that(200, lambda n: sign_in_request(peer.project, addresses[n % len(addresses)]))
    compare(peer, "sign-in by password", lambda seconds: argon2_limit(seconds), sign_ins, options, CONNECTIONS)

    sessions = uvloop.run(create_sessions(peer.server.port, peer.project, addresses, times=5))
    compare(peer, "token refresh", update, refreshing(peer.project, sessions), options, CONNECTIONS)

    forms = [
        f"POST /projects/{peer.project}/oauth/introspect HTTP/1.1\r\nHost: bench\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n{form}".encode()
        for form in tokens
    ]
    introspections = requests_that(200, lambda n: forms[n % len(forms)])
    compare(peer, "introspection", read, introspections, options, CONNECTIONS)

    def check(_: int) -> bytes:
        number = chance.randint(1, peer.customers)
        question = {
            "permission": f"area{chance.randint(1, PERMISSIONS)}:write",
            "customerId": str(UUID(int=number)),
            "organizationId": str(UUID(int=number % peer.organizations + 1)),
        }
        return post(f"/projects/{peer.project}/access/check", peer.key, question)

    compare(peer, "access check with explanation", read, requests_that(200, check), options, CONNECTIONS)


def measure_directory(peer: Peer, options: argparse.Namespace) -> None:
    """SCIM requests of directories with some users, each of another organization.

    There are as many as connections, because the requests of one directory are limited, and its changes wait for each
    other.
    """
    directories = [create_directory(peer, number) for number in range(FEW_CONNECTIONS)]
    counter = itertools.count()

    with psycopg.connect(peer.url, autocommit=True) as database:
        database.execute("vacuum analyze")

    def next_directory() -> Directory:
        return directories[next(counter) % len(directories)]

    async def insert(connection: psycopg.AsyncConnection) -> None:
        directory = next_directory()
        one = {"id": SQL("%(id)s::uuid"), "name": SQL("%(name)s::text"), "rows": SQL("(select 1) one")}
        inserted = {**directory.values, "id": uuid4(), "name": f"bare-{uuid4().hex}@{directory.domain}"}
        async with connection.transaction():
            for statement in (CUSTOMER_ROW, MEMBER_ROW, USER_ROW):
                await connection.execute(SQL(statement).format(**one), inserted)

    def create(_: int) -> bytes:
        directory = next_directory()
        address = f"new-{uuid4().hex}@{directory.domain}"
        user = {"schemas": [USER], "userName": address, "emails": [{"value": address}]}
        return post(f"{directory.path}/Users", directory.token, user)

    async def read_page(connection: psycopg.AsyncConnection) -> None:
        cursor = await connection.execute(BARE_PAGE, {**next_directory().values, "offset": DIRECTORY_USERS // 2})
        await cursor.fetchall()

    def page(_: int) -> bytes:
        directory = next_directory()
        query = f"startIndex={DIRECTORY_USERS // 2 + 1}&count={PAGE_SIZE}"
        return get(f"{directory.path}/Users?{query}", directory.token)

    for name, limit, requests in (
        (f"SCIM: page of {PAGE_SIZE}", read_page, requests_that(200, page)),
        ("SCIM: create a user", insert, requests_that(201, create)),
    ):
        compare(peer, name, database_limit(peer.url, FEW_CONNECTIONS, limit), requests, options, FEW_CONNECTIONS)


def create_directory(peer: Peer, number: int) -> Directory:
    """An organization with a verified domain, and a directory with DIRECTORY_USERS users."""
    base, domain = f"/projects/{peer.project}/b2b/organizations", f"directory{number}.example"
    organization = peer.server.call("POST", base, {"name": domain}, peer.key)["id"]
    connection = peer.server.call("POST", f"{base}/{organization}/directory-connections", {"name": domain}, peer.key)
    values = {"project": peer.project, "organization": organization, "connection": connection["id"]}
    filled = {
        "id": SQL("id_after({}, n::int)").format(f"0199{number:04x}-0000-7000-8000-000000000000"),
        "name": SQL("'person-' || n || {}").format(f"@{domain}"),
        "rows": SQL("generate_series(1, {}) n").format(DIRECTORY_USERS),
    }
    with psycopg.connect(peer.url, autocommit=True) as database:
        database.execute(VERIFIED_DOMAIN, (peer.project, organization, domain))
        for statement in (CUSTOMER_ROW, MEMBER_ROW, USER_ROW):
            database.execute(SQL(statement).format(**filled), values)
    return Directory(domain, urlsplit(connection["baseUrl"]).path, connection["token"], values)


async def issue_tokens(peer: Peer, folder: Path, addresses: list[str]) -> list[str]:
    """The forms that introspect access tokens: each of another customer who has signed in on the hosted pages."""
    settings = Settings(
        data=folder,
        secret=peer.server.environment["POSTERN_SECRET"],
        base_url=peer.server.base,
        project_rate=1_000_000,
    )

    async def nothing(*_: Any) -> Any:
        raise AssertionError("The customers are verified, so that nothing is mailed.")

    async with open_world(settings, peer.url, HOOKS) as world:
        app = make_app(world)
        base = f"/projects/{peer.project}"
        tenant = Tenant(
            peer.project, "", "", Client(app, peer.key, base), Client(app, peer.developer_token, base), peer.key
        )
        provider = Provider(AuthClient(app, tenant, nothing, nothing))
        registered = await provider.register(firstParty=True)
        forms: list[str] = []
        for number, address in enumerate(addresses):
            browser = provider.browser()
            browser.client = Client(app, ip=f"127.2.0.{number + 1}")  # The rate of one address is limited.
            returned = await browser.sign_in(await browser.authorize(), address, PASSWORD)
            exchanged = await provider.exchange(parameters_of(returned)["code"])
            assert exchanged.status_code == 200, exchanged.text
            credential = {"client_id": registered["clientId"], "client_secret": registered["clientSecret"]}
            forms.append(urlencode({**credential, "token": exchanged.json()["access_token"]}))
        return forms


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name, run_embedded() as database:
        url, folder = database.url("postgres"), Path(name)
        migrate(url)
        server = Server(folder, url)
        server.start("api")
        try:
            project, key, developer_token = server.project()
            peer = Peer(server, url, project, key, developer_token, options.customers, options.organizations)
            began = time.perf_counter()
            with psycopg.connect(url, autocommit=True) as connection:
                row = connection.execute("select pg_get_indexdef(%s::regclass)", (SEARCH_INDEX,)).fetchone()
                assert row
                fill(url, UUID(project), options.customers, options.organizations)
                connection.execute(SQL(row[0]))
            seconds = time.perf_counter() - began
            print(f"{options.customers:,} customers, {options.organizations:,} organizations in {seconds:.0f} s")
            _, _, addresses = import_customers(server, CUSTOMERS, into=(project, key))
            tokens = uvloop.run(issue_tokens(peer, folder, addresses[:CONNECTIONS]))
            measure_customers(peer, options, addresses, tokens)
            measure_directory(peer, options)
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--customers", type=int, default=1_000_000)
    parser.add_argument("--organizations", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=3)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
