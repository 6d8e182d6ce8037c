"""Codes and links sent to an address by mail, and their verification.

Responses do not reveal whether an address has an account: status, body, the statements that run, and so the response
time, are the same for known and unknown addresses.
"""

from datetime import timedelta
from typing import TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.address_proofs import is_address_of
from postern.identity.customers.challenge_payloads import MailedAddress, PasswordResetLink, SignInCode, SignInLink
from postern.identity.customers.mail_text_model import MailName
from postern.identity.customers.model import CustomerRow, EmailText, SixDigits, Token, Url
from postern.identity.customers.requirements import is_sign_up_open, reject_if_sso_required
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import network_of
from postern.kernel.values import Body, Moment, Record, as_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges
from postern.security.attempts import clear_attempts
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.mail_limits import count_wrong_code, throttle_mail
from postern.security.secrets import new_token

M = TypeVar("M", bound=MailedAddress)
CHALLENGE_ID_EXAMPLE = "01990000-0000-7000-8000-000000000000"


class ChallengeSent(Record):
    """A code was sent, if the address may receive one. Send the code back together with `challengeId`."""

    challenge_id: UUID
    expires_at: Moment


class EmailOnly(Body):
    """An address."""

    email: EmailText


class SignInLinkRequest(Body):
    """An address, and where the link leads: one of the project's `redirectUrls` (default: the first)."""

    email: EmailText
    redirect_url: Url | None = None


class CodeVerification(Body):
    """The code from the mail, and the id of the challenge that was returned when the code was requested."""

    challenge_id: str
    code: SixDigits


class SignInCodeVerification(CodeVerification):
    """The code from the mail, the id of its challenge, and the token of a remembered device."""

    remembered_device_token: Token | None = None
    """The `rememberedDeviceToken` that `mfa/verify` has returned on this device."""


async def mail_challenge(
    call: Call,
    project: Project,
    email: str,
    kind: type[SignInCode | SignInLink | PasswordResetLink],
    life: timedelta,
    secret: str,
    *,
    code: str | None = None,
    target: str | None = None,
    mail_unknown_addresses: bool = True,
) -> tuple[UUID, Moment]:
    """Store a challenge for an address, and queue the mail with its code or link. Returns its id and expiry time.

    `secret` verifies the challenge. For a code, pass it as both `secret` and `code`; for a link, `secret` becomes part
    of the token that is appended to the URL `target`. The mail goes to the address as it is stored for the customer,
    not as the request spells it. For an address without an account, no mail is sent and the stored challenge can never
    be verified, unless `mail_unknown_addresses` is set and the address may sign up. Raises Invalid, SsoRequired and
    TooManyRequests.
    """
    purpose = challenges.purpose_of(kind)
    address, key = rules.read_email(email)
    await reject_if_sso_required(call, project, key)
    address_hash = rules.address_hash(call.world.secrets, call.project_id, key)
    await throttle_mail(call, mailer.MAIL_POLICY, purpose, address_hash, key)
    customer = await store.find_by_email(call.db, project_id=call.project_id, email_key=key)
    may_sign_up = await is_sign_up_open(call.db, call, project, key)
    gets_mail = customer is not None or (mail_unknown_addresses and may_sign_up)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx,
            call,
            kind(email=address, key=key),
            life,
            secret if gets_mail else new_token(),
            subject_id=customer.id if customer else None,
            identifier=address_hash,
        )
        values = {"code": code or ""}
        if target is not None:
            separator = "&" if "?" in target else "?"
            values["link"] = f"{target}{separator}{urlencode({'token': challenges.token_of(challenge_id, secret)})}"
        to = (customer.matched_email if customer else address) if gets_mail else None
        # Without a recipient the same rows are written, so that the duration does not tell whether there is an account.
        customer_id, language = (customer.id, customer.language) if customer else (None, None)
        await mailer.enqueue_security_mail(tx, call, cast(MailName, purpose), to, customer_id, language, **values)
    return challenge_id, expires_at


async def verify_code(call: Call, kind: type[M], data: CodeVerification) -> Challenge[M]:
    """Verify a mailed code and return its challenge, which stays open until `challenges.consume`. Raises CodeInvalid.

    Each call counts as one of the challenge's tries. A wrong code is recorded as `customer.sign_in_failed`, but does
    not lock out the address: otherwise another person could prevent the use of a correct code.
    """
    challenge_id = as_id(data.challenge_id)
    issued = await challenges.get(call, kind, challenge_id)
    if issued is None or issued.identifier is None:
        raise CodeInvalid
    challenge = await challenges.answer(call, kind, challenge_id, data.code)
    if challenge is None:
        async with call.db.transaction() as tx:
            await count_wrong_code(tx, call, issued.identifier)
            await events.record(
                tx,
                call,
                "customer.sign_in_failed",
                issued.subject_id,
                method="EMAIL_CODE",
                ipAddress=call.origin.ip,
            )
        raise CodeInvalid
    return challenge


async def lock_mailed_customer(tx: Transaction, call: Call, challenge: Challenge[M]) -> CustomerRow | None:
    """Lock the row of the customer that a challenge was mailed to; None if the address had no account at that time.

    Raises CodeInvalid if the customer is deleted or the address no longer belongs to it. Call this before
    `challenges.consume`. Lock order: first the customer row, then the challenge. Ending all sessions of a customer
    takes the locks in the same order, so that the two cannot deadlock.
    """
    if challenge.subject_id is None:
        return None
    customer = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
    if customer is None or not await is_address_of(tx, call, customer, challenge.payload.key):
        raise CodeInvalid
    return customer


async def clear_failed_attempts(tx: Transaction, call: Call, challenge: Challenge[M], customer: CustomerRow) -> None:
    """Forget the failed sign-ins with the address of the challenge that came from the caller's network.

    Does nothing while the customer's primary address is unverified; see `rules.may_clear_attempts`.
    """
    if challenge.identifier is not None and rules.may_clear_attempts(customer):
        await clear_attempts(tx, call.project_id, challenge.identifier, network_of(call.origin.ip))


def link_target(call: Call, project: Project, redirect_url: str | None, page: str | None) -> str:
    """The URL of a mailed link: `redirect_url`, else the hosted `page`, else the first of the project's `redirectUrls`.

    Raises Invalid if `redirect_url` is not one of the `redirectUrls`, or there is no URL.
    """
    if redirect_url is not None:
        return rules.require_redirect(project, redirect_url)
    if page is not None:
        return f"{pages_url(call.world, project.id)}/auth/pages/{page}"
    redirect_urls = project.settings.sign_in.redirect_urls
    if not redirect_urls:
        raise Invalid.at("/redirectUrl", "The project has no `redirectUrls`; add one to its settings.", "required")
    return redirect_urls[0]


def new_code(call: Call) -> str:
    """A six-digit code from the random generator of the operating system."""
    return f"{call.world.random.randrange(1_000_000):06d}"
