"""HTTP operations with which a project edits the texts of the mails to its customers."""

from datetime import timedelta
from typing import Any, cast, get_args

import msgspec

from postern.identity.customers import mail_text_store as store
from postern.identity.customers.mail_text_model import (
    MAIL_NAMES,
    VERSIONS_KEPT,
    CustomerMail,
    CustomerMailMissing,
    CustomerMailPreview,
    MailDraft,
    MailName,
    MailRestore,
    MailTest,
    MailTestSent,
    MailText,
    MailTextContent,
    MailTextRow,
    MailTextVersion,
    MailVariable,
    MailVersionMissing,
)
from postern.identity.customers.mail_texts import (
    VARIABLES,
    MailToRender,
    built_in_content,
    check_content,
    render_edited,
    required_block,
    sample_of,
    variable_names,
)
from postern.identity.customers.mailer import app_name, mail_language, sender_of
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post, put
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.values import Moment, Record
from postern.messaging.emails import operations as emails
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.model import PageLanguage, Project
from postern.protocols.mail.templates.composing import TemplateCrashed, TemplateTooExpensive
from postern.protocols.mail.templates.rendering import RenderingBusy, RenderingUnavailable
from postern.web.mails import RenderedMail

RENDER_PROBLEMS: list[type[Problem]] = [TemplateTooExpensive, TemplateCrashed, RenderingBusy, RenderingUnavailable]
SAMPLE_ADDRESS = "ada@example.com"
TEST_LIFE = timedelta(days=1)
"""How long a test may stay queued."""
PURPOSES: dict[str, str] = {
    "SIGN_UP": "Shows the code with which somebody finishes signing up.",
    "SIGN_UP_KNOWN": "Tells a customer that somebody tried to sign up with the address again.",
    "CODE": "Shows a code to sign in.",
    "LINK": "Has a link to sign in.",
    "VERIFY": "Shows the code that verifies an address.",
    "RESET": "Has the link to choose a new password.",
    "INVITATION": "Invites somebody into an organization.",
    "SETUP_LINK": "Has the link with which an organization's administrator sets up single sign-on.",
    "NEW_DEVICE": "Tells a customer that a new device has signed in.",
    "PASSWORD_CHANGED": "Tells a customer that the password was changed.",
    "EMAIL_CHANGED": "Tells a customer that the address was changed.",
    "MFA_CHANGED": "Tells a customer that a second factor was added, removed or used.",
    "IDENTITY_CHANGED": "Tells a customer that a way to sign in was added or removed.",
    "IMPERSONATED": "Tells a customer that a member of the team acts as them.",
}
EXAMPLE = {
    "subject": "Your code for {{ app }}",
    "preheader": "Valid for 10 minutes.",
    "blocks": [
        {"type": "text", "text": "Good to see you."},
        {"type": "code", "text": "Your code:"},
        {"type": "text", "text": "You did not ask for it? Then ignore this mail."},
    ],
    "footer": "Acme, 1 Main Street, Springfield",
}


class MailPlace(Record):
    """A mail and a language, from the path of a request."""

    mail: MailName
    language: PageLanguage


@get("/projects/{project_id}/customer-mails", needs="projects:read")
async def list_customer_mails(call: Call) -> list[CustomerMail]:
    """The mails to customers whose texts can be edited: their variables, and the languages that have an own text."""
    project = await projects.require_project(call.db, call.project_id)
    rows = await store.edited_mails(call.db, project_id=call.project_id)
    edited = {(row.mail, row.language) for row in rows}
    languages = cast(tuple[PageLanguage, ...], get_args(PageLanguage))
    return [
        CustomerMail(
            mail=mail,
            purpose=PURPOSES[mail],
            required_block=cast(Any, required_block(mail)),
            variables=_variables(call, project, mail),
            edited_languages=[language for language in languages if (mail, language) in edited],
        )
        for mail in cast(tuple[MailName, ...], MAIL_NAMES)
    ]


@get("/projects/{project_id}/customer-mails/{mail}/{language}", needs="projects:read", problems=[CustomerMailMissing])
async def get_customer_mail(call: Call, mail: str, language: str) -> MailText:
    """The text of a mail in a language: that of the project, or the built-in one."""
    place = _place(mail, language)
    project = await projects.require_project(call.db, call.project_id)
    return _mail_text(project, place, await _current(call.db, call, place))


