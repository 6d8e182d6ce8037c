"""The architecture in three lists: what can be called, what becomes due, and who reacts to what happens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.types import Receive, Scope, Send

import postern.identity.access.operations
import postern.identity.customers.contacts
import postern.identity.customers.end_users
import postern.identity.customers.identity_requests
import postern.identity.customers.linking
import postern.identity.customers.merging
import postern.identity.customers.operations
import postern.identity.customers.pages
import postern.identity.customers.passkeys
import postern.identity.customers.providers
import postern.identity.customers.sessions
import postern.identity.customers.sign_in
import postern.identity.customers.totp
import postern.identity.customers.work
import postern.identity.entitlements.features
import postern.identity.entitlements.operations
import postern.identity.entitlements.plans
import postern.identity.entitlements.work
import postern.identity.organizations.app_family
import postern.identity.organizations.domains
import postern.identity.organizations.invitation_pages
import postern.identity.organizations.invitations
import postern.identity.organizations.joining
import postern.identity.organizations.members
import postern.identity.organizations.operations
import postern.identity.organizations.requirements
import postern.identity.organizations.work
import postern.identity.sso.app_family
import postern.identity.sso.endpoints
import postern.identity.sso.login
import postern.identity.sso.logout
import postern.identity.sso.operations
import postern.identity.sso.work
import postern.messaging.analytics.operations
import postern.messaging.audiences.attributes
import postern.messaging.audiences.contacts
import postern.messaging.audiences.imports
import postern.messaging.audiences.operations
import postern.messaging.audiences.work
import postern.messaging.automations.custom_events
import postern.messaging.automations.operations
import postern.messaging.automations.work
import postern.messaging.campaigns.operations
import postern.messaging.campaigns.work
import postern.messaging.domains.operations
import postern.messaging.domains.senders
import postern.messaging.domains.work
import postern.messaging.emails.logs
import postern.messaging.emails.operations
import postern.messaging.emails.suppressions
import postern.messaging.inbox.operations
import postern.messaging.templates.operations
import postern.messaging.tracking.operations
import postern.platform.accounts.deletion
import postern.platform.accounts.export
import postern.platform.accounts.members
import postern.platform.accounts.mfa
import postern.platform.accounts.operations
import postern.platform.accounts.pages
import postern.platform.accounts.profile
import postern.platform.accounts.recovery
import postern.platform.billing.operations
import postern.platform.events.operations
import postern.platform.projects.operations
import postern.platform.webhooks.operations
import postern.platform.webhooks.work
from postern import instance
from postern.identity.customers.cors import CustomersCors
from postern.identity.customers.invitation_check import set_invitation_check
from postern.identity.customers.requirements import set_requirements
from postern.identity.customers.sessions import read_customer_token
from postern.identity.customers.sso_lookup import set_sso_lookup
from postern.kernel.config import Settings
from postern.kernel.due import Work
from postern.kernel.http.call import ReadCredential
from postern.kernel.http.middleware import HttpMiddleware
from postern.kernel.http.operation import Operation, operations_of
from postern.kernel.http.routes import handler_of
from postern.kernel.quotas import set_quota_check
from postern.messaging.emails.system_mail import deliver_system_mail
from postern.messaging.emails.work import SENDS
from postern.messaging.inbox import pages as inbox_pages
from postern.platform.accounts.deletion import DELETIONS, set_account_closer
from postern.platform.accounts.mailer import MAILS, set_system_mailer
from postern.platform.accounts.operations import read_token
from postern.platform.billing.work import BILLING
from postern.platform.events.operations import BulkReaction, Reaction, set_reactions
from postern.platform.projects.operations import read_key
from postern.platform.projects.sso_check import set_sso_check
from postern.web import public_pages
from postern.web.html import answer_error_page
from postern.world import World

# One module a line: whoever adds a feature adds lines, and nothing else changes.
OPERATIONS: list[Operation[Any, Any]] = operations_of(
    postern.platform.accounts.operations,
    postern.platform.accounts.recovery,
    postern.platform.accounts.mfa,
    postern.platform.accounts.profile,
    postern.platform.accounts.members,
    postern.platform.accounts.export,
    postern.platform.accounts.deletion,
    postern.platform.accounts.pages,
    postern.platform.projects.operations,
    postern.platform.events.operations,
    postern.identity.access.operations,
    postern.messaging.domains.operations,
    postern.messaging.domains.senders,
    postern.platform.webhooks.operations,
    postern.messaging.templates.operations,
    postern.messaging.audiences.imports,
    postern.messaging.audiences.contacts,
    postern.messaging.audiences.attributes,
    postern.messaging.audiences.operations,
    postern.messaging.emails.operations,
    postern.messaging.emails.logs,
    postern.messaging.emails.suppressions,
    postern.identity.customers.operations,
    postern.identity.customers.merging,
    postern.identity.customers.end_users,
    postern.identity.customers.sessions,
    postern.identity.customers.sign_in,
    postern.identity.customers.totp,
    postern.identity.customers.passkeys,
    postern.identity.customers.providers,
    postern.identity.customers.linking,
    postern.identity.customers.identity_requests,
    postern.identity.customers.pages,
    postern.identity.sso.operations,
    postern.identity.sso.app_family,
    postern.messaging.campaigns.operations,
    postern.messaging.analytics.operations,
    postern.messaging.tracking.operations,
    postern.messaging.inbox.operations,
    postern.messaging.automations.operations,
    postern.messaging.automations.custom_events,
    postern.identity.organizations.operations,
    postern.identity.organizations.members,
    postern.identity.organizations.invitations,
    postern.identity.organizations.invitation_pages,
    postern.identity.organizations.domains,
    postern.identity.organizations.joining,
    postern.identity.organizations.app_family,
    postern.platform.billing.operations,
    postern.identity.entitlements.features,
    postern.identity.entitlements.plans,
    postern.identity.entitlements.operations,
    postern.identity.sso.endpoints,
    postern.identity.sso.logout,
)
"""Every operation of the API."""

WORK: list[Work[Any]] = [
    MAILS,
    DELETIONS,
    BILLING,
    *postern.messaging.domains.work.WORK,
    *postern.platform.webhooks.work.WORK,
    *postern.messaging.audiences.work.WORK,
    *SENDS,
    *postern.messaging.campaigns.work.WORK,
    *postern.identity.customers.work.WORK,
    *postern.messaging.automations.work.WORK,
    *postern.identity.sso.work.WORK,
    *postern.identity.organizations.work.WORK,
    *postern.identity.entitlements.work.WORK,
]
"""Every kind of record that becomes due."""


def work_for(settings: Settings) -> list[Work[Any]]:
    """The work, with the leases that the operator set."""
    return [replace(work, lease=settings.lease) if work.table == "sends" else work for work in WORK]


REACTIONS: list[Reaction] = [
    postern.platform.webhooks.operations.enqueue_deliveries,
    postern.messaging.emails.suppressions.follow_contacts,
    postern.identity.customers.contacts.link_contact,
    postern.messaging.automations.operations.start_runs,
    postern.identity.organizations.joining.follow_customers,
    postern.identity.sso.login.follow_customers,
]
"""Who reacts to events, in the transaction that records them."""

READERS: Sequence[ReadCredential] = (
    read_key,
    read_token,
    read_customer_token,
)
"""Who can read a bearer token, in the order they are asked."""

IN_BULK: dict[Reaction, BulkReaction] = {
    postern.platform.webhooks.operations.enqueue_deliveries: (
        postern.platform.webhooks.operations.enqueue_deliveries_in_bulk
    ),
    postern.messaging.emails.suppressions.follow_contacts: (
        postern.messaging.emails.suppressions.follow_contacts_in_bulk
    ),
    postern.identity.customers.contacts.link_contact: postern.identity.customers.contacts.link_contacts,
    postern.messaging.automations.operations.start_runs: postern.messaging.automations.operations.start_runs_in_bulk,
    postern.identity.organizations.joining.follow_customers: (
        postern.identity.organizations.joining.follow_customers_in_bulk
    ),
    postern.identity.sso.login.follow_customers: postern.identity.sso.login.follow_customers_in_bulk,
}
"""How those react to events that one statement recorded by the thousand."""

set_reactions(REACTIONS, IN_BULK)
set_system_mailer(deliver_system_mail)
set_account_closer(postern.platform.billing.operations.close_account)
set_quota_check(postern.platform.billing.operations.quota_of_plan)
set_invitation_check(postern.identity.organizations.invitations.is_invited)
set_sso_lookup(
    postern.identity.sso.endpoints.sso_entry_of_address,
    postern.identity.sso.endpoints.has_any_connection,
    postern.identity.sso.endpoints.sso_entry_of_organization,
)
set_sso_check(postern.identity.sso.endpoints.has_working_connection)
set_requirements(
    postern.identity.organizations.requirements.required_of_customers,
    postern.identity.organizations.requirements.sso_required_at,
)


class Application:
    """The ASGI application on a world. Building one takes most of a second, so it can move to another world."""

    def __init__(self, world: World) -> None:
        pages = [*public_pages.routes(), *instance.routes(OPERATIONS, WORK), *inbox_pages.routes()]
        self._routes = Litestar(
            route_handlers=[*(handler_of(each) for each in OPERATIONS), *pages],
            exception_handlers={Exception: answer_error_page},  # pyright: ignore[reportArgumentType]
            state=State({"world": world, "readers": READERS}),
            openapi_config=None,
            debug=False,
            logging_config=None,
        )
        self.switch_world(world)

    def switch_world(self, world: World) -> None:
        """Answer from another world from now on."""
        self._routes.state.world = world
        self._front = HttpMiddleware(CustomersCors(self._routes, world), world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._front(scope, receive, send)


def make_app(world: World) -> Application:
    """The ASGI application on a world."""
    return Application(world)
