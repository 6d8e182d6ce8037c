"""Requests of a directory with 50,000 users, beside the bare statements that each of them cannot do without.

    python -m bench.scim [--users 50000] [--requests 200]

The endpoints are called over ASGI with an embedded PostgreSQL, one request after the other. The users are inserted with
SQL first. `bare` is the median of one transaction with the rows or the query only, on the same connections in the same
run; `ratio` is the request divided by it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import structlog
import uvloop

from postern.app import HOOKS, make_app
from postern.cli.bootstrap import bootstrap_in
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.limits import RateLimiter
from postern.kernel.values import FixedClock, new_id
from postern.world import open_world
from tests.conftest import Client, Tenant
from tests.identity.organizations.conftest import Directory
from tests.identity.scim.conftest import PATCH, USER, Acme, connect
from tests.peers.dns_zone import dns_zone

DOMAIN = "acme-at-the-bench.example"
CUSTOMERS = """
    insert into customers (project_id, id, email, email_key, email_verified_at, name, metadata, roles, created_at,
                           updated_at)
    select %(project)s, {id}, {name}, {name}, now(), {name}, '{{}}', '{{}}', now(), now() from {rows}
"""
MEMBERS = """
    insert into organization_members (project_id, id, organization_id, customer_id, roles, source, joined_at,
                                      updated_at)
    select %(project)s, {id}, %(organization)s, {id}, '{{MEMBER}}', 'SCIM', now(), now() from {rows}
"""
USERS = """
    insert into directory_users (project_id, id, connection_id, customer_id, external_id, user_name, user_name_key,
                                 active, email_keys, attributes, roles, created_at, updated_at)
    select %(project)s, {id}, %(connection)s, {id}, {name}, {name}, {name}, true, array[{name}],
           jsonb_build_object('userName', {name}, 'active', true, 'emails',
                              jsonb_build_array(jsonb_build_object('value', {name}, 'type', 'work'))),
           '{{MEMBER}}', now(), now() from {rows}
"""
PAGE = """
    select attributes from directory_users where project_id = %(project)s and connection_id = %(connection)s
    order by id limit 200 offset %(offset)s
"""
BY_NAME = """
    select attributes from directory_users
    where project_id = %(project)s and connection_id = %(connection)s and user_name_key = %(name)s
