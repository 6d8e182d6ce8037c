"""The e-mail of an invitation."""

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from postern.identity.access import operations as access
from postern.identity.customers.mailer import app_name, send_rendered
from postern.identity.customers.model import CustomerMissing
from postern.identity.customers.operations import language_of_address, require_customer
from postern.identity.organizations.model import Organization, OrganizationInvitationRow
from postern.identity.organizations.rules import invitation_token
from postern.kernel.database.statements import Queries
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World


LINK_IN_NAME = re.compile(r"[/\\@<>]|\w[.\u3002\uff0e\uff61]\w|\d{5}")
"""What makes mail programs turn a part of a name into a link or a telephone number."""
MAX_INVITER_CHARACTERS = 60
INVITING_EVENTS = ("invitation.created", "invitation.resent")


async def is_test_invitation(db: Queries, project_id: UUID, id: UUID) -> bool:
    """Whether a TEST key has created or last resent an invitation. Then its e-mail is captured, and so is mail that
    results from its acceptance."""
    invited = await events.latest_of_subject(db, project_id, id, INVITING_EVENTS)
    return invited is not None and invited.test


async def inviter_name(db: Queries, row: OrganizationInvitationRow) -> str:
    """The customer who invites, as `Name (address)`; "" if the invitation names nobody, or the customer is gone.

    A customer can choose any name, and the mail is the project's: a long name, one with invisible characters, or one
    that looks like a link or a telephone number is left out, and the address says who it is in any case.
    """
    if row.invited_by is None:
        return ""
    try:
        customer = await require_customer(db, row.project_id, row.invited_by)
    except CustomerMissing:
        return ""
    name, address = " ".join((customer.name or "").split()), customer.email or ""
    is_plain = len(name) <= MAX_INVITER_CHARACTERS and not any(unicodedata.category(sign)[0] == "C" for sign in name)
    if not name or not is_plain or LINK_IN_NAME.search(name):
        return address
    return f"{name} ({address})" if address else name


async def mail_invitation(world: "World", row: OrganizationInvitationRow, organization: Organization) -> None:
    """Send the e-mail of an invitation, with a link that has the current token. Raises the problems of
    `send_rendered`."""
    token = invitation_token(world.secrets, row.project_id, row.id, row.generation)
    role = await access.role_named(world.db, row.project_id, row.role)
    page_url = f"{pages_url(world, row.project_id)}/auth/pages/invitation"
    await send_rendered(
        world,
        row.project_id,
        "INVITATION",
        to=row.email,
        expires_at=row.expires_at,
        tag="invitation",
        language=await language_of_address(world.db, row.project_id, row.email_key),
        test=await is_test_invitation(world.db, row.project_id, row.id),
        organization=organization.name,
        inviter=await inviter_name(world.db, row) or app_name(await projects.require_project(world.db, row.project_id)),
        role=role.name,
        role_description=role.description,
        link=url_with_token(row.accept_url or page_url, token),
        until=row.expires_at,
    )


def url_with_token(url: str, token: str) -> str:
    """`url` with the query parameter `token` added."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode({"token": token})) if part)
    # Braces must be percent-encoded in URLs (RFC 3986 §2).
    return urlunsplit(parts._replace(query=query)).replace("{", "%7B").replace("}", "%7D")
