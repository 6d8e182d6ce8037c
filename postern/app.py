"""The architecture in three lists: what can be called, what becomes due, and who reacts to what happens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.types import Receive, Scope, Send

import postern.access.operations
import postern.accounts.deletion
import postern.accounts.export
import postern.accounts.members
import postern.accounts.mfa
import postern.accounts.operations
import postern.accounts.pages
import postern.accounts.profile
import postern.accounts.recovery
import postern.analytics.operations
import postern.audiences.attributes
import postern.audiences.contacts
import postern.audiences.intake
import postern.audiences.operations
import postern.audiences.work
import postern.automations.intake
import postern.automations.operations
import postern.automations.work
import postern.billing.operations
import postern.campaigns.operations
import postern.campaigns.work
import postern.customers.contacts
import postern.customers.end_users
import postern.customers.identity_requests
import postern.customers.linking
import postern.customers.merging
import postern.customers.operations
import postern.customers.pages
import postern.customers.passkeys
import postern.customers.providers
import postern.customers.sessions
import postern.customers.sign_in
import postern.customers.totp
import postern.customers.work
import postern.domains.operations
import postern.domains.senders
import postern.domains.work
import postern.emails.logs
import postern.emails.operations
import postern.emails.suppressions
import postern.entitlements.features
import postern.entitlements.operations
import postern.entitlements.plans
import postern.entitlements.work
import postern.events.operations
import postern.inbox.operations
import postern.organizations.app_family
import postern.organizations.domains
import postern.organizations.invitation_pages
import postern.organizations.invitations
import postern.organizations.joining
import postern.organizations.members
import postern.organizations.operations
import postern.organizations.requirements
import postern.organizations.work
import postern.projects.operations
import postern.sso.app_family
import postern.sso.door
import postern.sso.operations
import postern.sso.signing_on
import postern.sso.signing_out
import postern.sso.work
import postern.templates.operations
import postern.tracking.operations
import postern.webhooks.operations
import postern.webhooks.work
from postern import instance
from postern.accounts.deletion import DELETIONS, close_with
from postern.accounts.mail import MAILS, deliver_with
from postern.accounts.operations import read_token
from postern.billing.work import BILLING
from postern.customers.cors import CustomersCors
from postern.customers.elsewhere import sign_on_by
from postern.customers.invited import invited_by
from postern.customers.requirements import requirements_by
from postern.customers.sessions import read_customer_token
from postern.emails.letters import deliver_letter
from postern.emails.work import SENDS
from postern.events.operations import BulkReaction, Reaction, react_with
from postern.inbox import pages as inbox_pages
from postern.kernel import public_pages
from postern.kernel.allowances import allow_by
from postern.kernel.credentials import ReadCredential
from postern.kernel.due import Work
from postern.kernel.html import answer_trouble_for_people
from postern.kernel.http import Front, Operation, handler_of, operations_of
from postern.kernel.settings import Settings
from postern.projects.operations import read_key
from postern.projects.sso_check import sso_checked_by
from postern.world import World

# One module a line: whoever adds a feature adds lines, and nothing else changes.
OPERATIONS: list[Operation[Any, Any]] = operations_of(
    postern.accounts.operations,
    postern.accounts.recovery,
    postern.accounts.mfa,
    postern.accounts.profile,
    postern.accounts.members,
    postern.accounts.export,
    postern.accounts.deletion,
    postern.accounts.pages,
    postern.projects.operations,
    postern.events.operations,
    postern.access.operations,
    postern.domains.operations,
    postern.domains.senders,
    postern.webhooks.operations,
    postern.templates.operations,
    postern.audiences.intake,
    postern.audiences.contacts,
    postern.audiences.attributes,
    postern.audiences.operations,
    postern.emails.operations,
    postern.emails.logs,
    postern.emails.suppressions,
    postern.customers.operations,
    postern.customers.merging,
    postern.customers.end_users,
    postern.customers.sessions,
    postern.customers.sign_in,
    postern.customers.totp,
    postern.customers.passkeys,
    postern.customers.providers,
    postern.customers.linking,
    postern.customers.identity_requests,
    postern.customers.pages,
    postern.sso.operations,
    postern.sso.app_family,
    postern.campaigns.operations,
    postern.analytics.operations,
    postern.tracking.operations,
    postern.inbox.operations,
    postern.automations.operations,
    postern.automations.intake,
    postern.organizations.operations,
    postern.organizations.members,
    postern.organizations.invitations,
    postern.organizations.invitation_pages,
    postern.organizations.domains,
    postern.organizations.joining,
    postern.organizations.app_family,
    postern.billing.operations,
    postern.entitlements.features,
    postern.entitlements.plans,
    postern.entitlements.operations,
    postern.sso.door,
    postern.sso.signing_out,
)
"""Every operation of the API."""

WORK: list[Work[Any]] = [
    MAILS,
    DELETIONS,
    BILLING,
    *postern.domains.work.WORK,
    *postern.webhooks.work.WORK,
    *postern.audiences.work.WORK,
    *SENDS,
    *postern.campaigns.work.WORK,
    *postern.customers.work.WORK,
    *postern.automations.work.WORK,
    *postern.sso.work.WORK,
    *postern.organizations.work.WORK,
    *postern.entitlements.work.WORK,
]
"""Every kind of record that becomes due."""


def work_in(settings: Settings) -> list[Work[Any]]:
    """The work, with the leases that the operator set."""
    return [replace(work, lease=settings.lease) if work.table == "sends" else work for work in WORK]


REACTIONS: list[Reaction] = [
    postern.webhooks.operations.fan_out,
    postern.emails.suppressions.follow_contacts,
    postern.customers.contacts.meet,
    postern.automations.operations.react,
    postern.organizations.joining.follow_customers,
    postern.sso.signing_on.follow_customers,
]
"""Who reacts to events, in the transaction that records them."""

READERS: Sequence[ReadCredential] = (
    read_key,
    read_token,
    read_customer_token,
)
"""Who can read a bearer token, in the order they are asked."""

IN_BULK: dict[Reaction, BulkReaction] = {
    postern.webhooks.operations.fan_out: postern.webhooks.operations.fan_out_in_bulk,
    postern.emails.suppressions.follow_contacts: postern.emails.suppressions.follow_contacts_in_bulk,
    postern.customers.contacts.meet: postern.customers.contacts.meet_in_bulk,
    postern.automations.operations.react: postern.automations.operations.react_in_bulk,
    postern.organizations.joining.follow_customers: postern.organizations.joining.follow_customers_in_bulk,
    postern.sso.signing_on.follow_customers: postern.sso.signing_on.follow_customers_in_bulk,
}
"""How those react to events that one statement recorded by the thousand."""

react_with(REACTIONS, IN_BULK)
deliver_with(deliver_letter)
close_with(postern.billing.operations.close_account)
allow_by(postern.billing.operations.plan_allows)
invited_by(postern.organizations.invitations.is_invited)
sign_on_by(
    postern.sso.door.sign_on_of_address,
    postern.sso.door.anybody_signs_on,
    postern.sso.door.sign_on_of_organization,
)
sso_checked_by(postern.sso.door.has_working_connection)
requirements_by(
    postern.organizations.requirements.required_of_customers,
    postern.organizations.requirements.sso_required_at,
)


class Application:
    """The ASGI application on a world. Building one takes most of a second, so it can move to another world."""

    def __init__(self, world: World) -> None:
        pages = [*public_pages.routes(), *instance.routes(OPERATIONS, WORK), *inbox_pages.routes()]
        self._routes = Litestar(
            route_handlers=[*(handler_of(each) for each in OPERATIONS), *pages],
            exception_handlers={Exception: answer_trouble_for_people},  # pyright: ignore[reportArgumentType]
            state=State({"world": world, "readers": READERS}),
            openapi_config=None,
            debug=False,
            logging_config=None,
        )
        self.move_to(world)

    def move_to(self, world: World) -> None:
        """Answer from another world from now on."""
        self._routes.state.world = world
        self._front = Front(CustomersCors(self._routes, world), world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._front(scope, receive, send)


def make_app(world: World) -> Application:
    """The ASGI application on a world."""
    return Application(world)
