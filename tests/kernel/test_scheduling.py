"""Which requests are executed at a time, and in which order: by counting, with requests that do nothing."""

import asyncio
import random

import pytest

from postern.kernel.http import scheduling
from postern.kernel.http.problems import Unavailable
from postern.kernel.http.scheduling import (
    COMPUTATIONS,
    LARGE_BODY_BYTES,
    LARGE_TOGETHER,
    LONG_SECONDS,
    OTHERS_SECONDS,
    ComputationTurns,
    LargeBodyTurns,
    Overloaded,
    RequestScheduler,
    ScheduledRequest,
    _current,
    computing_request,
    turn_of_large_body,
)

WAIT_SECONDS = 2.0


class Requests:
    """A scheduler, and what it did with the requests of a test."""

    def __init__(self, max_running: int, max_running_of_one: int) -> None:
        self.scheduler = RequestScheduler(max_running, max_running_of_one, WAIT_SECONDS)
        self.executed: list[str] = []
        self.refused: list[str] = []
        self.closed: list[str] = []

    def submit(self, owner: str, count: int, *, credential: int | None = None) -> "list[CountedRequest]":
        """Submit `count` requests; their names are the owner and a number from 0."""
        requests = [CountedRequest(self, f"{owner}{number}", owner, credential) for number in range(count)]
        for request in requests:
            self.scheduler.submit(request)
        return requests

    def end(self, *requests: "CountedRequest") -> None:
        """Complete requests one after the other, each with an iteration of the event loop."""
        for request in requests:
            self.scheduler.end(request)
            self.scheduler._start_waiting()


class CountedRequest(ScheduledRequest):
    """A request that records what happens to it."""

    def __init__(self, requests: Requests, name: str, owner: str, credential: int | None) -> None:
        async def app() -> None: ...

        super().__init__(requests.scheduler, app, credential, owner, scheduling.asyncio.get_running_loop().time())
        self.requests, self.name = requests, name

    def start(self) -> None:
        self.requests.executed.append(self.name)

    def refuse(self, problem: Unavailable, *, close: bool = False) -> None:
        assert problem.status == 503
        assert problem.retry_after_seconds
        (self.requests.closed if close else self.requests.refused).append(self.name)


async def test_waiting_requests_of_two_projects_take_turns():
    requests = Requests(2, 2)
    storm, quiet = requests.submit("storm", 6), requests.submit("quiet", 2)
    assert requests.executed == ["storm0", "storm1"]
    requests.end(storm[0], storm[1], storm[2], quiet[0], storm[3])
    assert requests.executed[2:] == ["storm2", "quiet0", "storm3", "quiet1", "storm4"]


async def test_a_project_that_is_not_alone_leaves_room_for_others():
    requests = Requests(4, 2)
    storm = requests.submit("storm", 4)
    assert len(requests.executed) == 4, "a project that is alone uses all"
    requests.end(*storm[:3])
    requests.submit("quiet", 1)
    requests.submit("storm", 9)
    assert requests.executed[4:] == ["quiet0", "storm0"]
    requests.end(storm[3])
    assert requests.executed[6:] == ["storm1"]


async def test_a_project_that_is_alone_again_uses_all_places():
    requests = Requests(4, 1)
    requests.end(*requests.submit("quiet", 1))
    requests.submit("storm", 5)
    assert requests.executed == ["quiet0", "storm0"]
    for _ in range(2):  # The requests of the quiet project belong to the first period.
        requests.scheduler.sweep(0.0)
    requests.scheduler._start_waiting()
    assert requests.executed[1:] == [f"storm{number}" for number in range(4)]


async def test_the_queue_of_one_project_is_limited(monkeypatch):
    monkeypatch.setattr(scheduling, "MAX_WAITING", 3)
    requests = Requests(1, 1)
    requests.submit("storm", 6)
    assert requests.refused == ["storm4", "storm5"]
    quiet = requests.submit("quiet", 1)[0]
    assert requests.refused == ["storm4", "storm5"]
    assert quiet.flow is not None


async def test_a_request_that_waits_for_too_long_is_refused_and_not_executed():
    requests = Requests(1, 1)
    first = requests.submit("storm", 3)[0]
    now = first.arrived_at
    requests.scheduler.sweep(now)
    assert requests.refused == []
    requests.scheduler.sweep(now + WAIT_SECONDS + 1)
    assert requests.refused == ["storm1", "storm2"]
    requests.end(first)
    assert requests.executed == ["storm0"]