@put(
    "/projects/{project_id}/customer-mails/{mail}/{language}",
    needs="projects:write",
    problems=[CustomerMailMissing, *RENDER_PROBLEMS],
    example=EXAMPLE,
)
async def set_customer_mail(call: Call, mail: str, language: str, data: MailTextContent) -> MailText:
    """Change the text of a mail in a language.

    Subject, preheader, blocks and footer are MiniJinja templates with the variables of the mail. A mail with a code or
    link must have the block `code` or `button` once. The text is rendered with sample values before it is stored; an
    error is a 400 with the path. If it fails later, customers get the built-in text, and `customer.mail_text_failed` is
    recorded. Honours `If-Match`.
    """
    place = _place(mail, language)
    project = await projects.require_project(call.db, call.project_id)
    await check_content(call.world.rendering, call.project_id, data, _sample(call, project, place))
    return await _store(call, project, place, data)


@delete(
    "/projects/{project_id}/customer-mails/{mail}/{language}", needs="projects:write", problems=[CustomerMailMissing]
)
async def reset_customer_mail(call: Call, mail: str, language: str) -> MailText:
    """Use the built-in text of a mail again. The versions are kept, so that one of them can be restored. Honours
    `If-Match`."""
    place = _place(mail, language)
    project = await projects.require_project(call.db, call.project_id)
    return await _store(call, project, place, None)


@get(
    "/projects/{project_id}/customer-mails/{mail}/{language}/versions",
    needs="projects:read",
    problems=[CustomerMailMissing],
)
async def list_customer_mail_versions(call: Call, mail: str, language: str) -> list[MailTextVersion]:
    """The last 50 versions of a mail in a language, newest first. Empty if the text was never edited."""
    place = _place(mail, language)
    rows = await store.versions(
        call.db, project_id=call.project_id, mail=place.mail, language=place.language, limit=VERSIONS_KEPT
    )
    return [
        MailTextVersion(version=row.version, content=row.content, created_by=row.created_by, created_at=row.created_at)
        for row in rows
    ]


@post(
    "/projects/{project_id}/customer-mails/{mail}/{language}/restore",
    needs="projects:write",
    problems=[CustomerMailMissing, MailVersionMissing, *RENDER_PROBLEMS],
    example={"version": 1},
)
async def restore_customer_mail(call: Call, mail: str, language: str, data: MailRestore) -> MailText:
    """Use the text of an earlier version again, as a new version. It is checked like a new text. Honours `If-Match`."""
    place = _place(mail, language)
    project = await projects.require_project(call.db, call.project_id)
    row = await store.version(
        call.db, project_id=call.project_id, mail=place.mail, language=place.language, version=data.version
    )
    if row is None:
        raise MailVersionMissing
    if row.content is not None:
        await check_content(call.world.rendering, call.project_id, row.content, _sample(call, project, place))
    return await _store(call, project, place, row.content)


@post(
    "/projects/{project_id}/customer-mails/{mail}/{language}/preview",
    needs="projects:read",
    problems=[CustomerMailMissing, *RENDER_PROBLEMS],
    example={"content": EXAMPLE},
)
async def preview_customer_mail(call: Call, mail: str, language: str, data: MailDraft) -> CustomerMailPreview:
    """A mail with sample values, as a customer would get it. `content` is checked as when it is stored; null is the
    text in use. Nothing is stored or sent."""
    project = await projects.require_project(call.db, call.project_id)
    rendered = await _render_draft(call, project, _place(mail, language), data, SAMPLE_ADDRESS)
    return CustomerMailPreview(subject=rendered.subject, html=rendered.html, text=rendered.text)


