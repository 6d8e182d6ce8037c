"""E-mails to customers: codes, links and security notices. The worker renders them and sends them for the project.

A request only stores the sealed content of the e-mail. It does so even if there is no recipient, so that requesting a
code takes equally long for addresses with and without an account.
"""

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
import structlog

from postern.identity.customers import store, token_store
from postern.identity.customers.devices import known_device
from postern.identity.customers.mail_text_model import MailName
from postern.identity.customers.mail_texts import LIVES, MailToRender, render_for_customer, with_source
from postern.identity.customers.model import CustomerRow
from postern.identity.customers.store import QueuedMail
from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment, Record, new_id
from postern.messaging.emails.model import DomainNotVerified
from postern.messaging.emails.operations import send_project_mail
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import SECURITY_MAILS, Project, SecurityMail
from postern.security.mail_limits import MailPolicy
from postern.security.sessions import is_trusted_test
from postern.web.languages import (
    DEFAULT_LANGUAGE,
    Text,
    asked_language,
    format_moment,
    match_language,
    translated,
)

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MAX_SEND_ATTEMPTS = 8
"""How many times the worker tries to send an e-mail, for example while the sender's domain is not verified."""
NOTICE_LIFE = timedelta(days=1)
"""How long a security notice may stay queued; it is not sent later."""


async def _known_ip_addresses(call: Call, email_key: str) -> list[str]:
    return await token_store.session_ip_addresses(call.db, project_id=call.project_id, email_key=email_key)


MAIL_POLICY = MailPolicy(
    code_purposes=frozenset(("SIGN_UP", "CODE", "VERIFY")),
    link_purposes=frozenset(("LINK", "RESET", "INVITATION")),
    known_ip_addresses=_known_ip_addresses,
)
"""The codes, links and invitations that customers request by mail; an address is passed as its lookup key."""


ASKED_FOR = frozenset(("CODE", "LINK", "RESET"))
"""The mails that say when, with which device and from which IP address somebody asked for them."""
AGENT_CHARACTERS = 300
"""How much of a `User-Agent` is kept until the mail is sent."""


class SealedMail(Record):
    """The sealed content of a queued e-mail: its kind, its recipient (None: send nothing) and its values."""

    kind: MailName
    to: str | None
    values: dict[str, str]
    test: bool = False
    """Whether a TEST key caused the e-mail; then it is captured instead of delivered."""
    language: str = ""
    """One of LANGUAGES (`language_for`); "" for the project's default."""
    ip: str = ""
    """The IP address that asked for a mail of ASKED_FOR. "" for other mails, and those of earlier versions."""
    user_agent: str = ""
    """The `User-Agent` of that request, of which the mail shows the name of the device."""


def language_for(call: Call, stored: str | None, *, notice: bool) -> str:
    """The language of an e-mail to a customer whose language is `stored` (a language tag), one of LANGUAGES; "" for the
    project's default.

    Codes and links are in the language of the request: whoever asked for them waits for them. So are notices about what
    the signed-in customer has done. Notices about what others may have done, such as developers, directories, or who
    has signed in with the password, are in the stored language. Each falls back to the other.
    """
    asked, known = asked_language(call) or "", match_language(stored or "") or ""
    # The request of somebody who acts as the customer is restricted.
    is_customer = call.caller.kind == "customer" and call.caller.restricted_problem is None
    return (known or asked) if notice and not is_customer else (asked or known)


