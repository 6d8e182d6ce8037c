"""How fast access and entitlements are checked, beside a bare SELECT by primary key in the same run.

Run: python -m bench.access [customers]

1,000,000 customers (unless said otherwise), 100,000 organizations, 10,000 roles and 10,000 permissions in one
project, made by SQL. PostgreSQL (durable) and this program share the machine: a ratio counts, a second does not.
The targets: p95 of at most 5 ms and at least 2,000 a second, both with 8 asking at the same time.
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
SIDE_BY_SIDE = 8
"""How many ask at the same time, where the rate counts and where the wait does."""
ORGANIZATIONS, ROLES, PERMISSIONS, FEATURES = 100_000, 10_000, 10_000, 200
P95_AT_MOST, A_SECOND_AT_LEAST = 0.005, 2_000

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


def fill(url: str, project_id: UUID, customers: int) -> None:
    values = {
        "project": project_id,
        "customers": customers,
        "organizations": ORGANIZATIONS,
        "roles": ROLES,
        "permissions": PERMISSIONS,
        "features": FEATURES,
    }
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for statement in FILL.split(";\n"):
            if statement.strip():
                connection.execute(statement, values)
        connection.execute("vacuum analyze")


async def ask_often(ask: Callable[[], Awaitable[Any]], count: int, side_by_side: int) -> tuple[float, float]:
    """How many a second, and the 95th percentile of the wait in seconds."""
    left, waits = iter(range(count)), list[float]()

    async def work() -> None:
        for _ in left:
            began = time.perf_counter()
            await ask()
            waits.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(side_by_side)))
    return count / (time.perf_counter() - began), sorted(waits)[int(count * 0.95)]


async def measure(name: str, ask: Callable[[], Awaitable[Any]], bare: float | None = None) -> float:
    """Print the rate of many and how long they wait, and how long somebody alone does; returns the rate."""
    await ask_often(ask, 300, SIDE_BY_SIDE)
    rate, p95 = await ask_often(ask, CHECKS, SIDE_BY_SIDE)
    _, alone = await ask_often(ask, CHECKS // 4, 1)
    line = f"{name:<40} {rate:>8,.0f}/s   p95 {p95 * 1000:5.2f} ms   alone {alone * 1000:5.2f} ms"
    if bare:
        fits = p95 <= P95_AT_MOST and rate >= A_SECOND_AT_LEAST
        line += f"   {rate / bare:5.2f} of the bare SELECT   {'within the targets' if fits else 'beyond the targets'}"
    print(line, flush=True)
    return rate


def call_of(world: World, project_id: UUID) -> Call:
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
    """A project and a secret key of it."""
    url = world.settings.public_url
    made = await bootstrap_in(world, url)
    return UUID(made.project_id), made.secret_key


def asked_of_all(app: Any, key: str, path: str, body: Callable[[], Any]) -> Callable[[], Awaitable[None]]:
    """The whole application as its server calls it, admission by a secret key included; without sockets."""

    async def ask() -> None:
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

    return ask


async def run(url: str, folder: Path, customers: int) -> None:
    chance = random.Random(7)
    settings = Settings(data=folder, secret=SECRET, database_pool=SIDE_BY_SIDE, project_rate=1_000_000)
    async with open_world(settings, url, HOOKS) as world:
        app = make_app(world)
        project_id, key = await sign_up(world)
        began = time.perf_counter()
        fill(url, project_id, customers)
        print(f"{customers:,} customers made in {time.perf_counter() - began:.0f} s")
        call = call_of(world, project_id)

        def somebody() -> tuple[str, str]:
            number = chance.randint(1, customers)
            return str(UUID(int=number)), str(UUID(int=number % ORGANIZATIONS + 1))

        def check() -> AccessCheck:
            customer, organization = somebody()
            permission = f"area{chance.randint(1, PERMISSIONS)}:write"
            return AccessCheck(permission=permission, customer_id=customer, organization_id=organization)

        def entitlement() -> EntitlementCheck:
            return EntitlementCheck(feature_key=f"feature{chance.randint(1, FEATURES)}", organization_id=somebody()[1])

        async def bare() -> None:
            async with world.db.connection() as connection:
                found = await connection.execute(
                    "select email from customers where project_id = %s and id = %s",
                    (project_id, UUID(int=chance.randint(1, customers))),
                )
                assert await found.fetchone()

        limit = await measure("limit: bare SELECT by primary key", bare)
        await measure("access check with explanation", lambda: check_access(call, check()), limit)
        await measure("entitlement check", lambda: check_entitlement(call, entitlement()), limit)
        base = f"/projects/{project_id}"
        await measure("access check, whole application", asked_of_all(app, key, f"{base}/access/check", check), limit)
        await measure(
            "entitlement check, whole application",
            asked_of_all(app, key, f"{base}/b2b/entitlements/check", entitlement),
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
