"""The mail of an invitation."""

import html
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit

from postern.identity.customers.mailer import app_name, button, mail_page, sender_of
from postern.identity.organizations.model import OrganizationInvitationRow, OrganizationRow
from postern.identity.organizations.rules import invitation_token
from postern.messaging.emails.operations import send_system_mail
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World


async def mail_invitation(world: "World", row: OrganizationInvitationRow, organization: OrganizationRow) -> None:
    """Send the mail with the newest token of an invitation. Raises what sending raises."""
    project = await projects.require_project(world.db, row.project_id)
    token = invitation_token(world.secrets, row.project_id, row.id, row.generation)
    hosted = f"{world.settings.public_url}/projects/{row.project_id}/auth/pages/invitation"
    app, link = app_name(project), with_token(row.accept_url or hosted, token)
    subject, (invited, accept, hint) = invitation_mail(
        app=app, organization=organization.name, until=row.expires_at.strftime("%d %B %Y, %H:%M UTC")
    )
    await send_system_mail(
        world,
        row.project_id,
        to=row.email,
        from_=sender_of(world, project),
        subject=subject,
        html=mail_page(app, [html.escape(invited), button(accept, link), html.escape(hint)]),
        text=f"{invited}\n\n{accept}: {link}\n\n{hint}",
        expires_at=row.expires_at,
        tags=["invitation"],
        secrets=[token],
    )


def invitation_mail(*, app: str, organization: str, until: str) -> tuple[str, tuple[str, str, str]]:
    """The subject, what it is about, what the link is called, and a hint."""
    return f"You are invited to {organization} on {app}", (
        f"You are invited to join {organization} on {app}.",
        "Accept the invitation",
        (
            f"The invitation is for this address only and holds until {until}. If you do not know what it is about, "
            "there is nothing to do."
        ),
    )


def with_token(url: str, token: str) -> str:
    """`url` with `token` added to its query."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode({"token": token})) if part)
    # An address may hold braces escaped only (RFC 3986 §2).
    return urlunsplit(parts._replace(query=query)).replace("{", "%7B").replace("}", "%7D")