async def enqueue_security_mail(
    tx: Transaction,
    call: Call,
    kind: MailName,
    to: str | None,
    customer_id: UUID | None = None,
    language: str | None = None,
    **values: str,
) -> None:
    """Queue an e-mail and wake the worker, which sends it, when this transaction commits.

    `kind` names the template, which shows `values`: `NEW_DEVICE` is the template `customers/new-device`. `language` is
    the stored language of the customer. If `to` is None, the same row is stored, but the worker sends nothing.
    """
    # A publishable TEST key is public: it must not keep a security notice from the customer.
    test = is_trusted_test(call.caller) if kind in SECURITY_MAILS else call.caller.environment == "TEST"
    # An app's server that sends a customer's access token has another address than the customer, and is no browser.
    is_visitor = call.origin.is_visitor and (
        call.caller.kind != "customer" or known_device(call.origin.user_agent) is not None
    )
    names_source = kind in ASKED_FOR and is_visitor
    content = SealedMail(
        kind=kind,
        to=to,
        values=values,
        test=test,
        language=language_for(call, language, notice=kind in SECURITY_MAILS),
        ip=call.origin.ip if names_source else "",
        user_agent=call.origin.user_agent[:AGENT_CHARACTERS] if names_source else "",
    )
    mail_id = new_id()
    await store.insert_mail(
        tx,
        project_id=call.project_id,
        id=mail_id,
        customer_id=customer_id,
        sealed=call.world.secrets.seal(msgspec.json.encode(content), f"customer_mail:{mail_id}"),
        created_at=call.now,
        due_at=call.now,
    )
    tx.mark_due("customer_mails", call.project_id)


async def notify(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, kind: SecurityMail, **values: str | Text
) -> None:
    """Queue a notice to a customer's primary address about a change to their account. A `Text` is translated.

    Does nothing if the project has switched this notice off, or the customer has no address.
    """
    if gets_notice(project, customer, kind):
        assert customer.email is not None
        language = language_for(call, customer.language, notice=True) or mail_language(project)
        shown = {name: _shown(language, value) for name, value in {**values, "time": call.now}.items()}
        await enqueue_security_mail(tx, call, kind, customer.email, customer.id, customer.language, **shown)


def gets_notice(project: Project, customer: CustomerRow, kind: SecurityMail) -> bool:
    """Whether notices of this kind are on, and the customer has an address."""
    return kind in project.settings.sign_in.security_mails and customer.email is not None


def mail_language(project: Project) -> str:
    """The language of e-mails whose recipient asked for none and has none stored."""
    return project.settings.sign_in.default_language or DEFAULT_LANGUAGE


async def send_queued_mail(world: "World", mail: QueuedMail) -> None:
    """Send a queued e-mail and delete it from the queue. After a crash in between, it is sent twice.

    If it cannot be sent, it stays queued for up to `MAX_SEND_ATTEMPTS` attempts. After the last one, or if it has
    expired, it is deleted and `customer.mail_failed` is recorded.
    """
    content = msgspec.json.decode(world.secrets.open(mail.sealed, f"customer_mail:{mail.id}"), type=SealedMail)
    expires_at = mail.created_at + LIVES.get(content.kind, NOTICE_LIFE)
    if content.to is not None and world.clock() >= expires_at:
        await _give_up(
            world,
            mail,
            content,
            "expired",
            "The code or link in it, or the notice, had expired before it could be sent.",
        )
        return
    if content.to is not None:
        try:
            await _send(world, mail, content, expires_at if content.kind in LIVES else None)
        except Problem as problem:
            log.warning(
                "customer_mail_not_sent", kind=content.kind, project=str(mail.project_id), problem=problem.code()
            )
            if mail.attempt >= MAX_SEND_ATTEMPTS:
                await _give_up(world, mail, content, problem.code(), undeliverable_reason(problem))
            return
    await store.delete_mail(world.db, project_id=mail.project_id, id=mail.id, attempt=mail.attempt)


def sender_of(world: "World", project: Project) -> str:
    """The From of sign-in e-mails: the project's `mailFrom`, or `no-reply@` and this server's host.

    `postern.test` replaces a host that is not a domain, such as an IP address.
    """
    name = app_name(project).replace('"', "").replace("\\", "")
    configured = project.settings.sign_in.mail_from
    if configured:
        return configured if "<" in configured else f'"{name}" <{configured}>'
    host = urlsplit(world.settings.public_url).hostname or ""
    return f'"{name}" <no-reply@{host if "." in host and not host[-1].isdigit() else "postern.test"}>'


