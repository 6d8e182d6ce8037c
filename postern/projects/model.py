"""Projects, their settings, and API keys."""

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.credentials import Environment
from postern.kernel.problems import Missing, Unprocessable
from postern.kernel.values import Body, Record

KeyType = Literal["SECRET", "PUBLISHABLE"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="A name for people.")]
HostName = Annotated[str, msgspec.Meta(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.:_-]+$")]

SEED_LIST_LIMIT = 50
KEYS_PER_PROJECT = 1_000
RELAYS_PER_PROJECT = 8


class ApiKeyMissing(Missing):
    """There is no such API key."""


class TooManyKeys(Unprocessable):
    """A project has at most 1,000 API keys; delete some first."""


class Relay(Body):
    """A smart host that takes the project's mail."""

    host: HostName
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)] = 587
    tls: Literal["none", "starttls", "starttls-required", "implicit"] = "starttls-required"
    username: Annotated[str, msgspec.Meta(max_length=320)] | None = None
    password: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    """Never shown again: reads as `********`; sending that back keeps it."""
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    messages_per_second: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None


class ProjectSettings(Record):
    """What a project may set for itself. Null means the instance's default."""

    transport: Literal["capture", "relay"] | None = None
    relays: list[Relay] | None = None
    tracking_domain: str | None = None
    track_opens: bool = True
    track_clicks: bool = True
    seed_list: list[str] | None = None
    retention_days: int | None = None
    """How long bodies of sent messages are kept; null is the instance's default (30 days)."""
    on_ambiguous: Literal["retry", "hold"] = "retry"
    rate_limit: int | None = None
    """Requests a second; null is the instance's default."""
    extra: dict[str, Any] = {}
    """Settings of features that keep their own shape (sign-in methods, contact creation …)."""


class Project(Record):
    """A project: the tenant that everything else belongs to."""

    id: UUID
    account_id: UUID
    name: str
    settings: ProjectSettings
    created_at: Moment
    updated_at: Moment


class ApiKey(Record):
    """A key that speaks for one project. `key` is whole only in the answer to its creation."""

    id: UUID
    name: str
    type: KeyType
    environment: Environment
    key: str
    permissions: list[str] | None
    """Null: everything of the project, nothing of the account."""
    ip_allow_list: list[str] | None
    expires_at: Moment | None
    last_used_at: Moment | None
    created_at: Moment


class KeyInUse(Record):
    """What admitting a key needs to know, in one row."""

    id: UUID
    project_id: UUID
    account_id: UUID
    name: str
    type: KeyType
    environment: Environment
    permissions: list[str] | None
    ip_allow_list: list[str] | None
    expires_at: Moment | None
    last_used_at: Moment | None
    settings: ProjectSettings
