"""The composition of the application: its operations, background work, reactions to events, and hooks."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from litestar import Response
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, Scope

from postern import instance
from postern.compat.postmark import operations as postmark_operations
from postern.compat.postmark.errors import POSTMARK
from postern.compat.resend import broadcasts as resend_broadcasts
from postern.compat.resend import contacts as resend_contacts
from postern.compat.resend import domains as resend_domains
from postern.compat.resend import emails as resend_emails
from postern.compat.resend import not_offered as resend_not_offered
from postern.compat.resend import suppressions as resend_suppressions
from postern.compat.resend import templates as resend_templates
from postern.compat.resend import webhooks as resend_webhooks
from postern.compat.resend.errors import RESEND
from postern.compat.sendgrid import operations as sendgrid_operations
from postern.compat.sendgrid.errors import SENDGRID
from postern.identity.access import operations as access
from postern.identity.customers import (
    addresses,
    credentials,
    end_users,
    identity_requests,
    impersonation,
    impersonation_links,
    linking,
    mail_text_operations,
    merging,
    own_account,
    page_text_operations,
    passkeys,
    providers,
    remembered_devices,
    sessions,
    sign_in,
    sign_in_alerts,
    sign_up,
    signing_keys,
    step_up,
    terms,
    token_authentication,
    tokens,
    totp,
)
from postern.identity.customers import contacts as customer_contacts
from postern.identity.customers import mailer as customer_mailer
from postern.identity.customers import operations as customers
from postern.identity.customers import pages as customer_pages
from postern.identity.customers.cors import CustomersCors
from postern.identity.customers.error_pages import branded_error_page
from postern.identity.customers.pages_host import PagesHosts
from postern.identity.entitlements import features, plans
from postern.identity.entitlements import operations as entitlements
from postern.identity.entitlements import work as entitlement_work
from postern.identity.hooks import operations as sign_in_hooks
from postern.identity.imports import migration
from postern.identity.imports import operations as customer_imports
from postern.identity.oauth import authorization as oauth_authorization
from postern.identity.oauth import backchannel as oauth_backchannel
from postern.identity.oauth import devices as oauth_devices
from postern.identity.oauth import discovery as oauth_discovery
from postern.identity.oauth import endpoints as oauth_endpoints
from postern.identity.oauth import logout as oauth_logout
from postern.identity.oauth import logout_store as oauth_logout_store
from postern.identity.oauth import operations as oauth_clients
from postern.identity.oauth import registration as oauth_registration
from postern.identity.oauth import resources as oauth_resources
from postern.identity.oauth import step_up as oauth_step_up
from postern.identity.oauth import work as oauth_work
from postern.identity.organizations import app_family as app_organizations
from postern.identity.organizations import domains as organization_domains
from postern.identity.organizations import invitation_pages, invitations, joining
from postern.identity.organizations import members as organization_members
from postern.identity.organizations import operations as organizations
from postern.identity.organizations import store as organization_store
from postern.identity.organizations import work as organization_work
from postern.identity.scim import endpoints as scim_endpoints
from postern.identity.scim import operations as scim
from postern.identity.scim import store as scim_store
from postern.identity.scim import users as scim_users
from postern.identity.scim import work as scim_work
from postern.identity.scim.errors import SCIM
from postern.identity.self_service import account_pages as own_account_pages
from postern.identity.self_service import credential_pages, organization_pages, sign_in_rules_pages
from postern.identity.self_service import operations as self_service
from postern.identity.setup_links import operations as setup_links
from postern.identity.setup_links import pages as setup_pages
from postern.identity.sso import app_family as app_sso
from postern.identity.sso import endpoints as sso_endpoints
from postern.identity.sso import login as sso_login
from postern.identity.sso import logout as sso_logout
from postern.identity.sso import oidc_endpoints as sso_oidc
from postern.identity.sso import operations as sso
from postern.identity.sso import store as sso_store
from postern.identity.sso import work as sso_work
from postern.kernel.config import Settings
from postern.kernel.due import Work
from postern.kernel.http.call import ReadCredential
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.handler import handler_of
from postern.kernel.http.middleware import HttpMiddleware
from postern.kernel.http.operation import Operation, RawRequest, operations_of
from postern.kernel.http.responses import error_response_of_api
from postern.kernel.http.routing import AllRoutes, FastLitestar
from postern.messaging.analytics import operations as analytics
from postern.messaging.assets import operations as assets
from postern.messaging.audiences import attributes, contacts, imports
from postern.messaging.audiences import operations as audiences
from postern.messaging.audiences import preview as audience_preview
from postern.messaging.audiences import work as audience_work
from postern.messaging.automations import custom_events, dry_run
from postern.messaging.automations import operations as automations
from postern.messaging.automations import store as automation_store
from postern.messaging.automations import work as automation_work
from postern.messaging.campaigns import operations as campaigns
from postern.messaging.campaigns import work as campaign_work
from postern.messaging.certificates import operations as certificates
from postern.messaging.certificates import work as certificate_work
from postern.messaging.content_store import work as content_work
from postern.messaging.domains import dmarc_reports, pages_domains, senders
from postern.messaging.domains import operations as domains
from postern.messaging.domains import work as domain_work
from postern.messaging.emails import contents as contents_of_emails
from postern.messaging.emails import (
    domain_limits,
    logs,
    preflight,
    ses_notifications,
    site_operations,
    suppressions,
    system_mail,
    tls_reports,
    unattributed,
)
from postern.messaging.emails import operations as emails
from postern.messaging.emails import work as email_work
from postern.messaging.inbound import contents as inbound_contents
from postern.messaging.inbound import messages as inbound_messages
from postern.messaging.inbound import operations as inbound
from postern.messaging.inbound import routes as inbound_routes
from postern.messaging.inbound import routing as inbound_routing
from postern.messaging.inbound import work as inbound_work
from postern.messaging.inbox import operations as inbox
from postern.messaging.inbox import pages as inbox_pages
from postern.messaging.inbox import previews
from postern.messaging.reputation import operations as reputation
from postern.messaging.templates import operations as templates
from postern.messaging.tracking import operations as tracking
from postern.platform.accounts import deletion, export, mailer, mfa, profile, recovery
from postern.platform.accounts import members as account_members
from postern.platform.accounts import operations as accounts
from postern.platform.accounts import pages as account_pages
from postern.platform.accounts import passkeys as account_passkeys
from postern.platform.accounts import sessions as account_sessions
from postern.platform.billing import operations as billing
from postern.platform.billing import work as billing_work
from postern.platform.dashboard import operations as dashboard
from postern.platform.dashboard.forwarding import DashboardPaths
from postern.platform.dashboard.model import API_PATH
from postern.platform.dashboard.session import DashboardSession
from postern.platform.events import operations as events
from postern.platform.events import stream as event_stream
from postern.platform.events.model import EVENT_NAMES
from postern.platform.events.operations import Reaction
from postern.platform.projects import operations as projects
from postern.platform.webhooks import operations as webhooks
from postern.platform.webhooks import store as webhook_store
from postern.platform.webhooks import work as webhook_work
from postern.security import work as security_work
from postern.web import dashboard_files, public_pages
from postern.web.pages import error_response_page
from postern.world import Hooks, World

OPERATIONS: list[Operation[Any, Any]] = [
    *operations_of(
        *(accounts, recovery, account_sessions, mfa, account_passkeys, profile, account_members, export, deletion),
        *(account_pages, dashboard),
    ),
    *operations_of(
        projects, events, event_stream, access, domains, dmarc_reports, senders, webhooks, assets, templates
    ),
    *operations_of(imports, contacts, attributes, audiences, audience_preview, emails, preflight, logs, suppressions),
    *operations_of(ses_notifications, site_operations, reputation, certificates),
    *operations_of(customers, merging, end_users, signing_keys, tokens),
    *operations_of(sessions, sign_up, sign_in, terms, credentials, totp),
    *operations_of(passkeys, step_up, remembered_devices, sign_in_hooks),
    *operations_of(impersonation, impersonation_links, sign_in_alerts),
    *operations_of(
        providers, linking, identity_requests, customer_pages, mail_text_operations, page_text_operations, sso, app_sso
    ),
    *operations_of(addresses, own_account, self_service, own_account_pages, credential_pages),
    *operations_of(organization_pages, sign_in_rules_pages),
    *operations_of(
        campaigns,
        analytics,
        tracking,
        inbound,
        inbound_routes,
        inbound_messages,
        inbox,
        previews,
        automations,
        dry_run,
        custom_events,
    ),
    *operations_of(organizations, organization_members, invitations, invitation_pages, organization_domains),
    *operations_of(joining, app_organizations, billing, features, plans, entitlements, sso_endpoints),
    *operations_of(sso_logout, sso_oidc),
    *operations_of(scim, setup_links, setup_pages, customer_imports),
    *operations_of(
        oauth_clients,
        oauth_resources,
        oauth_registration,
        oauth_discovery,
        oauth_authorization,
        oauth_step_up,
        oauth_endpoints,
        oauth_devices,
        oauth_logout,
    ),
]
"""All operations of the API."""

SCIM_OPERATIONS: list[Operation[Any, Any]] = operations_of(scim_endpoints)
"""The operations of SCIM, which directories call. They are not in the OpenAPI document, as they describe themselves."""

COMPATIBLE_APIS: Sequence[CompatibleApi] = (RESEND, SENDGRID, POSTMARK, SCIM)
"""The APIs of other companies that COMPATIBLE_OPERATIONS follow, and SCIM."""

COMPATIBLE_OPERATIONS: list[Operation[Any, Any]] = [
    *operations_of(resend_emails, resend_domains, resend_contacts, resend_templates, resend_broadcasts),
    *operations_of(resend_suppressions, resend_webhooks),
    *resend_not_offered.OPERATIONS,
    *operations_of(sendgrid_operations, postmark_operations),
]
"""The operations that follow APIs of other companies. They are not in the OpenAPI document."""

WORK: list[Work[Any]] = [
    *security_work.WORK,
    *(mailer.MAILS, deletion.DELETIONS, billing_work.BILLING, *domain_work.WORK, *webhook_work.WORK),
    *(*audience_work.WORK, *email_work.WORK, site_operations.SITE_TASKS, *domain_limits.DOMAIN_LIMITS),
    *(*tls_reports.WORK, *unattributed.WORK, *certificate_work.WORK, *campaign_work.WORK, *inbound_work.WORK),
    *(customer_mailer.MAILS, *automation_work.WORK, *sso_work.WORK, *organization_work.WORK, *entitlement_work.WORK),
    content_work.CONTENTS,
    *oauth_work.WORK,
    *scim_work.WORK,
]
"""All kinds of background work."""

REACTIONS: Sequence[Reaction] = (
    Reaction(
        react=webhooks.enqueue_deliveries,
        react_in_bulk=webhooks.enqueue_deliveries_in_bulk,
        types=set(EVENT_NAMES),
        custom=True,
        condition=webhook_store.HAS_SUBSCRIPTIONS,
    ),
    Reaction(
        react=suppressions.follow_contacts,
        react_in_bulk=suppressions.follow_contacts_in_bulk,
        types={"contact.updated"},
    ),
    Reaction(
        react=customer_contacts.link_contacts,
        types={"customer.signed_up", "customer.email_verified"},
    ),
    Reaction(
        react=automations.start_runs,
        react_in_bulk=automations.start_runs_in_bulk,
        types=automations.STARTING_EVENTS,
        custom=True,
        condition=automation_store.HAS_AUTOMATIONS,
    ),
    Reaction(
        react=joining.on_sign_ins,
        types={"customer.signed_in"},
        condition=organization_store.HAS_VERIFIED_DOMAINS,
    ),
    Reaction(
        react=joining.on_merges_and_deletions,
        types={"customer.linked", "customer.deleted"},
    ),
    Reaction(
        react=sso_login.on_sign_ins,
        types={"customer.signed_in"},
        condition=sso_store.HAS_CONNECTIONS,
    ),
    Reaction(
        react=sso_login.on_deletions,
        types={"customer.deleted", "organization.deleted"},
    ),
    Reaction(
        react=oauth_backchannel.on_ended_sessions,
        types={"customer.signed_out", "customer.session_revoked", "customer.deleted"},
        condition=oauth_logout_store.HAS_LOGOUT_URIS,
    ),
    Reaction(
        react=impersonation.on_ended_sessions,
        types={"customer.signed_out", "customer.session_revoked"},
    ),
    Reaction(
        react=scim_users.on_merges,
        types={"customer.linked"},
        condition=scim_store.HAS_DIRECTORIES,
    ),
)
"""The reactions to events. They are called in this order, in the transaction that records the events."""

CREDENTIAL_READERS: Sequence[ReadCredential] = (
    projects.read_key,
    accounts.read_token,
    token_authentication.read_customer_token,
)
"""The functions that authenticate bearer tokens, in the order in which they are tried."""

HOOKS = Hooks(
    reactions=REACTIONS,
    quota_left=billing.quota_of_plan,
    deliver_account_mail=system_mail.deliver_system_mail,
    close_account=billing.close_account,
    moved_contents={moved.kind: moved for moved in (contents_of_emails.MOVED_EMAILS, inbound_contents.MOVED_MESSAGES)},
    exported_rows={"send_bodies": contents_of_emails.exported_contents},
    migrate_customer=migration.migrate_customer,
    is_invited=invitations.is_invited,
    sso_entry_of_address=sso_endpoints.sso_entry_of_address,
    sso_entry_of_organization=sso_endpoints.sso_entry_of_organization,
    has_active_sso=sso_endpoints.has_active_connection,
    project_of_connection=sso_endpoints.project_of_connection,
    has_working_sso_account=sso_endpoints.has_working_account,
    has_working_sso=sso_endpoints.has_working_connection,
    claim_pages_domain=pages_domains.claim_pages_domain,
    on_expired_impersonations=impersonation.on_expired_sessions,
    receives_mail_for=inbound_routing.receives_mail_for,
    webhook_formats={"resend": resend_webhooks.write_payloads},
)
"""The functions of higher layers that lower layers call."""


def work_for(settings: Settings) -> list[Work[Any]]:
    """All background work; the lease of the work on the table `sends` is `settings.lease`."""
    return [replace(work, lease=settings.lease) if work.table == "sends" else work for work in WORK]


class Application(HttpMiddleware):
    """The ASGI application. It takes some tenths of a second to build, so tests build one and switch its world (the
    settings, database, clock and so on; see `World`)."""

    def __init__(self, world: World, dashboard_folder: Path) -> None:
        pages = [*public_pages.routes(), *instance.routes(OPERATIONS, WORK), *inbox_pages.routes()]
        pages += certificates.routes()
        pages += dashboard_files.routes(dashboard_folder)
        self._dashboard_paths = DashboardPaths(OPERATIONS)
        handlers = [
            *(handler_of(operation) for operation in [*OPERATIONS, *COMPATIBLE_OPERATIONS, *SCIM_OPERATIONS]),
            *pages,
        ]
        self._routes = FastLitestar(
            route_handlers=[
                AllRoutes(handler for handler in handlers if isinstance(handler, HTTPRouteHandler)),
                *(router for router in pages if not isinstance(router, HTTPRouteHandler)),
            ],
            exception_handlers={Exception: _error_response},  # pyright: ignore[reportArgumentType]
            state=State({"world": world, "readers": CREDENTIAL_READERS}),
            openapi_config=None,
            debug=False,
            logging_config=None,
        )
        self.switch_world(world)

    def _app_for(self, scope: Scope) -> ASGIApp:
        return self._pages_hosts.handler_for(scope) or super()._app_for(scope)

    def switch_world(self, world: World) -> None:
        """Serve requests from another world from now on."""
        self._routes.state.world = world
        self._pages_hosts = PagesHosts(world)
        super().__init__(
            self._routes,
            world,
            cross_origin=CustomersCors(self._routes, world),
            mounted=(f"{API_PATH}/", DashboardSession(self._routes, world, self._dashboard_paths)),
        )


def _error_response(request: RawRequest, error: Exception) -> Response[bytes]:
    """The response to an error: below the path of a compatible API in the form of that API, otherwise in our own."""
    path = request.scope["path"]
    api = next((api for api in COMPATIBLE_APIS if api.covers(path)), None)
    if api is not None:
        return error_response_of_api(api, request, error)
    return error_response_page(request, error, branded_error_page)


def make_app(world: World, *, dashboard_folder: Path = dashboard_files.FOLDER) -> Application:
    """Build the ASGI application for a world. `dashboard_folder` has the dashboard's built files."""
    return Application(world, dashboard_folder)
