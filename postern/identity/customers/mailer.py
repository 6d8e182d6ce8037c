"""Letters to customers: codes, links and security notices, written by the worker through the project's own sends.

A request only leaves a sealed note of what to write, whether or not anybody is there to read it: asking for a code
for a stranger takes as long as asking for one for a customer.
"""

import html
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
import structlog

from postern.identity.customers import challenge_store
from postern.identity.customers.challenge_store import QueuedMail
from postern.identity.customers.model import CODE_LIFE, LINK_LIFE, RESET_LIFE, CustomerRow
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Problem
from postern.kernel.values import Record, new_id
from postern.messaging.emails.model import DomainNotVerified
from postern.messaging.emails.operations import send_system_mail
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project, SecurityMail

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

ATTEMPTS = 8
"""How often a letter is tried before it is given up: the project has no sender that may send, for example."""
STALE = timedelta(days=1)
LIVES = {"SIGN_UP": CODE_LIFE, "CODE": CODE_LIFE, "VERIFY": CODE_LIFE, "LINK": LINK_LIFE, "RESET": RESET_LIFE}
"""How long what a letter holds is of use; it is not sent later."""


class MailContent(Record):
    """What is sealed: which letter, to whom, and what it says."""

    kind: str
    to: str | None
    values: dict[str, str]


LETTERS: dict[str, tuple[str, str]] = {
    "SIGN_UP": (
        "Your {app} sign-up code",
        "Enter this code to finish signing up: {code}\n\nIt holds for 10 minutes.",
    ),
    "SIGN_UP_KNOWN": (
        "You already have an account at {app}",
        (
            "Somebody, perhaps you, tried to sign up at {app} with this address. You already have an account: sign in, "
            "or reset your password if you forgot it. If it was not you, there is nothing to do."
        ),
    ),
    "CODE": ("Your {app} sign-in code", "Enter this code to sign in: {code}\n\nIt holds for 10 minutes."),
    "LINK": ("Sign in to {app}", "Open this link to sign in:\n\n{link}\n\nIt holds for 15 minutes and works once."),
    "RESET": (
        "Reset your {app} password",
        (
            "Open this link to choose a new password:\n\n{link}\n\nIt holds for 30 minutes and works once. "
            "If you did not ask for it, there is nothing to do."
        ),
    ),
    "VERIFY": (
        "Your {app} verification code",
        "Enter this code to verify your address: {code}\n\nIt holds for 10 minutes.",
    ),
    "NEW_DEVICE": (
        "New sign-in to {app}",
        (
            "Somebody signed in to your account from a device we have not seen before.\n\nDevice: {device}\n"
            "Address: {ip}\nTime: {time}\n\nIf it was not you, change your password now and end all other sessions."
        ),
    ),
    "PASSWORD_CHANGED": (
        "Your {app} password was changed",
        "The password of your account was changed at {time}. If it was not you, reset it now.",
    ),
    "EMAIL_CHANGED": (
        "Your {app} address was changed",
        "Your account has another e-mail address since {time}. If it was not you, contact {app} now.",
    ),
    "IDENTITY_CHANGED": (
        "How you sign in to {app} was changed",
        "{change} at {time}. If it was not you, change your password now.",
    ),
    "MFA_CHANGED": (
        "Your {app} second factor was changed",
        "{change} at {time}. If it was not you, change your password now.",
    ),
}
"""Subject and text of every letter; what stands in braces is filled in, and escaped in HTML."""


async def enqueue_security_mail(
    tx: Transaction, call: Call, kind: str, to: str | None, customer_id: UUID | None = None, **values: str
) -> None:
    """Have a letter written once this transaction commits; to nobody where `to` is None."""
    note = MailContent(kind=kind, to=to, values=values)
    letter_id = new_id()
    await challenge_store.insert_mail(
        tx,
        project_id=call.project_id,
        id=letter_id,
        customer_id=customer_id,
        sealed=call.world.secrets.seal(msgspec.json.encode(note), f"letter:{letter_id}"),
        now=call.now,
    )
    tx.makes_due("customer_letters")


async def notify(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, kind: SecurityMail, **values: str
) -> None:
    """Tell a customer about a change to the own account, where the project has not switched that off."""
    if kind in project.settings.sign_in.security_mails and person.email is not None:
        time = call.now.strftime("%Y-%m-%d %H:%M UTC")
        await enqueue_security_mail(tx, call, kind, person.email, person.id, time=time, **values)