"""


async def measure(user_count: int, request_count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, run_embedded() as server:
        url = server.url("postgres")
        migrate(url)
        async with dns_zone() as zone:
            settings = Settings(
                data=Path(folder), secret="a secret of thirty-two characters", dns=(f"{zone.address}:{zone.port}",)
            )
            async with open_world(settings, url, HOOKS, clock=FixedClock()) as world:
                await provision(world, zone, user_count, request_count)


async def prepared(world: Any, zone: Any, user_count: int) -> tuple[Acme, dict[str, Any]]:
    """An organization with a directory of `user_count` users, and the parameters of the bare statements."""
    app = make_app(world)
    created = await bootstrap_in(world, world.settings.public_url)
    base = f"/projects/{created.project_id}"
    developer = Client(app, created.developer_token, base)
    await developer.patch("", {"settings": {"rateLimit": 100_000}})
    client = Client(app, created.secret_key, base)
    tenant = Tenant(created.project_id, "", created.developer_email, client, developer, created.secret_key)

    async def no_work() -> int:
        return 0

    organizations = Directory(tenant, zone, no_work)
    organization = await organizations.organization("Acme")
    await organizations.verified_domain(organization, DOMAIN, auto_join=False)
    acme = await connect(organizations, organization, DOMAIN, groupRoles={"Administrators": ["ADMIN"]})
    parameters = {
        "project": created.project_id,
        "organization": organization["id"],
        "connection": acme.connection["id"],
        "count": user_count,
    }
    rows = {
        "id": "id_after('01990000-0000-7000-8000-000000000000', n::int)",
        "name": f"'person-' || n || '@{DOMAIN}'",
        "rows": "generate_series(1, %(count)s) n",
    }
    async with world.db.transaction() as tx, tx.connection() as connection:
        for statement in (CUSTOMERS, MEMBERS, USERS):
            await connection.execute(statement.format(**rows), parameters)
    async with world.db.connection() as connection:
        await connection.set_autocommit(True)
        await connection.execute("vacuum analyze")
        await connection.set_autocommit(False)
    return acme, parameters


async def provision(world: Any, zone: Any, user_count: int, request_count: int) -> None:
    acme, parameters = await prepared(world, zone, user_count)

    async def bare(*statements: str, **more: Any) -> None:
        async with world.db.transaction() as tx, tx.connection() as connection:
            for statement in statements:
                cursor = await connection.execute(statement, {**parameters, **more})
                if cursor.description:
                    await cursor.fetchall()

    async def bare_insert(number: int) -> None:
        row = {"id": "%(id)s::uuid", "name": "%(name)s::text", "rows": "(select 1) one"}
        statements = [statement.format(**row) for statement in (CUSTOMERS, MEMBERS, USERS)]
        await bare(*statements, id=new_id(), name=f"bare-{number}-{uuid4().hex}@{DOMAIN}")

    async def call(method: str, path: str, body: Any = None, status: int = 200) -> Any:
        world.limiter = RateLimiter()
        response = await acme.scim.request(method, path, json=body)
        assert response.status_code == status, response.text
        return response.json() if response.content else None

    created: list[str] = []

    async def create(number: int) -> None:
        address = f"new-{number}@{DOMAIN}"
        body = {"schemas": [USER], "userName": address, "externalId": str(number), "emails": [{"value": address}]}
        created.append((await call("POST", "/Users", body, 201))["id"])

    async def deactivate(number: int) -> None:
        operations = [{"op": "replace", "value": {"active": False}}]
        await call("PATCH", f"/Users/{created[number]}", {"schemas": [PATCH], "Operations": operations})

    def page(offset: int) -> Callable[[int], Awaitable[None]]:
        async def read(number: int) -> None:
            del number
            await call("GET", f"/Users?startIndex={offset + 1}&count=200")

        return read

    def bare_page(offset: int) -> Callable[[int], Awaitable[None]]:
        async def read(number: int) -> None:
            del number
            await bare(PAGE, offset=offset)

        return read

    async def find(number: int) -> None:
        name = f"person-{1 + number * 97 % user_count}@{DOMAIN}"
        listed = await call("GET", f'/Users?filter=userName eq "{name}"')
        assert listed["totalResults"] == 1

    async def bare_find(number: int) -> None:
        await bare(BY_NAME, name=f"person-{1 + number * 97 % user_count}@{DOMAIN}")

    few = max(request_count // 4, 5)
    print(f"{user_count:,} users")
    await compare("create", request_count, create, bare_insert)
    await compare("find by userName", request_count, find, bare_find)
    for offset in (0, user_count // 2, max(user_count - 200, 0)):
        await compare(f"page of 200 at {offset:,}", few, page(offset), bare_page(offset))
    await compare("deactivate", request_count, deactivate, None)


async def compare(
    name: str,
    count: int,
    request: Callable[[int], Awaitable[None]],
    bare: Callable[[int], Awaitable[None]] | None,
) -> None:
    """Print the median and 95th percentile of `count` requests, in turns with bare transactions."""
    durations, bare_durations, processor = [], [], []
    for number in range(count):
        began, processor_start = time.perf_counter(), time.process_time()
        await request(number)
        durations.append(time.perf_counter() - began)
        processor.append(time.process_time() - processor_start)
        if bare is not None:
            began = time.perf_counter()
            await bare(number)
            bare_durations.append(time.perf_counter() - began)
    median, p95 = statistics.median(durations) * 1000, statistics.quantiles(durations, n=20)[-1] * 1000
    beside = ""
    if bare_durations:
        bare_median = statistics.median(bare_durations) * 1000
        beside = f"  bare {bare_median:5.2f} ms, ratio {median / bare_median:4.1f}"
    processor_ms = statistics.median(processor) * 1000
    print(f"{name:24} median {median:6.2f} ms  p95 {p95:6.2f} ms  processor {processor_ms:5.2f} ms{beside}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--requests", type=int, default=200)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    arguments = parser.parse_args()
    uvloop.run(measure(arguments.users, arguments.requests))


if __name__ == "__main__":
    main()
