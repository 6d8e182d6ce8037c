"""Records of the data that customers can export."""

from typing import Any

from postern.identity.customers.model import CustomerIdentity, OwnAddress, TermsAcceptance
from postern.identity.customers.remembered_devices import MyRememberedDevice
from postern.identity.customers.tokens import CurrentCustomer
from postern.identity.oauth.model import OAuthConsent
from postern.identity.organizations.model import OrganizationMembership
from postern.kernel.values import Moment, Record
from postern.security.passkeys import Passkey
from postern.security.sessions import OwnSession


class ExportedEvent(Record):
    """Something that happened to the account."""

    type: str
    occurred_at: Moment
    data: dict[str, Any]
    """Details, if the customer did it."""


class OwnIdentity(CustomerIdentity):
    """A sign-in method of the customer who asks."""

    account_name: str | None
    """The address or name of a linked account, if it is known."""


class AccountExport(Record):
    """Everything that is kept about an account."""

    exported_at: Moment
    """When this copy was made."""
    account: CurrentCustomer
    phone_verified_at: Moment | None
    last_sign_in_at: Moment | None
    emails: list[OwnAddress]
    identities: list[OwnIdentity]
    """The ways to sign in that the account has used."""
    passkeys: list[Passkey]
    remembered_devices: list[MyRememberedDevice]
    """The devices on which the second factor is not asked for."""
    sessions: list[OwnSession]
    organizations: list[OrganizationMembership]
    connected_apps: list[OAuthConsent]
    """The apps that may use the account, and what they may do."""
    accepted_terms: list[TermsAcceptance]
    events: list[ExportedEvent]
