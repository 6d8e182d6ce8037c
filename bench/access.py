"""The rate of access checks and entitlement checks, compared with a plain SELECT by primary key in the same run.

Run: python -m bench.access [customers]

One project has 1,000,000 customers (or the given number), 100,000 organizations, 10,000 roles and 10,000 permissions,
inserted by SQL. PostgreSQL (durable) and this program share the machine, so only the ratios are meaningful. The targets
are a p95 of at most 5 ms and at least 2,000 checks per second, both with 8 concurrent clients.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import structlog
import uvloop

from postern.app import HOOKS, make_app
from postern.cli.bootstrap import bootstrap_in
from postern.identity.access.model import AccessCheck
from postern.identity.access.operations import check_access
from postern.identity.entitlements.model import EntitlementCheck
from postern.identity.entitlements.operations import check_entitlement
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.http.call import Call, Caller, Origin
from postern.kernel.values import to_json
from postern.world import World, open_world

SECRET = "a secret for the length of one benchmark"
CHECKS = 8_000
CONCURRENT = 8
"""Concurrent checks."""
ORGANIZATIONS, ROLES, PERMISSIONS, FEATURES = 100_000, 10_000, 10_000, 200
MAX_P95_SECONDS, MIN_PER_SECOND = 0.005, 2_000

FILL = """
drop index customers_search;
insert into access_permissions (project_id, id, key, created_at)
select %(project)s, gen_random_uuid(), 'area' || n || ':write', now() from generate_series(1, %(permissions)s) n;
insert into access_roles (project_id, id, key, name, scope, applies_to_all_organizations, permissions, created_at,
                          updated_at)
select %(project)s, gen_random_uuid(), 'role' || n, 'Role', case n %% 2 when 0 then 'PROJECT' else 'ORGANIZATION' end,
       n %% 100 = 0, array(select 'area' || (n * 7 + m * 31) %% %(permissions)s + 1 || ':write'
                          from generate_series(1, 20) m), now(), now()
from generate_series(1, %(roles)s) n;
insert into organizations (project_id, id, name, slug, created_at, updated_at)
select %(project)s, lpad(to_hex(n), 32, '0')::uuid, 'Org', 'org-' || n, now(), now()
from generate_series(1, %(organizations)s) n;
insert into customers (project_id, id, email, email_key, email_verified_at, roles, created_at, updated_at)
select %(project)s, lpad(to_hex(n), 32, '0')::uuid, n || '@example.com', n || '@example.com', now(),
       array['role' || (n * 2) %% %(roles)s + 2, 'role' || (n * 6) %% %(roles)s + 2], now(), now()
from generate_series(1, %(customers)s) n;
insert into organization_members (project_id, id, organization_id, customer_id, roles, source, joined_at, updated_at)
select %(project)s, gen_random_uuid(), lpad(to_hex(n %% %(organizations)s + 1), 32, '0')::uuid,
       lpad(to_hex(n), 32, '0')::uuid, array['role' || (n * 2) %% %(roles)s + 1, 'MEMBER'], 'API', now(), now()
from generate_series(1, %(customers)s) n;
insert into features (project_id, id, key, name, type, default_enabled, created_at, updated_at)
select %(project)s, lpad(to_hex(n), 32, '0')::uuid, 'feature' || n, 'Feature', 'LIMIT', true, now(), now()
from generate_series(1, %(features)s) n;
insert into plans (project_id, id, key, name, created_at, updated_at)
select %(project)s, lpad(to_hex(n), 32, '0')::uuid, 'plan' || n, 'Plan', now(), now() from generate_series(1, 10) n;
insert into plan_features (project_id, plan_id, feature_id, enabled, max_amount)
select %(project)s, lpad(to_hex(p), 32, '0')::uuid, lpad(to_hex(f), 32, '0')::uuid, true, p * 10
from generate_series(1, 10) p, generate_series(1, %(features)s, 2) f;
insert into organization_plans (project_id, organization_id, plan_id, since)
select %(project)s, lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n %% 10 + 1), 32, '0')::uuid, now()
from generate_series(1, %(organizations)s) n;
insert into entitlement_overrides (project_id, id, organization_id, feature_id, enabled, max_amount, created_at,
                                   updated_at)
select %(project)s, gen_random_uuid(), lpad(to_hex(n), 32, '0')::uuid,
       lpad(to_hex(n %% %(features)s + 1), 32, '0')::uuid, true, 7, now(), now()
