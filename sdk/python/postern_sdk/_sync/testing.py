# Generated from _async/testing.py by script/client: do not edit.
"""Waiting for captured mail."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

from postern_sdk._mail import LISTED_MESSAGES, POLL_SECONDS, Mail, fits, not_found
from postern_sdk._sync_io import sleep

if TYPE_CHECKING:
    from postern_sdk._sync.client import Postern


def wait_for_mail(
    client: "Postern", to: str | None, subject: str | None, since: datetime | None, timeout: float
) -> Mail:
    """The newest captured mail that fits. Raises MailNotFound if none arrives in time."""
    end = time.monotonic() + timeout
    while True:
        page = client.inbox.list(q=to or subject, limit=LISTED_MESSAGES)
        for message in page.data:
            if fits(message, to, subject, since):
                return Mail(client.inbox.get(message.id))
        if time.monotonic() > end:
            raise not_found(to, subject, timeout)
        sleep(POLL_SECONDS)
