"""Mail of this server to developers: written in the transaction that causes it, sealed, handed over as due work.

It never touches a project's own sends: whoever may read a project's log must not find a colleague's reset link there.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import structlog

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, one_by_one
from postern.kernel.http.call import Call
from postern.kernel.values import NO_ID, Record, new_id
from postern.platform.accounts import store
from postern.security.secrets import new_token

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

GIVEN_UP_AFTER = timedelta(hours=24)
"""As long as the longest link in such mail works."""
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)

RESET_LIFE = timedelta(minutes=30)
VERIFY_LIFE = timedelta(hours=24)


class AccountMailRequest(msgspec.Struct, frozen=True, kw_only=True, tag="mail"):
    """One mail to one developer: its template under `web/templates/mail`, and the values for it."""

    to: str
    template: str
    values: dict[str, str]


class PasswordResetRequest(msgspec.Struct, frozen=True, kw_only=True, tag="reset"):
    """Somebody asked to reset the password of this address. Only the worker finds out whether anybody has it,
    so that asking takes the same time either way."""

    email: str


class Verification(msgspec.Struct, frozen=True, kw_only=True, tag="verification"):
    """A link that proves an address. Only the worker finds out whether the address has another account, so that asking
    takes the same time either way; its holder is told then, and the link is not sent."""

    letter: AccountMailRequest
    developer_id: UUID


Content = AccountMailRequest | PasswordResetRequest | Verification


class AccountMail(Record):
    """A mail that is due."""

    account_id: UUID
    id: UUID
    sealed: bytes
    attempt: int
    created_at: Moment


DeliverAccountMail = Callable[["World", UUID, AccountMailRequest], Awaitable[bool]]
"""Hands a mail to the installation's own relay. False means: not now, try again."""


async def enqueue_mail(
    tx: Transaction, call: Call, account_id: UUID, content: AccountMailRequest | PasswordResetRequest
) -> None:
    """Write a letter in the transaction of what it tells about; it goes out after the commit."""
    await _insert_mail(tx, call.world, account_id, content)


async def enqueue_verification(tx: Transaction, call: Call, account_id: UUID, developer_id: UUID, email: str) -> None:
    """Ask an address to prove that it is read: a link that works once, for 24 hours. Older links die."""
    token = await new_developer_token(tx, call.world, developer_id, "VERIFY_EMAIL", email, call.now + VERIFY_LIFE)
    link = f"{call.world.settings.public_url}/verify-email?token={token}"
    letter = AccountMailRequest(to=email, template="accounts/verify-email", values={"link": link})
    await _insert_mail(tx, call.world, account_id, Verification(letter=letter, developer_id=developer_id))


async def enqueue_security_mail(
    tx: Transaction, call: Call, account_id: UUID, to: str, subject: str, what: str
) -> None:
    """Tell a developer about a change to their own sign-in, so that one they did not make is noticed."""
    values = {"subject": subject, "what": what}
    await enqueue_mail(tx, call, account_id, AccountMailRequest(to=to, template="accounts/notice", values=values))


async def new_developer_token(
    tx: Transaction, world: "World", developer_id: UUID, purpose: str, email: str | None, expires_at: Moment
) -> str:
    """A token for one purpose, of which only a keyed hash is kept; older ones of that purpose die."""
    token = new_token()
    await store.drop_tokens(tx, developer_id=developer_id, purpose=purpose)
    await store.insert_token(
        tx,
        hash=world.secrets.digest(f"developer-{purpose}", token),
        developer_id=developer_id,
        purpose=purpose,
        email=email,
        expires_at=expires_at,
        now=world.clock(),
    )
    return token


async def deliver_mails(world: "World", mail: AccountMail) -> None:
    """Hand one letter over; what cannot go now comes back, for a day."""
    now = world.clock()
    if now - mail.created_at < GIVEN_UP_AFTER:
        plain = world.secrets.open(mail.sealed, f"account-mail:{mail.id}")
        content: Content = msgspec.json.decode(plain, type=Content)
        if isinstance(content, PasswordResetRequest):
            await _answer_reset(world, mail, content)
            return
        if isinstance(content, Verification):
            holder = await store.developer_by_email(world.db, email=content.letter.to)
            is_free = holder is None or holder.id == content.developer_id
            content = content.letter if is_free else _address_taken_mail(world, content.letter.to)
        if not await world.hooks.deliver_account_mail(world, mail.id, content):
            pause = min(FIRST_PAUSE * 2 ** min(mail.attempt, 10), LONGEST_PAUSE)
            await store.postpone_mail(
                world.db, account_id=mail.account_id, id=mail.id, attempt=mail.attempt, due_at=now + pause
            )
            return
    else:
        log.error("account_mail_given_up", id=str(mail.id))
    await store.delete_mail(world.db, account_id=mail.account_id, id=mail.id)


async def _answer_reset(world: "World", mail: AccountMail, asked: PasswordResetRequest) -> None:
    """Turn the question into a letter with a link, if the address has an account; else into nothing."""
    async with world.db.transaction() as tx:
        developer = await store.developer_by_email(tx, email=asked.email)
        if developer is None:
            developer = await store.unproven_developer(tx, email=asked.email)
        if developer is not None and await store.delete_mail(tx, account_id=mail.account_id, id=mail.id):
            expires_at = mail.created_at + RESET_LIFE
            token = await new_developer_token(tx, world, developer.id, "RESET_PASSWORD", None, expires_at)
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
    tx.makes_due("account_mails")


NOBODYS = NO_ID
"""Where mail is kept that belongs to no account yet."""

MAILS: Work[AccountMail] = Work(
    name="account-mails",
    table="account_mails",
    partition_column="account_id",
    kind=AccountMail,
    lease=timedelta(minutes=15),
    do=one_by_one(deliver_mails),
)
