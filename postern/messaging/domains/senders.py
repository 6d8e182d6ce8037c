"""Single senders: addresses that a project can send from, without a verified domain, after their owner has confirmed.

The confirmation mail is sent through the operator's relay and never through a relay of the project, whose operator
could read the token. Only a keyed hash of the token is stored. The token has 256 random bits, so attempts to guess it
are not rate-limited.
"""

from datetime import timedelta
from hmac import compare_digest
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, LiveKeyRequired
from postern.kernel.http.operation import RawRequest, delete, get, post
from postern.kernel.http.problems import Invalid, Problem, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Deleted, new_id
from postern.messaging.domains import sender_store, store
from postern.messaging.domains.model import (
    SENDERS_PER_PROJECT,
    NewSender,
    Sender,
    SenderExists,
    SenderLinkInvalid,
    SenderMissing,
    SenderNotNeeded,
    SenderToken,
    SenderVerified,
    StoredSender,
    TooManySenders,
)
from postern.platform.accounts.mailer import AccountMailRequest, enqueue_mail
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.protocols.mail import dmarc
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord
from postern.security.secrets import new_token
from postern.web.pages import PageForm, read_form, simple_page

if TYPE_CHECKING:
    from postern.world import World

TOKEN_LIFE = timedelta(hours=24)
"""The lifetime of the link in a confirmation mail."""
PROJECT_RATE = RateLimit("sender-mails", 20, timedelta(days=1))
"""Limits the confirmation mails of one project."""
ADDRESS_RATE = RateLimit("sender-mails-to", 5, timedelta(days=1))
"""Limits the confirmation mails to one address from all projects together."""
HASH_PURPOSE = "sender-token"
PAGE_PATH = "/projects/{project_id}/senders/{id}/confirm"
TITLE = "Confirm a sender"

TokenText = Annotated[str, msgspec.Meta(max_length=200)]


CONFIRM = "have a sender confirm its address"
"""What a TEST key cannot do: the confirmation mail would really be sent, because the server's own mail is never
captured in the inbox."""


@get("/projects/{project_id}/senders", needs="domains:read")
async def list_senders(call: Call) -> list[Sender]:
    """List the project's single senders, newest first: addresses to use in `from` without a verified domain."""
    rows = await sender_store.list_senders(call.db, project_id=call.project_id, limit=SENDERS_PER_PROJECT)
    return [_to_sender(row) for row in rows]


@post(
    "/projects/{project_id}/senders",
    needs="domains:write",
    status=201,
    problems=(SenderExists, SenderNotNeeded, TooManySenders, TooManyRequests, LiveKeyRequired),
    example={"email": "ada@example.com"},
    response_example={"status": "PENDING", "verifiedAt": None},
)
async def create_sender(call: Call, data: NewSender) -> Sender:
    """Add a single sender, to test sending before a domain is verified.

    This sends a confirmation mail to the address. When its owner opens the link in the mail within 24 hours and
    confirms, exactly this address (case-insensitive) can be used as `from` of single e-mails and batches. Campaigns and
    automations need a verified domain. Mail from a single sender is not signed with DKIM, so some receivers treat it as
    spam: see `warnings`.
    """
    call.require_live(CONFIRM)
    try:
        address = parse_address(data.email)
    except AddressInvalid as error:
        raise Invalid.at("/email", error.detail, "address_invalid") from None
    if address.name:
        raise Invalid.at("/email", "Give only the e-mail address, without a name.", "address_invalid")
    domain = await store.get_sending_domain(call.db, project_id=call.project_id, domain=address.domain)
    if domain is not None and domain.may_send:
        raise SenderNotNeeded
    _check_rates(call, address.spec)
    policy = await _dmarc_policy(call.world, address.domain)
    sender_id, token = new_id(), new_token()
    async with call.db.transaction() as tx:
        await tx.lock_quota("senders", call.project_id)
        if await sender_store.count_senders(tx, project_id=call.project_id) >= SENDERS_PER_PROJECT:
            raise TooManySenders
        new = StoredSender(
            project_id=call.project_id,
            id=sender_id,
            email=address.spec,
            status="PENDING",
            dmarc_policy=policy,
            token_hash=_token_hash(call.world, sender_id, token),
            token_expires_at=call.now + TOKEN_LIFE,
            verified_at=None,
            created_at=call.now,
            updated_at=call.now,
        )
        row = await sender_store.insert_sender(tx, new)
        if row is None:
            raise SenderExists
        await _enqueue_confirmation(tx, call, row, token)
        await audit.record(tx, call, "sender.created", "Sender", row.id, email=row.email)
    return _to_sender(row)


