"""One-time links of developers: the payloads of their challenges, and how the challenges are created and used up."""

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import ANONYMOUS, Call, Origin
from postern.kernel.limits import RateLimit
from postern.kernel.values import NO_ID, new_id
from postern.platform.accounts import store
from postern.platform.accounts.model import DeveloperRow, LinkInvalid
from postern.protocols.mail.address import without_subaddress
from postern.security import challenges
from postern.security.challenges import LINK_TRIES, Challenge, CodeInvalid, Payload
from postern.security.mail_limits import MailPolicy, throttle_mail

if TYPE_CHECKING:
    from postern.world import World


class VerificationLink(Payload, tag="VERIFY_EMAIL"):
    """Payload of a link that verifies `email`, and makes it the developer's address."""

    email: str


class DeveloperResetLink(Payload, tag="RESET_PASSWORD"):
    """Payload of a link that sets a new password."""


class InboxSignInLink(Payload, tag="INBOX"):
    """Payload of a link of the operator that signs in to the inbox page."""


class DashboardSignInLink(Payload, tag="SIGN_IN"):
    """Payload of a link of the operator that signs in to the dashboard."""


L = TypeVar("L", bound=Payload)


LINK_RATE = RateLimit("account-mail", 10, timedelta(hours=1))
"""Requests for a mail with a link, to any address, from one network or of one developer. The limits of one address are
in `security/mail_limits.py`."""


async def _known_ip_addresses(call: Call, email: str) -> list[str]:
    return await store.session_ip_addresses(call.db, email=email)


MAIL_POLICY = MailPolicy(
    link_purposes=frozenset(challenges.purpose_of(kind) for kind in (VerificationLink, DeveloperResetLink)),
    known_ip_addresses=_known_ip_addresses,
)
"""The links that can be requested by mail for an address; not those that the operator creates."""


def attempt_identifier(call: Call, text: str) -> bytes:
    """The keyed hash under which attempts and requested mails are counted. `text` is the e-mail address, or another
    text that identifies what is attempted; only its hash is stored."""
    return call.world.secrets.digest("sign-in-failures", text.strip().lower())


async def throttle_link(
    call: Call, kind: type[VerificationLink | DeveloperResetLink], email: str, *, present_email: str | None = None
) -> None:
    """Count a mail with a link that is requested for an address. Raises TooManyRequests; see `throttle_mail`.

    `present_email` is the verified address of a developer who requests the link for another address: it leads to the
    networks from which the developer has signed in.
    """
    identifier = attempt_identifier(call, without_subaddress(email))
    await throttle_mail(call, MAIL_POLICY, challenges.purpose_of(kind), identifier, present_email or email)


def call_of(world: "World") -> Call:
    """A call without a credential, for links that no request asks for: those of the operator and of workers."""
    return Call(world, world.db, ANONYMOUS, world.clock(), str(new_id()), Origin("", ""))


async def issue_link(tx: Transaction, call: Call, developer_id: UUID, payload: Payload, life: timedelta) -> str:
    """Store a challenge of a developer and return the token for its link. Earlier links stay valid."""
    token, _ = await challenges.issue_token(tx, call, payload, life, subject_id=developer_id)
    return token


async def issue_only_link(tx: Transaction, call: Call, developer_id: UUID, payload: Payload, life: timedelta) -> str:
    """Like `issue_link`, but the developer's earlier links of this kind become invalid. Only for links that no stranger
    can request, because a stranger could keep the developer from using an earlier one."""
    await challenges.revoke(tx, NO_ID, developer_id, (type(payload),))
    return await issue_link(tx, call, developer_id, payload, life)


async def answer_link(call: Call, kind: type[L], token: str) -> Challenge[L]:
    """The challenge of a link, which stays open until `consume_link`. Raises LinkInvalid."""
    try:
        return await challenges.answer_token(call, kind, token, max_tries=LINK_TRIES)
    except CodeInvalid:
        raise LinkInvalid from None


async def consume_link(tx: Transaction, challenge: Challenge[L]) -> DeveloperRow:
    """Lock the developer, use up the link, and return the developer's row. Raises LinkInvalid if another request has
    used the link, or the developer was deleted."""
    assert challenge.subject_id
    # First the developer, then the challenge: `challenges.revoke` is called in the same order.
    developer = await store.lock_developer(tx, id=challenge.subject_id)
    if developer is None:
        raise LinkInvalid
    try:
        await challenges.consume(tx, challenge)
    except CodeInvalid:
        raise LinkInvalid from None
    return developer


async def pending_email(db: Queries, call: Call, developer: DeveloperRow) -> str | None:
    """The new address that a developer has requested and not confirmed; None if there is none, or its link expired."""
    for challenge in await challenges.open_of(db, call, NO_ID, developer.id, VerificationLink):
        if challenge.payload.email.lower() != developer.email.lower():
            return challenge.payload.email
    return None
