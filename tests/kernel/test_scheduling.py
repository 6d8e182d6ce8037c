"""Which requests are executed at a time, and in which order: by counting, with requests that do nothing."""

import asyncio

import pytest

from postern.kernel.http import scheduling
from postern.kernel.http.problems import Unavailable
from postern.kernel.http.scheduling import (
    COMPUTATIONS,
    LARGE_BODY_BYTES,
    LONG_SECONDS,
    MAX_LARGE_WAITING,
    MAX_REST_SECONDS,
    OTHERS_SECONDS,
    Overloaded,
    RequestScheduler,
    ScheduledRequest,
    Turns,
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
    turns = Turns(1)

    async def compute() -> None:
        async with turns.turn("project"):
            await asyncio.sleep(0)

    first, second = asyncio.create_task(compute()), asyncio.create_task(compute())
    await first  # The second one has its place now, and has not run since.
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await compute()
    assert turns._free == 1


async def test_large_bodies_of_two_projects_take_turns_and_the_number_that_wait_is_limited():
    requests, processed = Requests(100, 100), list[str]()

    async def process(request: CountedRequest) -> None:
        await turn_of_large_body(request, LARGE_BODY_BYTES + 1)
        processed.append(request.name)
        await asyncio.sleep(0)
        requests.scheduler.end(request)

    storm = requests.submit("storm", MAX_LARGE_WAITING + 2)
    results = [asyncio.create_task(process(request)) for request in storm]
    results += [asyncio.create_task(process(request)) for request in requests.submit("quiet", 1)]
    refused = [result for result in await asyncio.gather(*results, return_exceptions=True) if result is not None]
    assert [type(error) for error in refused] == [Overloaded]
    assert processed[:4] == ["storm0", "storm1", "quiet0", "storm2"]
    assert len(processed) == len(storm)
    assert requests.scheduler._running == 1, "The refused request has not responded yet."
    await turn_of_large_body(storm[0], LARGE_BODY_BYTES)
    assert requests.scheduler.large_bodies.waiting_of("storm") == 0


@pytest.mark.parametrize("others", ["small", "earlier", "large"])
async def test_large_bodies_rest_as_long_as_they_take_while_there_are_small_requests_of_others(monkeypatch, others):
    requests, loop, rests = Requests(10, 10), asyncio.get_running_loop(), list[float]()
    [request], [of_another] = requests.submit("storm", 1), requests.submit("quiet", 1)
    requests.end(*requests.submit("storm", 1))
    if others == "large":
        await turn_of_large_body(of_another, LARGE_BODY_BYTES + 1)
    elif others == "earlier":
        of_another.arrived_at -= OTHERS_SECONDS
    requests.end(of_another)
    await asyncio.sleep(0)

    async def processed_in(seconds: float) -> None:
        await turn_of_large_body(request, LARGE_BODY_BYTES + 1)
        assert request._has_large_body_since is not None
        request._has_large_body_since -= seconds
        with monkeypatch.context() as patch:
            patch.setattr(loop, "call_later", lambda rest, _give_back, **_: rests.append(round(rest, 1)))
            request.pause()
        request.resume()
        requests.scheduler.large_bodies.give_back()

    await processed_in(0.3)
    await processed_in(30)
    assert rests == ([0.3, MAX_REST_SECONDS] if others == "small" else [0.0, 0.0])
    requests.scheduler.end(request)
    assert len(rests) == 2, "a turn that has ended does not end again"
