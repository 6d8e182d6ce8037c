"""System mail to developers. It is queued in encrypted form, in the transaction of the change, and sent by a worker.

It is not in the e-mail log of any project: members who may read such a log must not see the reset links of other
members.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import structlog

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.call import Call
from postern.kernel.values import NO_ID, Moment, Record, new_id
from postern.platform.accounts import store
from postern.platform.accounts.links import DeveloperResetLink, VerificationLink, call_of, issue_link, issue_only_link

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

GIVEN_UP_AFTER = timedelta(hours=24)
"""A mail that could not be sent within this time is deleted unsent."""
FIRST_RETRY_DELAY = timedelta(seconds=30)
MAX_RETRY_DELAY = timedelta(hours=1)

RESET_LIFE = timedelta(minutes=30)
VERIFY_LIFE = timedelta(hours=24)


class AccountMailRequest(msgspec.Struct, frozen=True, kw_only=True, tag="mail"):
    """A mail to a developer: the name of its template in `web/templates/mail`, and the template's values."""

    to: str
    template: str
    values: dict[str, str]


class PasswordResetRequest(msgspec.Struct, frozen=True, kw_only=True, tag="reset"):
    """A requested password reset. Only the worker checks whether a developer has the address, so that the response
    time of the request does not reveal it."""

    email: str


class Verification(msgspec.Struct, frozen=True, kw_only=True, tag="verification"):
    """A mail with a verification link. Only the worker checks whether another developer has the address, so that the
    response time of the request does not reveal it. If so, a mail informs that developer, and the link is not sent."""

    mail: AccountMailRequest = msgspec.field(name="letter")  # The name in mails that earlier releases have queued.
    """The mail with the link, which is sent if no other developer has the address."""
    developer_id: UUID
    """The developer whose address is to be verified."""


Content = AccountMailRequest | PasswordResetRequest | Verification
"""What a row of `account_mails` contains, as encrypted JSON."""


class AccountMail(Record):
    """A queued mail that is due."""

    account_id: UUID
    id: UUID
    sealed: bytes
    attempt: int
    created_at: Moment


DeliverAccountMail = Callable[["World", UUID, AccountMailRequest], Awaitable[bool]]
"""Sends a mail, whose id is the UUID, through the relay of the instance. Returns False if it must be retried later."""


async def enqueue_mail(
    tx: Transaction, call: Call, account_id: UUID, content: AccountMailRequest | PasswordResetRequest
) -> None:
    """Queue a mail in the transaction `tx`. A worker sends it after the commit."""
    await _insert_mail(tx, call.world, account_id, content)


async def enqueue_verification(tx: Transaction, call: Call, account_id: UUID, developer_id: UUID, email: str) -> None:
    """Queue a mail with a link that verifies an address. It works once, for 24 hours; earlier links become invalid.

    If another developer has the address, the worker sends a notice of the attempt to that developer instead.
    """
    token = await issue_only_link(tx, call, developer_id, VerificationLink(email=email), VERIFY_LIFE)
    link = f"{call.world.settings.public_url}/verify-email?token={token}"
    mail = AccountMailRequest(to=email, template="accounts/verify-email", values={"link": link})
    await _insert_mail(tx, call.world, account_id, Verification(mail=mail, developer_id=developer_id))


async def enqueue_security_mail(
    tx: Transaction, call: Call, account_id: UUID, to: str, subject: str, text: str
) -> None:
    """Queue a mail that informs a developer about a change to their sign-in, in case another person made it."""
    values = {"subject": subject, "what": text}
    await enqueue_mail(tx, call, account_id, AccountMailRequest(to=to, template="accounts/notice", values=values))


async def deliver_mail(world: "World", mail: AccountMail) -> None:
    """Send a mail and delete it from the queue. If sending fails, schedule the next attempt.

    A mail that is older than GIVEN_UP_AFTER is deleted unsent. A PasswordResetRequest is replaced by a queued mail with
    a link.
    """
    now = world.clock()
    if now - mail.created_at < GIVEN_UP_AFTER:
        encoded = world.secrets.open(mail.sealed, f"account-mail:{mail.id}")
        content: Content = msgspec.json.decode(encoded, type=Content)
        if isinstance(content, PasswordResetRequest):
            await _replace_by_reset_mail(world, mail, content)
            return
        if isinstance(content, Verification):
            developer = await store.developer_by_email(world.db, email=content.mail.to)
            is_free = developer is None or developer.id == content.developer_id
            content = content.mail if is_free else _address_taken_mail(world, content.mail.to)
        if not await world.hooks.deliver_account_mail(world, mail.id, content):
            delay = min(FIRST_RETRY_DELAY * 2 ** min(mail.attempt, 10), MAX_RETRY_DELAY)
            await store.reschedule_mail(
                world.db, account_id=mail.account_id, id=mail.id, attempt=mail.attempt, due_at=now + delay
            )
            return
    else:
        log.error("account_mail_given_up", id=str(mail.id))
    await store.delete_mail(world.db, account_id=mail.account_id, id=mail.id)


async def _replace_by_reset_mail(world: "World", mail: AccountMail, request: PasswordResetRequest) -> None:
    """Replace a queued reset request by a mail with a link; delete the request if no developer has the address."""
    call = call_of(world)
    async with world.db.transaction() as tx:
        developer = await store.developer_by_email(tx, email=request.email)
        if developer is None:
            developer = await store.unverified_developer(tx, email=request.email)
        if developer is not None:
            # Locked, so that a change of the address cannot commit between this check and the insertion of the link.
            developer = await store.lock_developer(tx, id=developer.id)
        if developer is not None and developer.email.lower() != request.email.lower():
            developer = None
        if developer is not None and await store.delete_mail(tx, account_id=mail.account_id, id=mail.id):
            life = mail.created_at + RESET_LIFE - call.now
            token = await issue_link(tx, call, developer.id, DeveloperResetLink(), life)
            await _insert_mail(tx, world, developer.account_id, _reset_mail(world, developer.email, token))
        else:
            await store.delete_mail(tx, account_id=mail.account_id, id=mail.id)


def _address_taken_mail(world: "World", to: str) -> AccountMailRequest:
    return AccountMailRequest(to=to, template="accounts/address-taken", values={"server": world.settings.public_url})


def _reset_mail(world: "World", to: str, token: str) -> AccountMailRequest:
    link = f"{world.settings.public_url}/reset-password?token={token}"
    return AccountMailRequest(to=to, template="accounts/reset-password", values={"link": link})


async def _insert_mail(tx: Transaction, world: "World", account_id: UUID, content: Content) -> None:
    mail_id = new_id()
    sealed = world.secrets.seal(msgspec.json.encode(content), f"account-mail:{mail_id}")
    await store.insert_mail(tx, account_id=account_id, id=mail_id, sealed=sealed, now=world.clock())
    tx.mark_due("account_mails")


NO_ACCOUNT = NO_ID
"""The account id of queued mail that does not belong to an account yet."""

MAILS: Work[AccountMail] = Work(
    name="account-mails",
    table="account_mails",
    partition_column="account_id",
    row_type=AccountMail,
    lease=timedelta(minutes=15),
    do=for_each_row(deliver_mail),
)