async def test_a_client_that_has_left_frees_its_place():
    requests = Requests(1, 1)
    storm = requests.submit("storm", 3)
    requests.scheduler.cancel(storm[1])
    requests.scheduler.cancel(storm[1])
    requests.end(storm[0])
    assert requests.executed == ["storm0", "storm2"]
    requests.scheduler.cancel(storm[2])
    assert storm[2].flow is not None, "an executed request counts until it is complete"


async def test_a_request_that_waits_for_another_server_does_not_count():
    requests = Requests(1, 1)
    storm = requests.submit("storm", 3)
    storm[0].pause()
    requests.scheduler._start_waiting()
    assert requests.executed == ["storm0", "storm1"]
    storm[0].resume()
    requests.end(storm[1])
    assert len(requests.executed) == 2, "it counts again"
    requests.end(storm[0])
    assert len(requests.executed) == 3


async def test_paused_requests_that_go_on_together_take_no_places_of_others():
    """A client could send the ends of many bodies at once."""
    requests = Requests(4, 2)
    storm = requests.submit("storm", 20)
    for request in storm:
        request.pause()
        requests.scheduler._start_waiting()
    for request in storm:
        request.resume()
    assert len(requests.executed) == 20
    requests.submit("quiet", 3)
    assert requests.executed[20:] == ["quiet0", "quiet1"]
    requests.end(*storm)
    assert requests.executed[22:] == []
    assert requests.scheduler._running == 2


async def test_a_request_that_was_paused_for_long_counts_when_it_goes_on():
    requests = Requests(1, 1)
    slow = requests.submit("storm", 1)[0]
    assert slow.runs_since is not None
    slow.pause()
    for _ in range(3):
        requests.scheduler.sweep(slow.runs_since + LONG_SECONDS + 1)
    slow.resume()
    requests.submit("storm", 1)
    assert requests.executed == ["storm0"]
    requests.end(slow)
    assert requests.executed == ["storm0", "storm0"]


async def test_a_project_whose_requests_have_left_does_not_end_a_round():
    requests = Requests(1, 1)
    first, left = requests.submit("first", 1)[0], requests.submit("left", 1)[0]
    requests.submit("quiet", 1)
    requests.scheduler.cancel(left)
    requests.end(first)
    assert requests.executed == ["first0", "quiet0"]


async def test_long_requests_do_not_keep_the_others_from_being_executed():
    requests = Requests(1, 1)
    slow, other = requests.submit("storm", 1)[0], requests.submit("quiet", 1)[0]
    assert slow.runs_since is not None
    other.arrived_at += LONG_SECONDS
    requests.scheduler.sweep(slow.runs_since + LONG_SECONDS + 1)
    requests.scheduler._start_waiting()
    assert requests.executed == ["storm0", "quiet0"]
    requests.end(slow)
    assert other.flow is not None
    assert other.flow.running == 1


async def test_requests_belong_to_the_owner_of_their_credential_once_it_is_known():
    requests = Requests(4, 4)
    key = hash(b"key")
    first, unknown = requests.submit("127.0.0.1", 1, credential=key)[0], requests.submit("127.0.0.1", 1)[0]
    assert first.flow is unknown.flow
    first.belongs_to("project", "key")
    assert first.flow is not unknown.flow
    assert unknown.flow is not None
    assert unknown.flow.running == 1
    assert requests.scheduler.owner_of(key) == "project"
    assert requests.scheduler.owner_of(8) is None
    first.is_unknown("another")
    first.is_unknown(None)
    assert requests.scheduler.owner_of(key) == "project"
    first.is_unknown("key")
    assert requests.scheduler.owner_of(key) is None


async def test_a_credential_that_was_not_the_one_that_was_read_keeps_its_owner():
    """A request may have the credential of somebody else in a header that its operation does not read."""
    requests, key = Requests(4, 4), hash(b"victim")
    requests.submit("127.0.0.1", 1, credential=key)[0].belongs_to("victim", "victim")
    foreign = requests.submit("victim", 1, credential=key)[0]
    foreign.belongs_to("attacker", "attacker")
    assert requests.scheduler.owner_of(key) == "victim"
    assert foreign.flow is requests.scheduler._flow("attacker")


@pytest.mark.parametrize("owners", [1, 2])
async def test_known_credentials_are_limited(monkeypatch, owners):
    monkeypatch.setattr(scheduling, "MAX_KNOWN_CREDENTIALS", owners)
    requests = Requests(9, 9)
    for number in range(3):
        credential = hash(b"key%d" % number)
        requests.submit("address", 1, credential=credential)[0].belongs_to(f"project{number}", f"key{number}")
    known = [number for number in range(3) if requests.scheduler.owner_of(hash(b"key%d" % number))]
    assert known == [0, 1, 2][3 - owners :]