def undeliverable_reason(problem: Problem) -> str:
    """Why an e-mail to a customer or an invited person could not be sent, as developers of the project read it."""
    if isinstance(problem, DomainNotVerified):
        return (
            f"{problem.detail} Set `settings.signIn.mailFrom`, the sender of such e-mails, to an address at a verified"
            " domain."
        )
    return problem.detail


def app_name(project: Project) -> str:
    """The name under which customers know the project: its `appName`, or its own name."""
    return project.settings.sign_in.app_name or project.name


async def _give_up(world: "World", mail: QueuedMail, content: SealedMail, code: str, reason: str) -> None:
    """Delete a queued e-mail and record `customer.mail_failed` with the reason, unless another attempt has begun."""
    event = events.make_event(
        mail.project_id,
        "customer.mail_failed",
        mail.customer_id,
        Moment.of(world.clock()),
        test=content.test,
        kind=content.kind,
        code=code,
        reason=reason,
    )
    async with world.db.transaction() as tx:
        if await store.delete_mail(tx, project_id=mail.project_id, id=mail.id, attempt=mail.attempt):
            await events.record_all(tx, [event])


async def _send(world: "World", mail: QueuedMail, content: SealedMail, expires_at: Moment | None) -> None:
    assert content.to is not None
    await send_rendered(
        world,
        mail.project_id,
        content.kind,
        to=content.to,
        expires_at=expires_at,
        tag="sign-in",
        test=content.test,
        language=content.language,
        customer_id=mail.customer_id,
        **content.values,
        **(values_of_request(mail, content) if content.kind in ASKED_FOR else {}),
    )


def values_of_request(mail: QueuedMail, content: SealedMail) -> dict[str, str | Moment | Text]:
    """How long the code or link in a mail is valid, when it was asked for, and by whom. The name of the device is ours,
    or "": what a program says about itself is not shown."""
    return {
        "minutes": str(LIVES[content.kind] // timedelta(minutes=1)),
        "time": mail.created_at,
        "device": known_device(content.user_agent) or "",
        "ip": content.ip,
    }


async def send_rendered(
    world: "World",
    project_id: UUID,
    mail: MailName,
    *,
    to: str,
    expires_at: Moment | None,
    tag: str,
    test: bool,
    language: str = "",
    customer_id: UUID | None = None,
    **values: str | Moment | Text,
) -> None:
    """Render a mail with the text of the project, or the built-in one, and send it from the project's sender
    (`sender_of`).

    `language` is a language tag; mails are in the project's default language for "" and for languages that they do not
    have. A Moment is shown as its readers write it, and a Text is translated. The mail is not delivered after
    `expires_at`. With `test` it is captured instead of delivered. Raises the problems of `send_project_mail`. If the
    text of the project fails, records `customer.mail_text_failed`.
    """
    project = await projects.require_project(world.db, project_id)
    language = match_language(language) or mail_language(project)
    shown = with_source(language, {name: _shown(language, value) for name, value in values.items()})
    to_render = MailToRender(mail=mail, language=language, app=app_name(project), to=to, values=shown)
    rendered, failed = await render_for_customer(world, project, to_render)
    await send_project_mail(
        world,
        project_id,
        to=to,
        from_=sender_of(world, project),
        subject=rendered.subject,
        html=rendered.html,
        text=rendered.text,
        expires_at=expires_at,
        tags=[tag],
        secrets=rendered.secrets,
        test=test,
    )
    if failed is not None:
        event = events.make_event(
            project_id,
            "customer.mail_text_failed",
            customer_id,
            Moment.of(world.clock()),
            test=test,
            kind=mail,
            language=language,
            code=failed.code,
            reason=failed.reason,
        )
        async with world.db.transaction() as tx:
            await events.record_all(tx, [event])


def _shown(language: str, value: str | Moment | Text) -> str:
    if isinstance(value, Text):
        return translated(language, value)
    return value if isinstance(value, str) else format_moment(language, value)


MAILS = Work("customers.mails", "customer_mails", QueuedMail, timedelta(minutes=1), for_each_row(send_queued_mail))