@get("/projects/{project_id}/senders/{id}", needs="domains:read", problems=(SenderMissing,))
async def get_sender(call: Call, id: UUID) -> Sender:
    """Get a single sender."""
    return _to_sender(await _require_sender(call, id))


@post(
    "/projects/{project_id}/senders/{id}/resend",
    needs="domains:write",
    problems=(SenderMissing, SenderVerified, TooManyRequests, LiveKeyRequired),
    response_example={"status": "PENDING", "verifiedAt": None},
)
async def resend_sender_verification(call: Call, id: UUID) -> Sender:
    """Send the confirmation mail again, with a new link that works for 24 hours. The previous link stops working."""
    call.require_live(CONFIRM)
    sender = await _require_sender(call, id)
    if sender.status == "VERIFIED":
        raise SenderVerified
    _check_rates(call, sender.email)
    policy = await _dmarc_policy(call.world, parse_address(sender.email).domain)
    token = new_token()
    async with call.db.transaction() as tx:
        row = require_found(await sender_store.lock_sender(tx, project_id=call.project_id, id=id), SenderMissing)
        if row.status == "VERIFIED":
            raise SenderVerified
        renewed = replace(
            row,
            dmarc_policy=policy,
            token_hash=_token_hash(call.world, id, token),
            token_expires_at=call.now + TOKEN_LIFE,
        )
        row = await sender_store.set_token(tx, renewed, now=call.now)
        await _enqueue_confirmation(tx, call, row, token)
        await audit.record(tx, call, "sender.mail_resent", "Sender", id, email=row.email)
    return _to_sender(row)


@post(
    "/projects/{project_id}/senders/{id}/verify",
    needs="domains:write",
    problems=(SenderMissing, SenderLinkInvalid),
    example={"token": "3Jb8nQ0xVw7sK1pYt5Rz9Lm2Hc4Gd6FfA0BeUiOo"},
)
async def verify_sender(call: Call, id: UUID, data: SenderToken) -> Sender:
    """Confirm a sender with the token from its confirmation mail instead of on the page. Calls can be repeated."""
    await _require_sender(call, id)
    async with call.db.transaction() as tx:
        row = await _confirm(tx, call, id, data.token)
        await audit.record(tx, call, "sender.verified", "Sender", id, email=row.email)
    return _to_sender(row)


@delete("/projects/{project_id}/senders/{id}", needs="domains:write", problems=(SenderMissing,))
async def delete_sender(call: Call, id: UUID) -> Deleted:
    """Delete a single sender. Messages that wait to be sent from it fail when they are due."""
    async with call.db.transaction() as tx:
        row = require_found(await sender_store.lock_sender(tx, project_id=call.project_id, id=id), SenderMissing)
        await sender_store.delete_sender(tx, project_id=call.project_id, id=id)
        await events.record(tx, call, "domain.sender_removed", id, email=row.email)
        await audit.record(tx, call, "sender.deleted", "Sender", id, email=row.email)
    return Deleted()


@get(PAGE_PATH, public=True, ignore_unknown_query=True, hidden=True)
async def sender_page(call: Call, id: UUID, token: TokenText = "") -> HttpResponse:
    """The page that the link in the mail opens. It changes nothing, because mail scanners open links too."""
    try:
        row = _require_sender_with_token(
            call, await sender_store.get_sender(call.db, project_id=call.project_id, id=id), token
        )
        project = await projects.require_project(call.db, call.project_id)
    except Problem as problem:
        return _error_page(problem)
    if row.status == "VERIFIED":
        return simple_page("Thank you", f"{row.email} is confirmed.")
    return simple_page(
        TITLE,
        f"The project {project.name} asks to send e-mail as {row.email}.",
        "If you did not expect this, close this page: nothing happens without your confirmation.",
        forms=[PageForm(button="Confirm", hidden={"token": token})],
    )


@post(PAGE_PATH, public=True, ignore_unknown_query=True, hidden=True)
async def confirm_sender(call: Call, id: UUID, request: RawRequest) -> HttpResponse:
    """Confirm a sender on the page."""
    token = (await read_form(request)).get("token", "")
    try:
        async with call.db.transaction() as tx:
            row = await _confirm(tx, call, id, token)
    except Problem as problem:
        return _error_page(problem)
    return simple_page("Thank you", f"{row.email} is confirmed: mail can now be sent from it. You can close this page.")


