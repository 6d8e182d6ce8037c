"""The caller of a request, and the Call that every operation gets.

`Authorization: Bearer <developer token | secret key | publishable key | customer token>`. The package that issues a
kind of credential also reads it; `app.py` lists the readers. Checks run in a fixed order. Without a valid credential
the response is 401; for another account's project it is 404, as for an unknown project; for the wrong kind of
credential or a missing permission it is 403.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from postern.kernel.database.statements import Database
from postern.kernel.http.problems import Forbidden, Missing, PreconditionFailed, Unauthenticated
from postern.kernel.values import NO_ID, Moment

if TYPE_CHECKING:
    from postern.world import World

Kind = Literal["developer", "secret_key", "publishable_key", "customer", "anonymous"]
"""The kind of a caller's credential; `anonymous` for a request without a credential."""
CREDENTIALS: dict[Kind, str] = {
    "developer": "the access token of a developer (POST /auth/sign-in)",
    "secret_key": "a secret key",
    "publishable_key": "a publishable key",
    "customer": "the access token of a customer",
    "anonymous": "a request without a credential",
}
"""What error messages call each kind, in the order in which they name several."""
Environment = Literal["LIVE", "TEST"]
ActorType = Literal["CUSTOMER", "DEVELOPER", "API_KEY", "TEST_KEY", "SYSTEM", "SSO", "SCIM", "STAFF", "SETUP_LINK"]
"""`API_KEY` is a key of the environment LIVE, `TEST_KEY` one of the environment TEST."""


NAMED_ONLY_VERBS = frozenset(("impersonate",))
"""Verbs of permissions that wildcards (`*`, `customers:*`) do not grant: such a permission must be assigned by name."""


class CredentialInvalid(Unauthenticated):
    """This credential is unknown, expired or revoked."""


class CredentialMissing(Unauthenticated):
    """This request needs a credential: send `Authorization: Bearer …`."""


class CredentialNotAccepted(Forbidden):
    """This operation does not accept this kind of credential."""

    @classmethod
    def of(cls, kind: Kind, accepted: Iterable[Kind]) -> "CredentialNotAccepted":
        """The problem of a credential of this kind at an operation that accepts the kinds `accepted`."""
        needed = " or ".join(name for other, name in CREDENTIALS.items() if other in accepted)
        return cls(f"This operation does not accept {CREDENTIALS[kind]}. It needs {needed}.")


class LiveKeyRequired(Forbidden):
    """A TEST key cannot do this, because real mail would be sent. Use a LIVE key."""


class PermissionMissing(Forbidden):
    """This credential lacks the permission that the operation needs."""


class ProjectMissing(Missing):
    """There is no such project."""


class RecordChanged(PreconditionFailed):
    """The record has changed since you read it; fetch it again and repeat the change."""


def permissions_granting(permission: str) -> frozenset[str]:
    """The permissions of which each grants `permission` (`area:verb`): `*` grants all permissions, `area:*` all of an
    area. Wildcards do not grant permissions with a verb in NAMED_ONLY_VERBS."""
    area, _, verb = permission.partition(":")
    return frozenset((permission,) if verb in NAMED_ONLY_VERBS else (permission, f"{area}:*", "*"))


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a credential, and its permissions in the requested project."""

    kind: Kind
    actor_type: ActorType = "SYSTEM"
    actor_id: UUID | None = None
    actor_label: str | None = None
    """The e-mail address or the name of the key, for audit entries."""
    account_id: UUID | None = None
    project_id: UUID | None = None
    environment: Environment = "LIVE"
    """The environment of the credential: mail of `TEST` is captured (shown in the dashboard's inbox) and not sent."""
    permissions: frozenset[str] = frozenset()
    credential_id: UUID | None = None
    """The id of the session or key."""
    rate_limit: int | None = None
    """Requests per second of the project to all processes together; None for the default of the instance."""
    acts_on_itself: bool = False
    """Whether operations let this caller reach only its own records, so that it needs no permission."""
    unverified_problem: type[Forbidden] | None = None
    """The problem that operations without `unverified` raise for this caller; None if the caller is verified."""
    restricted_problem: type[Forbidden] | None = None
    """The problem that operations without `restricted` raise for this caller; None if the caller is not restricted."""
    loaded: Any = None
    """What the reader of the credential has loaded, so that operations need not load it again. Only the package of the
    reader knows its type."""

    def may(self, permission: str) -> bool:
        """Whether `permission` (`area:verb`) is granted; see `permissions_granting`."""
        return not self.permissions.isdisjoint(permissions_granting(permission))


ANONYMOUS = Caller(kind="anonymous")

ReadCredential = Callable[["World", str, UUID | None, "Origin"], Awaitable[Caller | None]]
"""Returns the caller for (world, token, requested project, origin); None if the token is of another kind.

Raises ProjectMissing if the token is valid but has no access to the project.
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """The IP address, user agent and languages of a request."""

    ip: str
    user_agent: str
    accept_language: str = ""
    """The `Accept-Language` header."""
    language: str = ""
    """The language that the person chose, or the languages that a client asks for: `lang` or `ui_locales` of the query,
    as sent."""
    is_visitor: bool = True
    """Whether address and user agent are those of the visitor, as far as this is known: not for a request of a
    project's server that does not name them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request with a checked credential; the first argument of every operation."""

    world: "World"
    db: Database
    caller: Caller
    now: Moment
    request_id: str
    origin: Origin
    project_id: UUID = NO_ID
    """The project in the path, to which the caller has access; NO_ID if the path has none."""
    if_match: str | None = None
    """The `If-Match` header of the request."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    """Headers to add to the response."""

    @property
    def account_id(self) -> UUID:
        """The developer account of the caller; NO_ID if it has none."""
        return self.caller.account_id or NO_ID

    def require(self, permission: str) -> None:
        """Raise PermissionMissing unless the caller has `permission`."""
        if not self.caller.may(permission):
            raise PermissionMissing(f"This credential lacks the permission `{permission}`.")

    def require_live(self, action: str) -> None:
        """Raise LiveKeyRequired for a TEST key. `action` says in the message what the key cannot do: "activate an
        automation"."""
        if self.caller.environment == "TEST":
            raise LiveKeyRequired(f"A TEST key cannot {action}, because real mail would be sent. Use a LIVE key.")

    def require_match(self, updated_at: Moment) -> None:
        """Raise RecordChanged if the `If-Match` header is sent and does not match the record's version.

        Only the record itself is compared, not what it includes from other records (sessions, counts).
        """
        if self.if_match in (None, "*"):
            return
        if self.if_match.strip().strip('"').partition("-")[0] != _version(updated_at):
            raise RecordChanged


def etag(updated_at: Moment, content: bytes) -> str:
    """The strong entity tag of a response (RFC 9110 §8.8.3), in quotes: the record's version and a digest of the
    content."""
    return f'"{_version(updated_at)}-{blake2b(content, digest_size=8).hexdigest()}"'


def content_etag(content: bytes) -> str:
    """The strong entity tag of a response that is not one record, in quotes: a digest of the content."""
    return f'"{blake2b(content, digest_size=16).hexdigest()}"'


def is_none_match(header: str | None, tag: str) -> bool:
    """Whether a response with the entity tag `tag` must be sent completely, according to the `If-None-Match` header
    (RFC 9110 §13.1.2). Tags are compared weakly, without `W/`."""
    if header is None:
        return True
    tags = [sent.strip().removeprefix("W/") for sent in header.split(",")]
    return tag not in tags and tags != ["*"]


def _version(updated_at: Moment) -> str:
    return f"{round(updated_at.timestamp() * 1_000_000):x}"
