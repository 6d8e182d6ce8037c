"""From words and values to a signed message; for those who make them by the hundred, in a process of its own.

Rendering, composing and signing are the largest part of what a message costs, and nothing in them waits for anybody. In
threads they would fight with the event loop for the interpreter lock. The process gets orders over its standard input
and answers with messages; it ends when its input does, so it never outlives who started it, however that one ends.
"""

import asyncio
import gc
import os
import sys
import traceback
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from postern.kernel.problems import Problem
from postern.mail import mime
from postern.mail.address import Address, parse_address
from postern.mail.content import Content, Tracking, compile_content, unsubscribe_url
from postern.mail.dkim import Signer, sign

CONTENTS_KEPT: Final = 256
"""Compiled contents that a process keeps ready."""
CONTENT_KEPT_CHARACTERS: Final = 300_000
"""Larger ones are compiled each time: they are rare, and memory is bounded."""
ADDRESSES_KEPT: Final = 5_000
"""Parsed addresses that a process remembers."""
KNOWN_CHARACTERS: Final = 4_000_000
"""Characters of words that the process holds; with more it begins anew."""
WORDS_COST: Final = 300
"""For how many characters words count besides their own: a hundred thousand short subjects take memory, too."""
KNOWN_SIGNERS: Final = 1_000
"""Signers that it holds; with more it begins anew."""
PROCESSES: Final = 2
"""How many of them a worker uses: two make about what its event loop can send."""
HEAD: Final = 4
"""Octets that say how long a frame is."""
COLLECT_EVERY: Final = 20_000
"""Objects between two looks for garbage in cycles: nothing here makes any, and hundreds of messages are in hand."""
BUFFER: Final = 4 * 1024 * 1024
"""Octets of an answer that are taken in before anybody has read them."""


class Words(NamedTuple):
    """The templates of a message: what many of them share."""

    subject: str = ""
    html: str | None = None
    text: str | None = None

    @property
    def size(self) -> int:
        """In characters."""
        return len(self.subject) + len(self.html or "") + len(self.text or "")


