"""Render processes, seen from the process that needs them: nothing that people wrote is parsed or rendered outside.

A few processes are shared by all projects. One that dies or overruns its limits is replaced; the item that it was
working on is answered with a problem (`template_too_expensive`, `template_crashed`), the others in its hands are done
again. A project whose templates take much time, or end processes, gets a lane of its own for a while: its items are
made one by one by a process that works for such projects only, so that they cost others nothing.
"""

import asyncio
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from postern.kernel.http.problems import Problem, ProblemError, RateLimited, Unavailable
from postern.protocols.mail.dkim import Signer
from postern.protocols.mail.templates.composing import (
    ComposeRequest,
    ComposeResult,
    MessageDraft,
    MessageTemplates,
    TemplateCrashed,
    TemplateTooExpensive,
    problem_of,
)

KNOWN_CHARACTERS: Final = 4_000_000
"""Characters of words that a process holds; with more it begins anew."""
WORDS_COST: Final = 300
"""For how many characters words count besides their own: a hundred thousand short subjects take memory, too."""
KNOWN_SIGNERS: Final = 1_000
"""Signers that it holds; with more it begins anew."""
PROCESSES: Final = 2
"""Shared processes: two make about what the event loop of a worker can send."""
HEAD: Final = 4
"""Octets that say how long a frame is."""
BUFFER: Final = 4 * 1024 * 1024
"""Octets of an answer that are taken in before anybody has read them."""
SILENCE_SECONDS: Final = 120
"""A process that works on the same item for so long is ended from outside; its own clock should have ended it."""
TRIES: Final = 3
"""How often an item is given to a process that dies before anybody can say of what."""
OWN_LANE_SECONDS: Final = 3.0
"""Processor time of slow items after which a project gets a lane of its own."""
OWN_LANE_LEAK: Final = 0.05
"""Seconds of that which are forgotten each second."""
DEATH_SECONDS: Final = 2.0
"""What the end of a process counts for."""
PROJECTS_WATCHED: Final = 10_000
"""Projects whose slow items are remembered."""
OWN_LANE_WAITING: Final = 16
"""Items of one project that may wait in its own lane."""

MARK: Final = struct.Struct("<IIB")
"""What the marker of a process holds: the number of the frame, the item in it, the part of that item."""
PARTS: Final = (None, "subject", "html", "text")

_TOO_EXPENSIVE: Final = {signal.SIGPROF, signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM}
_CRASHED: Final = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP}
Item = TypeVar("Item", "ComposeRequest", "RenderTask")


class RenderingUnavailable(Unavailable, code="rendering_away"):
    """Templates cannot be rendered at the moment; try again shortly."""


class RenderingBusy(RateLimited):
    """This project's templates take so much time that they are rendered one by one, and too many wait already."""

    retry_after_seconds = 5


class NeedsOwnProcess(Exception):
    """The item's project has a lane of its own; it is made there, apart from the others of its group."""


class ProcessDied(Exception):
    """A process ended before it answered. `index` is the item that it was working on, if it was one of ours."""

    def __init__(self, why: str, index: int | None = None, part: str | None = None, status: int | None = None) -> None:
        super().__init__(why)
        self.index = index
        self.part = part
        self.status = status
        """As of `subprocess`: negative for a signal."""

    def problem(self) -> Problem | None:
        """What the item is answered with; None where the end of the process need not be its doing."""
        number = -(self.status or 0)
        kind = TemplateTooExpensive if number in _TOO_EXPENSIVE else TemplateCrashed if number in _CRASHED else None
        return None if kind is None else problem_at(kind, self.part)


def problem_at(kind: type[Problem], part: str | None) -> Problem:
    """The problem, with the part of the message it happened in, where that is known."""
    message = kind.message()
    return kind(message, errors=[ProblemError(path=f"/{part}", code=kind.code(), message=message)] if part else [])


class RenderTask(NamedTuple):
    """A function in `composing.TASKS` to call, and its arguments."""

    tenant: str
    name: str
    size: int
    """Characters in the arguments."""
    arguments: list[Any]


class RenderRequest(msgspec.Struct, frozen=True, array_like=True):
    """What a process is asked: words and signers to add (after forgetting all others, maybe), and what to make."""

    number: int
    now: int
    forget: bool
    words: list[MessageTemplates]
    signers: list[tuple[str, str, bytes]]
    """Domain, selector, private key as PEM."""
    drafts: list[tuple[int, list[int], MessageDraft]]
    """The numbers of the words and of the signers among all that it knows, and the rest."""
    tasks: list[tuple[str, int, bytes]]
    """Name, size, and the arguments as msgpack."""