def _error_page(problem: Problem) -> HttpResponse:
    """An error page for a person who only has the confirmation mail."""
    message = problem.detail
    if isinstance(problem, SenderLinkInvalid):
        message = (
            "This link does not work any more: it is older than 24 hours, or a newer mail was sent. Open the link in "
            "the newest mail, or ask the person who wants to send for a new one."
        )
    return simple_page(TITLE, error=message, status=problem.status)


async def verified_senders_all(world: "World", senders: list[tuple[UUID, str]]) -> list[bool]:
    """Whether the address in each pair of project id and address is a verified single sender, by one query.

    The results are in the order of `senders`. Addresses are compared case-insensitively.
    """
    pairs = [(project_id, address.lower()) for project_id, address in senders]
    rows = await sender_store.verified_among(
        world.db, project_id=[project_id for project_id, _ in pairs], emails=[address for _, address in pairs]
    )
    verified = {(row.project_id, row.email) for row in rows}
    return [pair in verified for pair in pairs]


async def _confirm(tx: Transaction, call: Call, id: UUID, token: str) -> StoredSender:
    """Mark a sender as verified and record the event, if it is not verified yet. Raises SenderLinkInvalid."""
    row = _require_sender_with_token(call, await sender_store.lock_sender(tx, project_id=call.project_id, id=id), token)
    if row.status == "VERIFIED":
        return row
    row = await sender_store.mark_verified(tx, project_id=call.project_id, id=id, now=call.now)
    await events.record(tx, call, "domain.sender_verified", id, email=row.email)
    return row


def _require_sender_with_token(call: Call, row: StoredSender | None, token: str) -> StoredSender:
    """Raises SenderLinkInvalid unless the token is that of the sender's last mail and has not expired."""
    if row is None or not compare_digest(row.token_hash, _token_hash(call.world, row.id, token)):
        raise SenderLinkInvalid
    if row.status != "VERIFIED" and row.token_expires_at <= call.now:
        raise SenderLinkInvalid
    return row


def _token_hash(world: "World", id: UUID, token: str) -> bytes:
    return world.secrets.digest(HASH_PURPOSE, f"{id}:{token}")


async def _enqueue_confirmation(tx: Transaction, call: Call, row: StoredSender, token: str) -> None:
    project = await projects.require_project(tx, call.project_id)
    path = PAGE_PATH.format(project_id=call.project_id, id=row.id)
    link = f"{call.world.settings.public_url}{path}?token={token}"
    values = {"project": project.name, "email": row.email, "link": link}
    mail = AccountMailRequest(to=row.email, template="accounts/confirm-sender", values=values)
    await enqueue_mail(tx, call, project.account_id, mail)


def _check_rates(call: Call, address: str) -> None:
    """Count a confirmation mail. Raises TooManyRequests above the limits of the project or the address."""
    call.world.limiter.take(PROJECT_RATE, str(call.project_id))
    call.world.limiter.take(ADDRESS_RATE, address.lower())


async def _dmarc_policy(world: "World", domain: str) -> str | None:
    """The DMARC policy of a domain (RFC 7489); None if it has none or the lookup failed."""
    try:
        policy = await dmarc.discover(world.resolver, domain)
    except (NoSuchRecord, DnsUnavailable):
        return None
    return policy.policy.value if policy else None


async def _require_sender(call: Call, id: UUID) -> StoredSender:
    return require_found(await sender_store.get_sender(call.db, project_id=call.project_id, id=id), SenderMissing)


def _to_sender(row: StoredSender) -> Sender:
    domain = row.email.rpartition("@")[2]
    warnings = ["Mail from a single sender is not signed with DKIM. Verify a domain before you send to customers."]
    if row.dmarc_policy in ("quarantine", "reject"):
        treatment = {"quarantine": "put into the spam folder", "reject": "rejected"}[row.dmarc_policy]
        warnings.append(
            f"{domain} has the DMARC policy `{row.dmarc_policy}`: mail from {row.email} will be {treatment} unless it "
            f"is sent through the mail servers of {domain}."
        )
    return Sender(
        id=row.id,
        email=row.email,
        status=row.status,
        dmarc_policy=row.dmarc_policy,
        warnings=warnings,
        link_expires_at=row.token_expires_at if row.status == "PENDING" else None,
        verified_at=row.verified_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