from generate_series(1, %(organizations)s) n;
"""


def fill(
    url: str,
    project_id: UUID,
    customers: int,
    organizations: int = ORGANIZATIONS,
    roles: int = ROLES,
    permissions: int = PERMISSIONS,
) -> None:
    """Insert the records of the project."""
    values = {
        "project": project_id,
        "customers": customers,
        "organizations": organizations,
        "roles": roles,
        "permissions": permissions,
        "features": FEATURES,
    }
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for statement in FILL.split(";\n"):
            if statement.strip():
                connection.execute(statement, values)
        connection.execute("vacuum analyze")


async def call_repeatedly(call: Callable[[], Awaitable[Any]], count: int, concurrent: int) -> tuple[float, float]:
    """Calls per second, and the 95th percentile of their duration in seconds."""
    remaining, durations = iter(range(count)), list[float]()

    async def work() -> None:
        for _ in remaining:
            began = time.perf_counter()
            await call()
            durations.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrent)))
    return count / (time.perf_counter() - began), sorted(durations)[int(count * 0.95)]


async def measure(name: str, call: Callable[[], Awaitable[Any]], select_rate: float | None = None) -> float:
    """Print rate and p95 of concurrent calls, and the p95 of calls one by one; returns the rate.

    With `select_rate`, the rate of the plain SELECT, the ratio is printed too, and whether the targets are met.
    """
    await call_repeatedly(call, 300, CONCURRENT)
    rate, p95 = await call_repeatedly(call, CHECKS, CONCURRENT)
    _, single_p95 = await call_repeatedly(call, CHECKS // 4, 1)
    line = f"{name:<40} {rate:>8,.0f}/s   p95 {p95 * 1000:5.2f} ms   single {single_p95 * 1000:5.2f} ms"
    if select_rate:
        met = p95 <= MAX_P95_SECONDS and rate >= MIN_PER_SECOND
        line += f"   {rate / select_rate:5.2f} of the plain SELECT   targets {'met' if met else 'MISSED'}"
    print(line, flush=True)
    return rate


def call_of(world: World, project_id: UUID) -> Call:
    """A call with all permissions for the project."""
    caller = Caller(kind="secret_key", actor_type="API_KEY", project_id=project_id, permissions=frozenset(["*"]))
    return Call(
        world=world,
        db=world.db,
        caller=caller,
        now=world.clock(),
        request_id="bench",
        origin=Origin("127.0.0.1", "bench"),
        project_id=project_id,
    )


async def sign_up(world: World) -> tuple[UUID, str]:
    """Create a project; returns its id and a secret key."""
    url = world.settings.public_url
    created = await bootstrap_in(world, url)
    return UUID(created.project_id), created.secret_key


def request_of(app: Any, key: str, path: str, body: Callable[[], Any]) -> Callable[[], Awaitable[None]]:
    """A function that sends a POST with a secret key to the complete application over ASGI, without sockets."""

    async def send_request() -> None:
        content, status = to_json(body()), 0

        async def receive() -> Any:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)

        scope: Any = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"authorization", b"Bearer " + key.encode()),
                (b"content-type", b"application/json"),
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "scheme": "http",
            "http_version": "1.1",
            "root_path": "",
        }
        await app(scope, receive, send)
        assert status == 200, status

    return send_request


async def run(url: str, folder: Path, customers: int) -> None:
    chance = random.Random(7)
    settings = Settings(data=folder, secret=SECRET, database_pool=CONCURRENT, project_rate=1_000_000)
    async with open_world(settings, url, HOOKS) as world:
        app = make_app(world)
        project_id, key = await sign_up(world)
        began = time.perf_counter()
        fill(url, project_id, customers)
        print(f"{customers:,} customers inserted in {time.perf_counter() - began:.0f} s")
        call = call_of(world, project_id)

        def customer_and_organization() -> tuple[str, str]:
            number = chance.randint(1, customers)
            return str(UUID(int=number)), str(UUID(int=number % ORGANIZATIONS + 1))

        def check() -> AccessCheck:
            customer, organization = customer_and_organization()
            permission = f"area{chance.randint(1, PERMISSIONS)}:write"
            return AccessCheck(permission=permission, customer_id=customer, organization_id=organization)

        def entitlement() -> EntitlementCheck:
            return EntitlementCheck(
                feature_key=f"feature{chance.randint(1, FEATURES)}", organization_id=customer_and_organization()[1]
            )

        async def select() -> None:
            async with world.db.connection() as connection:
                cursor = await connection.execute(
                    "select email from customers where project_id = %s and id = %s",
                    (project_id, UUID(int=chance.randint(1, customers))),
                )
                assert await cursor.fetchone()

        limit = await measure("limit: plain SELECT by primary key", select)
        await measure("access check with explanation", lambda: check_access(call, check()), limit)
        await measure("entitlement check", lambda: check_entitlement(call, entitlement()), limit)
        base = f"/projects/{project_id}"
        await measure("access check, complete application", request_of(app, key, f"{base}/access/check", check), limit)
        await measure(
            "entitlement check, complete application",
            request_of(app, key, f"{base}/b2b/entitlements/check", entitlement),
            limit,
        )


def main() -> None:
    customers = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    with tempfile.TemporaryDirectory() as folder, run_embedded() as server:
        url = server.url("postern")
        migrate(url)
        uvloop.run(run(url, Path(folder), customers))


if __name__ == "__main__":
    main()