class TaskResult(msgspec.Struct, frozen=True, array_like=True):
    """What a task returned, or the problem that it raised."""

    value: Any = None
    code: str | None = None
    detail: str = ""
    errors: list[ProblemError] = []


class RenderResponse(msgspec.Struct, frozen=True, array_like=True):
    """The answer to a frame, in its order, and which items took how many seconds of processor time, if many."""

    made: list[ComposeResult]
    answers: list[TaskResult]
    slow: list[tuple[int, float]]


def framed(content: object) -> bytes:
    """A message as it goes through the pipe."""
    encoded = msgspec.msgpack.encode(content)
    return len(encoded).to_bytes(HEAD) + encoded


class RenderChild:
    """A started process: its end of the socket, and the marker."""

    def __init__(self, *, low: bool = False) -> None:
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as file, theirs:
            file.truncate(MARK.size)
            self.marker = mmap.mmap(file.fileno(), MARK.size)
            self.socket = ours
            arguments = [sys.executable, "-m", "postern.protocols.mail.templates.render_process", str(file.fileno())]
            self.process = subprocess.Popen(
                [*arguments, *(["low"] if low else [])],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                pass_fds=(file.fileno(),),
                env={name: value for name, value in os.environ.items() if name in _ENVIRONMENT},
                # A session of its own: Ctrl-C in the terminal reaches us alone, and what is in hand is still made.
                start_new_session=True,
            )
        self.low = low
        """Whether it has a low priority."""
        self.frames = 0
        """The number of the last frame."""

    def end(self) -> int:
        """Kill it, unless it has gone by itself, and say how it ended."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.2)  # It may be on its way, with a status worth knowing.
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        self.marker.close()
        return status


_ENVIRONMENT: Final = frozenset(
    {
        "PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "VIRTUAL_ENV",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "SYSTEMROOT",
    }
)
"""What a render process needs to know of ours; secrets it does not."""


class ProcessSource(Protocol):
    """Where processes come from, and where idle ones go in the end."""

    def start(self, *, low: bool) -> RenderChild:
        """A process that has nothing to do."""
        ...

    def give_back(self, child: RenderChild) -> None:
        """Take one that has nothing to do."""
        ...


class NewProcesses:
    """Starts a process each time, and ends what is given back."""

    def start(self, *, low: bool) -> RenderChild:
        """Start one. Raises OSError."""
        return RenderChild(low=low)

    def give_back(self, child: RenderChild) -> None:
        """End it."""
        child.process.kill()
        child.end()


class RenderProcess:
    """One process, started when it is first needed and again when it has died. It answers in the order of asking."""

    def __init__(self, children: ProcessSource | None = None, *, low: bool = False) -> None:
        self._children = children or NewProcesses()
        self._low = low
        self._child: RenderChild | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._starting = asyncio.Lock()
        self._listeners: set[asyncio.Task[None]] = set()
        """Of this process, and of those before it that are not quite gone."""
        self._asked: deque[tuple[int, asyncio.Future[RenderResponse]]] = deque()
        self._words: dict[MessageTemplates, int] = {}
        self._signers: dict[int, tuple[int, Signer]] = {}
        """By identity (held, so that an identity keeps its meaning), and their numbers there."""
        self._characters = 0
        self._ended = False

    @property
    def asked(self) -> int:
        """Frames that it has not answered yet."""
        return len(self._asked)

    @property
    def process_id(self) -> int | None:
        """Of the process, while there is one."""
        return self._child.process.pid if self._child else None

    async def start(self) -> None:
        """Start the process, so that the first who asks need not wait for it. Raises ProcessDied."""
        async with self._starting:
            if self._child is None:
                await self._start()

    async def ask(
        self, orders: Sequence[ComposeRequest] = (), tasks: Sequence[RenderTask] = (), *, now: int = 0
    ) -> RenderResponse:
        """Make what is asked. Raises ProcessDied, or Unsendable for what cannot be written down."""
        if self._child is None or self._writer is None:
            await self.start()
        child, writer = self._child, self._writer
        if child is None or writer is None:
            raise ProcessDied("It has just ended.")
        frame = self._frame(child, orders, tasks, now)
        answer: asyncio.Future[RenderResponse] = asyncio.get_running_loop().create_future()
        try:
            writer.write(frame)
        except (OSError, RuntimeError) as error:  # It has just died.
            raise ProcessDied(str(error)) from None
        self._asked.append((child.frames, answer))
        return await answer

    def _frame(
        self, child: RenderChild, orders: Sequence[ComposeRequest], tasks: Sequence[RenderTask], now: int
    ) -> bytes:
        forget = self._characters > KNOWN_CHARACTERS or len(self._signers) > KNOWN_SIGNERS
        known = {} if forget else self._words
        known_signers = {} if forget else self._signers
        words: dict[MessageTemplates, int] = {}
        signers: dict[int, tuple[int, Signer]] = {}
        drafts: list[tuple[int, list[int], MessageDraft]] = []
        for order in orders:
            number = known.get(order.words)
            if number is None:
                number = words.setdefault(order.words, len(known) + len(words))
            signed_by: list[int] = []
            for signer in order.signers:
                entry = known_signers.get(id(signer))
                if entry is None:
                    entry = signers.setdefault(id(signer), (len(known_signers) + len(signers), signer))
                signed_by.append(entry[0])
            drafts.append((number, signed_by, order.draft))
        keys = [(each.domain, each.selector, _pem(each)) for _, each in signers.values()]
        try:
            asked = [(task.name, task.size, msgspec.msgpack.encode(task.arguments)) for task in tasks]
            frame = framed(RenderRequest(child.frames + 1, now, forget, list(words), keys, drafts, asked))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise NotEncodable(str(error)) from None
        child.frames += 1
        if forget:
            self._words, self._signers, self._characters = {}, {}, 0
        self._words |= words
        self._signers |= signers
        self._characters += sum(each.size + WORDS_COST for each in words)
        return frame

    async def _start(self) -> None:
        if self._ended:  # Nobody would end another one.
            raise ProcessDied("It was ended.")
        try:
            child = await asyncio.to_thread(self._children.start, low=self._low)
            reader, writer = await asyncio.open_unix_connection(sock=child.socket.dup(), limit=BUFFER)
        except OSError as error:
            raise ProcessDied(str(error)) from None
        self._child, self._writer = child, writer
        # The process may have worked for somebody else before.
        self._words, self._signers, self._characters = {}, {}, KNOWN_CHARACTERS + 1
        self._later(self._listen(child, reader, writer))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._listeners.add(task)
        task.add_done_callback(self._listeners.discard)

    async def _listen(self, child: RenderChild, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand out the answers until there are no more; then nobody waits in vain."""
        why = "It was ended."
        watch = asyncio.create_task(self._watch(child))
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(HEAD))
                reply = _REPLY.decode(await reader.readexactly(size))
                _, answer = self._asked.popleft()
                if not answer.done():  # Whoever asked may have given up.
                    answer.set_result(reply)
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError, IndexError) as error:
            why = str(error)
        finally:
            self._child = self._writer = None
            asked, self._asked = self._asked, deque()
            watch.cancel()
            writer.transport.abort()
            if self._ended and not asked and child.process.poll() is None:
                self._children.give_back(child)
            else:
                self._answer(asked, child, why, await asyncio.to_thread(_end, child))
                if child.frames and not self._ended:
                    self._later(self._start_again())

    async def _start_again(self) -> None:
        """Have the next process ready before somebody needs it."""
        with suppress(ProcessDied):
            await self.start()

    def _answer(
        self,
        asked: deque[tuple[int, asyncio.Future[RenderResponse]]],
        child: RenderChild,
        why: str,
        end: tuple[int, int, int, int],
    ) -> None:
        status, frame, index, part = end
        for number, answer in asked:
            if not answer.done():
                guilty = number == frame
                answer.set_exception(
                    ProcessDied(why, index, PARTS[part % len(PARTS)], status) if guilty else ProcessDied(why)
                )

    async def _watch(self, child: RenderChild) -> None:
        """End a process that does not get on with one item, although its own clock should have ended it."""
        before, since = b"", time.monotonic()
        while True:
            await asyncio.sleep(SILENCE_SECONDS / 8)
            place = bytes(child.marker[: MARK.size]) + child.frames.to_bytes(8)
            if place != before or not self._asked:
                before, since = place, time.monotonic()
            elif time.monotonic() - since > SILENCE_SECONDS:
                os.kill(child.process.pid, signal.SIGALRM)
                await asyncio.sleep(1)
                child.process.kill()

    async def aclose(self) -> None:
        """End the process; it is not started again."""
        async with self._starting:
            self._ended = True
            if self._writer is not None and self._child is not None:
                if self._asked:
                    self._child.process.kill()  # Its listener comes to the end, and tells those who wait.
                else:
                    for listener in self._listeners:
                        listener.cancel()
        # Without the lock: who is about to start the next process must come to see that it is over.
        if self._listeners:
            await asyncio.wait(self._listeners)


