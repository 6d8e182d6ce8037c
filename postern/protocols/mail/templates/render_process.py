"""A render process: `python -m postern.protocols.mail.templates.render_process MARKER`.

It makes what comes in until nothing does.

What it reads was written by strangers, and the libraries that read it are native code. So it has limits: processor time
and wall clock of each item, address space, and a native stack of a known size. Beyond them, it ends, and the marker (a
file that its owner maps as well) says with which item. It is given no secrets of the service, only the keys that its
messages are signed with.
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
from typing import Final

import msgspec

from postern.kernel.http.problems import Problem, ProblemError
from postern.protocols.mail.dkim import Signer
from postern.protocols.mail.templates.composing import (
    TASKS,
    ComposeRequest,
    ComposeResult,
    MessageTemplates,
    TemplateTooExpensive,
    compose,
)
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.rendering import (
    HEAD,
    MARK,
    PARTS,
    RenderRequest,
    RenderResponse,
    TaskResult,
    framed,
)

CPU_SECONDS: Final = 2.0
"""Processor time of one item, and some more for each million characters or octets in it."""
CPU_SECONDS_PER_MILLION: Final = 0.25
WALL_FACTOR: Final = 5
"""How many times its processor time an item may take on a busy machine."""
MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""Address space beyond what the process has when it starts."""
STACK_BYTES: Final = 16 * 1024 * 1024
"""Native stack: several times what the deepest template that is accepted takes."""
RESIDENT_BYTES: Final = 400_000_000
"""A process that has grown beyond this ends when its answer is written, and a fresh one takes its place."""
SLOW_SECONDS: Final = 0.05
"""Items that take this much processor time are reported."""
COLLECT_EVERY: Final = 20_000
"""Objects between two looks for garbage in cycles: nothing here makes any, and hundreds of messages are in hand."""


class RenderWorker:
    """What the process holds between frames."""

    def __init__(self, marker: mmap.mmap) -> None:
        self._marker = marker
        self._words: list[MessageTemplates] = []
        self._signers: list[Signer] = []
        self._slow: list[tuple[int, float]] = []
        self._place = (0, 0)

    def serve(self) -> None:
        """Answer frames until the input ends."""
        source = sys.stdin.buffer
        sink = os.fdopen(os.dup(sys.stdin.fileno()), "wb")
        while len(head := source.read(HEAD)) == HEAD:
            size = int.from_bytes(head)
            content = source.read(size)
            if len(content) < size:  # Who asked died in the middle of it.
                return
            reply = self.answer(msgspec.msgpack.decode(content, type=RenderRequest))
            try:
                sink.write(framed(reply))
                sink.flush()
            except (BrokenPipeError, ConnectionResetError):  # Nobody waits for it any more.
                return
            del content, reply
            if _resident_bytes() > RESIDENT_BYTES:
                return

    def answer(self, frame: RenderRequest) -> RenderResponse:
        """What one frame asks for."""
        if frame.forget:
            self._words.clear()
            self._signers.clear()
        self._words += frame.words
        self._signers += [Signer.load(domain, selector, pem) for domain, selector, pem in frame.signers]
        self._slow = []
        made: list[ComposeResult] = []
        answers: list[TaskResult] = []
        clock = time.process_time()
        for index, (number, by, draft) in enumerate(frame.drafts):
            order = ComposeRequest(self._words[number], draft, [self._signers[each] for each in by])
            self._begin(frame.number, index, order.size)
            made.append(compose(order, frame.now, reached=self._reached))
            clock = self._end(index, clock)
        for index, (name, size, arguments) in enumerate(frame.tasks):
            self._begin(frame.number, index, size)
            answers.append(self._do(name, arguments))
            clock = self._end(index, clock)
        # Not where one of them raises: the process ends then, and the marker says with which.
        self._clear_timers()
        return RenderResponse(made, answers, self._slow)

    def _do(self, name: str, arguments: bytes) -> TaskResult:
        try:
            return TaskResult(TASKS[name](self._reached, *_decoded(arguments)))
        except Problem as problem:
            return TaskResult(None, problem.code(), problem.detail, problem.errors)
        except MemoryError:
            path = PARTS[self._marker[MARK.size - 1]]
            message = TemplateTooExpensive.message()
            faults = [ProblemError(path=f"/{path}", code=TemplateTooExpensive.code(), message=message)] if path else []
            return TaskResult(None, TemplateTooExpensive.code(), message, faults)

    def _begin(self, number: int, index: int, size: int) -> None:
        """Hold an item to its limits from now on; the kernel ends the process that is beyond them."""
        self._place = (number, index)
        self._mark(number, index, 0)
        seconds = CPU_SECONDS + size / 1_000_000 * CPU_SECONDS_PER_MILLION
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * WALL_FACTOR)

    def _end(self, index: int, began: float) -> float:
        """Note an item that took long since `began`, in seconds of processor time; what that clock says now."""
        now = time.process_time()
        if now - began > SLOW_SECONDS:
            self._slow.append((index, now - began))
        return now

    def _clear_timers(self) -> None:
        """Nothing is worked on: no limits run."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._mark(0, 0, 0)

    def _reached(self, part: Part | None) -> None:
        self._mark(*self._place, PARTS.index(part))

    def _mark(self, number: int, index: int, part: int) -> None:
        MARK.pack_into(self._marker, 0, number, index, part)


_ARGUMENTS = msgspec.msgpack.Decoder(list)


def _decoded(arguments: bytes) -> list[object]:
    return _ARGUMENTS.decode(arguments)


def _memory() -> tuple[int, int]:
    """Octets that are mapped and octets that are resident now; zeros where the system does not tell (not Linux).

    Not `ru_maxrss`: a new program inherits that of the process which started it, however large that one was.
    """
    try:
        pages = os.pread(_statm(), 200, 0).split()
    except OSError:
        return 0, 0
    return int(pages[0]) * resource.getpagesize(), int(pages[1]) * resource.getpagesize()


@cache
def _statm() -> int:
    """Kept open: it is read for each answer."""
    return os.open("/proc/self/statm", os.O_RDONLY)


def _resident_bytes() -> int:
    return _memory()[1]


def _limit_memory() -> None:
    """Where the system can (Linux): address space, counted from what is mapped now."""
    mapped, _ = _memory()
    if not mapped:
        return
    limit = mapped + STACK_BYTES + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    """Serve on the standard input, which is a socket, from a thread whose stack has a known size."""
    marker = mmap.mmap(int(sys.argv[1]), MARK.size)
    if "low" in sys.argv[2:]:
        os.nice(10)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY)
    # What a library prints goes where errors go.
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