async def test_computations_of_two_projects_take_turns():
    """Passwords of one project that are checked delay those of the others by one each."""
    requests, computed, may_end = Requests(10, 10), list[str](), asyncio.Event()

    async def compute(request: CountedRequest) -> None:
        _current.set(request)
        async with computing_request():
            computed.append(request.name)
            await may_end.wait()

    storm, quiet = requests.submit("storm", COMPUTATIONS + 3), requests.submit("quiet", 2)
    tasks = [asyncio.create_task(compute(request)) for request in [*storm, *quiet]]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert computed == [request.name for request in storm[:COMPUTATIONS]]
    assert requests.scheduler._running == 0, "A request that computes, or waits for its turn, does not count."
    tasks[COMPUTATIONS].cancel()  # Its client has left.
    may_end.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    others = [request.name for request in storm[COMPUTATIONS + 1 :]]
    assert computed[COMPUTATIONS:] == ["quiet0", others[0], "quiet1", others[1]]
    assert requests.scheduler._running == len(requests.executed)
    assert requests.scheduler.computations._free == COMPUTATIONS


async def test_a_computation_that_is_cancelled_with_its_turn_gives_the_place_back():
    turns = ComputationTurns(1)

    async def compute() -> None:
        async with turns.turn("project"):
            await asyncio.sleep(0)

    first, second = asyncio.create_task(compute()), asyncio.create_task(compute())
    await first  # The second one has its place now, and has not run since.
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await compute()
    assert turns._free == 1


class LargeBodies:
    """Requests with large bodies in a scheduler, with small requests of others beside them or not."""

    def __init__(self, *, small: bool) -> None:
        self.requests = Requests(100, 100)
        self.processed: list[str] = []
        if small:
            self.requests.end(*self.requests.submit("visitor", 1))

    def start(self, owner: str, count: int, *, size: int = LARGE_BODY_BYTES + 1, seconds: float = 0.0) -> list:
        """Tasks of new requests, of which each ends at once and seems to have taken `seconds`."""

        async def process(request: CountedRequest) -> str:
            try:
                await turn_of_large_body(request, size)
                self.processed.append(request.name)
                await asyncio.sleep(0)
                if request.turn_since is not None:
                    request.turn_since -= seconds
            finally:
                self.requests.scheduler.end(request)
            return request.name

        return [asyncio.create_task(process(request)) for request in self.requests.submit(owner, count)]

    @property
    def turns(self) -> LargeBodyTurns:
        return self.requests.scheduler.large_bodies


@pytest.fixture
async def rests(monkeypatch) -> list[float]:
    """The seconds after which turns are given back, which they are at once."""
    rests: list[float] = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later

    def at_once(seconds, callback, *arguments, **options):
        if callback.__name__ == "give_back":
            rests.append(round(seconds, 1))
            seconds = 0
        return call_later(seconds, callback, *arguments, **options)

    monkeypatch.setattr(loop, "call_later", at_once)
    return rests


async def test_large_bodies_of_two_projects_take_turns_by_the_time_that_they_take(rests):
    bodies = LargeBodies(small=True)
    tasks = [*bodies.start("slow", 6, seconds=0.9), *bodies.start("fast", 6, seconds=0.3)]
    await asyncio.gather(*tasks)
    fast_before_slow2 = [
        name for name in bodies.processed[: bodies.processed.index("slow2")] if name.startswith("fast")
    ]
    assert len(fast_before_slow2) >= 4, bodies.processed
    assert sorted(rests) == [0.3] * 6 + [0.9] * 6
    assert bodies.turns._running == 0
    assert bodies.turns._waiting == bodies.turns._used == {}


@pytest.mark.parametrize("others", ["none", "same project", "earlier", "large"])
async def test_large_bodies_neither_rest_nor_wait_for_one_another_without_small_requests_of_others(rests, others):
    bodies = LargeBodies(small=False)
    scheduler = bodies.requests.scheduler
    owner = (1, True)
    if others != "none":
        [small] = bodies.requests.submit((1, False) if others == "same project" else (2, True), 1)
        if others == "large":
            small.has_large_body = True
        scheduler.end(small)
    if others == "earlier":
        for flow in scheduler._flows.values():
            flow.last_small_at -= OTHERS_SECONDS
    tasks = bodies.start(owner, LARGE_TOGETHER + 1, seconds=0.5)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(bodies.processed) == LARGE_TOGETHER
    await asyncio.gather(*tasks)
    assert rests == [0.0] * len(tasks)


