"""Accounts, developers and their sessions."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.kernel.problems import Conflict, Forbidden, Unknown
from postern.kernel.values import Body, Record
from postern.projects.model import Project
from postern.projects.permissions import MemberRole

ACCESS_TOKEN_LIFE = timedelta(minutes=30)
REFRESH_TOKEN_LIFE = timedelta(days=30)
REFRESH_GRACE = timedelta(seconds=30)
"""How long the previous refresh token still works: a client that lost the answer may ask again."""

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
EmailText = Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
PersonName = Annotated[str, msgspec.Meta(max_length=200)]


class EmailTaken(Conflict):
    """There is a developer account with this address; sign in instead."""


class SignInFailed(Unknown):
    """The address or the password is wrong."""


class RefreshTokenInvalid(Unknown):
    """This refresh token is unknown, expired or was used before; sign in again."""


class SignUpClosed(Forbidden):
    """This server does not let strangers create accounts; ask its operator."""


class LinkInvalid(Unknown):
    """This link was used before or is too old."""


class UsedToken(Record):
    """A single-use token that has just been used up."""

    developer_id: UUID
    email: str | None
    expires_at: Moment


class Developer(Record):
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


class DeveloperView(Record):
    """What signing in tells about the person."""

    id: UUID
    email: str
    name: str
    role: MemberRole
    account_id: UUID


class Session(Record):
    """Where a developer is signed in."""

    id: UUID
    developer_id: UUID
    access_expires_at: Moment
    previous_refresh_hash: bytes | None
    refresh_hash: bytes
    rotated_at: Moment | None
    expires_at: Moment
    revoked_at: Moment | None


class SignedIn(Record):
    """The tokens of a session. Send `accessToken` as `Authorization: Bearer …`."""

    access_token: str
    access_token_expires_at: Moment
    refresh_token: str
    refresh_token_expires_at: Moment
    developer: DeveloperView
    projects: list[Project]


class SignUp(Body):
    """A new account and its owner."""

    email: EmailText
    password: Password
    name: PersonName = ""


class SignIn(Body):
    """An address and its password; `code` where a second factor is on."""

    email: EmailText
    password: Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class Refresh(Body):
    """The refresh token of a session."""

    refresh_token: Annotated[str, msgspec.Meta(max_length=200)]


class SessionOwner(Record):
    """What admitting a developer's token needs to know, in one row."""

    session_id: UUID
    developer_id: UUID
    account_id: UUID
    email: str
    role: MemberRole
    access_expires_at: Moment
    revoked_at: Moment | None
    project_is_theirs: bool
