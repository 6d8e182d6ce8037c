"""Rate limits that several processes count together."""

import asyncio
from collections import Counter
from datetime import timedelta

import httpx
import pytest

from bench.emails import Server
from postern.instance_store import delete_complete_rates, exchange_rates
from postern.kernel.limits import DEMAND_SECONDS, EXCHANGE_SECONDS, RateLimit, RateLimiter, TooManyRequests, shared_key
from postern.kernel.values import new_id
from postern.platform.accounts.export import EXPORT_RATE


class Processes:
    """Rate limiters with the clock of the test, which exchange what they grant in the database."""

    def __init__(self, world, count: int) -> None:
        self.world, self.now = world, 1_000.0
        self.limiters = [RateLimiter(lambda: self.now) for _ in range(count)]
        for limiter in self.limiters:
            limiter.begin_exchange()

    def take(self, number: int, rate: RateLimit, key: str, count: int = 1) -> int:
        """Make requests to one process; returns how many it grants."""
        granted = 0
        for _ in range(count):
            try:
                self.limiters[number].take(rate, key)
            except TooManyRequests:
                continue
            granted += 1
        return granted

    async def exchange(self, *numbers: int) -> None:
        """Let time pass, and exchange; the database's rows are as old as the limiters believe."""
        self.now += EXCHANGE_SECONDS
        async with self.world.db.connection() as connection:
            await connection.execute(
                "update rate_limits set used_at = clock_timestamp() - %s", [timedelta(seconds=EXCHANGE_SECONDS)]
            )
        for number in numbers or range(len(self.limiters)):
            limiter = self.limiters[number]
            if uses := limiter.changes():
                limiter.apply(await exchange_rates(self.world.db, uses, demand_seconds=DEMAND_SECONDS))


@pytest.fixture
def key() -> str:
    return str(new_id())


async def test_two_processes_grant_one_limit(world, key):
    """After the first exchanges, both together grant what the limit allows, and each a part of it."""
    processes, rate = Processes(world, 2), RateLimit("shared", 100, timedelta(seconds=1))
    granted: list[Counter[int]] = []
    for _ in range(20):
        turn = Counter({number: processes.take(number, rate, key, 300 * (number + 1)) for number in range(2)})
        granted.append(turn)
        await processes.exchange()
    assert sum(granted[0].values()) == 200, "before the first exchange, each process grants the burst"
    late = sum(granted[10:], Counter[int]())
    per_second = sum(late.values()) / (10 * EXCHANGE_SECONDS)
    assert 85 <= per_second <= 115
    assert min(late.values()) > 0.2 * sum(late.values())


async def test_no_process_is_left_without_its_part(world, key):
    """That of each is between its part of the demand and an equal one, also some seconds after the demand has changed.
    It depends on the order in which the processes exchange."""
    processes, rate = Processes(world, 2), RateLimit("shared", 100, timedelta(seconds=1))
    for demand in ((150, 300), (400, 100)):
        granted: list[Counter[int]] = []
        for _ in range(20):
            granted.append(Counter({number: processes.take(number, rate, key, demand[number]) for number in range(2)}))
            await processes.exchange()
        settled = sum(granted[10:], Counter[int]())
        assert 85 <= settled.total() / (10 * EXCHANGE_SECONDS) <= 115
        low, high = sorted((0.5, demand[0] / sum(demand)))
        assert low - 0.1 <= settled[0] / settled.total() <= high + 0.1


async def test_a_process_without_rivals_grants_all(world, key):
    """What one process does not use is left to the other."""
    processes, rate = Processes(world, 2), RateLimit("shared", 100, timedelta(seconds=1))
    granted = 0
    for turn in range(20):
        count = processes.take(0, rate, key, 200)
        granted += count if turn >= 10 else 0
        await processes.exchange()
    assert 85 <= granted / (10 * EXCHANGE_SECONDS) <= 115


async def test_a_limit_of_few_requests_is_exact(world, key):
    """An hourly limit is used up by requests to several processes one after the other."""
    processes, rate = Processes(world, 3), RateLimit("shared", 10, timedelta(hours=1))
    granted = 0
    for turn in range(30):
        granted += processes.take(turn % 3, rate, key)
        await processes.exchange()
    assert 9 <= granted <= 12


async def test_what_was_granted_too_much_is_paid_back_once_at_most(world, key):
    processes, rate = Processes(world, 5), RateLimit("shared", 100, timedelta(seconds=1))
    assert sum(processes.take(number, rate, key, 100) for number in range(5)) == 500
    await processes.exchange()
    assert processes.take(0, rate, key, 100) == 0
    async with world.db.connection() as connection:
        cursor = await connection.execute("select min(balance) from rate_limits where quota = 100")
        assert (await cursor.fetchone()) == (-100.0,)


