"""Records, request bodies and problems of accounts, developers and their sessions."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    RateLimited,
    Unauthenticated,
    Unprocessable,
)
from postern.kernel.values import ONE_LINE, Body, DisplayName, Moment, Record
from postern.platform.projects.model import Project
from postern.platform.projects.permissions import MemberRole
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.security.subjects import Subject, developer

ACCESS_TOKEN_LIFE = timedelta(minutes=30)
REFRESH_TOKEN_LIFE = timedelta(days=30)
SESSIONS_LIMIT = 100
"""Maximum number of sessions of a developer; a further sign-in ends the oldest."""

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
EmailText = Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
PersonName = Annotated[
    str, msgspec.Meta(max_length=200, pattern=ONE_LINE, description="The name of a person: one line of text.")
]
NonEmptyName = DisplayName
"""The name of a developer or an account in a request that changes it: unlike a PersonName, it cannot be empty."""
AccountName = NonEmptyName
TokenText = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
CodeText = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
PasswordToCheck = Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
"""An existing password to check. It may be shorter than a new one: a short password is wrong, not invalid."""

MEMBERS_LIMIT = 1_000
"""Maximum number of members and open invitations of an account together."""
INVITATION_LIFE = timedelta(days=7)
SIGN_UP_LIFE = timedelta(days=7)
"""A sign-up is deleted if its address is not verified within this time."""


class DeveloperEmailTaken(Conflict, code="email_taken"):
    """A developer account with this address exists already. Sign in, or reset its password."""


class DeveloperSignInFailed(Unauthenticated, code="sign_in_failed"):
    """Wrong e-mail address or password. You cannot sign in to a new account before its address is verified: follow the
    link in the mail, or reset the password."""


class DeveloperRefreshTokenInvalid(Unauthenticated, code="refresh_token_invalid"):
    """This refresh token is invalid, has expired or was used before. Sign in again."""


class EmailUnverified(Forbidden):
    """Confirm your e-mail address first: open the link that was mailed to it. `POST /auth/verify-email/resend` sends
    another one; where this server captures mail, its operator reads it with `postern developers mail`."""


class DeveloperSignUpClosed(Forbidden, code="sign_up_closed"):
    """Sign-up is closed on this server. Ask its operator for an account."""


class MfaRequired(Unauthenticated):
    """This account has a second factor: send `code` too, from the authenticator app, or a recovery code."""


class LockedOut(RateLimited):
    """Too many failed attempts. Try again after the time in `Retry-After`. After wrong passwords, you can also reset
    the password by mail."""


class PasswordWrong(Forbidden):
    """The password is wrong."""


class CodeWrong(Forbidden):
    """The code is wrong, has expired, or was used before."""


class LinkInvalid(BadRequest):
    """This link is invalid, was used before, or has expired. Request a new one."""


class MfaAlreadyEnabled(Conflict):
    """A second factor is on already. Turn it off first."""


class MfaNotEnrolled(Conflict):
    """There is no second factor. Set one up with `POST /auth/mfa/totp`."""


class AccountMemberMissing(Missing, code="member_missing"):
    """There is no such member in your account."""


class AccountInvitationMissing(Missing, code="invitation_missing"):
    """There is no such open invitation in your account."""


class OwnerStays(Conflict):
    """The owner cannot leave, be removed or get another role. Transfer ownership first."""


class AlreadyOwner(Conflict):
    """This member is the owner of the account already."""


class AlreadyAccountMember(Conflict, code="already_member"):
    """This address is a member of the account already."""


class TooManyAccountMembers(Unprocessable, code="too_many_members"):
    """An account has at most 1,000 members and open invitations together."""


class OwnsAnAccount(Conflict):
    """You own an account. Transfer its ownership first, or send `deleteMyAccount: true` if you are its only member."""


class DeveloperRow(Record):
    """The stored row of a developer."""

    id: UUID
    account_id: UUID
    email: str
    name: str
    role: MemberRole
    password_hash: str
    email_verified_at: Moment | None
    mfa_enabled_at: Moment | None
    joined_at: Moment
    last_sign_in_at: Moment | None
    created_at: Moment
    updated_at: Moment

    @property
    def subject(self) -> Subject:
        """The developer as subject of the authentication engine (`security`)."""
        return developer(self.id)


class Developer(Record):
    """A developer, as sign-in returns it."""

    id: UUID
    email: str
    email_verified_at: Moment | None
    """Null until the address is verified; until then the developer can only read, and send mail that is captured and
    never delivered."""
    name: str
    role: MemberRole
    account_id: UUID


class DeveloperSessionView(Record):
    """A session of a member in an export."""

    id: UUID
    developer_id: UUID
    ip_address: str
    user_agent: str
    created_at: Moment
    rotated_at: Moment | None
    """When its tokens were last refreshed."""
    expires_at: Moment
    revoked_at: Moment | None


class DeveloperSignInResult(Record):
    """The tokens of a session. Send `accessToken` as `Authorization: Bearer …`."""

    access_token: str
    access_token_expires_at: Moment
    refresh_token: str
    refresh_token_expires_at: Moment
    developer: Developer
    projects: list[Project]


class DeveloperSignUp(Body):
    """A developer who signs up: the owner of a new account, or with an invitation a member of the inviting one."""

    email: EmailText
    password: Password
    name: PersonName = ""
    invitation_token: TokenText | None = None
    """Token from the invitation's mail; `email` must be the invited address."""


class DeveloperSignIn(Body):
    """Email address and password; `code` if a second factor is on."""

    email: EmailText
    password: Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class DeveloperTokenRefresh(Body):
    """The refresh token of a session."""

    refresh_token: Annotated[str, msgspec.Meta(max_length=200)]


class SessionOwner(Record):
    """A session and its developer, as read to authenticate an access token."""

    session_id: UUID
    developer_id: UUID
    account_id: UUID
    email: str
    role: MemberRole
    email_verified_at: Moment | None
    access_expires_at: Moment
    revoked_at: Moment | None
    owns_project: bool
    """Whether the requested project belongs to the developer's account; true if none was requested."""


class Account(Record):
    """An account, to which developers and projects belong."""

    id: UUID
    name: str
    created_at: Moment
    updated_at: Moment


class AccountMember(Record):
    """A member of an account, as other members see it."""

    id: UUID
    email: str
    name: str
    role: MemberRole
    mfa_enabled_at: Moment | None
    joined_at: Moment
    last_sign_in_at: Moment | None


InvitedRole = Literal["ADMIN", "DEVELOPER", "VIEWER"]


class AccountInvitation(Record):
    """An open invitation to an account. It is deleted when accepted or revoked."""

    id: UUID
    email: str
    role: InvitedRole
    invited_by: str
    expires_at: Moment
    created_at: Moment


class AccountInvitationRow(AccountInvitation):
    """An invitation with its account."""

    account_id: UUID
