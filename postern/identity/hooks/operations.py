"""Operations on sign-in hooks."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.hooks import store
from postern.identity.hooks.calling import AnswerInvalid, request_answer, secret_context
from postern.identity.hooks.model import (
    HookExists,
    HookFailure,
    HookMissing,
    HookRow,
    HookSecretRotation,
    NewHookRow,
    NewSignInHook,
    SignInHook,
    SignInHookChange,
    SignInHookTest,
    SignInHookWithSecret,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.outbound.ssrf import AddressRefused, check_target, read_target
from postern.kernel.values import Moment, build_view, fields_set, new_id, to_plain
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.model import SignInHookKind
from postern.security.signatures import new_webhook_secret

EXAMPLES: dict[SignInHookKind, dict[str, Any]] = {
    "BEFORE_SIGN_UP": {"email": "test@example.com", "name": "Test", "method": "TEST"},
    "BEFORE_TOKEN": {"trigger": "TEST", "claims": {"sub": str(UUID(int=0)), "email": "test@example.com"}},
    "MIGRATION": {"email": "test@example.com", "password": "not a password"},
}
"""The data of test calls."""


@get("/projects/{project_id}/sign-in-hooks", needs="projects:read")
async def list_sign_in_hooks(call: Call) -> list[SignInHook]:
    """List the project's sign-in hooks with their last failures, without secrets."""
    return [_view(row) for row in await store.hooks(call.db, project_id=call.project_id)]


@post(
    "/projects/{project_id}/sign-in-hooks",
    needs="projects:write",
    status=201,
    problems=[HookExists],
    example={"kind": "BEFORE_TOKEN", "url": "https://example.com/hooks/before-token"},
)
async def create_sign_in_hook(call: Call, data: NewSignInHook) -> SignInHookWithSecret:
    """Let a URL of your server take part in sign-ups and sign-ins. A project has at most one hook of each kind.

    `BEFORE_SIGN_UP` is called before a person creates an account, `BEFORE_TOKEN` before an access token is issued,
    `MIGRATION` when a person signs in with a password and has none here. Requests are signed according to Standard
    Webhooks with the `secret`, which is returned only here and by a rotation. The answer must arrive within
    `timeoutMs`; otherwise `onFailure` applies.
    """
    _check_url(call, data.url)
    secret = new_webhook_secret()
    row = NewHookRow(
        project_id=call.project_id,
        kind=data.kind,
        id=new_id(),
        url=data.url,
        active=data.active,
        on_failure=data.on_failure,
        timeout_ms=data.timeout_ms,
        sealed_secret=call.world.secrets.seal(secret.encode(), secret_context(call.project_id, data.kind)),
        created_at=call.now,
        updated_at=call.now,
    )
    async with call.db.transaction() as tx:
        hook = await store.insert_hook(tx, row)
        if hook is None:
            raise HookExists
        await _publish_kinds(tx, call)
        await audit.record(tx, call, "sign_in_hook.created", "SignInHook", hook.id, kind=hook.kind, url=hook.url)
    return _with_secret(hook, secret)


@get("/projects/{project_id}/sign-in-hooks/{kind}", needs="projects:read", problems=[HookMissing])
async def get_sign_in_hook(call: Call, kind: SignInHookKind) -> SignInHook:
    """Get a sign-in hook with its last failures, without the secret."""
    return _view(require_found(await store.hook(call.db, project_id=call.project_id, kind=kind), HookMissing))


@patch(
    "/projects/{project_id}/sign-in-hooks/{kind}",
    needs="projects:write",
    problems=[HookMissing],
    example={"onFailure": "CONTINUE", "timeoutMs": 1_000},
)
async def change_sign_in_hook(call: Call, kind: SignInHookKind, data: SignInHookChange) -> SignInHook:
    """Change a sign-in hook. If it was paused after failures, it is called again. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        hook = await _lock(tx, call, kind)
        call.require_match(hook.updated_at)
        hook = msgspec.structs.replace(hook, **fields_set(data))
        _check_url(call, hook.url)
        hook = await store.change_hook(tx, hook, now=call.now)
        await _publish_kinds(tx, call)
        await audit.record(
            *(tx, call, "sign_in_hook.updated", "SignInHook", hook.id),
            kind=kind,
            **to_plain(fields_set(data)),
        )
    return _view(hook)


@delete("/projects/{project_id}/sign-in-hooks/{kind}", needs="projects:write", problems=[HookMissing])
async def delete_sign_in_hook(call: Call, kind: SignInHookKind) -> SignInHook:
    """Delete a sign-in hook. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        hook = await _lock(tx, call, kind)
        call.require_match(hook.updated_at)
        await store.delete_hook(tx, project_id=call.project_id, kind=kind)
        await _publish_kinds(tx, call)
        await audit.record(tx, call, "sign_in_hook.deleted", "SignInHook", hook.id, kind=kind)
    return _view(hook)


