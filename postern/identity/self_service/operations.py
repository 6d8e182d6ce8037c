"""The operation with which customers get a copy of their data."""

from postern.identity.customers import addresses, identities, passkeys, remembered_devices, sessions, terms, timeline
from postern.identity.customers.model import CUSTOMER, NotFresh, OwnAddress
from postern.identity.customers.operations import customer_view
from postern.identity.customers.remembered_devices import MyRememberedDevice
from postern.identity.customers.sessions import require_fresh
from postern.identity.customers.tokens import CurrentCustomer
from postern.identity.oauth import operations as oauth
from postern.identity.oauth.model import OAuthConsent
from postern.identity.organizations import members
from postern.identity.organizations.model import OrganizationMembership
from postern.identity.self_service.model import AccountExport, ExportedEvent, OwnIdentity
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get
from postern.kernel.values import build_view
from postern.security.passkeys import Passkey
from postern.security.sessions import OwnSession

EVENTS_LIMIT = 1_000
"""Maximum number of events in an export, the newest."""
MEMBERSHIPS_LIMIT = 1_000


@get("/projects/{project_id}/auth/export", accepts=CUSTOMER, problems=[NotFresh])
async def export_my_data(call: Call) -> AccountExport:
    """A copy of everything that is kept about your account: profile, addresses, ways to sign in, remembered
    devices, sessions, organizations, connected apps, accepted terms, and the newest 1,000 events. No passwords, keys or
    codes.

    Needs a sign-in in the last hour.
    """
    async with call.db.transaction() as tx:
        await require_fresh(tx, call)
    customer = sessions.customer_of(call)
    view = await customer_view(call, customer)
    events = await timeline.events_of(call, customer.id, EVENTS_LIMIT, None)
    organizations = await members.list_my_organizations(call, limit=MEMBERSHIPS_LIMIT)
    own_sessions: list[OwnSession] = await sessions.list_my_sessions(call)
    own_passkeys: list[Passkey] = await passkeys.list_passkeys(call)
    devices: list[MyRememberedDevice] = await remembered_devices.list_remembered_devices(call)
    own_addresses: list[OwnAddress] = await addresses.list_my_emails(call)
    account: CurrentCustomer = await sessions.get_current_customer(call)
    account_names = await identities.account_names(call, customer.id)
    consents: list[OAuthConsent] = await oauth.list_my_consents(call)
    memberships: list[OrganizationMembership] = list(organizations.items)
    return AccountExport(
        exported_at=call.now,
        account=account,
        phone_verified_at=view.phone_verified_at,
        last_sign_in_at=view.last_sign_in_at,
        emails=own_addresses,
        identities=[
            build_view(OwnIdentity, identity, account_name=account_names.get(identity.provider))
            for identity in view.identities
        ],
        passkeys=own_passkeys,
        remembered_devices=devices,
        sessions=own_sessions,
        organizations=memberships,
        connected_apps=consents,
        accepted_terms=await terms.accepted_terms_of(call, customer.id),
        events=[
            ExportedEvent(
                type=event.type,
                occurred_at=event.occurred_at,
                # What others did may contain their names and notes.
                data=event.metadata if event.actor_id == customer.id else {},
            )
            for event in events.data
        ],
    )