class Draft(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One message beside its words: the same draft and words always give the same octets."""

    send_id: str
    values: dict[str, Any]
    """What the templates get."""
    sender: str
    to: list[str]
    cc: list[str] = []
    reply_to: list[str] = []
    headers: list[tuple[str, str]] = []
    """Fields that the caller asked for."""
    date: int
    """In seconds since 1970."""
    message_id: str
    tracking: Tracking | None = None
    leave: Tracking | None = None
    """With whose base and key the `List-Unsubscribe` link is written, where there is one (RFC 8058)."""
    list_id: str | None = None
    feedback_id: str | None = None
    attachments: list[mime.Attachment] = []


class Order(NamedTuple):
    """A message to make, and who signs it."""

    words: Words
    draft: Draft
    signers: Sequence[Signer] = ()


class Made(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The message, or why there is none."""

    message: bytes = b""
    subject: str = ""
    reason: str | None = None
    """Why it could not be made, for whoever wrote it."""
    trace: str | None = None
    """Where, if that is our own mistake."""


def write(words: Words, draft: Draft) -> tuple[bytes, str]:
    """The message as it goes on the wire before signing, and its subject. Raises what the words or the fields raise."""
    rendered = content_of(words).render(draft.values, send_id=draft.send_id, tracking=draft.tracking)
    own: list[tuple[str, str]] = []
    if draft.leave is not None:
        own.append(("List-Unsubscribe", f"<{unsubscribe_url(draft.leave.base, draft.send_id, draft.leave.key)}>"))
        own.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    if draft.list_id:
        own.append(("List-Id", draft.list_id))
    if draft.feedback_id:
        own.append(("Feedback-ID", draft.feedback_id))
    message = mime.Message(
        from_=address_of(draft.sender),
        to=[address_of(text) for text in draft.to],
        cc=[address_of(text) for text in draft.cc],
        reply_to=[address_of(text) for text in draft.reply_to],
        subject=rendered.subject,
        date=datetime.fromtimestamp(draft.date, UTC),
        message_id=draft.message_id,
        headers=draft.headers,
        own_headers=own,
        text=rendered.text if rendered.text is not None or rendered.html is not None else "",
        html=rendered.html,
        attachments=draft.attachments,
    )
    return mime.compose(message), rendered.subject


def make_all(orders: Sequence[Order], *, now: int) -> list[Made]:
    """Make messages here, signed at `now` (seconds since 1970); what is wrong with one of them is that one's reason."""
    return [_make(order, now) for order in orders]


def _make(order: Order, now: int) -> Made:
    try:
        message, subject = write(order.words, order.draft)
        return Made(message=sign(message, order.signers, now=now) if order.signers else message, subject=subject)
    except Problem as problem:
        return Made(reason=problem.detail[:1_000])
    except Exception as error:  # One poisoned message fails alone.
        return Made(reason=f"It could not be composed: {type(error).__name__}.", trace=traceback.format_exc())


_contents: OrderedDict[Words, Content] = OrderedDict()


def content_of(words: Words) -> Content:
    """The compiled words; contents that many messages share are compiled once. Raises TemplateInvalid."""
    found = _contents.get(words)
    if found is None:
        found = compile_content(subject=words.subject, html=words.html, text=words.text)
        if words.size <= CONTENT_KEPT_CHARACTERS:
            _contents[words] = found
            while len(_contents) > CONTENTS_KEPT:
                try:
                    _contents.popitem(last=False)
                except KeyError:  # Another thread was quicker.
                    break
    return found


_addresses: dict[str, Address] = {}


def address_of(text: str) -> Address:
    """A parsed address; senders repeat, so the last few thousand are remembered. Raises AddressInvalid."""
    found = _addresses.get(text)
    if found is None:
        if len(_addresses) > ADDRESSES_KEPT:
            _addresses.clear()
        found = _addresses[text] = parse_address(text)
    return found


# The process -----------------------------------------------------------------------------------------------


class ComposingAway(Exception):
    """The process ended, or could not be started; what was asked of it is not made."""


class Unsendable(Exception):
    """An order holds what cannot be written into a frame."""


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """What the process is asked: words and signers to add (after forgetting all others, maybe), and what to make."""

    now: int
    forget: bool
    words: list[Words]
    signers: list[tuple[str, str, bytes]]
    """Domain, selector, private key as PEM."""
    drafts: list[tuple[int, list[int], Draft]]
    """The numbers of the words and of the signers among all that it knows, and the rest."""


class ComposingProcess:
    """The process, started when it is first needed and again when it has died. It answers in the order of asking."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._listeners: set[asyncio.Task[None]] = set()
        """Of this process, and of those before it that are not quite gone."""
        self._asked: deque[asyncio.Future[list[Made]]] = deque()
        self._words: dict[Words, int] = {}
        self._signers: dict[int, tuple[int, Signer]] = {}
        """By identity (held, so that an identity keeps its meaning), and their numbers there."""
        self._characters = 0
        self._ended = False

    @property
    def asked(self) -> int:
        """Orders that it has not answered yet."""
        return len(self._asked)

    async def make_all(self, orders: Sequence[Order], *, now: int) -> list[Made]:
        """As the function does. Raises ComposingAway or Unsendable."""
        async with self._starting:
            process = self._process or await self._start()
        frame = self._frame(orders, now)
        answer: asyncio.Future[list[Made]] = asyncio.get_running_loop().create_future()
        assert process.stdin
        try:
            process.stdin.write(frame)
        except (OSError, RuntimeError) as error:  # It has just died.
            raise ComposingAway(str(error)) from None
        self._asked.append(answer)
        return await answer

    def _frame(self, orders: Sequence[Order], now: int) -> bytes:
        forget = self._characters > KNOWN_CHARACTERS or len(self._signers) > KNOWN_SIGNERS
        known = {} if forget else self._words
        known_signers = {} if forget else self._signers
        words: dict[Words, int] = {}
        signers: dict[int, tuple[int, Signer]] = {}
        drafts: list[tuple[int, list[int], Draft]] = []
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
            frame = _framed(Frame(now, forget, list(words), keys, drafts))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise Unsendable(str(error)) from None
        if forget:
            self._words, self._signers, self._characters = {}, {}, 0
        self._words |= words
        self._signers |= signers
        self._characters += sum(each.size + WORDS_COST for each in words)
        return frame

    async def _start(self) -> asyncio.subprocess.Process:
        if self._ended:  # Nobody would end another one.
            raise ComposingAway("It was ended.")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=BUFFER,
                # A session of its own: Ctrl-C in the terminal reaches us alone, and what is in hand is still made.
                start_new_session=True,
            )
        except OSError as error:
            raise ComposingAway(str(error)) from None
        self._process = process
        self._words, self._signers, self._characters = {}, {}, 0
        listener = asyncio.create_task(self._listen(process))
        self._listeners.add(listener)
        listener.add_done_callback(self._listeners.discard)
        return process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hand out the answers until there are no more; then nobody waits in vain."""
        assert process.stdout
        why = "It was ended."
        try:
            while True:
                size = int.from_bytes(await process.stdout.readexactly(HEAD))
                made = msgspec.msgpack.decode(await process.stdout.readexactly(size), type=list[Made])
                answer = self._asked.popleft()
                if not answer.done():  # Whoever asked may have given up.
                    answer.set_result(made)
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError) as error:
            why = str(error)
        finally:
            self._process = None
            asked, self._asked = self._asked, deque()
            for answer in asked:
                if not answer.done():
                    answer.set_exception(ComposingAway(why))
            with suppress(ProcessLookupError):
                process.kill()
            # What is left in the pipe has to be read: asyncio waits for the end of the pipes as well.
            await process.communicate()

    async def aclose(self) -> None:
        """End the process; it is not started again."""
        async with self._starting:
            self._ended = True
            if self._process is not None:
                with suppress(ProcessLookupError):
                    self._process.kill()  # Its listener comes to the end, and tells those who wait.
            if self._listeners:
                await asyncio.wait(self._listeners)


