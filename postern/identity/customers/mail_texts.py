"""What mails to customers say: the built-in texts, and those that a project has written instead.

A project writes templates for the subject, the preheader, the paragraphs and the footer; the layout is ours, and so is
the line below the mail that says to whom it was sent and why. The code or link of a mail is not a variable but a block
that the mail must have, so that no condition can hide it. The texts are rendered as plain text in the render processes
and escaped by the layout. If that fails, the built-in text is sent.
"""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from uuid import UUID

import structlog

from postern.identity.customers import mail_text_store
from postern.identity.customers.mail_text_model import (
    RENDERED_CHARACTERS,
    SUBJECT_CHARACTERS,
    BlockType,
    MailBlock,
    MailName,
    MailTextContent,
)
from postern.identity.customers.model import CODE_LIFE, RESET_LIFE, SIGN_IN_LINK_LIFE
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.values import Record
from postern.platform.projects.model import Project
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.web.languages import format_moment, text, translated
from postern.web.mails import (
    MailPart,
    RenderedMail,
    built_in_mail,
    mail_values,
    origin_of,
    render_mail,
    render_parts,
    secrets_of,
)
from postern.web.themes import theme_of

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

BLOCK_VALUES: dict[str, BlockType] = {"code": "code", "link": "button"}
"""The values of mails that are blocks instead of variables."""
TYPES_OF_PARTS: dict[str, BlockType] = {"text": "text", "link": "button", "code": "code"}
VARIABLES = {
    "app": "The name of the product: `settings.signIn.appName`, or the name of the project.",
    "email": "The address that the mail is sent to.",
    "time": "When it happened, in UTC: the change, the sign-in, or the request for a code or link.",
    "minutes": "How many minutes the code or link is valid.",
    "source": "The device and the IP address that asked for the mail, such as `Firefox on macOS, 203.0.113.7`.",
    "until": "Until when the invitation is valid, in UTC.",
    "organization": "The name of the organization.",
    "inviter": "Who invites: name and address of a member, or `app` if no member does.",
    "role": "The name of the role that the invitation gives.",
    "role_description": "What the role may do: its description, or empty.",
    "change": "What was changed, as a sentence.",
    "device": (
        "The device that signed in or asked for the mail, such as `Firefox on macOS`. If it is unknown: empty, and in"
        " NEW_DEVICE a text that says so."
    ),
    "ip": "The IP address that signed in or asked for the mail.",
    "reason": "Why a member of the team acts as the customer, as that member wrote it.",
}
"""What the variables of mails mean."""
LIVES = {"SIGN_UP": CODE_LIFE, "CODE": CODE_LIFE, "VERIFY": CODE_LIFE, "LINK": SIGN_IN_LINK_LIFE, "RESET": RESET_LIFE}
"""How long the code or link in an e-mail of this kind is valid; the e-mail is not sent later."""
OTHER_VALUES: dict[str, frozenset[str]] = dict.fromkeys(("CODE", "LINK", "RESET"), frozenset(("device", "ip")))
"""Values of mails that their built-in texts do not show, for texts of the project."""
_SAMPLE_DEVICE = text("{browser} on {system}", browser="Firefox", system="macOS")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters except tabs and line breaks."""


class FailedText(Record):
    """Why the text of a project could not be used. `code` is that of the problem."""

    code: str
    reason: str


class MailToRender(Record):
    """A mail with its values, in the language of its recipient."""

    mail: MailName
    language: str
    app: str
    """The name of the product."""
    to: str
    values: dict[str, str]

    @property
    def variables(self) -> dict[str, str]:
        """The variables that texts of the project can use."""
        own = {name: value for name, value in self.values.items() if name not in BLOCK_VALUES}
        return {"app": self.app, "email": self.to, **own}


def template_of(mail: str) -> str:
    """The name of the file with the built-in text."""
    return f"customers/{mail.lower().replace('_', '-')}"


def required_block(mail: str) -> BlockType | None:
    """The block that a mail must have: the one-time code, the button with the link, or none."""
    return next((block for name, block in BLOCK_VALUES.items() if name in mail_values(template_of(mail))), None)


def _values_of(mail: str) -> set[str]:
    return mail_values(template_of(mail)) | OTHER_VALUES.get(mail, frozenset())


def with_source(language: str, values: dict[str, str]) -> dict[str, str]:
    """Values of a mail with `source`, if they have `device` and `ip`: both in one text."""
    if not {"device", "ip"} <= values.keys():
        return values
    device, ip = values["device"], values["ip"]
    if device and ip:
        return {**values, "source": translated(language, text("{device}, {ip}", device=device, ip=ip))}
    return {**values, "source": device or ip or translated(language, text("Unknown device"))}


def variable_names(mail: str) -> list[str]:
    """The variables of a mail, in the order of VARIABLES."""
    own = _values_of(mail)
    return [name for name in VARIABLES if name in own or name in ("app", "email")]


def built_in_content(mail: str, language: str) -> MailTextContent:
    """The built-in text of a mail, in the form in which a project can edit it."""
    subject, parts = built_in_mail(template_of(mail), language, lambda name: f"{{{{ {name} }}}}")
    blocks = [MailBlock(type=TYPES_OF_PARTS[part.kind], text=part.label or part.text) for part in parts]
    return MailTextContent(subject=subject, blocks=blocks)


def sample_of(world: "World", mail: MailName, language: str, app: str, to: str) -> MailToRender:
    """A mail with values for previews and tests."""
    now = world.clock()
    time = format_moment(language, now)
    samples = {
        "time": time,
        "until": time,
        "organization": "Analytical Engines",
        "inviter": "Charles Babbage",
        "role": "Member",
        "role_description": "Reads the reports and comments on them.",
        "change": translated(language, text("A second factor was turned on")),
        "device": translated(language, _SAMPLE_DEVICE),
        "minutes": str(LIVES.get(mail, CODE_LIFE) // timedelta(minutes=1)),
        "ip": "203.0.113.7",
        "reason": "The invoice of May cannot be opened.",
        "code": "428913",
        "link": f"{world.settings.public_url}/?token=sample",
    }
    samples = with_source(language, samples)
    used = _values_of(mail) - {"app"}
    return MailToRender(
        mail=mail, language=language, app=app, to=to, values={name: samples[name] for name in sorted(used)}
    )


async def check_content(
    rendering: RenderProcesses, project_id: UUID, content: MailTextContent, sample: MailToRender
) -> None:
    """Check a text before it is stored: it has the code or link that the mail is for, and it can be rendered, also with
    values that are empty. Raises Invalid with the path within the content."""
    needed = required_block(sample.mail)
    for index, block in enumerate(content.blocks):
        if block.type not in ("text", needed):
            what = "no one-time code" if block.type == "code" else "no link"
            message = f"This mail has {what}: remove the block `{block.type}`."
            raise Invalid.at(f"/blocks/{index}/type", message, "block_not_allowed")
    count = sum(block.type == needed for block in content.blocks)
    if needed is not None and count != 1:
        what = "the one-time code" if needed == "code" else "the link"
        message = f"This mail must show {what} once: it needs one block `{needed}`, and has {count}."
        raise Invalid.at("/blocks", message, "code_missing" if needed == "code" else "link_missing")
    await _render_texts(rendering, project_id, content, sample.variables)
    # The name of a product or organization is never empty, but what browsers send and descriptions can be.
    empty = {**sample.variables, **dict.fromkeys(("device", "ip", "role_description"), "")}
    await _render_texts(rendering, project_id, content, empty)


async def render_edited(
    rendering: RenderProcesses, project: Project, content: MailTextContent, mail: MailToRender
) -> RenderedMail:
    """A mail with a text of the project. Raises Invalid, or a problem of the render processes."""
    subject, preheader, footer, *texts = await _render_texts(rendering, project.id, content, mail.variables)
    parts = [_part(block, shown, mail.values) for block, shown in zip(content.blocks, texts, strict=True)]
    return render_parts(
        subject,
        parts,
        app=mail.app,
        theme=theme_of(project.settings.sign_in.accent_color, project.settings.sign_in.theme),
        language=mail.language,
        secrets=secrets_of(mail.values),
        preheader=preheader,
        footer=footer,
        origin=origin_of(template_of(mail.mail), mail.language, mail.variables),
    )


def render_built_in(project: Project, mail: MailToRender) -> RenderedMail:
    """A mail with its built-in text."""
    return render_mail(
        template_of(mail.mail),
        app=mail.app,
        theme=theme_of(project.settings.sign_in.accent_color, project.settings.sign_in.theme),
        language=mail.language,
        **{"email": mail.to, **mail.values},
    )


async def render_for_customer(
    world: "World", project: Project, mail: MailToRender
) -> tuple[RenderedMail, FailedText | None]:
    """The mail that a customer gets: with the text of the project, or the built-in one if there is none in this
    language, or it fails; then with the reason."""
    row = await mail_text_store.current_text(world.db, project_id=project.id, mail=mail.mail, language=mail.language)
    if row is None or row.content is None:
        return render_built_in(project, mail), None
    try:
        return await render_edited(world.rendering, project, row.content, mail), None
    except Problem as problem:
        error = problem.errors[0] if problem.errors else None
        failed = FailedText(
            code=error.code if error else problem.code(),
            reason=f"{error.path}: {error.message}" if error else problem.detail,
        )
    except Exception:  # A defect of ours in the texts of projects must not keep codes from customers.
        log.exception("mail_text_failed", mail=mail.mail, language=mail.language, project=str(project.id))
        failed = FailedText(code="internal", reason="The text could not be rendered.")
    return render_built_in(project, mail), failed


async def _render_texts(
    rendering: RenderProcesses, project_id: UUID, content: MailTextContent, variables: dict[str, str]
) -> list[str]:
    """The subject, the preheader, the footer and the text of each block, with values. Raises Invalid."""
    texts = [
        ("/subject", content.subject),
        ("/preheader", content.preheader),
        ("/footer", content.footer),
        *((f"/blocks/{index}/text", block.text) for index, block in enumerate(content.blocks)),
    ]
    size = sum(len(source) for _, source in texts) + sum(map(len, variables.values()))
    rendered = cast(
        list[str],
        await rendering.call(str(project_id), "render_texts", texts, variables, RENDERED_CHARACTERS, size=size),
    )
    rendered = [shown.strip() for shown in rendered]
    # The subject is shown on one line, as `render_parts` does. Neither headers nor the database take the others.
    for (path, _), shown in zip(texts, [" ".join(rendered[0].split()), *rendered[1:]], strict=True):
        if _CONTROLS.search(shown):
            raise Invalid.at(
                path, "The text has control characters when it is rendered; remove them.", "control_character"
            )
    if not rendered[0]:
        raise Invalid.at("/subject", "The subject is empty when it is rendered.", "required")
    if len(rendered[0]) > SUBJECT_CHARACTERS:
        raise Invalid.at("/subject", f"A subject can have at most {SUBJECT_CHARACTERS} characters.", "too_long")
    for index, (block, shown) in enumerate(zip(content.blocks, rendered[3:], strict=True)):
        if block.type == "button" and not shown:
            raise Invalid.at(f"/blocks/{index}/text", "The label of the button is empty when rendered.", "required")
    return rendered


def _part(block: MailBlock, shown: str, values: dict[str, str]) -> MailPart:
    if block.type == "text":
        return MailPart(kind="text", text=shown)
    if block.type == "button":
        return MailPart(kind="link", text=values["link"], label=" ".join(shown.split()))
    return MailPart(kind="code", text=values["code"], label=shown)
