"""What a campaign says: the words of its template, a hidden preview line, and each contact's values."""

from html import escape

import msgspec

from postern.campaigns.model import CampaignIncomplete, Row, VariantRow
from postern.emails.model import SendBody
from postern.emails.rules import name_template
from postern.kernel.database import Queries
from postern.kernel.problems import Fault
from postern.mail.address import parse_address
from postern.mail.links import split_after_body_tag
from postern.mail.template import holes_of
from postern.projects.model import ProjectSettings
from postern.templates import operations as templates

HEAD_CHARACTERS = 20_000
"""Within how many characters `<body>` is looked for."""


class Words(msgspec.Struct, frozen=True):
    """Subject, html and text of a campaign or of one of its variants."""

    subject: str
    html: str | None
    text: str | None


async def words_of(db: Queries, row: Row, variant: VariantRow | None) -> Words:
    """The words as they stand now. Raises CampaignIncomplete where there are none."""
    template_id = variant.template_id if variant and variant.template_id else row.template_id
    found = await templates.words_of(db, row.project_id, template_id) if template_id else None
    subject = (variant.subject if variant else None) or row.subject or (found.subject if found else None)
    if found is None or subject is None:
        raise CampaignIncomplete("It needs a template and a subject.")
    if templates.is_blank(found.html, found.text):
        message = "A template with html or text: this one is blank."
        raise CampaignIncomplete(message, errors=[Fault(path="/templateId", code="template_blank", message=message)])
    return Words(subject, with_preview(found.html, row.preview_text), found.text)


def with_preview(html: str | None, preview: str | None) -> str | None:
    """Html whose first, hidden words are the preview line that mail programs show beside the subject."""
    if not html or not preview:
        return html
    line = f'<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">{_escaped(preview)}</div>'
    # This runs in the event loop: no more of the html is read than the head of a mail takes.
    before, after = split_after_body_tag(html[:HEAD_CHARACTERS])
    return before + line + after + html[HEAD_CHARACTERS:]


def _escaped(preview: str) -> str:
    """A preview line as html: its words are no markup, and what stands in braces stays as it is."""
    pieces: list[str] = []
    done = 0
    for hole in holes_of(preview):
        pieces += (escape(preview[done : hole.start()]), hole[0])
        done = hole.end()
    return "".join(pieces) + escape(preview[done:])


def snapshot(row: Row, words: Words, settings: ProjectSettings) -> SendBody:
    """What all sends share from the start on, whatever happens to the template."""
    domain = parse_address(row.from_email or "").domain
    return SendBody(
        subject=words.subject,
        html=words.html,
        text=words.text,
        track_opens=settings.track_opens,
        track_clicks=settings.track_clicks,
        unsubscribable=True,
        list_id=f"<{row.audience_id}.{domain}>",
        from_name=name_template(row.from_name),
        feedback_id=f"{str(row.id)[:8]}:{str(row.project_id)[:8]}:campaign:postern",
    )


def sender_of(row: Row) -> str:
    """The `From` of the campaign: `a@b`, or `Name <a@b>`. Raises AddressInvalid.

    A name with values to fill in is left out here: it is rendered with the message (`name_template`).
    """
    address = parse_address(row.from_email or "")
    if name_template(row.from_name) is not None:
        return str(address)
    named = msgspec.structs.replace(address, name=(row.from_name or "").strip())
    return str(parse_address(str(named)))
