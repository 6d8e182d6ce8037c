"""Accounts, developers and their sessions."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    RateLimited,
    Unauthenticated,
    Unprocessable,
)
from postern.kernel.values import ONE_LINE, Body, NameForPeople, Record
from postern.platform.projects.model import Project
from postern.platform.projects.permissions import MemberRole
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.security.subjects import Subject, developer

ACCESS_TOKEN_LIFE = timedelta(minutes=30)
REFRESH_TOKEN_LIFE = timedelta(days=30)
SESSIONS_LIMIT = 100
"""Live sessions of one developer; the oldest ends when one more begins."""

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
EmailText = Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
PersonName = Annotated[
    str, msgspec.Meta(max_length=200, pattern=ONE_LINE, description="A name for people: one line of text.")
]
NewName = NameForPeople
"""A person's name once it is given: it cannot be changed to nothing."""
AccountName = NewName
TokenText = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
CodeText = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
GivenPassword = Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]

MEMBERS_LIMIT = 1_000
"""Members and open invitations of one account together."""
INVITATION_LIFE = timedelta(days=7)
SIGN_UP_LIFE = timedelta(days=7)
"""How long a sign-up waits for its address to be proven; then it is deleted."""


class DeveloperEmailTaken(Conflict, code="email_taken"):
    """There is a developer account with this address; sign in instead."""


class DeveloperSignInFailed(Unauthenticated, code="sign_in_failed"):
    """Wrong e-mail address or password. A new account is open once its address is confirmed: follow the link in the
    mail, or reset the password."""


class DeveloperRefreshTokenInvalid(Unauthenticated, code="refresh_token_invalid"):
    """This refresh token is unknown, expired or was used before; sign in again."""


class DeveloperSignUpClosed(Forbidden, code="sign_up_closed"):
    """This server does not let strangers create accounts; ask its operator."""


class MfaRequired(Unauthenticated):
    """The password is right; send the `code` of the authenticator app, or a recovery code, as well."""


class LockedOut(RateLimited):
    """Too many failed sign-ins; wait, or reset the password by mail."""


class PasswordWrong(Forbidden):
    """The password is wrong."""


class CodeWrong(Forbidden):
    """The code is wrong, too old, or was used before."""


class LinkInvalid(BadRequest):
    """This link is unknown, was used before, or is too old; ask for a new one."""


class MfaAlreadyEnabled(Conflict):
    """A second factor is on already; turn it off first."""


class MfaNotEnrolled(Conflict):
    """No second factor is being set up or on; begin with `POST /auth/mfa/totp`."""


class AccountMemberMissing(Missing, code="member_missing"):
    """There is no such member in your account."""


class AccountInvitationMissing(Missing, code="invitation_missing"):
    """There is no such open invitation in your account."""


class OwnerStays(Conflict):
    """The owner cannot leave, be removed or be given another role; transfer ownership first."""


class AlreadyOwner(Conflict):
    """This member owns the account already."""


class AlreadyAccountMember(Conflict, code="already_member"):
    """This address is a member of the account already."""


class TooManyAccountMembers(Unprocessable, code="too_many_members"):
    """An account has at most 1,000 members and open invitations together."""


class OwnsAnAccount(Conflict):
    """You own an account. Transfer it first, or send `deleteMyAccount: true` if nobody else is in it."""


class DeveloperRow(Record):
    """A person with an account; `passwordHash` never leaves the server."""

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
        """The developer, as the authentication engine names them."""
        return developer(self.id)


class Developer(Record):
    """What signing in tells about the person."""

    id: UUID
    email: str
    email_verified_at: Moment | None
    """Null until the address is proven; until then almost nothing can be done."""
    name: str
    role: MemberRole
    account_id: UUID


class DeveloperSessionView(Record):
    """Where a member is or was signed in, as an export shows it."""

    id: UUID
    developer_id: UUID
    ip_address: str
    user_agent: str
    created_at: Moment
    rotated_at: Moment | None
    """When it was last prolonged."""
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
    """A new account and its owner; with an invitation, a new member of the account that sent it."""

    email: EmailText
    password: Password
    name: PersonName = ""
    invitation_token: TokenText | None = None
    """From the invitation's mail; the address must be the invited one."""


class DeveloperSignIn(Body):
    """An address and its password; `code` where a second factor is on."""

    email: EmailText
    password: Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class DeveloperTokenRefresh(Body):
    """The refresh token of a session."""

    refresh_token: Annotated[str, msgspec.Meta(max_length=200)]


class SessionOwner(Record):
    """What admitting a developer's token needs to know, in one row."""

    session_id: UUID
    developer_id: UUID
    account_id: UUID
    email: str
    role: MemberRole
    email_verified_at: Moment | None
    access_expires_at: Moment
    revoked_at: Moment | None
    project_is_theirs: bool


class UsedToken(Record):
    """What a token from a mail stood for."""

    developer_id: UUID
    email: str | None


class Account(Record):
    """An account: members, and the projects they share."""

    id: UUID
    name: str
    created_at: Moment
    updated_at: Moment


class AccountMember(Record):
    """A developer as others of the account see them."""

    id: UUID
    email: str
    name: str
    role: MemberRole
    mfa_enabled_at: Moment | None
    joined_at: Moment
    last_sign_in_at: Moment | None


InvitedRole = Literal["ADMIN", "DEVELOPER", "VIEWER"]


class AccountInvitation(Record):
    """An open invitation to an account; it is gone once accepted or revoked."""

    id: UUID
    email: str
    role: InvitedRole
    invited_by: str
    expires_at: Moment
    created_at: Moment


class AccountInvitationRow(AccountInvitation):
    """An invitation with the account it leads to."""

    account_id: UUID