async def test_a_failed_exchange_is_made_up_for(world, key):
    processes, rate = Processes(world, 2), RateLimit("shared", 100, timedelta(seconds=1))
    processes.take(0, rate, key, 60)
    limiter = processes.limiters[0]
    uses = limiter.changes()
    assert [spent.taken for spent in uses] == [60]
    processes.take(0, rate, key, 10)
    limiter.keep_changes(uses)
    assert [spent.taken for spent in limiter.changes()] == [70]


async def test_a_bucket_that_was_dropped_is_exchanged_once(world, key, monkeypatch):
    """Also if it was dropped and came back while the exchange ran, and this has failed."""
    monkeypatch.setattr("postern.kernel.limits.MAX_BUCKETS", 2)
    processes, rate = Processes(world, 1), RateLimit("shared", 10, timedelta(hours=1))
    limiter, others = processes.limiters[0], RateLimit("others", 1_000, timedelta(seconds=1))
    processes.take(0, rate, key, 3)
    for number in range(2):
        processes.take(0, others, f"{key}-{number}")
    assert processes.take(0, rate, key, 10) == 7, "what was granted is not forgotten before the exchange"
    uses = limiter.changes()
    assert [spent.taken for spent in uses] == [10]
    for number in range(2):
        processes.take(0, others, f"{key}-{number}")
    processes.take(0, rate, key, 2)
    limiter.keep_changes(uses)
    assert [spent.taken for spent in limiter.changes()] == [12]


async def test_little_use_is_not_exchanged(world, key):
    processes, rate = Processes(world, 1), RateLimit("shared", 1_000, timedelta(seconds=1))
    processes.take(0, rate, key, 9)
    assert processes.limiters[0].changes() == []
    processes.take(0, rate, key)
    assert [spent.taken for spent in processes.limiters[0].changes()] == [10]


async def test_a_process_alone_exchanges_nothing(key):
    limiter = RateLimiter()
    limiter.take(RateLimit("alone", 2, timedelta(seconds=1)), key)
    assert limiter.changes() == []


async def test_complete_limits_are_deleted(world, key):
    processes, rate = Processes(world, 1), RateLimit("shared", 10, timedelta(hours=1))
    processes.take(0, rate, key)
    await processes.exchange()
    await delete_complete_rates(world.db, limit=1_000)
    count = "select count(*) from rate_limits where quota = 10"
    async with world.db.connection() as connection:
        assert (await (await connection.execute(count)).fetchone()) != (0,)
        await connection.execute("update rate_limits set used_at = now() - interval '2 hours'")
    await delete_complete_rates(world.db, limit=1_000)
    async with world.db.connection() as connection:
        assert (await (await connection.execute(count)).fetchone()) == (0,)


async def balance_of(world, rate: RateLimit, key: str) -> float:
    """What is left of a limit according to the exchanges so far."""
    query = "select balance from rate_limits where key = %s"
    async with world.db.connection() as connection:
        row = await (await connection.execute(query, [shared_key(rate, key)])).fetchone()
    return rate.quota if row is None else row[0]


async def test_two_api_processes_grant_one_limit(world, database_url, tmp_path):
    """Of requests to two real processes in turn, about as many are accepted as the limit of one allows."""
    servers = [Server(tmp_path / name, database_url) for name in ("first", "second")]
    statuses: tuple[list[int], list[int]] = ([], [])
    granted = 0
    try:
        for server in servers:
            server.start("api")
        _, _, token = servers[0].project()
        account_id = servers[0].call("GET", "/account", token=token)["account"]["id"]
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as client:
            for turn in range(2 * EXPORT_RATE.quota):
                response = await client.get(f"{servers[turn % 2].base}/account/export")
                statuses[turn % 2].append(response.status_code)
                if response.status_code != 200:
                    continue
                granted += 1
                async with asyncio.timeout(60):
                    while await balance_of(world, EXPORT_RATE, account_id) > EXPORT_RATE.quota - granted + 0.5:
                        await asyncio.sleep(EXCHANGE_SECONDS / 10)
    finally:
        for server in servers:
            server.stop()
    # Two limits would grant all. A process learns what the other has granted when it tells what it has granted itself.
    assert EXPORT_RATE.quota - 1 <= granted <= EXPORT_RATE.quota + 2
    assert [set(answers) for answers in statuses] == [{200, 429}] * 2
    assert all(answers.count(200) > 0.2 * granted for answers in statuses)
