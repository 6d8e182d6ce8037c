"""Limits on the invitations that members send: they are mails to addresses that the members choose."""

from datetime import timedelta

from postern.identity.customers import mailer
from postern.identity.customers.rules import address_hash, read_email
from postern.identity.self_service.visits import Visit
from postern.kernel.limits import TooManyRequests
from postern.security import attempts
from postern.security.attempts import ALL_NETWORKS
from postern.security.mail_limits import throttle_mail

MEMBER_INVITATIONS, MEMBER_INVITATIONS_WINDOW = 100, timedelta(days=1)
"""How many invitations one member may send within the window, in all organizations together."""


async def require_mail_allowed(visit: Visit, email: str) -> None:
    """Count an invitation that the visitor sends to an address. Raises TooManyRequests beyond the limits.

    Without them, a member could fill the mailbox of anybody by inviting, withdrawing and inviting again.
    """
    call = visit.call
    _, key = read_email(email)
    counter = call.world.secrets.digest("member-invitations", str(visit.customer.id))
    count = await attempts.count_event(
        call.db,
        call.project_id,
        counter,
        ALL_NETWORKS,
        window=MEMBER_INVITATIONS_WINDOW,
        retention=MEMBER_INVITATIONS_WINDOW,
        now=call.now,
    )
    if count.failures > MEMBER_INVITATIONS:
        raise TooManyRequests(retry_after_seconds=int(MEMBER_INVITATIONS_WINDOW.total_seconds()))
    hashed = address_hash(call.world.secrets, call.project_id, key)
    await throttle_mail(call, mailer.MAIL_POLICY, "INVITATION", hashed, key)