class NotEncodable(Exception):
    """An item holds what cannot be written into a frame."""


_REPLY = msgspec.msgpack.Decoder(RenderResponse)


def _end(child: RenderChild) -> tuple[int, int, int, int]:
    """How a process ended, and the frame, item and part that it was working on."""
    frame, index, part = MARK.unpack_from(child.marker, 0)
    return child.end(), frame, index, part


def _pem(signer: Signer) -> bytes:
    return signer.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class RenderProcesses:
    """The render processes of one API or worker process, and who may use which."""

    def __init__(self, most: int = PROCESSES, children: ProcessSource | None = None) -> None:
        self._shared = [RenderProcess(children) for _ in range(most)]
        self._own_lane = RenderProcess(children, low=True)
        self._own_lane_turn = asyncio.Lock()
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}
        """Of the projects with a lane of their own: whose turn it is, and how many wait."""
        self._spent: dict[str, tuple[float, float]] = {}
        """Seconds that slow items of a project took, less what was forgotten, and when that was reckoned."""

    async def start(self) -> None:
        """Start the shared processes before anybody needs them."""
        await asyncio.gather(*(each.start() for each in self._shared), return_exceptions=True)

    @property
    def process_ids(self) -> list[int]:
        """Of the processes that run."""
        return [each.process_id for each in (*self._shared, self._own_lane) if each.process_id is not None]

    def has_own_process(self, tenant: str) -> bool:
        """Whether the items of a project are made apart from those of others."""
        return self._reckon(tenant) > OWN_LANE_SECONDS

    async def compose_all(self, orders: Sequence[ComposeRequest], *, now: int) -> list[ComposeResult | NeedsOwnProcess]:
        """Make messages, signed at `now` (seconds since 1970); what is wrong with one of them is that one's reason.

        What needs its own lane is handed back. Raises RenderingUnavailable.
        """
        small = [order for order in orders if order.is_small]
        if len(small) == len(orders):
            return await self._make(orders, now)
        groups = [small, *([order] for order in orders if not order.is_small)]
        made = await asyncio.gather(*(self._make(group, now) for group in groups))
        of_small, of_large = iter(made[0]), (each for group in made[1:] for each in group)
        return [next(of_small if order.is_small else of_large) for order in orders]

    async def _make(
        self, orders: Sequence[ComposeRequest], now: int, tries: int = TRIES
    ) -> list[ComposeResult | NeedsOwnProcess]:
        if not orders:
            return []
        if self._spent and any(self.has_own_process(order.tenant) for order in orders):
            shared = [order for order in orders if not self.has_own_process(order.tenant)]
            made = iter(await self._make(shared, now, tries))
            return [NeedsOwnProcess() if self.has_own_process(order.tenant) else next(made) for order in orders]
        try:
            reply = await self._free().ask(orders, now=now)
        except NotEncodable as error:
            if len(orders) == 1:
                return [ComposeResult(reason=f"The values are not plain JSON: {error}.")]
            return [made for order in orders for made in await self._make([order], now, tries)]
        except ProcessDied as died:
            if died.index is None:
                self._require(tries, died)
                return await self._make(orders, now, tries - 1)
            at = died.index
            guilty = orders[at]
            self._charge(guilty.tenant, DEATH_SECONDS)
            rest = await self._make([*orders[:at], *orders[at + 1 :]], now, TRIES)
            return [*rest[:at], await self._made_of(guilty, died, now), *rest[at:]]
        for at, seconds in reply.slow:
            self._charge(orders[at].tenant, seconds)
        return list(reply.made)

    async def compose(self, order: ComposeRequest, *, now: int) -> ComposeResult:
        """Make one message, in whichever lane it belongs. Raises RenderingBusy, RenderingUnavailable."""
        (made,) = await self.compose_all([order], now=now)
        return await self.compose_alone(order, now=now) if isinstance(made, NeedsOwnProcess) else made

    async def _made_of(self, order: ComposeRequest, died: ProcessDied, now: int) -> ComposeResult:
        """What an order comes to whose process died of it, or was ended by somebody else while it worked on it."""
        problem = died.problem()
        return (
            ComposeResult(reason=problem.detail)
            if problem
            else await self.compose_alone(order, now=now, is_second=True)
        )

    async def compose_alone(self, order: ComposeRequest, *, now: int, is_second: bool = False) -> ComposeResult:
        """Make one message in the lane for projects that are expensive. Raises RenderingBusy, RenderingUnavailable."""
        try:
            reply = await self._ask_alone(order.tenant, [order], [], now)
        except NotEncodable as error:
            return ComposeResult(reason=f"The values are not plain JSON: {error}.")
        except ProcessDied as died:
            self._charge(order.tenant, DEATH_SECONDS)
            if died.problem() is None and not is_second:
                return await self.compose_alone(order, now=now, is_second=True)
            return ComposeResult(reason=(died.problem() or problem_at(TemplateCrashed, died.part)).detail)
        return reply.made[0]

    async def call(self, tenant: str, name: str, *arguments: Any, size: int = 0) -> Any:
        """Call a function in `composing.TASKS` for a project.

        Raises what it raises, TemplateTooExpensive and TemplateCrashed with the place, RenderingBusy and
        RenderingUnavailable.
        """
        task = RenderTask(tenant, name, size, list(arguments))
        reply: RenderResponse | None = None
        try:
            if not self.has_own_process(tenant):
                reply = await self._call_shared(task)
            if reply is None:
                reply = await self._call_alone(task)
        except NotEncodable as error:
            raise _not_json(str(error)) from None
        (answer,) = reply.answers
        if answer.code is not None:
            raise problem_of(answer.code, answer.detail, answer.errors)
        return answer.value

    async def _call_shared(self, task: RenderTask) -> RenderResponse | None:
        """The reply; None where the process was ended while it worked on this, by whom is not known."""
        for tries in range(TRIES, -1, -1):
            try:
                reply = await self._free().ask(tasks=[task])
            except ProcessDied as died:
                if died.index is None:
                    self._require(tries, died)
                    continue
                self._charge(task.tenant, DEATH_SECONDS)
                if problem := died.problem():
                    raise problem from None
                return None
            for _, seconds in reply.slow:
                self._charge(task.tenant, seconds)
            return reply
        raise RenderingUnavailable

    async def _call_alone(self, task: RenderTask) -> RenderResponse:
        for is_second in (False, True):
            try:
                return await self._ask_alone(task.tenant, [], [task], 0)
            except ProcessDied as died:
                self._charge(task.tenant, DEATH_SECONDS)
                problem = died.problem()
                if problem is not None or is_second:
                    raise problem or problem_at(TemplateCrashed, died.part) from None
        raise RenderingUnavailable

    async def _ask_alone(
        self, tenant: str, orders: list[ComposeRequest], tasks: list[RenderTask], now: int
    ) -> RenderResponse:
        lock, waiting = self._turns.get(tenant, (asyncio.Lock(), 0))
        if waiting >= OWN_LANE_WAITING:
            raise RenderingBusy
        self._turns[tenant] = (lock, waiting + 1)
        try:
            # One item of each project stands in line at a time, so that they take turns.
            async with lock, self._own_lane_turn:
                for tries in range(TRIES, -1, -1):
                    try:
                        reply = await self._own_lane.ask(orders, tasks, now=now)
                    except ProcessDied as died:
                        if died.index is not None:
                            raise
                        self._require(tries, died)
                        continue
                    for _, seconds in reply.slow:
                        self._charge(tenant, seconds)
                    return reply
                raise RenderingUnavailable
        finally:
            lock, waiting = self._turns[tenant]
            if waiting > 1:
                self._turns[tenant] = (lock, waiting - 1)
            else:
                del self._turns[tenant]

    def _free(self) -> RenderProcess:
        # The first of equals, so that words are known where they were last.
        return min(self._shared, key=lambda each: each.asked)

    def _require(self, tries: int, died: ProcessDied) -> None:
        if tries <= 0:
            raise RenderingUnavailable(f"{RenderingUnavailable.message()} ({died})") from None

    def _charge(self, tenant: str, seconds: float) -> None:
        if len(self._spent) >= PROJECTS_WATCHED:
            self._spent = {each: kept for each, kept in self._spent.items() if self._reckon(each) > 0}
            if len(self._spent) >= PROJECTS_WATCHED:
                self._spent.clear()
        self._spent[tenant] = (self._reckon(tenant) + seconds, time.monotonic())

    def _reckon(self, tenant: str) -> float:
        spent, since = self._spent.get(tenant, (0.0, 0.0))
        return max(0.0, spent - (time.monotonic() - since) * OWN_LANE_LEAK) if spent else 0.0

    async def aclose(self) -> None:
        """End the processes."""
        await asyncio.gather(*(each.aclose() for each in (*self._shared, self._own_lane)))


def _not_json(why: str) -> Problem:
    message = f"The variables are not plain JSON: {why}."
    return problem_of("invalid", message, [ProblemError(path="/variables", code="invalid", message=message)])
