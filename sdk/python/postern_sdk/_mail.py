"""A captured mail, as tests read it."""

import re
from datetime import datetime
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

from postern_sdk.errors import PosternError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postern_sdk import types

POLL_SECONDS = 0.2
"""The wait between two looks at the inbox."""
LISTED_MESSAGES = 50
"""How many of the newest messages of the search are considered."""
NAMED_MESSAGES = 5
"""How many of the newest messages an error names."""
CODE = re.compile(r"(?<![\d.,])\d{6}(?![\d.,]\d|\d)")
LINK = re.compile(r"https?://[^\s<>\"']+")
HREF = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
TAG = re.compile(r"<style\b.*?</style>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class MailNotFound(PosternError, TimeoutError):
    """No mail arrived in time. The message names the newest mails in the inbox."""


class SecretsHidden(PosternError):
    """The key may not see one-time codes and links."""


class Mail:
    """A captured mail."""

    def __init__(self, message: "types.InboxMessage") -> None:
        self.message = message
        """The message as the API returns it."""
        self.id = message.id
        self.subject = message.subject
        self.recipients = message.recipients
        self.captured_at = message.captured_at
        self.text = message.text or ""
        """The plain text body; empty if there is none."""
        self.html = message.html or ""
        """The HTML body; empty if there is none."""

    @property
    def code(self) -> str:
        """The first number of six digits in the body or the subject.

        Raises SecretsHidden if the key may not see it, and LookupError if there is none.
        """
        self._require_secrets("code")
        for part in (self.text, unescape(TAG.sub(" ", self.html)), self.subject):
            if match := CODE.search(part):
                return match.group()
        raise LookupError(f"The mail {self.subject!r} has no number of six digits.")

    @property
    def links(self) -> list[str]:
        """The addresses of the links in the body, each once. Raises SecretsHidden if the key may not see them."""
        self._require_secrets("links")
        found = [unescape(href) for href in HREF.findall(self.html)]
        found += [link.rstrip(".,;:!?)") for link in LINK.findall(self.text)]
        return list(dict.fromkeys(link for link in found if link.startswith(("http://", "https://"))))

    def __repr__(self) -> str:
        return f"Mail(subject={self.subject!r}, recipients={self.recipients!r})"

    def _require_secrets(self, what: str) -> None:
        if self.message.redacted:
            raise SecretsHidden(
                f"The {what} of this mail cannot be read: it was sent to sign a customer in, and the key lacks the "
                "permission `customers:impersonate`. An owner or admin of the account creates a key with the "
                "permissions `inbox:read` and `customers:impersonate`; no wildcard includes the latter."
            )


class MailQuery(NamedTuple):
    """Which mail to wait for, and how long; see `wait_for_mail`."""

    to: str | None
    subject: str | None
    after: datetime | Mail | None
    timeout: float

    @property
    def search_text(self) -> str | None:
        """What narrows the list of the inbox down."""
        return self.to or self.subject

    def fits(self, message: "types.CapturedMessage") -> bool:
        """Whether a captured message is the one that is waited for."""
        return (
            (self.to is None or self.to.lower() in {recipient.lower() for recipient in message.recipients})
            and (self.subject is None or self.subject.lower() in message.subject.lower())
            and self._is_new(message)
        )

    def not_found(self, newest: "Iterable[types.CapturedMessage]") -> MailNotFound:
        """The error after the time is over. `newest` are the newest messages in the inbox."""
        wanted = [f"to {self.to}"] if self.to else []
        wanted += [f"with {self.subject!r} in its subject"] if self.subject else []
        wanted += [f"after {self.after!r}"] if isinstance(self.after, Mail) else []
        wanted += [f"after {self.after}"] if isinstance(self.after, datetime) else []
        seen = "; ".join(
            f"{message.subject!r} to {', '.join(message.recipients)} at {message.captured_at:%H:%M:%S} UTC"
            for message in newest
        )
        return MailNotFound(
            f"{' '.join(['No mail', *wanted])} arrived in the inbox within {self.timeout:g} s. The newest there: "
            f"{seen or 'none'}. Mail is captured if the project's transport is `capture`, and if it is sent with a "
            "test key."
        )

    def _is_new(self, message: "types.CapturedMessage") -> bool:
        if isinstance(self.after, Mail):
            return message.id != self.after.id and message.captured_at >= self.after.captured_at
        # `astimezone`: a time without a zone is local, such as datetime.now().
        return self.after is None or message.captured_at >= self.after.astimezone()
