"""A render process: `python -m postern.protocols.mail.templates.render_process MARKER [low]`.

MARKER is the file descriptor of the marker, a file that this process and its parent map into memory; `low` sets a low
priority. The process serves requests on its standard input until that is closed.

Templates are not trusted, and the libraries that parse them are native code. So the process has limits: processor time
and wall clock time of each item (a message or a task of a request), address space, and the size of the native stack.
The kernel ends the process if it exceeds them, and the marker identifies the item. The process gets no secrets of the
service besides the DKIM keys of its messages.
"""

import gc
import mmap
import os
import resource
import signal
import sys
import threading
import time
from functools import cache
from typing import Final, cast

import msgspec

from postern.kernel.http.problems import Problem, ProblemError
from postern.kernel.priority import lower_priority
from postern.protocols.mail.dkim import Signer
from postern.protocols.mail.templates.composing import (
    TASKS,
    ComposeRequest,
    ComposeResult,
    MessageTemplates,
    TemplateTooExpensive,
    UnsignedMessage,
    prepare,
    signed,
)
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.rendering import (
    LENGTH_OCTETS,
    MARKER_FORMAT,
    PART_OFFSET,
    PARTS,
    RenderRequest,
    RenderResponse,
    TaskResult,
    encode_frame,
)

CPU_SECONDS: Final = 2.0
"""Processor time limit of one item, plus CPU_SECONDS_PER_MILLION for each million characters or octets in it."""
CPU_SECONDS_PER_MILLION: Final = 0.25
LIMITS_KEPT_SECONDS: Final = 0.1
"""Within this time, items of the same size share time limits: starting them takes as long as filling a layout."""
WALL_FACTOR: Final = 20
"""The wall clock limit as a multiple of the processor time limit. While all processors are busy, a process with a lower
priority gets a small part of one; an item must not be refused because of that."""
MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""Limit of the address space, in addition to that at the start of the process."""
STACK_BYTES: Final = 16 * 1024 * 1024
"""Size of the native stack: several times what the deepest accepted template needs."""
LOW_NICENESS: Final = 10
"""The niceness with a low priority."""
RESIDENT_BYTES: Final = 400_000_000
"""A process with more resident memory exits after its response, and a new one replaces it."""
SLOW_SECONDS: Final = 0.05
"""Items that take more processor time than this are reported in the response."""
COLLECT_EVERY: Final = 20_000
"""Threshold of the garbage collector. A high value saves time, because nothing here creates reference cycles."""


class RenderWorker:
    """Serves the requests of one parent, and caches templates and signers between requests."""

    def __init__(self, marker: mmap.mmap) -> None:
        self._marker = marker
        self._templates: list[MessageTemplates] = []
        self._signers: list[Signer] = []
        self._slow: list[tuple[int, float]] = []
        self._limited = (0, 0)
        """The size of the item, and the number of its request, for which the time limits were started."""
        self._limited_at = 0.0

    def serve(self) -> None:
        """Serve requests until the input ends."""
        source = sys.stdin.buffer
        sink = os.fdopen(os.dup(sys.stdin.fileno()), "wb")
        while len(head := source.read(LENGTH_OCTETS)) == LENGTH_OCTETS:
            size = int.from_bytes(head)
            content = source.read(size)
            if len(content) < size:  # The parent died while it sent a request.
                return
            response = self.process(msgspec.msgpack.decode(content, type=RenderRequest))
            try:
                sink.write(encode_frame(response))
                sink.flush()
            except (BrokenPipeError, ConnectionResetError):  # The parent has exited.
                return
            del content, response
            if _resident_bytes() > RESIDENT_BYTES:
                return

    def process(self, request: RenderRequest) -> RenderResponse:
        """Process one request. The kernel ends the process if an item exceeds a limit."""
        if request.clear_caches:
            self._templates.clear()
            self._signers.clear()
        self._templates += request.templates
        self._signers += [Signer.load(domain, selector, pem) for domain, selector, pem in request.signers]
        self._slow = []
        composed: list[UnsignedMessage | ComposeResult] = []
        sizes: list[int] = []
        task_results: list[TaskResult] = []
        clock = time.process_time()
        for index, (number, signer_numbers, draft) in enumerate(request.drafts):
            message = ComposeRequest(
                self._templates[number], draft, [self._signers[signer] for signer in signer_numbers]
            )
            sizes.append(message.size)
            self._begin_item(request.number, index, sizes[-1])
            composed.append(prepare(message, report_part=self._report_part))
            clock = self._end_item(index, clock)
        # All messages are signed after the last one was composed, because a signature replaces the code of the other
        # steps in the processor's caches.
        for index, size in enumerate(sizes):
            self._begin_item(request.number, index, size)
            composed[index] = signed(composed[index], request.now)
        clock = time.process_time()
        for index, (name, size, arguments) in enumerate(request.tasks):
            self._begin_item(request.number, index, size)
            task_results.append(self._call_task(name, arguments))
            clock = self._end_item(index, clock)
        # Not in `finally`: if an item raises, the process ends, and the marker must identify the item.
        self._clear_timers()
        return RenderResponse(cast(list[ComposeResult], composed), task_results, self._slow)

    def _call_task(self, name: str, arguments: bytes) -> TaskResult:
        """Call a function in TASKS; a problem that it raises is part of the result."""
        try:
            return TaskResult(TASKS[name](self._report_part, *_decode_arguments(arguments)))
        except Problem as problem:
            return TaskResult(None, problem.code(), problem.detail, problem.errors)
        except MemoryError:
            path = PARTS[self._marker[PART_OFFSET]]
            message = TemplateTooExpensive.message()
            errors = [ProblemError(path=f"/{path}", code=TemplateTooExpensive.code(), message=message)] if path else []
            return TaskResult(None, TemplateTooExpensive.code(), message, errors)

    def _begin_item(self, request_number: int, index: int, size: int) -> None:
        """Start the time limits of an item; the kernel ends the process when they are exceeded."""
        self._write_marker(request_number, index, 0)
        now = time.monotonic()
        if (size, request_number) == self._limited and now - self._limited_at < LIMITS_KEPT_SECONDS:
            return
        self._limited, self._limited_at = (size, request_number), now
        seconds = CPU_SECONDS + size / 1_000_000 * CPU_SECONDS_PER_MILLION
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * WALL_FACTOR)

    def _end_item(self, index: int, began: float) -> float:
        """Record the item if it was slow. `began` and the returned time are processor time in seconds."""
        now = time.process_time()
        if now - began > SLOW_SECONDS:
            self._slow.append((index, now - began))
        return now

    def _clear_timers(self) -> None:
        """Stop the time limits after the last item."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._write_marker(0, 0, 0)

    def _report_part(self, part: Part | None) -> None:
        """Write to the marker which part of the current item is processed next."""
        self._marker[PART_OFFSET] = PARTS.index(part)

    def _write_marker(self, request_number: int, index: int, part: int) -> None:
        MARKER_FORMAT.pack_into(self._marker, 0, request_number, index, part)