async def test_a_large_body_begins_when_the_one_before_has_taken_long(monkeypatch, rests):
    """It may wait for something; a request that was swept before its body had arrived has an end, too."""
    monkeypatch.setattr(scheduling, "MAX_TURN_SECONDS", 0.01)
    bodies = LargeBodies(small=True)
    [hanging] = bodies.requests.submit("storm", 1)
    bodies.requests.scheduler.end(hanging)
    await turn_of_large_body(hanging, LARGE_BODY_BYTES + 1)
    assert bodies.turns._running == 1
    assert await asyncio.gather(*bodies.start("quiet", 1)) == ["quiet0"]
    assert hanging.turn_since is None


@pytest.mark.parametrize("reason", ["late", "left"])
async def test_a_large_body_that_has_waited_in_vain_takes_no_turn(monkeypatch, rests, reason):
    bodies = LargeBodies(small=True)
    [busy] = bodies.requests.submit("busy", 1)
    await turn_of_large_body(busy, LARGE_BODY_BYTES + 1)
    with monkeypatch.context() as short:
        short.setattr(scheduling, "LARGE_WAIT_SECONDS", 0.01 if reason == "late" else 60.0)
        refused = bodies.start("storm", 3)
        await asyncio.sleep(0)
        if reason == "left":
            for task in refused:
                task.cancel()
        results = await asyncio.gather(*refused, return_exceptions=True)
    assert {type(result) for result in results} == {Overloaded if reason == "late" else asyncio.CancelledError}
    assert bodies.turns._waiting == {}
    assert bodies.turns._waiting_bytes == 0
    tasks = bodies.start("storm", 2)
    bodies.requests.scheduler.end(busy)
    assert await asyncio.gather(*tasks) == ["storm0", "storm1"]
    assert bodies.turns._running == 0


async def test_the_size_of_large_bodies_that_wait_is_limited(monkeypatch, rests):
    monkeypatch.setattr(scheduling, "MAX_WAITING_BYTES_OF_ONE", 3 * LARGE_BODY_BYTES)
    monkeypatch.setattr(scheduling, "MAX_WAITING_BYTES", 4 * LARGE_BODY_BYTES)
    bodies = LargeBodies(small=True)
    tasks = [*bodies.start("storm", 4), *bodies.start("quiet", 2), *bodies.start("other", 1, size=LARGE_BODY_BYTES)]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) is Overloaded for result in results] == [False, False, False, True, False, True, False]
    assert bodies.turns._running == bodies.turns._waiting_bytes == 0


@pytest.mark.parametrize("leaves", ["before", "after"])
async def test_a_request_that_leaves_when_it_gets_its_turn_gives_it_back(rests, leaves):
    bodies = LargeBodies(small=True)
    [busy] = bodies.requests.submit("busy", 1)
    await turn_of_large_body(busy, LARGE_BODY_BYTES + 1)
    left, following = bodies.start("storm", 2)
    await asyncio.sleep(0)
    if leaves == "before":
        left.cancel()
    bodies.turns.give_back("busy", 0.0)
    if leaves == "after":
        left.cancel()  # It has its turn, and has not run since.
    assert await following == "storm1"
    assert bodies.processed == ["storm1"]
    await asyncio.sleep(0)
    assert bodies.turns._running == 0
    assert bodies.turns._waiting == {}


async def test_no_turn_is_lost_in_any_order_of_events():
    chance, others = random.Random(1), False
    turns = LargeBodyTurns(lambda _owner: others)

    async def process(owner: str) -> None:
        await turns.take(owner, 1)
        try:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
        finally:
            turns.give_back(owner, chance.random())

    tasks: list[asyncio.Task[None]] = []
    for _ in range(2_000):
        others = chance.random() < 0.5
        tasks.append(asyncio.create_task(process(chance.choice("abcd"))))
        if chance.random() < 0.4:
            chance.choice(tasks[-20:]).cancel()
        if chance.random() < 0.7:
            await asyncio.sleep(0)
        assert 0 <= turns._running <= LARGE_TOGETHER
        assert turns._running or not turns._waiting, "nobody would begin the next turn"
        assert turns._waiting_bytes == sum(len(waiting) for waiting in turns._waiting.values())
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(result) for result in results} == {type(None), asyncio.CancelledError}
    assert turns._running == turns._waiting_bytes == 0
    assert turns._waiting == turns._used == {}


async def test_others_count_from_the_end_of_their_last_request():
    """Otherwise those whose requests take a second would never count, which is when the server is slow."""
    bodies = LargeBodies(small=False)
    [small] = bodies.requests.submit("slow", 1)
    small.arrived_at -= 10 * OTHERS_SECONDS
    bodies.requests.scheduler.end(small)
    assert bodies.requests.scheduler.serves_others("storm")
    assert not bodies.requests.scheduler.serves_others("slow")
