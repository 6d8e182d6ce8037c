"""Who is asking: credentials become a Call, and an operation says what it needs.

`Authorization: Bearer <developer token | secret key | publishable key | customer token>`. Each kind is read
by the feature that issues it; `app.py` lists the readers. The order of refusals is fixed: no credential is
401, another's project is 404 exactly like an unknown one, the wrong kind or a missing permission is 403.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Database
from postern.kernel.http.problems import Forbidden, Missing, PreconditionFailed, Unauthenticated
from postern.kernel.values import NO_ID

if TYPE_CHECKING:
    from postern.world import World

Kind = Literal["developer", "secret_key", "publishable_key", "customer", "nobody"]
Environment = Literal["LIVE", "TEST"]
ActorType = Literal["CUSTOMER", "DEVELOPER", "API_KEY", "SYSTEM", "SSO", "STAFF"]


NAMED_ONLY_VERBS = frozenset(("impersonate",))
"""Verbs of permissions that no wildcard grants: a credential has them only where they are named."""


class CredentialInvalid(Unauthenticated):
    """That credential is unknown, expired or revoked."""


class CredentialMissing(Unauthenticated):
    """This needs a credential: send `Authorization: Bearer …`."""


class EmailUnverified(Forbidden):
    """Confirm your e-mail address first: open the link that was mailed to it. `POST /auth/verify-email/resend` sends
    another one; where this server captures mail, its operator reads it with `postern developers mail`."""


class CredentialNotAccepted(Forbidden):
    """This operation does not take that kind of credential."""


class PermissionMissing(Forbidden):
    """This credential lacks the permission that the operation needs."""


class ProjectMissing(Missing):
    """There is no such project."""


class RecordChanged(PreconditionFailed):
    """The record has changed since you read it; fetch it again and repeat the change."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a credential stands for, and what it may do where it was shown."""

    kind: Kind
    actor_type: ActorType = "SYSTEM"
    actor_id: UUID | None = None
    actor_label: str | None = None
    """An e-mail address or a key's name, for logs that people read."""
    account_id: UUID | None = None
    project_id: UUID | None = None
    environment: Environment = "LIVE"
    permissions: frozenset[str] = frozenset()
    credential_id: UUID | None = None
    """The session or key behind the credential."""
    project: Any = None
    """The project's row, where the reader already had it."""
    customer: Any = None
    """The customer's row, where the caller is one."""
    is_verified: bool = True
    """False for a developer who has not proven the e-mail address yet."""

    def may(self, permission: str) -> bool:
        """Whether `permission` (`area:verb`) is granted; `*` grants all, `area:*` all of an area.

        Permissions whose verb is in NAMED_ONLY_VERBS are granted by their name alone.
        """
        area, _, verb = permission.partition(":")
        if verb in NAMED_ONLY_VERBS:
            return permission in self.permissions
        return not self.permissions.isdisjoint((permission, f"{area}:*", "*"))


NOBODY = Caller(kind="nobody")

ReadCredential = Callable[["World", str, UUID | None, "Origin"], Awaitable[Caller | None]]
"""From (world, token, project asked for, origin) to the caller; None if the token is not known to the reader.

Raises ProjectMissing when the token is good but the project is not the caller's.
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from."""

    ip: str
    user_agent: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request, admitted: what every operation gets first."""

    world: "World"
    db: Database
    caller: Caller
    now: Moment
    request_id: str
    origin: Origin
    project_id: UUID = NO_ID
    """The project in the path, which the caller may see; NO_ID where the path names none."""
    if_match: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    """Headers to add to the answer."""

    @property
    def account_id(self) -> UUID:
        """The developer account of the caller."""
        return self.caller.account_id or NO_ID

    @property
    def environment(self) -> Environment:
        return self.caller.environment

    def require(self, permission: str) -> None:
        """Raises PermissionMissing unless the caller has `permission`."""
        if not self.caller.may(permission):
            raise PermissionMissing(f"This credential lacks the permission `{permission}`.")

    def require_match(self, updated_at: Moment) -> None:
        """Hold the caller to its `If-Match`: raises RecordChanged if the record is at another version.

        What a record shows of other records (a customer's sessions, an organization's counts) may have changed since.
        """
        if self.if_match in (None, "*"):
            return
        if self.if_match.strip().strip('"').partition("-")[0] != _version(updated_at):
            raise RecordChanged


def etag(updated_at: Moment, content: bytes) -> str:
    """The strong entity tag of an answer (RFC 9110 §8.8.3): the record's version, and a digest of all it shows."""
    return f'"{_version(updated_at)}-{blake2b(content, digest_size=8).hexdigest()}"'


def _version(updated_at: Moment) -> str:
    return f"{round(updated_at.timestamp() * 1_000_000):x}"