class ComposingProcesses:
    """A few of them; each order goes to one that is free, or to the one with the fewest before it."""

    def __init__(self, most: int = PROCESSES) -> None:
        self._processes = [ComposingProcess() for _ in range(most)]

    async def make_all(self, orders: Sequence[Order], *, now: int) -> list[Made]:
        """As the function does. Raises ComposingAway or Unsendable."""
        # The first of equals, so that no more are started than there is work for.
        return await min(self._processes, key=lambda each: each.asked).make_all(orders, now=now)

    async def aclose(self) -> None:
        """End the processes."""
        await asyncio.gather(*(each.aclose() for each in self._processes))


def _pem(signer: Signer) -> bytes:
    return signer.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _framed(content: object) -> bytes:
    encoded = msgspec.msgpack.encode(content)
    return len(encoded).to_bytes(HEAD) + encoded


def main() -> None:
    """Make what comes in until nothing does."""
    words: list[Words] = []
    signers: list[Signer] = []
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Frames have the standard output to themselves: one line printed among them, and nobody could read on.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while len(head := source.read(HEAD)) == HEAD:
        size = int.from_bytes(head)
        content = source.read(size)
        if len(content) < size:  # Who asked died in the middle of it.
            return
        frame = msgspec.msgpack.decode(content, type=Frame)
        if frame.forget:
            words.clear()
            signers.clear()
        words += frame.words
        signers += [Signer.load(domain, selector, pem) for domain, selector, pem in frame.signers]
        orders = [Order(words[number], draft, [signers[each] for each in by]) for number, by, draft in frame.drafts]
        try:
            sink.write(_framed(make_all(orders, now=frame.now)))
            sink.flush()
        except BrokenPipeError:  # Nobody waits for it any more.
            return


if __name__ == "__main__":
    main()
