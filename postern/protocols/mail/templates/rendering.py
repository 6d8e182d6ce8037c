"""Client of the render processes, in which all templates are parsed and rendered.

An item is a message to compose, or a task: a call of a function in `composing.TASKS`. All projects share a few
processes. One that crashes or exceeds its limits is replaced; the item that it was processing fails with a problem
(`template_too_expensive`, `template_crashed`), and its other items are processed again. A project whose templates take
much time or crash processes is in the slow lane for a while: its items are processed one by one, in a process that all
such projects share, so that they do not delay others. `tenant` is the id of a project.
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
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

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

CACHED_CHARACTERS: Final = 4_000_000
"""Maximum characters of templates that a process caches; with more, the cache is cleared."""
TEMPLATE_OVERHEAD: Final = 300
"""Added to the number of characters of each cached template, because short templates take memory too."""
CACHED_SIGNERS: Final = 1_000
"""Maximum number of signers that a process caches; with more, the cache is cleared."""
PROCESSES: Final = 2
"""Number of shared processes: two compose about as many messages as the event loop of a worker can send."""
LENGTH_OCTETS: Final = 4
"""Octets of the length in front of each frame."""
RESPONSE_OCTETS: Final = 512 * 1024 * 1024
"""Maximum octets of a response: more than 250 messages of the largest contents that are composed together."""
SILENCE_SECONDS: Final = 120
"""A process is killed if it works on the same item for this long, in case its own time limits fail."""
RETRIES: Final = 3
"""How many times items are processed again if their process dies and it is unknown which item caused that."""
SLOW_LANE_SECONDS: Final = 3.0
"""A project is in the slow lane while its slow items (see `render_process.SLOW_SECONDS`) have used more processor time
than this."""
SLOW_LANE_LEAK: Final = 0.05
"""Seconds by which the counted processor time of a project decreases each second."""
CRASH_SECONDS: Final = 2.0
"""Seconds of processor time that a crash counts as."""
PROJECTS_WATCHED: Final = 10_000
"""Maximum number of projects whose slow items are counted."""
SLOW_LANE_WAITING: Final = 16
"""Maximum number of items of one project that wait in the slow lane."""

MARKER_FORMAT: Final = struct.Struct("<IIB")
"""The contents of the marker: the number of the request, the index of the item in it, and the part of that item. The
marker is memory that a process shares with its parent. The process writes what it is processing, and the parent reads
it after a crash."""
PART_OFFSET: Final = MARKER_FORMAT.size - 1
"""Where the marker has the part."""
PARTS: Final = (None, "subject", "html", "text")
"""The parts of a message; the marker contains the index in this tuple."""

_TOO_EXPENSIVE_SIGNALS: Final = {signal.SIGPROF, signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM}
_CRASH_SIGNALS: Final = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP}


# The code is part of the public API.
class RenderingUnavailable(Unavailable, code="rendering_away"):
    """Templates cannot be rendered at the moment. Retry shortly."""


class RenderingBusy(RateLimited):
    """This project's templates take so much time that they are rendered one by one, and too many are waiting. Retry
    later, or simplify the templates."""

    retry_after_seconds = 5


class MustUseSlowLane(Exception):
    """The project of a message is in the slow lane; the caller must compose the message there
    (`compose_in_slow_lane`). `compose_all` returns this in place of a result; it is an exception because a `Batcher`
    (see `kernel.batching`) raises such results for the caller that they belong to."""


class ProcessDied(Exception):
    """A process ended before its response, could not be started, or was closed.

    `index` is the item of this request that it was processing, or None if it is not known to have processed one.
    """

    def __init__(self, why: str, index: int | None = None, part: str | None = None, status: int | None = None) -> None:
        super().__init__(why)
        self.index = index
        self.part = part
        self.status = status
        """The exit status as in `subprocess`: negative for a signal."""

    def problem(self) -> Problem | None:
        """The problem of the item; None if it is not certain that the item caused the end of the process."""
        number = -(self.status or 0)
        if number in _TOO_EXPENSIVE_SIGNALS:
            return problem_at(TemplateTooExpensive, self.part)
        return problem_at(TemplateCrashed, self.part) if number in _CRASH_SIGNALS else None


def problem_at(kind: type[Problem], part: str | None) -> Problem:
    """A problem of this class whose `errors` have the part of the message, if it is known."""
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
    """A request to a process: templates and signers to cache, and messages and tasks to process."""

    number: int
    now: int
    """The time of the signatures, in seconds since 1970."""
    clear_caches: bool
    """Whether to clear the caches first."""
    templates: list[MessageTemplates]
    signers: list[tuple[str, str, bytes]]
    """Domain, selector, private key as PEM."""
    drafts: list[tuple[int, list[int], MessageDraft]]
    """For each message: the index of its templates and those of its signers in the caches, and the draft."""
    tasks: list[tuple[str, int, bytes]]
    """Name, size, and the arguments as msgpack."""


class TaskResult(msgspec.Struct, frozen=True, array_like=True):
    """The result of a task, or the problem that it raised."""

    value: Any = None
    code: str | None = None
    detail: str = ""
    errors: list[ProblemError] = []


class RenderResponse(msgspec.Struct, frozen=True, array_like=True):
    """The results in the order of the request; `slow` has the index and processor time in seconds of slow items."""

    composed: list[ComposeResult]
    task_results: list[TaskResult]
    slow: list[tuple[int, float]]


def encode_frame(content: object) -> bytearray:
    """Encode a request or a response, with its length in front."""
    frame = bytearray(LENGTH_OCTETS)
    _ENCODER.encode_into(content, frame, LENGTH_OCTETS)
    frame[:LENGTH_OCTETS] = (len(frame) - LENGTH_OCTETS).to_bytes(LENGTH_OCTETS)
    return frame


_ENCODER: Final = msgspec.msgpack.Encoder()


class _FrameReader(asyncio.BufferedProtocol):
    """Reads frames without copying them: passes the content of each to `receive`.

    `ended` is done when the connection was lost, or when `receive` has raised an exception.
    """

    def __init__(self, receive: Callable[[bytearray], None]) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._receive = receive
        self._buffer = bytearray(LENGTH_OCTETS)
        self._filled = 0
        self._is_length = True
        """Whether `_buffer` is for the length of the next frame, and not for its content."""

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled < len(self._buffer) or self.ended.done():
            return
        content, self._filled = self._buffer, 0
        self._is_length = not self._is_length
        try:
            if self._is_length:
                self._buffer = bytearray(LENGTH_OCTETS)
                self._receive(content)
            elif 0 < (size := int.from_bytes(content)) <= RESPONSE_OCTETS:
                self._buffer = bytearray(size)
            else:
                raise msgspec.DecodeError(f"The process announced a response of {size} octets.")
        except (msgspec.DecodeError, IndexError, MemoryError) as error:
            self.ended.set_result(str(error))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(str(exc or "The process has ended."))


class RunningProcess:
    """A started process of the operating system, with the parent's end of the socket and the marker."""

    def __init__(self, *, low_priority: bool = False) -> None:
        parent_end, child_end = socket.socketpair()
        with tempfile.TemporaryFile() as file, child_end:
            file.truncate(MARKER_FORMAT.size)
            self.marker = mmap.mmap(file.fileno(), MARKER_FORMAT.size)
            self.socket = parent_end
            arguments = [sys.executable, "-m", "postern.protocols.mail.templates.render_process", str(file.fileno())]
            self.process = subprocess.Popen(
                [*arguments, *(["low"] if low_priority else [])],
                stdin=child_end.fileno(),
                stdout=subprocess.DEVNULL,
                pass_fds=(file.fileno(),),
                env={name: value for name, value in os.environ.items() if name in _ENVIRONMENT},
                # In its own session the process gets no Ctrl-C from the terminal, so it finishes its current items.
                start_new_session=True,
            )
        self.low_priority = low_priority
        """Whether the process has a low priority."""
        self.requests_sent = 0
        """The number of the last request that was sent."""

    def end(self) -> int:
        """Kill the process unless it exits within 0.2 seconds, close socket and marker, and return the exit status."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.2)  # The process may be exiting with a meaningful status.
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
"""The environment variables that a render process inherits; others may contain secrets."""


class ProcessSource(Protocol):
    """Where a RestartingProcess gets its processes from; tests reuse idle ones."""

    def start(self, *, low_priority: bool) -> RunningProcess:
        """Return an idle process. Raises OSError."""
        ...

    def give_back(self, child: RunningProcess) -> None:
        """Take back an idle process that is no longer needed."""
        ...


class ProcessSpawner:
    """Starts a new process each time, and kills processes that are given back."""

    def start(self, *, low_priority: bool) -> RunningProcess:
        """Start a process. Raises OSError."""
        return RunningProcess(low_priority=low_priority)

    def give_back(self, child: RunningProcess) -> None:
        """Kill the process."""
        child.process.kill()
        child.end()


class RestartingProcess:
    """One process at a time: started on first use, and replaced after its death if it had got a request. Responds in
    the order of the requests."""

    def __init__(self, process_source: ProcessSource | None = None, *, low_priority: bool = False) -> None:
        self._process_source = process_source or ProcessSpawner()
        self._low_priority = low_priority
        self._child: RunningProcess | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._start_lock = asyncio.Lock()
        self._readers: set[asyncio.Task[None]] = set()
        """The tasks that read responses of this process, and of earlier ones that are still ending."""
        self._pending: deque[tuple[int, asyncio.Future[RenderResponse]]] = deque()
        self._templates: dict[MessageTemplates, int] = {}
        self._signers: dict[int, tuple[int, Signer]] = {}
        """The index and the signer, keyed by `id()`; a reference is kept so that the id stays unique."""
        self._characters = 0
        self._ended = False

    @property
    def pending(self) -> int:
        """The number of requests without a response yet."""
        return len(self._pending)

    @property
    def process_id(self) -> int | None:
        """The process id; None while no process runs."""
        return self._child.process.pid if self._child else None

    async def start(self) -> None:
        """Start the process, so that the first request does not wait for it. Raises ProcessDied."""
        async with self._start_lock:
            if self._child is None:
                await self._start()

    async def request(
        self, requests: Sequence[ComposeRequest] = (), tasks: Sequence[RenderTask] = (), *, now: int = 0
    ) -> RenderResponse:
        """Send a request and wait for the response. Raises ProcessDied or NotEncodable."""
        if self._child is None or self._transport is None:
            await self.start()
        child, transport = self._child, self._transport
        if child is None or transport is None:
            raise ProcessDied("The process has just ended.")
        frame = self._encode_request(child, requests, tasks, now)
        response: asyncio.Future[RenderResponse] = asyncio.get_running_loop().create_future()
        try:
            transport.write(frame)
        except (OSError, RuntimeError) as error:  # The process has just died.
            raise ProcessDied(str(error)) from None
        self._pending.append((child.requests_sent, response))
        return await response

    def _encode_request(
        self, child: RunningProcess, requests: Sequence[ComposeRequest], tasks: Sequence[RenderTask], now: int
    ) -> bytearray:
        """The encoded request. Templates and signers that the process has not cached yet are sent with it."""
        clear_caches = self._characters > CACHED_CHARACTERS or len(self._signers) > CACHED_SIGNERS
        cached_templates = {} if clear_caches else self._templates
        cached_signers = {} if clear_caches else self._signers
        new_templates: dict[MessageTemplates, int] = {}
        new_signers: dict[int, tuple[int, Signer]] = {}
        drafts: list[tuple[int, list[int], MessageDraft]] = []
        for request in requests:
            index = cached_templates.get(request.templates)
            if index is None:
                index = new_templates.setdefault(request.templates, len(cached_templates) + len(new_templates))
            signer_indexes: list[int] = []
            for signer in request.signers:
                entry = cached_signers.get(id(signer))
                if entry is None:
                    entry = new_signers.setdefault(id(signer), (len(cached_signers) + len(new_signers), signer))
                signer_indexes.append(entry[0])
            drafts.append((index, signer_indexes, request.draft))
        keys = [(signer.domain, signer.selector, _pem(signer)) for _, signer in new_signers.values()]
        try:
            calls = [(task.name, task.size, msgspec.msgpack.encode(task.arguments)) for task in tasks]
            frame = encode_frame(
                RenderRequest(child.requests_sent + 1, now, clear_caches, list(new_templates), keys, drafts, calls)
            )
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise NotEncodable(str(error)) from None
        child.requests_sent += 1
        if clear_caches:
            self._templates, self._signers, self._characters = {}, {}, 0
        self._templates |= new_templates
        self._signers |= new_signers
        self._characters += sum(template.size + TEMPLATE_OVERHEAD for template in new_templates)
        return frame

    async def _start(self) -> None:
        if self._ended:  # A new process would never be ended.
            raise ProcessDied("The render processes were closed.")
        try:
            child = await asyncio.to_thread(self._process_source.start, low_priority=self._low_priority)
            transport, reader = await asyncio.get_running_loop().create_unix_connection(
                lambda: _FrameReader(self._receive), sock=child.socket.dup()
            )
        except OSError as error:
            raise ProcessDied(str(error)) from None
        self._child, self._transport = child, transport
        # In tests, the process may have served another RestartingProcess. With more than CACHED_CHARACTERS, the next
        # request tells it to clear its caches.
        self._templates, self._signers, self._characters = {}, {}, CACHED_CHARACTERS + 1
        self._run_in_background(self._serve_until_end(child, reader, transport))

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._readers.add(task)
        task.add_done_callback(self._readers.discard)

    def _receive(self, content: bytearray) -> None:
        """Give a response to the request that has waited longest. Raises DecodeError, or IndexError if none waits."""
        decoded = _RESPONSE_DECODER.decode(content)
        _, response = self._pending.popleft()
        if not response.done():  # The waiting task may have been cancelled.
            response.set_result(decoded)

    async def _serve_until_end(
        self, child: RunningProcess, reader: _FrameReader, transport: asyncio.WriteTransport
    ) -> None:
        """Wait until the process ends, then fail the requests that are still waiting."""
        why = "The render processes were closed."
        watch = asyncio.create_task(self._watch(child))
        try:
            why = await reader.ended
        finally:
            self._child = self._transport = None
            waiting_requests, self._pending = self._pending, deque()
            watch.cancel()
            transport.abort()
            if self._ended and not waiting_requests and child.process.poll() is None:
                self._process_source.give_back(child)
            else:
                self._fail_pending(waiting_requests, child, why, await asyncio.to_thread(_end, child))
                # If it died before its first request, the next one may do so too: starting it here could go on forever.
                if child.requests_sent and not self._ended:
                    self._run_in_background(self._restart())

    async def _restart(self) -> None:
        """Start the next process before it is needed."""
        with suppress(ProcessDied):
            await self.start()

    def _fail_pending(
        self,
        waiting_requests: deque[tuple[int, asyncio.Future[RenderResponse]]],
        child: RunningProcess,
        why: str,
        end_state: tuple[int, int, int, int],
    ) -> None:
        """Fail the requests that got no response; only the one that was being processed gets the item's index."""
        status, current_number, index, part = end_state
        for number, response in waiting_requests:
            if not response.done():
                was_processed = number == current_number
                response.set_exception(
                    ProcessDied(why, index, PARTS[part % len(PARTS)], status) if was_processed else ProcessDied(why)
                )

    async def _watch(self, child: RunningProcess) -> None:
        """Kill a process that works on one item for longer than SILENCE_SECONDS."""
        last_state, changed_at = b"", time.monotonic()
        while True:
            await asyncio.sleep(SILENCE_SECONDS / 8)
            state = bytes(child.marker[: MARKER_FORMAT.size]) + child.requests_sent.to_bytes(8)
            if state != last_state or not self._pending:
                last_state, changed_at = state, time.monotonic()
            elif time.monotonic() - changed_at > SILENCE_SECONDS:
                # This exit status means that the item was too expensive. A process that ignores the signal is killed.
                os.kill(child.process.pid, signal.SIGALRM)
                await asyncio.sleep(1)
                child.process.kill()

    async def aclose(self) -> None:
        """End the process; it is not started again."""
        async with self._start_lock:
            self._ended = True
            if self._transport is not None and self._child is not None:
                if self._pending:
                    self._child.process.kill()  # Its reading task then fails the waiting requests.
                else:
                    for task in self._readers:
                        task.cancel()
        # Not under the lock: a start that waits for the lock must get it, to see `_ended` and give up.
        if self._readers:
            await asyncio.wait(self._readers)


