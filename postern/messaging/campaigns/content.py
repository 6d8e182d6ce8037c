"""What a campaign says: the words of its template, a hidden preview line, and each contact's values."""

from html import escape
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import as_id
from postern.messaging.campaigns.model import CampaignIncomplete, CampaignRow, VariantRow
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.rules import name_template
from postern.messaging.templates import operations as templates
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.links import split_after_body_tag
from postern.protocols.mail.templates.template import Engine, tags_of

HEAD_CHARACTERS = 20_000
"""Within how many characters `<body>` is looked for."""


class CampaignContent(msgspec.Struct, frozen=True):
    """Subject, html and text of a campaign or of one of its variants, and what reads them: that of the template."""

    subject: str
    html: str | None
    text: str | None
    engine: Engine


class CampaignOwnContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a campaign says beside its template. Each template's engine reads it, too."""

    subject: str | None
    preview_text: str | None
    from_name: str | None
    template_id: UUID | str | None
    variants: list[tuple[str | None, UUID | str | None]]
    """Subject and template of each."""


async def template_parts(
    db: Queries, project_id: UUID, words: CampaignOwnContent
) -> tuple[list[tuple[str, Part, str | None]], bool]:
    """Those own words of a campaign that a template engine reads, each with its JSON pointer.

    Also returned is whether it reads those that the variants share. Where all templates have the engine `none`, nothing
    is read.
    """
    named = [words.template_id, *(template_id for _, template_id in words.variants)]
    used = [each for each in named if each is not None]
    without_engine = await templates.without_engine(db, project_id, used)

    def is_read(template_id: UUID | str | None) -> bool:
        known = as_id(template_id) if isinstance(template_id, str) else template_id
        return known is None or known not in without_engine

    parts: list[tuple[str, Part, str | None]] = []
    shared_are_read = not used or any(map(is_read, used))
    if shared_are_read:
        parts.append(("/subject", "subject", words.subject))
        if words.preview_text:
            parts.append(("/previewText", "html", with_preview("<p></p>", words.preview_text)))
        parts.append(("/fromName", "subject", name_template(words.from_name)))
    for number, (subject, template_id) in enumerate(words.variants):
        if is_read(template_id or words.template_id):
            parts.append((f"/variants/{number}/subject", "subject", subject))
    return parts, shared_are_read


async def content_of_template(db: Queries, row: CampaignRow, variant: VariantRow | None) -> CampaignContent:
    """The words as they stand now. Raises CampaignIncomplete where there are none."""
    template_id = variant.template_id if variant and variant.template_id else row.template_id
    found = await templates.content_of(db, row.project_id, template_id) if template_id else None
    subject = (variant.subject if variant else None) or row.subject or (found.subject if found else None)
    if found is None or subject is None:
        raise CampaignIncomplete("It needs a template and a subject.")
    if templates.is_blank(found.html, found.text):
        message = "A template with html or text: this one is blank."
        raise CampaignIncomplete(
            message, errors=[ProblemError(path="/templateId", code="template_blank", message=message)]
        )
    html = with_preview(found.html, row.preview_text, found.engine)
    return CampaignContent(subject, html, found.text, found.engine)


def with_preview(html: str | None, preview: str | None, engine: Engine = "minijinja") -> str | None:
    """Html whose first, hidden words are the preview line that mail programs show beside the subject."""
    if not html or not preview:
        return html
    template = engine != "none"
    words = _escaped(preview) if template else escape(preview)
    line = f'<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">{words}</div>'
    # This runs in the event loop: no more of the html is read than the head of a mail takes.
    before, after = split_after_body_tag(html[:HEAD_CHARACTERS], template=template)
    return before + line + after + html[HEAD_CHARACTERS:]


def _escaped(preview: str) -> str:
    """A preview line as html: its words are no markup, and what stands in braces stays as it is."""
    pieces: list[str] = []
    done = 0
    for hole in tags_of(preview):
        pieces += (escape(preview[done : hole.start()]), hole[0])
        done = hole.end()
    return "".join(pieces) + escape(preview[done:])


def snapshot(row: CampaignRow, words: CampaignContent, settings: ProjectSettings) -> SendBody:
    """What all sends share from the start on, whatever happens to the template."""
    domain = parse_address(row.from_email or "").domain
    return SendBody(
        subject=words.subject,
        html=words.html,
        text=words.text,
        engine=words.engine,
        track_opens=settings.track_opens,
        track_clicks=settings.track_clicks,
        unsubscribable=True,
        list_id=f"<{row.audience_id}.{domain}>",
        from_name=name_template(row.from_name),
        feedback_id=f"{str(row.id)[:8]}:{str(row.project_id)[:8]}:campaign:postern",
    )


def sender_of(row: CampaignRow) -> str:
    """The `From` of the campaign: `a@b`, or `Name <a@b>`. Raises AddressInvalid.

    A name with values to fill in is left out here: it is rendered with the message (`name_template`).
    """
    address = parse_address(row.from_email or "")
    if name_template(row.from_name) is not None:
        return str(address)
    named = msgspec.structs.replace(address, name=(row.from_name or "").strip())
    return str(parse_address(str(named)))
