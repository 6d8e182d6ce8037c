"""Waiting for captured mail."""

import time
from typing import TYPE_CHECKING

from postern_sdk._async_io import async_sleep
from postern_sdk._mail import LISTED_MESSAGES, NAMED_MESSAGES, POLL_SECONDS, Mail, MailQuery

if TYPE_CHECKING:
    from postern_sdk._async.client import AsyncPostern


async def async_wait_for_mail(client: "AsyncPostern", query: MailQuery) -> Mail:
    """The newest captured mail that fits. Raises MailNotFound if none arrives in time."""
    end = time.monotonic() + query.timeout
    while True:
        page = await client.inbox.list(q=query.search_text, limit=LISTED_MESSAGES)
        for message in page.data:
            if query.fits(message):
                return Mail(await client.inbox.get(message.id))
        if time.monotonic() > end:
            newest = await client.inbox.list(limit=NAMED_MESSAGES)
            raise query.not_found(newest.data)
        await async_sleep(POLL_SECONDS)