class NotEncodable(Exception):
    """An item has values that cannot be encoded."""


_RESPONSE_DECODER = msgspec.msgpack.Decoder(RenderResponse)


def _end(child: RunningProcess) -> tuple[int, int, int, int]:
    """End a process; returns its exit status, and the request, item and part that it was processing."""
    number, index, part = MARKER_FORMAT.unpack_from(child.marker, 0)
    return child.end(), number, index, part


def _pem(signer: Signer) -> bytes:
    return signer.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class RenderProcesses:
    """The render processes of one API or worker process: shared ones, and one for the projects in the slow lane."""

    def __init__(self, process_count: int = PROCESSES, process_source: ProcessSource | None = None) -> None:
        self._shared = [RestartingProcess(process_source) for _ in range(process_count)]
        self._slow_lane = RestartingProcess(process_source, low_priority=True)
        self._slow_lane_lock = asyncio.Lock()
        self._project_locks: dict[str, tuple[asyncio.Lock, int]] = {}
        """For each project with items in the slow lane: the lock of its items, and the number of waiting items."""
        self._spent: dict[str, tuple[float, float]] = {}
        """For each project: the decreasing sum of processor time of slow items in seconds, and when it was computed."""

    async def start(self) -> None:
        """Start the shared processes before they are needed."""
        await asyncio.gather(*(process.start() for process in self._shared), return_exceptions=True)

    @property
    def process_ids(self) -> list[int]:
        """The ids of the running processes."""
        processes = (*self._shared, self._slow_lane)
        return [process.process_id for process in processes if process.process_id is not None]

    def is_in_slow_lane(self, tenant: str) -> bool:
        """Whether the items of a project are processed in the slow lane now."""
        return self._spent_seconds(tenant) > SLOW_LANE_SECONDS

    async def compose_all(
        self, requests: Sequence[ComposeRequest], *, now: int
    ) -> list[ComposeResult | MustUseSlowLane]:
        """Compose messages, signed at `now` (seconds since 1970). Returns one result per request, in the same order.

        A failed message has a result with a `reason`. A message whose project is in the slow lane is not composed: its
        result is MustUseSlowLane. Raises RenderingUnavailable.
        """
        small = [request for request in requests if request.is_small]
        if len(small) == len(requests):
            return await self._compose_batch(requests, now)
        batches = [small, *([request] for request in requests if not request.is_small)]
        results = await asyncio.gather(*(self._compose_batch(batch, now) for batch in batches))
        small_results, large_results = iter(results[0]), (result for batch in results[1:] for result in batch)
        return [next(small_results if request.is_small else large_results) for request in requests]

    async def _compose_batch(
        self, requests: Sequence[ComposeRequest], now: int, retries: int = RETRIES
    ) -> list[ComposeResult | MustUseSlowLane]:
        """Compose messages as `compose_all` does, with one request to one process. After a death of unknown cause, all
        of them are composed again, up to `retries` times."""
        if not requests:
            return []
        # Decided once: while the others are composed, a project may enter or leave the slow lane.
        alone = [bool(self._spent) and self.is_in_slow_lane(request.tenant) for request in requests]
        if any(alone):
            shared = [request for request, is_alone in zip(requests, alone, strict=True) if not is_alone]
            results = iter(await self._compose_batch(shared, now, retries))
            return [MustUseSlowLane() if is_alone else next(results) for is_alone in alone]
        try:
            response = await self._least_busy().request(requests, now=now)
        except NotEncodable as error:
            if len(requests) == 1:
                return [ComposeResult(reason=f"The values are not plain JSON: {error}.")]
            return [result for request in requests for result in await self._compose_batch([request], now, retries)]
        except ProcessDied as died:
            if died.index is None:
                self._require_retries_left(retries, died)
                return await self._compose_batch(requests, now, retries - 1)
            at = died.index
            cause = requests[at]
            self._charge(cause.tenant, CRASH_SECONDS)
            rest = await self._compose_batch([*requests[:at], *requests[at + 1 :]], now, RETRIES)
            return [*rest[:at], await self._result_after_death(cause, died, now), *rest[at:]]
        for at, seconds in response.slow:
            self._charge(requests[at].tenant, seconds)
        return list(response.composed)

    async def compose(self, request: ComposeRequest, *, now: int) -> ComposeResult:
        """Compose one message, in a shared process or in the slow lane.

        Raises RenderingBusy or RenderingUnavailable.
        """
        (result,) = await self.compose_all([request], now=now)
        return await self.compose_in_slow_lane(request, now=now) if isinstance(result, MustUseSlowLane) else result

    async def _result_after_death(self, request: ComposeRequest, died: ProcessDied, now: int) -> ComposeResult:
        """The result of a request whose process died; the request is repeated unless it certainly caused the death."""
        problem = died.problem()
        return (
            ComposeResult(reason=problem.detail)
            if problem
            else await self.compose_in_slow_lane(request, now=now, is_second_try=True)
        )

    async def compose_in_slow_lane(
        self, request: ComposeRequest, *, now: int, is_second_try: bool = False
    ) -> ComposeResult:
        """Compose one message in the slow lane. Raises RenderingBusy or RenderingUnavailable.

        `is_second_try` is set if a process died while it processed this message before.
        """
        try:
            response = await self._request_in_slow_lane(request.tenant, [request], [], now)
        except NotEncodable as error:
            return ComposeResult(reason=f"The values are not plain JSON: {error}.")
        except ProcessDied as died:
            self._charge(request.tenant, CRASH_SECONDS)
            if died.problem() is None and not is_second_try:
                return await self.compose_in_slow_lane(request, now=now, is_second_try=True)
            return ComposeResult(reason=(died.problem() or problem_at(TemplateCrashed, died.part)).detail)
        return response.composed[0]

    async def call(self, tenant: str, name: str, *arguments: Any, size: int = 0) -> Any:
        """Call the function `name` in `composing.TASKS` for a project and return its result.

        `size` is the number of characters in the arguments.

        Raises the problems of that function; TemplateTooExpensive or TemplateCrashed, whose `errors` name the part of
        the message if it is known; RenderingBusy; or RenderingUnavailable.
        """
        task = RenderTask(tenant, name, size, list(arguments))
        response: RenderResponse | None = None
        try:
            if not self.is_in_slow_lane(tenant):
                response = await self._call_shared(task)
            if response is None:
                response = await self._call_in_slow_lane(task)
        except NotEncodable as error:
            raise _not_json(str(error)) from None
        (result,) = response.task_results
        if result.code is not None:
            raise problem_of(result.code, result.detail, result.errors)
        return result.value

    async def _call_shared(self, task: RenderTask) -> RenderResponse | None:
        """The response; None if the process died for an unknown cause while it processed this task."""
        for retries in range(RETRIES, -1, -1):
            try:
                response = await self._least_busy().request(tasks=[task])
            except ProcessDied as died:
                if died.index is None:
                    self._require_retries_left(retries, died)
                    continue
                self._charge(task.tenant, CRASH_SECONDS)
                if problem := died.problem():
                    raise problem from None
                return None
            for _, seconds in response.slow:
                self._charge(task.tenant, seconds)
            return response
        raise AssertionError("not reached: the last iteration returns or raises")

    async def _call_in_slow_lane(self, task: RenderTask) -> RenderResponse:
        for is_second_try in (False, True):
            try:
                return await self._request_in_slow_lane(task.tenant, [], [task], 0)
            except ProcessDied as died:
                self._charge(task.tenant, CRASH_SECONDS)
                problem = died.problem()
                if problem is not None or is_second_try:
                    raise problem or problem_at(TemplateCrashed, died.part) from None
        raise AssertionError("not reached: the second iteration returns or raises")

    async def _request_in_slow_lane(
        self, tenant: str, requests: list[ComposeRequest], tasks: list[RenderTask], now: int
    ) -> RenderResponse:
        lock, waiting = self._project_locks.get(tenant, (asyncio.Lock(), 0))
        if waiting >= SLOW_LANE_WAITING:
            raise RenderingBusy
        self._project_locks[tenant] = (lock, waiting + 1)
        try:
            # Only one item of each project waits for `_slow_lane_lock` at a time, so that projects take turns.
            async with lock, self._slow_lane_lock:
                for retries in range(RETRIES, -1, -1):
                    try:
                        response = await self._slow_lane.request(requests, tasks, now=now)
                    except ProcessDied as died:
                        if died.index is not None:
                            raise
                        self._require_retries_left(retries, died)
                        continue
                    for _, seconds in response.slow:
                        self._charge(tenant, seconds)
                    return response
                raise AssertionError("not reached: the last iteration returns or raises")
        finally:
            lock, waiting = self._project_locks[tenant]
            if waiting > 1:
                self._project_locks[tenant] = (lock, waiting - 1)
            else:
                del self._project_locks[tenant]

    def _least_busy(self) -> RestartingProcess:
        # Among equally busy processes this is the first one, so its cached templates are used again.
        return min(self._shared, key=lambda process: process.pending)

    def _require_retries_left(self, retries: int, died: ProcessDied) -> None:
        """Raise RenderingUnavailable if no retries are left (`retries` is 0)."""
        if retries <= 0:
            raise RenderingUnavailable(f"{RenderingUnavailable.message()} ({died})") from None

    def _charge(self, tenant: str, seconds: float) -> None:
        """Add processor time to the sum of a project."""
        if len(self._spent) >= PROJECTS_WATCHED:
            self._spent = {key: spent for key, spent in self._spent.items() if self._spent_seconds(key) > 0}
            if len(self._spent) >= PROJECTS_WATCHED:
                self._spent.clear()
        self._spent[tenant] = (self._spent_seconds(tenant) + seconds, time.monotonic())

    def _spent_seconds(self, tenant: str) -> float:
        spent, since = self._spent.get(tenant, (0.0, 0.0))
        return max(0.0, spent - (time.monotonic() - since) * SLOW_LANE_LEAK) if spent else 0.0

    async def aclose(self) -> None:
        """End all processes."""
        await asyncio.gather(*(process.aclose() for process in (*self._shared, self._slow_lane)))


def _not_json(why: str) -> Problem:
    message = f"The variables are not plain JSON: {why}."
    return problem_of("invalid", message, [ProblemError(path="/variables", code="invalid", message=message)])
