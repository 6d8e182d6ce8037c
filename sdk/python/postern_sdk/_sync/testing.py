# Generated from _async/testing.py by script/client: do not edit.
"""Waiting for captured mail."""

import time
from typing import TYPE_CHECKING

from postern_sdk._mail import LISTED_MESSAGES, NAMED_MESSAGES, POLL_SECONDS, Mail, MailQuery
from postern_sdk._sync_io import sleep

if TYPE_CHECKING:
    from postern_sdk._sync.client import Postern


def wait_for_mail(client: "Postern", query: MailQuery) -> Mail:
    """The newest captured mail that fits. Raises MailNotFound if none arrives in time."""
    end = time.monotonic() + query.timeout
    while True:
        page = client.inbox.list(q=query.search_text, limit=LISTED_MESSAGES)
        for message in page.data:
            if query.fits(message):
                return Mail(client.inbox.get(message.id))
        if time.monotonic() > end:
            newest = client.inbox.list(limit=NAMED_MESSAGES)
            raise query.not_found(newest.data)
        sleep(POLL_SECONDS)
