"""Records, limits, answers and problems of sign-in hooks."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.problems import Conflict, Forbidden, Missing, ProblemError, Unavailable
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp
from postern.platform.projects.model import SignInHookKind

FailureRule = Literal["CONTINUE", "REFUSE"]
"""What happens if the hook does not give a valid answer in time. CONTINUE: as if there was no hook; REFUSE: the sign-up
or sign-in fails with `hook_failed`."""
TIMEOUT_MS_LIMITS = (100, 5_000)
ANSWER_BYTES_LIMIT = 65_536
CLAIMS_LIMIT = 2_048
"""Maximum size of the claim `ext` as JSON, in bytes."""
METADATA_LIMIT = 16_384
"""Maximum size of the metadata of a customer as JSON, in bytes."""
RUNNING_CALLS_LIMIT = 50
"""Maximum number of concurrent calls of one hook in one process. Further ones fail at once."""
FAILURES_BEFORE_PAUSE = 5
"""After this number of successive failures, the hook is not called for PAUSE; then one call tries it again."""
PAUSE = timedelta(seconds=30)
RECENT_FAILURES = 20
REASON_CHARACTERS = 300
SECRET_GRACE_PERIOD = timedelta(hours=24)
GRACE_SECONDS_LIMIT = 7 * 86_400
RESERVED_CLAIMS = frozenset(
    (
        *("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "sid", "auth_time", "amr", "acr", "azp", "nonce", "cnf"),
        *("client_id", "scope", "act", "may_act", "roles", "permissions", "permissions_url", "org", "email"),
        *("email_verified", "metadata", "metadata_omitted", "ext"),
    )
)
"""Names that have a meaning in tokens, and so must not be used within the claim `ext`, where programs that copy its
values to the top level would take them for ours."""


class HookMissing(Missing):
    """This project has no such hook."""


class HookExists(Conflict):
    """This project has a hook of this kind already; change it instead."""


class HookRefused(Forbidden):
    """This app does not allow this account. Contact its support."""

    def __init__(self, message: str | None = None, *, errors: list[ProblemError] | None = None) -> None:
        """`message` is that of the hook for the customer; pages show it as it is."""
        super().__init__(message, errors=errors)
        self.for_people = message


class HookFailed(Unavailable):
    """A server of this app, on which the sign-in depends, does not respond as it should. Try again later."""

    retry_after_seconds = int(PAUSE.total_seconds())


class FailureFields(Record):
    """Why a call of a hook has failed."""

    reason: str
    status: int | None
    """The HTTP status; null if there was no response."""
    response_time: float | None
    """In milliseconds; null if no request was made."""


class HookFailure(FailureFields):
    """A call of a hook without a valid answer."""

    at: Moment


class StoredFailure(FailureFields):
    """An entry of `sign_in_hooks.recent_failures`."""

    at: Timestamp


class HookRow(Record):
    """A row of `sign_in_hooks`."""

    project_id: UUID
    kind: SignInHookKind
    id: UUID
    url: str
    active: bool
    on_failure: FailureRule
    timeout_ms: int
    sealed_secret: bytes
    previous_sealed_secret: bytes | None
    previous_secret_expires_at: Moment | None
    failures: int
    failing_since: Moment | None
    retry_at: Moment | None
    """Until when the hook is not called, because it failed repeatedly."""
    recent_failures: list[StoredFailure]
    created_at: Moment
    updated_at: Moment


class NewHookRow(Record):
    """A row of `sign_in_hooks` to insert."""

    project_id: UUID
    kind: SignInHookKind
    id: UUID
    url: str
    active: bool
    on_failure: FailureRule
    timeout_ms: int
    sealed_secret: bytes
    created_at: Moment
    updated_at: Moment


class SignInHook(Record):
    """A URL of your server that is called in a sign-up or sign-in."""

    id: UUID
    kind: SignInHookKind
    url: str
    active: bool
    on_failure: FailureRule
    """What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503 `hook_failed`."""
    timeout_ms: int
    """How long a call may take, in milliseconds."""
    previous_secret_expires_at: Moment | None
    failures: int
    """Number of successive failures; 0 if the last call succeeded."""
    failing_since: Moment | None
    paused_until: Moment | None
    """Until when the hook is not called after repeated failures, and `onFailure` applies at once; or null."""
    recent_failures: list[HookFailure]
    """The last 20 failures, newest first."""
    created_at: Moment
    updated_at: Moment


class SignInHookWithSecret(SignInHook):
    """A hook with its secret, which only the responses to creation and rotation contain."""

    secret: str


class SignInHookTest(Record):
    """The result of a test call."""

    ok: bool
    """Whether the answer is valid."""
    status: int | None
    """The HTTP status; null if there was no response."""
    response_time: float
    """In milliseconds."""
    reason: str | None
    """Why the call failed; null if it succeeded."""
    answer: dict[str, Any] | None
    """The answer of the hook, if it is valid."""


HookUrl = Annotated[str, msgspec.Meta(min_length=1, max_length=2_048, description="An https URL.")]
TimeoutMs = Annotated[int, msgspec.Meta(ge=TIMEOUT_MS_LIMITS[0], le=TIMEOUT_MS_LIMITS[1])]


class NewSignInHook(Body):
    """A hook to create."""

    kind: SignInHookKind
    url: HookUrl
    active: bool = True
    on_failure: FailureRule = "REFUSE"
    timeout_ms: TimeoutMs = 2_000
    """How long a call may take, in milliseconds."""


class SignInHookChange(Body):
    """Fields to change; omitted fields keep their values."""

    url: HookUrl | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    on_failure: FailureRule | UnsetType = UNSET
    timeout_ms: TimeoutMs | UnsetType = UNSET
    """How long a call may take, in milliseconds."""


class HookSecretRotation(Body):
    """How to rotate a secret."""

    grace_period_seconds: Annotated[int, msgspec.Meta(ge=0, le=GRACE_SECONDS_LIMIT)] = int(
        SECRET_GRACE_PERIOD.total_seconds()
    )
    """How long the old secret signs in addition to the new one, in seconds; 0 to 604,800 (7 days)."""


CustomerMessage = Annotated[str, msgspec.Meta(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f\x7f]+(?!\n)$")]


class SignUpAnswer(Body):
    """The answer to BEFORE_SIGN_UP."""

    allow: bool = True
    message: CustomerMessage | None = None
    """What the customer reads if `allow` is false, in the language in `data.language`."""
    name: DisplayName | None = None
    """The name of the new customer, instead of the entered one."""
    metadata: dict[str, Any] = {}
    """Metadata of the new customer."""


class TokenAnswer(Body):
    """The answer to BEFORE_TOKEN."""

    allow: bool = True
    message: CustomerMessage | None = None
    """What the customer reads if `allow` is false."""
    claims: dict[str, Any] = {}
    """The contents of the claim `ext` of the access token."""


class MigrationAnswer(Body):
    """The answer to MIGRATION."""

    authenticated: bool
    """Whether the other system has an account with this address and password."""
    customer: msgspec.Raw = msgspec.Raw()
    """The account, unless `authenticated` is false, as a row of `customers/import/rows` without `passwordHash`."""