async def send_queued_mail(world: "World", letter: QueuedMail) -> None:
    """Send a letter and let its note go. A crash in between sends it twice, never not at all."""
    note = msgspec.json.decode(world.secrets.open(letter.sealed, f"letter:{letter.id}"), type=MailContent)
    ends = letter.created_at + LIVES.get(note.kind, STALE)
    if note.to is not None and world.clock() >= ends:
        await _gave_up(world, letter, note, "expired", "It would have come too late to be of use.")
        return
    if note.to is not None:
        try:
            await _send(world, letter.project_id, note, ends if note.kind in LIVES else None)
        except Problem as problem:
            log.warning("letter_not_sent", kind=note.kind, project=str(letter.project_id), problem=problem.code())
            if letter.attempt >= ATTEMPTS:
                await _gave_up(world, letter, note, problem.code(), undeliverable_reason(problem))
            return
    await challenge_store.delete_mail(world.db, project_id=letter.project_id, id=letter.id, attempt=letter.attempt)


def sender_of(world: "World", project: Project) -> str:
    """Who sign-in mails are from: the project's setting, or this server."""
    name = app_name(project).replace('"', "").replace("\\", "")
    configured = project.settings.sign_in.mail_from
    if configured:
        return configured if "<" in configured else f'"{name}" <{configured}>'
    host = urlsplit(world.settings.public_url).hostname or ""
    return f'"{name}" <no-reply@{host if "." in host and not host[-1].isdigit() else "postern.test"}>'


def undeliverable_reason(problem: Problem) -> str:
    """Why a mail to a customer or an invited person could not be sent, for those who run the project."""
    if isinstance(problem, DomainNotVerified):
        return (
            f"{problem.detail} Set `settings.signIn.mailFrom`, which such mail is from, to an address at one that is."
        )
    return problem.detail


def app_name(project: Project) -> str:
    """What customers know the project as."""
    return project.settings.sign_in.app_name or project.name


async def _gave_up(world: "World", letter: QueuedMail, note: MailContent, code: str, reason: str) -> None:
    """Tell the project that its sign-in mails do not go out, and why; the person learns nothing of it."""
    event = events.make_event(
        letter.project_id,
        "customer.mail_failed",
        letter.customer_id,
        Moment.of(world.clock()),
        kind=note.kind,
        code=code,
        reason=reason,
    )
    async with world.db.transaction() as tx:
        if await challenge_store.delete_mail(tx, project_id=letter.project_id, id=letter.id, attempt=letter.attempt):
            await events.record_all(tx, [event])


async def _send(world: "World", project_id: UUID, note: MailContent, expires_at: Moment | None) -> None:
    assert note.to is not None
    project = await projects.require_project(world.db, project_id)
    values = {"app": app_name(project), **note.values}
    subject, text = LETTERS[note.kind]
    await send_system_mail(
        world,
        project_id,
        to=note.to,
        from_=sender_of(world, project),
        subject=subject.format(**values),
        html=_page(note.kind, text, values),
        text=text.format(**values),
        expires_at=expires_at,
        tags=["sign-in"],
        secrets=_secrets_in(note.values),
    )


def _secrets_in(values: dict[str, str]) -> list[str]:
    """The code, and the token of the link, that a mail carries."""
    tokens = re.findall(r"[?&]token=([^&#]+)", values.get("link", ""))
    return [secret for secret in (values.get("code"), *tokens) if secret]


BUTTONS = {"LINK": "Sign in", "RESET": "Choose a new password"}
"""What the button says that a link stands behind; the plain text shows the link itself."""


def _page(kind: str, text: str, values: dict[str, str]) -> str:
    """The HTML of a mail: the app's name, the text, and a button for a link. Mail programs take inline styles alone."""
    escaped = {name: html.escape(value) for name, value in values.items()}
    if "link" in escaped:
        escaped["link"] = button(BUTTONS.get(kind, "Continue"), values["link"])
    if "code" in escaped:
        escaped["code"] = f'<strong style="font-size:20px;letter-spacing:2px">{escaped["code"]}</strong>'
    written = html.escape(text).format(**escaped).replace("Open this link to", "Press the button to")
    return mail_page(values["app"], [part.replace("\n", "<br>") for part in written.split("\n\n")])


def button(label: str, url: str) -> str:
    """A link that looks like a button, as HTML."""
    return f'<a href="{html.escape(url)}" style="{_BUTTON}">{html.escape(label)}</a>'


def mail_page(app: str, parts: Sequence[str]) -> str:
    """The HTML of a mail under the app's name; `parts` are HTML, in which everything that is not ours is escaped."""
    paragraphs = "".join(f'<p style="margin:0 0 16px">{part}</p>' for part in parts)
    return (
        '<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark"></head>'
        '<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">'
        '<div style="max-width:480px;margin:0 auto">'
        f'<p style="margin:0 0 16px;font-weight:600">{html.escape(app)}</p>{paragraphs}'
        "</div></body></html>"
    )


_BUTTON = (
    "display:inline-block;padding:12px 20px;border-radius:6px;background:#1f4fd8;color:#ffffff;font-weight:600;"
    "text-decoration:none"
)
