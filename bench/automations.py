"""The rate at which runs advance, and the cost of a million waiting runs, compared with plain inserts.

Run: python -m bench.automations
"""

import tempfile
import time
from datetime import timedelta
from pathlib import Path

import uvloop

from postern.app import HOOKS
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.due import drain, find_due
from postern.kernel.http.call import Call, Caller, Origin
from postern.kernel.http.operation import Operation
from postern.kernel.values import FixedClock, new_id
from postern.messaging.audiences import operations as audiences
from postern.messaging.automations import operations as automations
from postern.messaging.automations.work import WORK
from postern.world import World, open_world

SECRET = "a secret for the length of one benchmark"
CONTACTS = 20_000
WAITING = 1_000_000


def show(label: str, rate: float, unit: str = "/s") -> None:
    print(f"{label:<60} {rate:>12,.1f} {unit}", flush=True)


async def new_call(world: World) -> Call:
    """A call for a new project."""
    account, project = new_id(), new_id()
    async with world.db.connection() as connection:
        await connection.execute("insert into accounts values (%s, 'bench', now(), now())", (account,))
        await connection.execute(
            "insert into projects values (%s, %s, 'bench', '{}', now(), now())", (project, account)
        )
    caller = Caller(kind="secret_key", actor_type="API_KEY", account_id=account, project_id=project)
    return Call(world, world.db, caller, world.clock(), "bench", Origin("127.0.0.1", ""), project_id=project)


async def run_operation(operation: Operation, call: Call, body: dict):
    """Call an operation with a JSON body and return its result."""
    import msgspec

    return await operation(call, msgspec.convert(body, operation.body))


async def bare_inserts(world: World) -> None:
    """Measure plain inserts of history rows, a thousand per transaction, as the limit of the database."""
    began = time.perf_counter()
    async with world.db.connection() as connection:
        await connection.execute("create table bare (like automation_run_steps including indexes)")
        for _ in range(20):
            await connection.execute(
                "insert into bare select gen_random_uuid(), gen_random_uuid(), n, 'DELAY', 'DONE', '{}', now(), now()"
                " from generate_series(1, 1000) n"
            )
    show("limit: plain inserts of history rows", 20_000 / (time.perf_counter() - began))


async def measure_advancing(world: World, clock: FixedClock) -> None:
    call = await new_call(world)
    audience = await run_operation(audiences.create_audience, call, {"name": "All"})
    steps = [
        {"type": "UPDATE_CONTACT", "attributes": {"seen": True}},
        {"type": "DELAY", "days": 1},
        {
            "type": "CONDITION",
            "rules": {"conditions": [{"field": "seen", "operator": "eq", "value": True}]},
            "then": [{"type": "DELAY", "days": 1}],
        },
        {"type": "EXIT"},
    ]
    body = {
        "name": "B",
        "trigger": {"type": "AUDIENCE_JOINED", "audienceId": str(audience.id)},
        "steps": steps,
        "active": True,
    }
    await run_operation(automations.create_automation, call, body)
    began = time.perf_counter()
    for start in range(0, CONTACTS, 10_000):
        emails = [f"{number}@example.com" for number in range(start, start + 10_000)]
        await audiences.add_emails_to_audience(call, audience.id, audiences.BulkMembers(emails=emails))
    show("contacts added, each starts a run", CONTACTS / (time.perf_counter() - began))
    advanced = 0
    began = time.perf_counter()
    for _ in range(3):
        await drain(world, WORK)
        advanced += CONTACTS
        clock.move(timedelta(days=1))
    seconds = time.perf_counter() - began
    show("runs advanced", advanced / seconds)
    show("steps executed", CONTACTS * 5 / seconds)


async def measure_waiting(world: World) -> None:
    call = await new_call(world)
    body = {
        "name": "W",
        "trigger": {"type": "CONTACT_CREATED"},
        "steps": [{"type": "DELAY", "days": 9}],
        "active": True,
    }
    automation = await run_operation(automations.create_automation, call, body)
    await measure_due_query(world, "query for due runs, none waiting")
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into automation_runs (project_id, id, automation_id, version, contact_id, once, trigger_event_id,"
            " status, due_at, started_at) select %s, gen_random_uuid(), %s, 1, gen_random_uuid(), true,"
            " gen_random_uuid(), 'WAITING', now() + interval '9 days' + n * interval '1 ms', now()"
            " from generate_series(1, %s) n",
            (call.project_id, automation.id, WAITING),
        )
        await connection.execute("vacuum analyze automation_runs")
    await measure_due_query(world, f"query for due runs, {WAITING:,} waiting")


async def measure_due_query(world: World, label: str) -> None:
    await find_due(world.db, WORK[0], world.clock())
    began = time.perf_counter()
    for _ in range(200):
        await find_due(world.db, WORK[0], world.clock())
    show(label, (time.perf_counter() - began) * 5, "ms")


async def measure(folder: str, url: str) -> None:
    clock = FixedClock()
    async with open_world(Settings(data=Path(folder), secret=SECRET), url, HOOKS, clock=clock) as world:
        await bare_inserts(world)
        await measure_advancing(world, clock)
        await measure_waiting(world)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as data_folder,
        run_embedded(Path(data_folder)) as server,
    ):
        migrate(server.url())
        uvloop.run(measure(folder, server.url()))


if __name__ == "__main__":
    main()
