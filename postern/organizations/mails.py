"""The mail of an invitation."""

import html
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit

from postern.customers.letters import app_name, sender_of
from postern.emails.operations import send_system_mail
from postern.organizations.model import InvitationRow, OrganizationRow
from postern.organizations.rules import invitation_token
from postern.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World


async def mail_invitation(world: "World", row: InvitationRow, organization: OrganizationRow) -> None:
    """Send the mail with the newest token of an invitation. Raises what sending raises."""
    project = await projects.require_project(world.db, row.project_id)
    token = invitation_token(world.secrets, row.project_id, row.id, row.generation)
    hosted = f"{world.settings.public_url}/projects/{row.project_id}/auth/pages/invitation"
    subject, paragraphs = letter(
        app=app_name(project),
        organization=organization.name,
        until=row.expires_at.strftime("%d %B %Y, %H:%M UTC"),
        link=with_token(row.accept_url or hosted, token),
    )
    await send_system_mail(
        world,
        row.project_id,
        to=row.email,
        from_=sender_of(world, project),
        subject=subject,
        html=as_page(paragraphs),
        text="\n\n".join(paragraphs),
        expires_at=row.expires_at,
        tags=["invitation"],
        secrets=[token],
    )


def letter(*, app: str, organization: str, until: str, link: str) -> tuple[str, list[str]]:
    """The subject and the paragraphs."""
    hint = "If you do not know what it is about, there is nothing to do."
    return (
        f"You are invited to {organization} on {app}",
        [
            f"You are invited to join {organization} on {app}.",
            f"Accept the invitation: {link}",
            f"The invitation is for this address only and holds until {until}. {hint}",
        ],
    )


def with_token(url: str, token: str) -> str:
    """`url` with `token` added to its query."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode({"token": token})) if part)
    # An address may hold braces escaped only (RFC 3986 §2).
    return urlunsplit(parts._replace(query=query)).replace("{", "%7B").replace("}", "%7D")


def as_page(paragraphs: list[str]) -> str:
    """Paragraphs as HTML; a line that ends in a link has it clickable."""
    return "".join(f"<p>{_linked(html.escape(each))}</p>" for each in paragraphs)


def _linked(text: str) -> str:
    words, _, last = text.rpartition(" ")
    return f'<a href="{last}">{words.rstrip(":")}</a>' if last.startswith(("http://", "https://")) else text
