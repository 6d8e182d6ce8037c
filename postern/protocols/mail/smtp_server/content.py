"""The content of a message while a server receives it with DATA or BDAT: its end, its line ends, and its size."""

from typing import Final

from postern.protocols.mail.smtp import SmtpReply

DISCARDED_OCTETS: Final = 64 * 1024 * 1024
"""Maximum octets of a refused message that are read beyond its limit, so that the client sees the reply. If there are
more, the connection is closed."""
END = b"\r\n.\r\n"

TOO_LARGE = SmtpReply(552, "5.3.4", "The message is too large.")
NO_MEMORY = SmtpReply(452, "4.3.1", "The server is receiving too much at the moment; try again later.")


class BareLineEnd(Exception):
    """The content has a CR or LF that is not part of a CRLF."""


class TooMuchContent(Exception):
    """A refused message does not end within DISCARDED_OCTETS."""


class ContentBudget:
    """The memory for the content of all messages of a server."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        """Octets of all messages that are being received or processed."""


class ContentReader:
    """Collects the content of one message. Its memory counts in the budget until `release`."""

    __slots__ = ("_budget", "_checked", "_content", "_limit", "_reserved", "octets", "refusal")

    def __init__(self, budget: ContentBudget, limit: int) -> None:
        self._budget = budget
        self._limit = limit
        self._content = bytearray(b"\r\n")
        """The content after a CRLF, which makes its first line a line like all others."""
        self._checked = 0
        """How much of `_content` is known to have no CR or LF alone."""
        self._reserved = 0
        self.octets = 0
        """The octets received so far, discarded ones included, without the dots that the client has added to lines."""
        self.refusal: SmtpReply | None = None
        """The reply to the message if it is refused; its content is then discarded."""

    def add_data(self, buffer: bytearray) -> bool:
        """Take the content of DATA from `buffer` up to CRLF.CRLF. Returns whether the message is complete.

        Octets after its end stay in `buffer`. Raises BareLineEnd and TooMuchContent.
        """
        content = self._content
        size = len(content)
        content += buffer
        buffer.clear()
        end = content.find(END, max(0, size - len(END) + 1))
        if end >= 0:
            buffer += content[end + len(END) :]
            del content[end + 2 :]
        self.octets += len(content) - size - content.count(b"\r\n.", max(0, size - 2))
        self._check_line_ends(len(content))
        self._limit_size()
        if end < 0:
            return False
        # The client has doubled the dot at the beginning of a line (RFC 5321 §4.5.2).
        if b"\r\n." in content:
            self._content = content.replace(b"\r\n.", b"\r\n")
        return True

    def add_chunk(self, octets: bytearray, *, is_last: bool) -> None:
        """Take content of a BDAT command; `is_last` if the message ends with it. Raises BareLineEnd and
        TooMuchContent."""
        self._content += octets
        self.octets += len(octets)
        self._check_line_ends(len(self._content), is_last=is_last)
        self._limit_size()

    def finish(self) -> bytes:
        """The complete message; an empty one if it is refused (see `refusal`)."""
        content, self._content = self._content, bytearray()
        if self.refusal is None and len(content) - 2 > self._limit:
            self.refusal = TOO_LARGE
        return b"" if self.refusal else bytes(memoryview(content)[2:])

    def release(self) -> None:
        """Return the memory to the budget."""
        self._budget.used -= self._reserved
        self._reserved = 0

    def _check_line_ends(self, end: int, *, is_last: bool = False) -> None:
        """Raises BareLineEnd. A CR at the end is checked with the next octets unless `is_last`."""
        content = self._content
        if content[end - 1] == 0x0D and not is_last:
            end -= 1
        pairs = content.count(b"\r\n", self._checked, end)
        if content.count(b"\n", self._checked, end) != pairs or content.count(b"\r", self._checked, end) != pairs:
            raise BareLineEnd
        self._checked = end

    def _limit_size(self) -> None:
        """Refuse the message, and discard its content, if it is too large or there is no memory for it.

        Raises TooMuchContent.
        """
        maximum = self._limit + len(END)
        growth = len(self._content) - self._reserved
        if self.refusal is None and self.octets > maximum:
            self.refusal = TOO_LARGE
        elif self.refusal is None and self._budget.used + growth > self._budget.limit:
            self.refusal = NO_MEMORY
        if self.refusal is None:
            self._reserved += growth
            self._budget.used += growth
            return
        # The last octets are kept, because they may be the beginning of CRLF.CRLF.
        surplus = max(0, len(self._content) - len(END) + 1)
        del self._content[:surplus]
        self._checked = max(0, self._checked - surplus)
        self.release()
        if self.octets > maximum + DISCARDED_OCTETS:
            raise TooMuchContent
