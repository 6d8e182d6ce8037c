"""Waiting for captured mail."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

from postern_sdk._async_io import async_sleep
from postern_sdk._mail import LISTED_MESSAGES, POLL_SECONDS, Mail, fits, not_found

if TYPE_CHECKING:
    from postern_sdk._async.client import AsyncPostern


async def async_wait_for_mail(
    client: "AsyncPostern", to: str | None, subject: str | None, since: datetime | None, timeout: float
) -> Mail:
    """The newest captured mail that fits. Raises MailNotFound if none arrives in time."""
    end = time.monotonic() + timeout
    while True:
        page = await client.inbox.list(q=to or subject, limit=LISTED_MESSAGES)
        for message in page.data:
            if fits(message, to, subject, since):
                return Mail(await client.inbox.get(message.id))
        if time.monotonic() > end:
            raise not_found(to, subject, timeout)
        await async_sleep(POLL_SECONDS)
