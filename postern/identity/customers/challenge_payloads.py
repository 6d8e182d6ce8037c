"""Payloads of the challenges of customers, one Struct for each purpose; stored sealed, because addresses are in them.

Passkeys are in `security.passkeys`.
"""

from uuid import UUID

from postern.kernel.values import Record
from postern.security.challenges import Payload


class SignInOrigin(Record):
    """How a sign-in began that is finished in a later request."""

    via: str | None = None
    """What led here, such as a single sign-on; stands in the event."""
    until: float | None = None
    """Unix time in seconds at which the session ends at the latest."""
    sso_organization_id: UUID | None = None
    """The organization whose single sign-on connection was used."""


class MailedAddress(Payload):
    """An address that a code or link was mailed to, and the key that it is looked up by."""

    email: str
    key: str


class SignUp(MailedAddress, tag="SIGN_UP"):
    """An account that begins when the code is typed."""

    password_hash: str | None
    name: str | None


class SignInCode(MailedAddress, tag="CODE"):
    """A six-digit code that signs in."""


class SignInLink(MailedAddress, tag="LINK"):
    """A link that signs in."""


class PasswordResetLink(MailedAddress, tag="RESET"):
    """A link that sets a new password."""


class AddressVerification(MailedAddress, tag="VERIFY"):
    """A code that proves an address of the customer who asked for it."""


class PendingSecondFactor(Payload, SignInOrigin, tag="MFA"):
    """A sign-in that waits for the second factor."""

    methods: list[str]


class PendingEnrollment(Payload, SignInOrigin, tag="MFA_ENROLLMENT"):
    """A sign-in that waits until a second factor is set up."""

    methods: list[str]
    totp_key: str
    """Kept here and not with the customer: two who set one up at once do not mix their secrets."""


class Grant(Payload, SignInOrigin, tag="GRANT"):
    """A code that an app exchanges for a session: one that exists, or one that begins then."""

    code_challenge: str | None
    """S256 code challenge (RFC 7636); without one, only a secret key may exchange the code."""
    session_id: UUID | None = None
    methods: list[str] = []


class IdentityLink(Payload, tag="LINKING"):
    """A session that wants to link an account of a provider."""

    session_id: UUID
    key: str
    """Of the provider."""


class LinkingSession(Record):
    """The customer and the session that link an account."""

    customer_id: UUID
    session_id: UUID


class ProviderSignIn(Payload, tag="PROVIDER"):
    """A browser that was sent to a provider."""

    key: str
    verifier: str
    """Our PKCE verifier towards the provider."""
    nonce: str
    browser: str
    """The value of the cookie that binds the sign-in to the browser."""
    redirect_url: str
    state: str
    code_challenge: str
    """The app's PKCE challenge towards us."""
    linking: LinkingSession | None
    hosted: bool


class LinkedAccount(Record):
    """An account of a provider, by which it is recognised."""

    provider: str
    issuer: str
    subject: str


class IdentityProof(Payload, tag="IDENTITY"):
    """An account of a provider that a session is about to link."""

    session_id: UUID
    code_challenge: str
    voucher: LinkedAccount


class PageSession(Payload):
    """A session that began on a hosted page, before the browser goes back to the app."""

    session_id: UUID


class RecoveryCodesPage(PageSession, tag="RECOVERY_PAGE"):
    """The page that shows recovery codes."""


class PasskeyPage(PageSession, tag="PASSKEY_PAGE"):
    """The page that adds a passkey."""
