"""Sign-in hooks before a sign-up and before a token, and their operations."""

import asyncio
from datetime import timedelta

import jwt
import pytest
from standardwebhooks import Webhook

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.oauth.conftest import first_party, parameters_of
from tests.peers.http_receiver import Reply

__all__ = ["first_party"]

DOWN = Reply(status=500)


def claims_of(tokens):
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False})


async def test_a_hook_is_managed_and_its_secret_is_shown_once(project, hooks):
    created = await hooks.create("BEFORE_TOKEN")
    assert created["secret"].startswith("whsec_")
    assert (await project.client.get("")).json()["settings"]["signIn"]["hooks"] == ["BEFORE_TOKEN"]
    again = await project.developer.post("/sign-in-hooks", {"kind": "BEFORE_TOKEN", "url": "https://example.com/"})
    assert (again.status_code, again.json()["code"]) == (409, "hook_exists")
    for response in (
        await project.developer.get("/sign-in-hooks"),
        await project.developer.get("/sign-in-hooks/BEFORE_TOKEN"),
        await project.developer.patch("/sign-in-hooks/BEFORE_TOKEN", {"active": False}),
    ):
        assert response.status_code == 200, response.text
        assert "whsec_" not in response.text
    assert (await project.client.get("")).json()["settings"]["signIn"]["hooks"] == []
    # Settings of the project do not change which hooks are on.
    change = await project.developer.patch("", {"settings": {"signIn": {"hooks": ["MIGRATION"]}}})
    assert change.status_code == 400
    assert (await project.developer.delete("/sign-in-hooks/BEFORE_TOKEN")).status_code == 200
    missing = await project.developer.get("/sign-in-hooks/BEFORE_TOKEN")
    assert (missing.status_code, missing.json()["code"]) == (404, "hook_missing")
    entries = (await project.developer.get("/account/audit-log?action=sign_in_hook.*")).json()["data"]
    actions = [entry["action"] for entry in entries if entry["action"].startswith("sign_in_hook.")]
    assert sorted(actions) == ["sign_in_hook.created", "sign_in_hook.deleted", "sign_in_hook.updated"]


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "http://example.com/"},
        {"url": "https://10.0.0.1/"},
        {"url": "ftp://example.com"},
        {"timeoutMs": 6_000},
        {"kind": "AFTER_LUNCH"},
        {"onFailure": "PANIC"},
    ],
)
async def test_a_hook_with_a_refused_value_is_rejected(project, fields):
    body = {"kind": "MIGRATION", "url": "https://example.com/", **fields}
    response = await project.developer.post("/sign-in-hooks", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == f"/{next(iter(fields))}"


async def test_the_secret_is_rotated_and_both_sign_for_a_while(project, hooks):
    first = (await hooks.create("BEFORE_SIGN_UP"))["secret"]
    rotated = await project.developer.post("/sign-in-hooks/BEFORE_SIGN_UP/rotate-secret", {"gracePeriodSeconds": 60})
    result = (await project.developer.post("/sign-in-hooks/BEFORE_SIGN_UP/test")).json()
    assert result["ok"] is True, result
    (call,) = hooks.calls("BEFORE_SIGN_UP")
    for secret in (first, rotated.json()["secret"]):
        assert Webhook(secret).verify(call.body, dict(call.headers))["data"]["test"] is True


async def test_a_test_call_says_what_is_wrong_with_an_answer(project, hooks):
    await hooks.create("BEFORE_TOKEN")
    reasons = []
    for answer in (
        {"claims": {"plan": "pro"}},
        {"claims": {"sub": "someone else"}},
        {"claims": {"text": "x" * 3_000}},
        {"claim": {}},
        Reply(body=b"no JSON"),
        Reply(body=b" " * 70_000),
        Reply(status=302, headers={"Location": "https://example.com/"}),
        Reply(mode="hangup"),
    ):
        hooks.answer("BEFORE_TOKEN", answer)
        result = (await project.developer.post("/sign-in-hooks/BEFORE_TOKEN/test")).json()
        reasons.append(result["reason"])
    assert reasons[0] is None
    for part, reason in zip(("`sub`", "2048", "/claim", "JSON", "65536", "302", ""), reasons[1:], strict=True):
        assert part in reason
    assert (await hooks.get("BEFORE_TOKEN"))["failures"] == 0, "test calls are not recorded"


async def test_before_sign_up_sets_the_name_and_metadata(auth, hooks):
    await hooks.create("BEFORE_SIGN_UP", {"name": "Ada Lovelace", "metadata": {"plan": "pro"}})
    address = new_address()
    signed_up = await auth.signed_up(address)
    assert signed_up["customer"]["name"] == "Ada Lovelace"
    assert signed_up["customer"]["metadata"] == {"plan": "pro"}
    (call,) = hooks.calls("BEFORE_SIGN_UP")
    verified = Webhook(hooks.secrets["BEFORE_SIGN_UP"]).verify(call.body, dict(call.headers))
    assert verified["type"] == "BEFORE_SIGN_UP"
    assert (verified["data"]["email"], verified["data"]["method"]) == (address, "SIGN_UP")
    assert GOOD not in call.body.decode(), "the password is not sent"
    # It is also asked about an address that has an account, so that the response does not reveal it.
    assert (await auth.post("/sign-up", {"email": address, "password": GOOD})).status_code == 201
    assert len(hooks.calls("BEFORE_SIGN_UP")) == 2


@pytest.mark.parametrize("method", ["code", "password"])
async def test_before_sign_up_refuses_with_a_message(auth, hooks, project, method):
    await hooks.create("BEFORE_SIGN_UP", {"allow": False, "message": "Only for members of the club."})
    address = new_address()
    if method == "password":
        refused = await auth.post("/sign-up", {"email": address, "password": GOOD})
    else:
        challenge = (await auth.post("/sign-in/code", {"email": address})).json()
        body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
        refused = await auth.post("/sign-in/code/verify", body)
    assert (refused.status_code, refused.json()["code"]) == (403, "hook_refused")
    assert refused.json()["detail"] == "Only for members of the club."
    assert (await project.client.get("/customers")).json()["total"] == 0


async def test_a_hosted_page_shows_the_message_of_the_hook(auth, hooks):
    await auth.settings(redirectUrls=["https://app.example.com/done"])
    await hooks.create("BEFORE_SIGN_UP", {"allow": False, "message": "Only <b>members</b>."})
    form = {
        "redirectUrl": "https://app.example.com/done",
        "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "email": new_address(),
        "password": GOOD,
    }
    page = await auth.client.request("POST", "/pages/sign-up", data=form)
    assert page.status_code == 403, page.text
    assert "Only &lt;b&gt;members&lt;&#x2f;b&gt;." in page.text


async def test_before_token_adds_claims_at_sign_in_and_refresh(auth, hooks):
    await hooks.create("BEFORE_TOKEN", {"claims": {"tier": 3, "groups": ["a"]}})
    signed_up = await auth.signed_up()
    assert claims_of(signed_up)["ext"] == {"tier": 3, "groups": ["a"]}
    assert (await auth.as_(signed_up["accessToken"]).get("/me")).status_code == 200, "the token is signed again"
    hooks.answer("BEFORE_TOKEN", {"claims": {"tier": 4}})
    renewed = (await auth.post("/token/refresh", {"refreshToken": signed_up["refreshToken"]})).json()
    assert claims_of(renewed)["ext"] == {"tier": 4}
    triggers = [call.json["data"]["trigger"] for call in hooks.calls("BEFORE_TOKEN")]
    assert triggers == ["SIGN_IN", "REFRESH"]
    assert hooks.calls("BEFORE_TOKEN")[0].json["data"]["claims"]["email"] == signed_up["customer"]["email"]


async def test_before_token_refuses_and_the_session_ends(auth, hooks, project):
    address = new_address()
    signed_up = await auth.signed_up(address)
    await hooks.create("BEFORE_TOKEN", {"allow": False, "message": "Your plan has ended."})
    for refused in (
        await auth.sign_in(address),
        await auth.post("/token/refresh", {"refreshToken": signed_up["refreshToken"]}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (403, "hook_refused")
        assert refused.json()["detail"] == "Your plan has ended."
    assert (await auth.as_(signed_up["accessToken"]).get("/me")).status_code == 401
    ended = (await project.client.get("/events?type=customer.session_revoked")).json()["data"]
    assert [event["data"]["reason"] for event in ended] == ["HOOK_REFUSED"] * 2


async def test_a_refresh_can_be_repeated_after_the_hook_has_failed(auth, hooks, clock):
    signed_up = await auth.signed_up()
    await hooks.create("BEFORE_TOKEN", DOWN)
    body = {"refreshToken": signed_up["refreshToken"]}
    failed = await auth.post("/token/refresh", body)
    assert (failed.status_code, failed.json()["code"]) == (503, "hook_failed")
    assert failed.headers["retry-after"] == "30"
    clock.move(timedelta(minutes=2))
    hooks.answer("BEFORE_TOKEN", {"claims": {"tier": 1}})
    renewed = await auth.post("/token/refresh", body)
    assert renewed.status_code == 200, renewed.text
    assert claims_of(renewed.json())["ext"] == {"tier": 1}


async def test_a_failure_of_one_of_two_concurrent_refreshes_ends_nothing(auth, hooks, clock):
    await hooks.create("BEFORE_TOKEN")
    old = {"refreshToken": (await auth.signed_up())["refreshToken"]}
    first = (await auth.post("/token/refresh", old)).json()
    hooks.answer("BEFORE_TOKEN", DOWN, None)
    assert (await auth.post("/token/refresh", old)).status_code == 503
    renewed = await auth.post("/token/refresh", {"refreshToken": first["refreshToken"]})
    assert renewed.status_code == 200, "the other tab has this token"
    clock.move(timedelta(minutes=1))
    assert (await auth.post("/token/refresh", old)).status_code == 401, "now the old one was used too late"
    assert (await auth.as_(renewed.json()["accessToken"]).get("/me")).status_code == 401


async def test_a_hook_that_fails_is_paused_and_tried_again(auth, hooks, project, clock):
    address = new_address()
    await auth.signed_up(address)
    await hooks.create("BEFORE_TOKEN", DOWN, onFailure="CONTINUE")
    for _ in range(7):
        assert "ext" not in claims_of((await auth.sign_in(address)).json())
    assert len(hooks.calls("BEFORE_TOKEN")) == 5, "the sixth sign-in does not wait for it"
    state = await hooks.get("BEFORE_TOKEN")
    assert (state["failures"], len(state["recentFailures"])) == (5, 5)
    assert state["recentFailures"][0]["status"] == 500
    assert state["pausedUntil"] is not None
    await project.developer.patch("/sign-in-hooks/BEFORE_TOKEN", {"onFailure": "REFUSE"})
    for _ in range(5):
        assert (await auth.sign_in(address)).status_code == 503
    clock.move(timedelta(seconds=31))
    hooks.answer("BEFORE_TOKEN", {"claims": {"tier": 1}})
    results = await asyncio.gather(auth.sign_in(address), auth.sign_in(address))
    assert min(result.status_code for result in results) == 200, "one call tries it again"
    assert (await auth.sign_in(address)).status_code == 200
    state = await hooks.get("BEFORE_TOKEN")
    assert (state["failures"], state["failingSince"], state["pausedUntil"]) == (0, None, None)
    recorded = (await project.client.get("/events")).json()["data"]
    types = [event["type"] for event in reversed(recorded) if event["type"].startswith("hook.")]
    assert types == ["hook.failed", "hook.failed", "hook.recovered"]


async def test_answers_that_cannot_be_stored_are_failures(auth, hooks):
    await hooks.create("BEFORE_SIGN_UP")
    bodies = [  # Fewer than pause the hook.
        rb'{"a\u0000b": 1}',
        rb'{"metadata": {"a\u0000": "\ud800"}}',
        b'{"metadata": {"a": "' + b"x" * 16_384 + b'"}}',
        b'{"metadata": {"a": ' + b"[" * 30_000 + b"]" * 30_000 + b"}}",
    ]
    for body in bodies:
        hooks.answer("BEFORE_SIGN_UP", Reply(body=body))
        refused = await auth.post("/sign-up", {"email": new_address(), "password": GOOD})
        assert refused.status_code == 503, (body[:40], refused.text)


async def test_a_slow_hook_ends_at_its_time_limit(auth, hooks):
    release = asyncio.Event()
    await hooks.create("BEFORE_SIGN_UP", Reply(until=release), timeoutMs=100)
    failed = await auth.post("/sign-up", {"email": new_address(), "password": GOOD})
    assert failed.status_code == 503
    release.set()
    assert "100 ms" in (await hooks.get("BEFORE_SIGN_UP"))["recentFailures"][0]["reason"]


async def test_a_project_without_hooks_reads_nothing_more(auth, monkeypatch):
    from postern.identity.hooks import store

    def fail(*_, **__):
        raise AssertionError("a project without hooks must not read them")

    monkeypatch.setattr(store, "hook", fail)
    signed_up = await auth.signed_up()
    assert (await auth.post("/token/refresh", {"refreshToken": signed_up["refreshToken"]})).status_code == 200


async def test_hooks_belong_to_one_project_and_need_a_permission(hooks, project, new_project):
    await hooks.create("MIGRATION")
    other = await new_project()
    assert (await other.developer.get("/sign-in-hooks/MIGRATION")).status_code == 404
    assert (await other.developer.get("/sign-in-hooks")).json() == []
    body = {"kind": "BEFORE_TOKEN", "url": "https://example.com/"}
    assert (await project.client.post("/sign-in-hooks", body)).status_code == 403, "keys need projects:write by name"


async def test_before_token_also_decides_about_tokens_of_the_openid_provider(first_party, hooks):
    await hooks.create("BEFORE_TOKEN", {"claims": {"tier": 3}})
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    tokens = (await first_party.exchange(code)).json()
    access = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    assert access["ext"] == {"tier": 3}
    assert "ext" not in jwt.decode(tokens["id_token"], options={"verify_signature": False})
    asked = hooks.calls("BEFORE_TOKEN")[-1].json["data"]
    assert (asked["trigger"], asked["claims"]["client_id"]) == ("OAUTH", first_party.oauth_client["clientId"])
    hooks.answer("BEFORE_TOKEN", DOWN, {"allow": False, "message": "Your plan has ended."}, None)
    answers = [await first_party.refresh(tokens["refresh_token"]) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 400, 200], "the refresh token stays valid"
    assert answers[0].json()["error"] == "temporarily_unavailable"
    assert answers[1].json() == {"error": "invalid_grant", "error_description": "Your plan has ended."}
