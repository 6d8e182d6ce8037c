"""A captured mail, as tests read it."""

import re
from datetime import datetime
from html import unescape
from typing import TYPE_CHECKING

from postern_sdk.errors import PosternError

if TYPE_CHECKING:
    from postern_sdk import types

POLL_SECONDS = 0.2
"""The wait between two looks at the inbox."""
LISTED_MESSAGES = 50
"""How many of the newest messages of the search are considered."""
CODE = re.compile(r"(?<![\d.,])\d{6}(?![\d.,]\d|\d)")
LINK = re.compile(r"https?://[^\s<>\"']+")
HREF = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
TAG = re.compile(r"<style\b.*?</style>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class MailNotFound(PosternError, TimeoutError):
    """No mail arrived in time."""


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


def fits(message: "types.CapturedMessage", to: str | None, subject: str | None, since: datetime | None) -> bool:
    """Whether a captured message is the one that is waited for."""
    return (
        (to is None or to.lower() in {recipient.lower() for recipient in message.recipients})
        and (subject is None or subject.lower() in message.subject.lower())
        and (since is None or message.captured_at >= since)
    )


def not_found(to: str | None, subject: str | None, timeout: float) -> MailNotFound:
    """The error after the time is over."""
    wanted = [f"to {to}"] if to else []
    wanted += [f"with {subject!r} in its subject"] if subject else []
    return MailNotFound(
        f"No mail {' '.join(wanted)} arrived in the capture inbox within {timeout:g} s. Messages are captured if the "
        "project's transport is `capture`, or if they are sent with a TEST key."
    )
