"""Payloads of the challenges of customers, one Struct for each purpose. They are stored sealed, because they contain
addresses and keys.

A challenge is a one-time code or token (`security/challenges.py`): it is mailed, or passed on between the steps of a
sign-in. The payloads of passkeys are in `security/passkeys.py`.
"""

from typing import Any
from uuid import UUID

from postern.identity.customers.model import IdentityKey
from postern.kernel.values import Record
from postern.security.challenges import Payload


class SignInContext(Record):
    """Data of the request that began a sign-in, for the later request that completes it."""

    via: str | None = None
    """The source of the sign-in, such as a single sign-on connection; recorded in the event `customer.signed_in`."""
    until: float | None = None
    """Unix time in seconds at which the session ends at the latest."""
    sso_organization_id: UUID | None = None
    """The organization whose single sign-on connection was used."""


class MailedAddress(Payload):
    """The payload of a code or link that was sent to an address: the address and its lookup key, but not the code."""

    email: str
    key: str


class AcceptedTerms(Record):
    """Terms that a person has accepted before there is an account."""

    version: str
    accepted_at: float
    """Unix time in seconds."""
    ip_address: str
    user_agent: str


class SignUp(MailedAddress, tag="SIGN_UP"):
    """Payload of a code that creates an account when it is verified."""

    password_hash: str | None
    name: str | None
    metadata: dict[str, Any] = {}
    accepted_terms: AcceptedTerms | None = None
    language: str | None = None
    """The language tag that the app sent; None: that of the request that verifies the code."""


class SignInCode(MailedAddress, tag="CODE"):
    """Payload of a six-digit code that signs in."""


class SignInLink(MailedAddress, tag="LINK"):
    """Payload of a link that signs in."""


class PasswordResetLink(MailedAddress, tag="RESET"):
    """Payload of a link that sets a new password."""


class DeniedSignIn(Payload, tag="NOT_ME"):
    """Payload of the link “This was not me” in the notice about a sign-in from a new device.

    The challenge has no subject, so that ending all sessions, which whoever signed in can do, keeps the link valid.
    """

    customer_id: UUID
    session_id: UUID
    since: float
    """Unix time in seconds of the sign-in."""
    email: str
    key: str
    """The address of the notice, and its lookup key."""
    verified: bool
    """Whether the address was verified at the sign-in. Otherwise another person may have created the account."""


class AddressVerification(MailedAddress, tag="VERIFY"):
    """Payload of a code that verifies an address for the customer who requested it."""

    secondary: bool = False
    """Whether the address becomes a secondary one, instead of the primary one."""


class StepUpCode(MailedAddress, tag="STEP_UP"):
    """Payload of a code with which a session authenticates again; no other session can use it."""

    session_id: UUID


class RememberedDevice(Payload, tag="DEVICE"):
    """Payload of the token of a device on which the second factor was completed (`remembered_devices.py`)."""

    user_agent: str
    ip_address: str
    created_at: float
    expires_at: float
    """Unix times in seconds."""


class PendingSecondFactor(Payload, SignInContext, tag="MFA"):
    """A sign-in that still needs the second factor."""

    methods: list[str]
    """The authentication methods used so far (RFC 8176)."""


class PendingEnrollment(Payload, SignInContext, tag="MFA_ENROLLMENT"):
    """A sign-in of a customer who must set up a second factor first."""

    methods: list[str]
    """The authentication methods used so far (RFC 8176)."""
    totp_key: str
    """Stored here and not with the customer, so that two concurrent set-ups have separate secrets."""


class PendingTerms(Payload, SignInContext, tag="TERMS"):
    """A sign-in of a customer who must accept the current terms first."""

    methods: list[str]
    """The authentication methods used so far (RFC 8176)."""
    second_factor_done: bool
    device_id: UUID | None = None
    """The device on which the second factor was not asked for; it must be remembered still at the acceptance."""


class Grant(Payload, SignInContext, tag="GRANT"):
    """Payload of a code that an app exchanges for the tokens of a session: of `session_id`, or of a new one if None."""

    code_challenge: str | None
    """The S256 code challenge (RFC 7636); without one, only a secret key can exchange the code."""
    session_id: UUID | None = None
    impersonation: bool = False
    """Whether somebody acts as the customer in the session. The pages of this server do not accept such a code."""
    methods: list[str] = []
    """The authentication methods of the session that the exchange begins (RFC 8176)."""


class ImpersonationLink(Payload, tag="IMPERSONATION_LINK"):
    """Payload of a link with which a member of the team opens an app as the customer."""

    actor_type: str
    """`DEVELOPER` or `API_KEY`: who has created the link, and needs the permission still when it is used."""
    actor_id: UUID
    actor_label: str | None
    """The name of the person who acts."""
    reason: str
    minutes: int
    redirect_url: str
    code_challenge: str | None
    """That of the app; without one, only a secret key can exchange the code."""
    state: str
    session_id: UUID | None = None
    """The session of the developer, which must be live still; None for an API key."""


class PendingIdentityLink(Payload, tag="LINKING"):
    """Step 1 of linking: a session asks to link an account at a provider; the browser is not yet at the provider."""

    session_id: UUID
    key: str
    """Identifies the provider within the project, such as `GOOGLE`."""


class LinkingSession(Record):
    """Step 2 of linking, as a part of ProviderSignIn: the customer and the session that asked to link the account."""

    customer_id: UUID
    session_id: UUID


class ProviderSignIn(Payload, tag="PROVIDER"):
    """A sign-in at a provider, to which a browser was redirected."""

    key: str
    """Identifies the provider within the project, such as `GOOGLE`."""
    verifier: str
    """The PKCE code verifier that this server sends to the provider."""
    nonce: str
    browser: str
    """The value of the cookie that binds the sign-in to the browser."""
    redirect_url: str
    """Where the browser returns to the app."""
    state: str
    """The app's `state`, returned to it with the code; the provider gets the token of this challenge as its `state`."""
    code_challenge: str
    """The PKCE code challenge of the app that began the sign-in."""
    linking: LinkingSession | None
    """None if the customer signs in, instead of linking the account."""
    hosted: bool
    """Whether the sign-in began on a hosted page, which continues it before the app gets its code."""
    language: str = ""
    """The language that the person chose on that page; "" for none."""
    asks_factor: bool = False
    """Whether that page asks for the second factor on a remembered device, too (`factor=ask`)."""
    callback_url: str = ""
    """The redirect URI that was sent to the provider, which the token request repeats (RFC 6749 §4.1.3); "" in sign-ins
    that the release before this one began. The project's host name can change between the two."""


class ProvenAccount(Payload, tag="IDENTITY"):
    """Step 3 of linking: an account that the customer has signed in to at a provider. Only that session can link it."""

    session_id: UUID
    code_challenge: str
    account: IdentityKey
    account_name: str | None = None
    """The address or name of the account, to show it to the customer."""


class PageSession(Payload):
    """Base of the payloads of hosted pages that are shown after the sign-in, before the browser returns to the app."""

    session_id: UUID


class RecoveryCodesPage(PageSession, tag="RECOVERY_PAGE"):
    """The page that shows recovery codes."""


class PasskeyPage(PageSession, tag="PASSKEY_PAGE"):
    """The page that adds a passkey."""