@post(
    "/projects/{project_id}/customer-mails/{mail}/{language}/test",
    needs="projects:write",
    status=202,
    problems=[CustomerMailMissing, *emails.send_email.problems],
    example={"to": "you@acme.example"},
)
async def test_customer_mail(call: Call, mail: str, language: str, data: MailTest) -> MailTestSent:
    """Send a mail with sample values to any address, from the sender of the project's mails to customers. Its code or
    link does nothing. `content` is checked as when it is stored; null is the text in use."""
    project = await projects.require_project(call.db, call.project_id)
    rendered = await _render_draft(call, project, _place(mail, language), data, data.to)
    send_id = await emails.send_project_mail(
        call.world,
        call.project_id,
        to=data.to,
        from_=sender_of(call.world, project),
        subject=f"[Test] {rendered.subject}",
        html=rendered.html,
        text=rendered.text,
        expires_at=Moment.of(call.now + TEST_LIFE),
        tags=["test"],
        test=call.caller.environment == "TEST",
        request_id=call.request_id,
    )
    return MailTestSent(id=send_id)


async def _store(call: Call, project: Project, place: MailPlace, content: MailTextContent | None) -> MailText:
    """Store a new version; None resets the text. Nothing changes if the text in use is the same."""
    async with call.db.transaction() as tx:
        await tx.lock_quota("customer-mails", call.project_id)
        before = await _current(tx, call, place)
        call.require_match(project.created_at if before is None else before.created_at)
        if content == (None if before is None else before.content):
            return _mail_text(project, place, before)
        row = MailTextRow(
            project_id=call.project_id,
            mail=place.mail,
            language=place.language,
            version=1 if before is None else before.version + 1,
            content=content,
            created_by=call.caller.actor_label,
            created_at=call.now if before is None else max(call.now, before.created_at + before.created_at.resolution),
        )
        await store.insert_version(tx, row)
        await store.delete_old_versions(
            tx,
            project_id=call.project_id,
            mail=place.mail,
            language=place.language,
            version=row.version - VERSIONS_KEPT,
        )
        await audit.record(
            tx,
            call,
            "customer_mail.reset" if content is None else "customer_mail.updated",
            "CustomerMail",
            f"{place.mail}/{place.language}",
            version=row.version,
        )
    return _mail_text(project, place, row)


async def _render_draft(call: Call, project: Project, place: MailPlace, draft: MailDraft, to: str) -> RenderedMail:
    """A mail with sample values. Raises Invalid, also if the content may not be stored."""
    content = draft.content
    sample = _sample(call, project, place, to)
    if content is None:
        row = await _current(call.db, call, place)
        content = None if row is None else row.content
        content = content or built_in_content(place.mail, place.language)
    try:
        await check_content(call.world.rendering, call.project_id, content, sample)
        return await render_edited(call.world.rendering, project, content, sample)
    except Invalid as invalid:
        raise Invalid(
            invalid.detail,
            errors=[
                ProblemError(path=f"/content{error.path}", code=error.code, message=error.message)
                for error in invalid.errors or []
            ],
        ) from None


async def _current(db: Queries | Transaction, call: Call, place: MailPlace) -> MailTextRow | None:
    return await store.current_text(db, project_id=call.project_id, mail=place.mail, language=place.language)


def _mail_text(project: Project, place: MailPlace, row: MailTextRow | None) -> MailText:
    content = None if row is None else row.content
    return MailText(
        mail=place.mail,
        language=place.language,
        content=content or built_in_content(place.mail, place.language),
        is_built_in=content is None,
        version=0 if row is None else row.version,
        updated_by=None if row is None else row.created_by,
        updated_at=project.created_at if row is None else row.created_at,
    )


def _sample(call: Call, project: Project, place: MailPlace, to: str = SAMPLE_ADDRESS) -> MailToRender:
    return sample_of(call.world, place.mail, place.language, app_name(project), to)


def _variables(call: Call, project: Project, mail: MailName) -> list[MailVariable]:
    samples = sample_of(call.world, mail, mail_language(project), app_name(project), SAMPLE_ADDRESS).variables
    return [MailVariable(name=name, description=VARIABLES[name], sample=samples[name]) for name in variable_names(mail)]


def _place(mail: str, language: str) -> MailPlace:
    """The mail and the language in the path. Raises CustomerMailMissing."""
    try:
        return msgspec.convert({"mail": mail, "language": language}, MailPlace)
    except msgspec.ValidationError:
        raise CustomerMailMissing from None
