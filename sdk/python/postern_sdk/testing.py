"""Helpers for tests of an application that uses Postern: wait for a mail and read its code or links.

Codes and links that sign a customer in are only shown to a key with the permissions `inbox:read` and
`customers:impersonate`, which an owner or admin of the account creates.
"""

from collections.abc import Awaitable
from datetime import datetime
from typing import TYPE_CHECKING, Any, overload

from postern_sdk._mail import Mail, MailNotFound, MailQuery, SecretsHidden
from postern_sdk.webhooks import sign as sign_webhook

if TYPE_CHECKING:
    from postern_sdk import AsyncPostern, Postern

__all__ = ["Mail", "MailNotFound", "SecretsHidden", "sign_webhook", "wait_for_mail"]

DEFAULT_WAIT_SECONDS = 30.0


@overload
def wait_for_mail(
    client: "Postern",
    *,
    to: str | None = None,
    subject: str | None = None,
    after: datetime | Mail | None = None,
    timeout: float = DEFAULT_WAIT_SECONDS,
) -> Mail: ...


@overload
def wait_for_mail(
    client: "AsyncPostern",
    *,
    to: str | None = None,
    subject: str | None = None,
    after: datetime | Mail | None = None,
    timeout: float = DEFAULT_WAIT_SECONDS,
) -> Awaitable[Mail]: ...


def wait_for_mail(
    client: "Postern | AsyncPostern",
    *,
    to: str | None = None,
    subject: str | None = None,
    after: datetime | Mail | None = None,
    timeout: float = DEFAULT_WAIT_SECONDS,
) -> Any:
    """Wait until the capture inbox has a mail, and return it. With an asynchronous client, await the result.

    Args:
        client: A client whose key has the permission `inbox:read`.
        to: A recipient.
        subject: A part of the subject.
        after: A time, or a mail that was returned before: only newer mail counts. Otherwise the newest mail that fits
            is returned, also one that is there already.
        timeout: Seconds to wait.

    Raises:
        MailNotFound: no mail arrived in time; the message names the newest mails in the inbox.
    """
    from postern_sdk._async.client import AsyncPostern

    query = MailQuery(to, subject, after, timeout)
    if isinstance(client, AsyncPostern):
        from postern_sdk._async.testing import async_wait_for_mail

        return async_wait_for_mail(client, query)
    from postern_sdk._sync.testing import wait_for_mail as wait

    return wait(client, query)