@post(
    "/projects/{project_id}/sign-in-hooks/{kind}/rotate-secret",
    needs="projects:write",
    problems=[HookMissing],
    example={"gracePeriodSeconds": 86_400},
)
async def rotate_sign_in_hook_secret(
    call: Call, kind: SignInHookKind, data: HookSecretRotation | None = None
) -> SignInHookWithSecret:
    """Rotate the secret of a hook. The new secret is returned only here.

    The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours). If an even older secret
    still signs, it becomes invalid immediately.
    """
    secret = new_webhook_secret()
    grace = timedelta(seconds=(data or HookSecretRotation()).grace_period_seconds)
    async with call.db.transaction() as tx:
        await _lock(tx, call, kind)
        hook = await store.rotate_secret(
            tx,
            project_id=call.project_id,
            kind=kind,
            sealed_secret=call.world.secrets.seal(secret.encode(), secret_context(call.project_id, kind)),
            expires_at=Moment.of(call.now + grace),
            now=call.now,
        )
        await audit.record(tx, call, "sign_in_hook.secret_rotated", "SignInHook", hook.id, kind=kind)
    return _with_secret(hook, secret)


@post("/projects/{project_id}/sign-in-hooks/{kind}/test", needs="projects:write", problems=[HookMissing])
async def test_sign_in_hook(call: Call, kind: SignInHookKind) -> SignInHookTest:
    """Call a hook now with example data (`data.test` is true), and return whether its answer is valid.

    The call is made once, even if the hook is inactive or paused. Nothing is recorded.
    """
    hook = require_found(await store.hook(call.db, project_id=call.project_id, kind=kind), HookMissing)
    try:
        answer, response = await request_answer(call, hook, {**EXAMPLES[kind], "test": True})
    except AnswerInvalid as invalid:
        return SignInHookTest(
            ok=False,
            status=invalid.status,
            response_time=invalid.milliseconds or 0.0,
            reason=invalid.reason,
            answer=None,
        )
    return SignInHookTest(
        ok=True,
        status=response.status,
        response_time=round(response.seconds * 1_000, 1),
        reason=None,
        answer=to_plain(answer),
    )


async def _lock(tx: Transaction, call: Call, kind: SignInHookKind) -> HookRow:
    return require_found(await store.lock_hook(tx, project_id=call.project_id, kind=kind), HookMissing)


async def _publish_kinds(tx: Transaction, call: Call) -> None:
    """Write the kinds of the active hooks to the project's settings, where sign-ins read them."""
    hooks = await store.hooks(tx, project_id=call.project_id)
    await projects.set_sign_in_hooks(tx, call, [hook.kind for hook in hooks if hook.active])


def _check_url(call: Call, url: str) -> None:
    """Raise Invalid for a URL that is not allowed. Requests have passwords and addresses, so they need TLS, except to
    the networks that the operator of this server has allowed."""
    try:
        check_target(url, call.world.settings.outbound_allow)
        target = read_target(url)
    except AddressRefused as refused:
        raise Invalid.at("/url", str(refused), "url_refused") from None
    if not target.secure and not target.known_addresses:
        raise Invalid.at("/url", "The URL must begin with https://.", "url_refused")


def _view(row: HookRow) -> SignInHook:
    return build_view(SignInHook, row, paused_until=row.retry_at, recent_failures=_failures(row))


def _with_secret(row: HookRow, secret: str) -> SignInHookWithSecret:
    return build_view(
        SignInHookWithSecret, row, paused_until=row.retry_at, recent_failures=_failures(row), secret=secret
    )


def _failures(row: HookRow) -> list[HookFailure]:
    return [build_view(HookFailure, failure, at=Moment.of(failure.at)) for failure in row.recent_failures]
