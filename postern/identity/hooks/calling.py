"""Calls of sign-in hooks: a signed request, the check of the answer, and what happens without a valid one.

    is the kind on? → is the hook paused, or are too many calls running? → POST within the time limit
        → valid answer → returned
        → failure → recorded → CONTINUE: None | REFUSE: HookFailed

A hook that fails repeatedly is paused, so that sign-ins do not wait for a server that is down. No transaction may be
open during a call.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import msgspec

from postern.identity.hooks import store
from postern.identity.hooks.model import (
    ANSWER_BYTES_LIMIT,
    CLAIMS_LIMIT,
    FAILURES_BEFORE_PAUSE,
    METADATA_LIMIT,
    PAUSE,
    REASON_CHARACTERS,
    RECENT_FAILURES,
    RESERVED_CLAIMS,
    RUNNING_CALLS_LIMIT,
    HookFailed,
    HookRefused,
    HookRow,
    MigrationAnswer,
    SignUpAnswer,
    StoredFailure,
    TokenAnswer,
)
from postern.kernel.database.statements import Jsonb
from postern.kernel.http.call import Call
from postern.kernel.http.handler import read_json
from postern.kernel.http.problems import Problem
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse
from postern.kernel.values import Body, Moment, new_id, to_json, to_plain
from postern.platform.events import operations as events
from postern.platform.projects.model import SignInHookKind
from postern.security.signatures import webhook_headers
from postern.web.languages import language_of

if TYPE_CHECKING:
    from postern.world import World

A = TypeVar("A", bound=Body)
ANSWERS: Mapping[SignInHookKind, type[Body]] = {
    "BEFORE_SIGN_UP": SignUpAnswer,
    "BEFORE_TOKEN": TokenAnswer,
    "MIGRATION": MigrationAnswer,
}


class RunningCalls:
    """The number of running calls of each hook in this process."""

    def __init__(self, _world: "World") -> None:
        self.numbers: Counter[UUID] = Counter()

    async def aclose(self) -> None:
        """Nothing to close: requests end with the outbound client."""


class AnswerInvalid(Exception):
    """A hook gave no valid answer. The message is for developers."""

    def __init__(self, reason: str, *, status: int | None = None, milliseconds: float | None = None) -> None:
        super().__init__(reason)
        # It may quote the answer, with characters that PostgreSQL does not store.
        self.reason = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in reason)
        self.status, self.milliseconds = status, milliseconds


async def before_sign_up(
    call: Call, active: Sequence[SignInHookKind], *, email: str | None, name: str | None, method: str
) -> SignUpAnswer:
    """The answer of the hook BEFORE_SIGN_UP, or one that allows the sign-up if there is none.

    `active` are the kinds that are on (`settings.signIn.hooks`). Call it whether or not the address has an account, so
    that the duration does not reveal it. Raises HookRefused and HookFailed.
    """
    data = {"email": email, "name": name, "method": method, **_origin_of(call)}
    answer = await _call_hook(call, active, "BEFORE_SIGN_UP", SignUpAnswer, data)
    if answer is None:
        return SignUpAnswer()
    if not answer.allow:
        raise HookRefused(answer.message)
    return answer


async def token_claims(
    call: Call, active: Sequence[SignInHookKind], trigger: str, claims: Mapping[str, Any]
) -> dict[str, Any]:
    """The contents of the claim `ext` for a token with these claims; empty without a hook BEFORE_TOKEN.

    `trigger` is why the token is issued: SIGN_IN, REFRESH or OAUTH. Raises HookRefused and HookFailed.
    """
    data = {"trigger": trigger, "claims": claims, **_origin_of(call)}
    answer = await _call_hook(call, active, "BEFORE_TOKEN", TokenAnswer, data)
    if answer is None:
        return {}
    if not answer.allow:
        raise HookRefused(answer.message)
    return answer.claims


async def ask_old_system(
    call: Call, active: Sequence[SignInHookKind], email: str, password: str
) -> MigrationAnswer | None:
    """The answer of the hook MIGRATION about an address and a password; None without one. Raises HookFailed."""
    return await _call_hook(
        call, active, "MIGRATION", MigrationAnswer, {"email": email, "password": password, **_origin_of(call)}
    )


async def reject_answer(call: Call, kind: SignInHookKind, reason: str) -> None:
    """Record that a valid answer cannot be used, which counts as a failure. Raises HookFailed if the hook's rule is
    REFUSE."""
    hook = await store.hook(call.db, project_id=call.project_id, kind=kind)
    if hook is not None:
        await _record_failure(call, hook, AnswerInvalid(reason))
        if hook.on_failure == "REFUSE":
            raise HookFailed


async def time_limit(call: Call, kind: SignInHookKind) -> float:
    """The time limit of a hook in seconds; 0 if there is none."""
    hook = await store.hook(call.db, project_id=call.project_id, kind=kind)
    return 0.0 if hook is None or not hook.active else hook.timeout_ms / 1_000


async def request_answer(call: Call, hook: HookRow, data: Mapping[str, Any]) -> tuple[Body, OutboundResponse]:
    """Call a hook once, and check the answer. Raises AnswerInvalid."""
    body = to_json({"type": hook.kind, "timestamp": call.now, "data": {"projectId": call.project_id, **data}})
    context = secret_context(hook.project_id, hook.kind)
    secrets = [call.world.secrets.open(hook.sealed_secret, context).decode()]
    expires_at = hook.previous_secret_expires_at
    if hook.previous_sealed_secret is not None and expires_at is not None and expires_at > call.now:
        secrets.append(call.world.secrets.open(hook.previous_sealed_secret, context).decode())
    headers = {"Content-Type": "application/json", **webhook_headers(str(new_id()), call.now, body, secrets)}
    try:
        async with asyncio.timeout(hook.timeout_ms / 1_000):
            outcome = await call.world.outbound.post(hook.url, body, headers=headers, keep=ANSWER_BYTES_LIMIT)
    except TimeoutError:
        raise AnswerInvalid(
            f"No complete response within {hook.timeout_ms} ms.", milliseconds=hook.timeout_ms
        ) from None
    milliseconds = round(outcome.seconds * 1_000, 1)
    if not isinstance(outcome, OutboundResponse):
        reason = f"Not called: {outcome.reason}" if isinstance(outcome, OutboundRefused) else outcome.reason
        raise AnswerInvalid(reason, milliseconds=milliseconds)
    try:
        return _read_answer(hook.kind, outcome), outcome
    except AnswerInvalid as invalid:
        raise AnswerInvalid(invalid.reason, status=outcome.status, milliseconds=milliseconds) from None


def secret_context(project_id: UUID, kind: SignInHookKind) -> str:
    """The context with which the secret of a hook is encrypted: it cannot be decrypted for another one."""
    return f"sign-in-hook:{project_id}:{kind}"


async def _call_hook(
    call: Call, active: Sequence[SignInHookKind], kind: SignInHookKind, _answer_type: type[A], data: Mapping[str, Any]
) -> A | None:
    """The answer of a hook; None if there is none, or it failed and its rule is CONTINUE. Raises HookFailed."""
    if kind not in active:
        return None
    hook = await store.hook(call.db, project_id=call.project_id, kind=kind)
    if hook is None or not hook.active:
        return None
    try:
        answer = await _call_within_limits(call, hook, data)
    except AnswerInvalid:
        if hook.on_failure == "REFUSE":
            raise HookFailed from None
        return None
    assert isinstance(answer, _answer_type)
    return answer


async def _call_within_limits(call: Call, hook: HookRow, data: Mapping[str, Any]) -> Body:
    """Call a hook unless it is paused or too many calls are running, and record the result. Raises AnswerInvalid."""
    is_retry = hook.retry_at is not None
    if is_retry and not await store.claim_retry(
        call.db, project_id=hook.project_id, kind=hook.kind, now=call.now, next_at=Moment.of(call.now + PAUSE)
    ):
        raise AnswerInvalid("The hook is paused after repeated failures.")
    running = call.world.resources[RunningCalls].numbers
    if running[hook.id] >= RUNNING_CALLS_LIMIT:
        raise AnswerInvalid(f"{RUNNING_CALLS_LIMIT} calls of this hook are running already.")
    running[hook.id] += 1
    try:
        answer, _ = await request_answer(call, hook, data)
    except AnswerInvalid as invalid:
        await _record_failure(call, hook, invalid)
        raise
    finally:
        running[hook.id] -= 1
        if not running[hook.id]:
            del running[hook.id]
    if hook.failures:
        async with call.db.transaction() as tx:
            if await store.record_recovery(tx, project_id=hook.project_id, kind=hook.kind) and is_retry:
                await events.record_all(
                    tx, [events.make_event(hook.project_id, "hook.recovered", hook.id, call.now, kind=hook.kind)]
                )
    return answer


async def _record_failure(call: Call, hook: HookRow, invalid: AnswerInvalid) -> None:
    """Record a failure, and the event `hook.failed` if it begins a pause."""
    failure = StoredFailure(
        at=call.now,
        reason=invalid.reason[:REASON_CHARACTERS],
        status=invalid.status,
        response_time=invalid.milliseconds,
    )
    async with call.db.transaction() as tx:
        count = await store.record_failure(
            tx,
            project_id=hook.project_id,
            kind=hook.kind,
            failure=Jsonb(to_plain(failure)),
            failures_before_pause=FAILURES_BEFORE_PAUSE,
            retry_at=Moment.of(call.now + PAUSE),
            limit=RECENT_FAILURES,
            now=call.now,
        )
        if count is not None and count.failures == FAILURES_BEFORE_PAUSE:
            event = events.make_event(
                hook.project_id, "hook.failed", hook.id, call.now, kind=hook.kind, reason=failure.reason
            )
            await events.record_all(tx, [event])


def _read_answer(kind: SignInHookKind, response: OutboundResponse) -> Body:
    """The answer in a response. An empty one allows a sign-up or token. Raises AnswerInvalid."""
    if not response.ok:
        raise AnswerInvalid(f"The endpoint responded with {response.status}.")
    if not response.complete:
        raise AnswerInvalid(f"The answer is larger than {ANSWER_BYTES_LIMIT} bytes.")
    body = response.body.strip() or b"{}"
    try:
        answer = read_json(msgspec.json.Decoder(ANSWERS[kind]), body)
    except Problem as problem:
        errors = "; ".join(f"{error.path} {error.message}" for error in problem.errors)
        raise AnswerInvalid(f"The answer is not valid: {errors or problem.detail}") from None
    if isinstance(answer, TokenAnswer):
        _check_claims(answer.claims)
    if isinstance(answer, SignUpAnswer) and len(msgspec.json.encode(answer.metadata)) > METADATA_LIMIT:
        raise AnswerInvalid(f"/metadata is larger than {METADATA_LIMIT} bytes as JSON.")
    return answer


def _check_claims(claims: Mapping[str, Any]) -> None:
    if reserved := sorted(RESERVED_CLAIMS & claims.keys()):
        raise AnswerInvalid(f"/claims must not contain `{reserved[0]}`, which is the name of a claim of its own.")
    if len(msgspec.json.encode(claims)) > CLAIMS_LIMIT:
        raise AnswerInvalid(f"/claims is larger than {CLAIMS_LIMIT} bytes as JSON.")


def _origin_of(call: Call) -> dict[str, Any]:
    """What a hook learns about the request."""
    return {
        "ipAddress": call.origin.ip,
        "userAgent": call.origin.user_agent,
        "language": language_of(call.origin),
    }