_ARGUMENTS = msgspec.msgpack.Decoder(list)


def _decode_arguments(arguments: bytes) -> list[object]:
    return _ARGUMENTS.decode(arguments)


def _memory() -> tuple[int, int]:
    """The mapped and the resident memory in octets; zeros if the system does not report them (not Linux).

    `ru_maxrss` is not used, because a child process inherits the value of its parent.
    """
    try:
        pages = os.pread(_statm(), 200, 0).split()
    except OSError:
        return 0, 0
    return int(pages[0]) * resource.getpagesize(), int(pages[1]) * resource.getpagesize()


@cache
def _statm() -> int:
    """The open file descriptor of `/proc/self/statm`, which is read for each response."""
    return os.open("/proc/self/statm", os.O_RDONLY)


def _resident_bytes() -> int:
    return _memory()[1]


def _limit_memory() -> None:
    """Limit the address space, in addition to what is mapped now (Linux only)."""
    mapped, _ = _memory()
    if not mapped:
        return
    limit = mapped + STACK_BYTES + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    """Serve on the standard input, which is a socket, in a thread with a stack of STACK_BYTES."""
    marker = mmap.mmap(int(sys.argv[1]), MARKER_FORMAT.size)
    lower_priority(LOW_NICENESS if "low" in sys.argv[2:] else 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY)
    # Output that a library prints must not get into the responses.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            RenderWorker(marker).serve()
        except BaseException as error:
            failed.append(error)
            raise

    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
