"""Payloads of the challenges of customers, one Struct for each purpose. They are stored sealed, because they contain
addresses and keys.

The payloads of passkeys are in `security/passkeys.py`.
"""

from uuid import UUID

from postern.identity.customers.model import LinkedAccount
from postern.kernel.values import Record
from postern.security.challenges import Payload


class SignInOrigin(Record):
    """How a sign-in began that is completed in a later request."""

    via: str | None = None
    """The source of the sign-in, such as a single sign-on connection; recorded in `customer.signed_in`."""
    until: float | None = None
    """Unix time in seconds at which the session ends at the latest."""
    sso_organization_id: UUID | None = None
    """The organization whose single sign-on connection was used."""


class MailedAddress(Payload):
    """An address that a code or link was sent to, and its lookup key."""

    email: str
    key: str


class SignUp(MailedAddress, tag="SIGN_UP"):
    """An account that is created when its code is verified."""

    password_hash: str | None
    name: str | None


class SignInCode(MailedAddress, tag="CODE"):
    """A six-digit code that signs in."""


class SignInLink(MailedAddress, tag="LINK"):
    """A link that signs in."""


class PasswordResetLink(MailedAddress, tag="RESET"):
    """A link that sets a new password."""


class AddressVerification(MailedAddress, tag="VERIFY"):
    """A code that verifies an address for the customer who requested it."""


class PendingSecondFactor(Payload, SignInOrigin, tag="MFA"):
    """A sign-in that still needs the second factor."""

    methods: list[str]
    """The authentication methods used so far (RFC 8176)."""


class PendingEnrollment(Payload, SignInOrigin, tag="MFA_ENROLLMENT"):
    """A sign-in that still needs a second factor to be set up."""

    methods: list[str]
    """The authentication methods used so far (RFC 8176)."""
    totp_key: str
    """Stored here and not with the customer, so that two concurrent set-ups have separate secrets."""


class Grant(Payload, SignInOrigin, tag="GRANT"):
    """A code that an app exchanges for the tokens of a session. If `session_id` is None, the exchange begins one."""

    code_challenge: str | None
    """The S256 code challenge (RFC 7636); without one, only a secret key can exchange the code."""
    session_id: UUID | None = None
    methods: list[str] = []
    """The authentication methods of the session that the exchange begins (RFC 8176)."""


class IdentityLink(Payload, tag="LINKING"):
    """A session's request to link an account at a provider to its customer, before the sign-in at the provider."""

    session_id: UUID
    key: str
    """Identifies the provider within the project, such as `GOOGLE`."""


class LinkingSession(Record):
    """The customer and the session that are linking an account at a provider."""

    customer_id: UUID
    session_id: UUID


class ProviderSignIn(Payload, tag="PROVIDER"):
    """A sign-in at a provider, to which a browser was redirected."""

    key: str
    verifier: str
    """The PKCE code verifier that this server sends to the provider."""
    nonce: str
    browser: str
    """The value of the cookie that binds the sign-in to the browser."""
    redirect_url: str
    state: str
    code_challenge: str
    """The PKCE code challenge of the app that began the sign-in."""
    linking: LinkingSession | None
    hosted: bool


class IdentityProof(Payload, tag="IDENTITY"):
    """An account at a provider that a session is about to link."""

    session_id: UUID
    code_challenge: str
    account: LinkedAccount


class PageSession(Payload):
    """A session that began on a hosted page, before the browser returns to the app."""

    session_id: UUID


class RecoveryCodesPage(PageSession, tag="RECOVERY_PAGE"):
    """The page that shows recovery codes."""


class PasskeyPage(PageSession, tag="PASSKEY_PAGE"):
    """The page that adds a passkey."""
