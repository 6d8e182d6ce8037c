"""The content of a campaign: its template with the campaign's subject, preview line and sender name."""

from html import escape
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import as_id
from postern.messaging.campaigns.model import CampaignIncomplete, CampaignRow, VariantRow
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.rules import from_name_template
from postern.messaging.templates import operations as templates
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.templates.content import Part, is_blank
from postern.protocols.mail.templates.links import split_after_body_tag
from postern.protocols.mail.templates.template import Engine, tags_of

HEAD_CHARACTERS = 20_000
"""The `<body>` tag is searched for in this many characters from the start of the html."""


class CampaignContent(msgspec.Struct, frozen=True):
    """Subject, html and text of a campaign or of one of its variants, and the template engine that renders them."""

    subject: str
    html: str | None
    text: str | None
    engine: Engine


class CampaignOwnContent(msgspec.Struct, frozen=True, kw_only=True):
    """Content that is stored with a campaign rather than in its templates.

    The engine of each template that the campaign uses must be able to render this content.
    """

    subject: str | None
    preview_text: str | None
    from_name: str | None
    template_id: UUID | str | None
    variants: list[tuple[str | None, UUID | str | None]]
    """Subject and template id of each variant."""


async def template_parts(
    db: Queries, project_id: UUID, own_content: CampaignOwnContent
) -> tuple[list[tuple[str, Part, str | None]], bool]:
    """The parts of a campaign's own content to check as templates: (JSON pointer, kind of part, text) each.

    The second value is whether the parts that all variants share (subject, preview line, sender name) can contain
    template tags: True unless all templates of the campaign have the engine `none`.
    """
    template_ids = [
        template_id
        for template_id in (own_content.template_id, *(template_id for _, template_id in own_content.variants))
        if template_id is not None
    ]
    without_engine = await templates.ids_without_engine(db, project_id, template_ids)

    def is_rendered(template_id: UUID | str | None) -> bool:
        parsed = as_id(template_id) if isinstance(template_id, str) else template_id
        return parsed is None or parsed not in without_engine

    parts: list[tuple[str, Part, str | None]] = []
    shared_parts_can_have_tags = not template_ids or any(map(is_rendered, template_ids))
    if shared_parts_can_have_tags:
        parts.append(("/subject", "subject", own_content.subject))
        if own_content.preview_text:
            parts.append(("/previewText", "html", with_preview("<p></p>", own_content.preview_text)))
        parts.append(("/fromName", "subject", from_name_template(own_content.from_name)))
    for index, (subject, template_id) in enumerate(own_content.variants):
        if is_rendered(template_id or own_content.template_id):
            parts.append((f"/variants/{index}/subject", "subject", subject))
    return parts, shared_parts_can_have_tags


async def current_content(db: Queries, row: CampaignRow, variant: VariantRow | None) -> CampaignContent:
    """The current content of a campaign, or of a variant if one is given.

    A variant uses the campaign's subject and template where it has none. Raises CampaignIncomplete if there is no
    template or subject, or if the template is blank.
    """
    template_id = variant.template_id if variant and variant.template_id else row.template_id
    template = await templates.get_content(db, row.project_id, template_id) if template_id else None
    subject = (variant.subject if variant else None) or row.subject or (template.subject if template else None)
    if template is None or subject is None:
        raise CampaignIncomplete("The campaign needs a template and a subject.")
    if is_blank(template.html, template.text):
        message = "The template has neither html nor text; add content to it or choose another template."
        raise CampaignIncomplete(
            message, errors=[ProblemError(path="/templateId", code="template_blank", message=message)]
        )
    html = with_preview(template.html, row.preview_text, template.engine)
    return CampaignContent(subject, html, template.text, template.engine)


def with_preview(html: str | None, preview: str | None, engine: Engine = "minijinja") -> str | None:
    """Insert a hidden element with the preview text, which mail clients show in lists, at the start of the body.

    Returns the html unchanged if either is missing. Template tags in the preview text stay unless the engine is `none`.
    """
    if not html or not preview:
        return html
    is_template = engine != "none"
    preview_html = _escape_outside_tags(preview) if is_template else escape(preview)
    hidden = f'<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">{preview_html}</div>'
    # This runs in the event loop, so only the beginning of the html is searched for the body tag.
    before, after = split_after_body_tag(html[:HEAD_CHARACTERS], template=is_template)
    return before + hidden + after + html[HEAD_CHARACTERS:]


def _escape_outside_tags(preview: str) -> str:
    """HTML-escape a preview text, but leave its template tags (`{{…}}`, `{%…%}`) unchanged."""
    pieces: list[str] = []
    position = 0
    for tag in tags_of(preview):
        pieces += (escape(preview[position : tag.start]), tag.text)
        position = tag.end
    return "".join(pieces) + escape(preview[position:])


def snapshot(row: CampaignRow, message: CampaignContent, settings: ProjectSettings) -> SendBody:
    """The body that all sends of a campaign, or of one of its variants, share.

    It is stored when the campaign starts, so that later edits of the template do not change it.
    """
    domain = parse_address(row.from_email or "").domain
    return SendBody(
        subject=message.subject,
        html=message.html,
        text=message.text,
        engine=message.engine,
        track_opens=settings.track_opens,
        track_clicks=settings.track_clicks,
        unsubscribable=True,
        require_tls=settings.require_tls,
        list_id=f"<{row.audience_id}.{domain}>",
        from_name=from_name_template(row.from_name),
        feedback_id=f"{str(row.id)[:8]}:{str(row.project_id)[:8]}:campaign:postern",
    )


def sender_of(row: CampaignRow) -> str:
    """The `From` of the campaign: `a@b` or `Name <a@b>`. Raises AddressInvalid.

    A name with template tags is left out: it is rendered with each message (`from_name_template`).
    """
    address = parse_address(row.from_email or "")
    if from_name_template(row.from_name) is not None:
        return str(address)
    address_with_name = msgspec.structs.replace(address, name=(row.from_name or "").strip())
    return str(parse_address(str(address_with_name)))
