"""A required second factor, of an organization's members or of all customers of a project."""

import asyncio
import re
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_merging import merged
from tests.identity.customers.test_pages import FLOW, Page, browser, redeemed
from tests.identity.customers.test_providers import BACK, VERIFIER, provider, provider_browser, query_of, settings
from tests.identity.customers.test_second_factor import App, use, with_passkey, with_totp
from tests.identity.organizations.conftest import Directory, directory

__all__ = ["browser", "directory", "provider", "provider_browser", "settings"]


async def require(auth, value=True):
    await auth.settings(requireMfa=value)


async def organization_of(directory: Directory, customer_id: str, **fields):
    """An organization that requires a second factor, and has this member."""
    organization = await directory.organization(f"Acme {uuid4().hex[:6]}")
    path = f"/b2b/organizations/{organization['id']}"
    changed = await directory.project.client.patch(path, {"requireMfa": True, **fields})
    assert (changed.status_code, changed.json()["requireMfa"]) == (200, True), changed.text
    added = await directory.project.client.post(f"{path}/members", {"customerId": customer_id})
    assert added.status_code == 201, added.text
    return organization


def is_asked_to_enroll(answer):
    said = answer.json()
    assert answer.status_code == 200, answer.text
    asked = (said["mfaRequired"], said["mfaEnrollmentRequired"], said["mfaMethods"]) == (True, True, ["TOTP"])
    return asked and said["accessToken"] is None and said["refreshToken"] is None and said["sessionId"] is None


async def begun(auth, clock, answer):
    """The token of a sign-in that waits for a second factor, and the app that was set up for it."""
    assert is_asked_to_enroll(answer)
    token = answer.json()["mfaToken"]
    shown = await auth.post("/mfa/enroll", {"mfaToken": token})
    assert shown.status_code == 200, shown.text
    return token, App(shown.json()["secret"], clock)


async def enrolled(auth, clock, answer):
    """What a sign-in becomes when its second factor is set up."""
    token, app = await begun(auth, clock, answer)
    done = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert done.status_code == 200, done.text
    clock.move(timedelta(seconds=60))
    return done.json(), app


async def by_password(auth, address):
    return await auth.sign_in(address)


async def by_code(auth, address):
    asked = (await auth.post("/sign-in/code", {"email": address})).json()
    body = {"challengeId": asked["challengeId"], "code": await auth.code(address)}
    return await auth.post("/sign-in/code/verify", body)


async def by_link(auth, address):
    await auth.settings(redirectUrls=[BACK])
    await auth.post("/sign-in/link", {"email": address, "redirectUrl": BACK})
    return await auth.post("/sign-in/link/verify", {"token": await auth.link_token(address)})


WAYS = {"password": by_password, "code": by_code, "link": by_link}


@pytest.mark.parametrize("by", ["project", "organization"])
@pytest.mark.parametrize("way", WAYS)
async def test_no_session_begins_before_a_required_second_factor_is_set_up(auth, directory, clock, way, by):
    """Defects: I10"""
    address = new_address()
    up = await auth.signed_up(address)
    assert (await WAYS[way](auth, address)).json()["accessToken"], "nothing is required yet"
    await (require(auth) if by == "project" else organization_of(directory, up["customer"]["id"]))
    into, app = await enrolled(auth, clock, await WAYS[way](auth, address))
    assert into["accessToken"]
    assert into["customer"]["mfaEnabledAt"] is not None
    assert len(set(into["recoveryCodes"])) == 10
    assert (await auth.as_(into["accessToken"]).get("/me")).status_code == 200
    assert (await auth.post("/token/refresh", {"refreshToken": into["refreshToken"]})).status_code == 200
    asked = (await WAYS[way](auth, address)).json()
    assert (asked["mfaRequired"], asked["mfaEnrollmentRequired"]) == (True, False)
    again = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert again.status_code == 200
    asked = (await WAYS[way](auth, address)).json()
    spare = {"mfaToken": asked["mfaToken"], "recoveryCode": into["recoveryCodes"][0]}
    used = (await auth.post("/mfa/verify", spare)).json()
    assert (await auth.post("/token/refresh", {"refreshToken": used["refreshToken"]})).status_code == 200
    events = (await directory.project.client.get(f"/customers/{up['customer']['id']}/events")).json()["data"]
    assert [each["type"] for each in events].count("customer.mfa_enabled") == 1
    assert any("second factor was turned on" in mail["text"] for mail in await auth.mails(address))


async def test_sign_up_requires_setting_up_a_second_factor(auth, clock):
    """Defects: I10"""
    await require(auth)
    address = new_address()
    started = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
    body = {"challengeId": started["challengeId"], "code": await auth.code(address)}
    into, _ = await enrolled(auth, clock, await auth.post("/sign-up/verify", body))
    assert into["customer"]["email"] == address
    await auth.settings(verifyEmail="LATER")
    at_once = await auth.post("/sign-up", {"email": new_address(), "password": GOOD})
    assert (at_once.status_code, at_once.json()["mfaEnrollmentRequired"], at_once.json()["accessToken"]) == (
        *(201, True),
        None,
    )


async def test_a_provider_sign_in_requires_setting_up_a_second_factor(auth, clock, provider_browser):
    """Defects: I10"""
    await require(auth)
    # A claim of an account that its owner chose is no second factor here.
    provider_browser.provider.claims = {
        "sub": "42",
        "email": new_address(),
        "email_verified": True,
        "amr": ["pwd", "mfa"],
    }
    back = query_of(await provider_browser.come_back(await provider_browser.start()))
    answer = await auth.post("/token", {"code": back["code"], "codeVerifier": VERIFIER})
    into, _ = await enrolled(auth, clock, answer)
    assert into["customer"]["identities"] == ["ACME"]


class VerifiedUser:
    """An authenticator that says that it asked its user for a PIN."""

    def __init__(self, device):
        self.device = device

    def get(self, options, origin):
        from hashlib import sha256
        from struct import pack

        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.hashes import SHA256

        made = self.device.get(options, origin)
        data = sha256(self.device.rp_id.encode()).digest() + b"\x05" + pack(">I", self.device.sign_count)
        signed = data + sha256(made["response"]["clientDataJSON"]).digest()
        made["response"] |= {
            "authenticatorData": data,
            "signature": self.device.private_key.sign(signed, ECDSA(SHA256())),
        }
        return made


async def test_a_passkey_with_user_verification_is_sufficient(auth, clock):
    """Defects: I10"""
    _, _, device, _, _ = await with_passkey(auth, new_address())
    await require(auth)
    into = (await use(auth, VerifiedUser(device))).json()
    assert into["accessToken"]
    assert (await auth.post("/token/refresh", {"refreshToken": into["refreshToken"]})).status_code == 200
    assert is_asked_to_enroll(await use(auth, device)), "possession alone is one factor"


async def test_a_session_without_a_second_factor_ends_at_the_next_refresh(auth, directory):
    """Defects: I10"""
    up, other = await auth.signed_up(), await auth.signed_up()
    await organization_of(directory, up["customer"]["id"])
    assert (await auth.as_(up["accessToken"]).get("/me")).status_code == 200
    assert (await auth.post("/token/refresh", {"refreshToken": up["refreshToken"]})).status_code == 401
    assert (await auth.as_(up["accessToken"]).get("/me")).status_code == 401
    (ended,) = await directory.events("customer.session_revoked")
    assert ended["data"]["reason"] == "MFA_REQUIRED"
    assert (await auth.post("/token/refresh", {"refreshToken": other["refreshToken"]})).status_code == 200


async def test_a_session_that_sets_up_a_second_factor_in_time_continues(auth, clock):
    """Defects: I10"""
    address = new_address()
    up, ada, _, _ = await with_totp(auth, clock, address)
    await require(auth)
    renewed = await auth.post("/token/refresh", {"refreshToken": up["refreshToken"]})
    assert renewed.status_code == 200
    assert (await ada.get("/me")).status_code == 200


async def test_the_last_second_factor_cannot_be_removed_while_it_is_required(auth, project, clock):
    """Defects: I10"""
    address = new_address()
    up, ada, app, codes = await with_totp(auth, clock, address)
    await require(auth)
    kept = await ada.post("/mfa/totp/disable", {"code": app.code()})
    assert (kept.status_code, kept.json()["code"]) == (409, "mfa_still_required")
    assert kept.json()["next"]
    asked = (await auth.sign_in(address)).json()
    used = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert used.status_code == 200, "a refusal uses no code up"
    reset = await project.client.post(f"/customers/{up['customer']['id']}/mfa/reset")
    assert reset.status_code == 204
    into, _ = await enrolled(auth, clock, await auth.sign_in(address))
    assert not set(into["recoveryCodes"]) & set(codes)
    await require(auth, False)
    _, other, _, added, _ = await with_passkey(auth, new_address())
    await require(auth)
    refused = await other.client.delete(f"/passkeys/{added['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "mfa_still_required")
    await require(auth, False)
    assert (await other.client.delete(f"/passkeys/{added['id']}")).status_code == 204


async def test_an_enrollment_token_gives_no_other_access(auth, new_project, clock):
    """Defects: I10"""
    await require(auth, False)
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begun(auth, clock, await auth.sign_in(address))
    proof = {"mfaToken": token, "code": app.code()}
    assert (await auth.as_(token).get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": token})).status_code == 401
    assert (await auth.post("/token", {"code": token, "codeVerifier": VERIFIER})).status_code == 401
    assert (await auth.post("/mfa/verify", proof)).status_code == 401
    assert (await auth.post("/mfa/totp/confirm", {"code": app.code()})).status_code == 401
    theirs = Client(auth.app, None, f"/projects/{(await new_project()).id}/auth")
    assert (await theirs.post("/mfa/enroll", {"mfaToken": token})).status_code == 401
    assert (await theirs.post("/mfa/enroll/confirm", proof)).status_code == 401
    again = (await auth.post("/mfa/enroll", {"mfaToken": token})).json()
    assert App(again["secret"], clock).secret == app.secret, "a page that is opened again shows the same"
    assert (await auth.post("/mfa/enroll/confirm", proof)).status_code == 200
    for path in ("/mfa/enroll", "/mfa/enroll/confirm"):
        replayed = await auth.post(path, proof if path.endswith("confirm") else {"mfaToken": token})
        assert (replayed.status_code, replayed.json()["code"]) == (401, "code_invalid")


async def test_an_enrollment_token_expires(auth, clock):
    """Defects: I10"""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begun(auth, clock, await auth.sign_in(address))
    clock.move(timedelta(minutes=10, seconds=1))
    assert (await auth.post("/mfa/enroll", {"mfaToken": token})).status_code == 401
    late = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert late.status_code == 401
    assert is_asked_to_enroll(await auth.sign_in(address))


async def test_wrong_enrollment_codes_count_toward_the_lockout(auth, clock):
    """Defects: I10"""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begun(auth, clock, await auth.sign_in(address))
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    tried = [
        (await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": wrong})).status_code for _ in range(11)
    ]
    assert tried == [401] * 10 + [429]
    locked = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert (locked.status_code, locked.json()["code"]) == (429, "sign_in_locked")
    clock.move(timedelta(minutes=16))
    into, _ = await enrolled(auth, clock, await auth.sign_in(address))
    assert into["accessToken"]


async def test_of_two_concurrent_enrollments_one_wins(auth, clock):
    """Defects: I10"""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    waiting = [await begun(auth, clock, await auth.sign_in(address)) for _ in range(3)]
    assert len({app.secret for _, app in waiting}) == 3
    answers = await asyncio.gather(
        *(auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()}) for token, app in waiting)
    )
    assert sorted(each.status_code for each in answers).count(200) == 1
    assert all(each.status_code in (200, 401, 409) for each in answers)
    winner = next(app for (_, app), each in zip(waiting, answers, strict=True) if each.status_code == 200)
    clock.move(timedelta(seconds=60))
    asked = (await auth.sign_in(address)).json()
    into = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": winner.code()})
    assert into.status_code == 200


async def test_a_code_confirms_only_the_secret_of_its_own_enrollment(auth, clock, world):
    """Two sessions of one customer set up an app concurrently: neither can confirm the secret of the other.

    Defects: I10
    """
    address = new_address()
    one = auth.as_((await auth.signed_up(address))["accessToken"])
    other = auth.as_((await auth.sign_in(address)).json()["accessToken"])
    first = App((await one.post("/mfa/totp/enroll")).json()["secret"], clock)
    second = App((await other.post("/mfa/totp/enroll")).json()["secret"], clock)
    answers = await asyncio.gather(
        one.post("/mfa/totp/confirm", {"code": first.code()}), other.post("/mfa/totp/confirm", {"code": second.code()})
    )
    assert [each.status_code for each in answers] == [401, 200]


async def test_no_other_operation_starts_a_session_without_the_second_factor(auth, directory, project, clock):
    """Defects: I10"""
    address = new_address()
    up = await auth.signed_up(address)
    ada = auth.as_(up["accessToken"])
    verifying = (await ada.post("/verify-email/send")).json()
    await auth.post("/password/forgot", {"email": address})
    reset = await auth.link_token(address)
    organization = await organization_of(directory, up["customer"]["id"])
    verified = await ada.post(
        "/verify-email", {"challengeId": verifying["challengeId"], "code": await auth.code(address)}
    )
    assert (verified.status_code, "accessToken" in verified.json()) == (200, False)
    assert (await auth.post("/password/reset", {"token": reset, "password": GOOD + "!"})).status_code == 204
    assert is_asked_to_enroll(await auth.sign_in(address, GOOD + "!"))
    # Somebody new who is invited becomes a member, and signs in with a second factor from then on.
    invited = new_address()
    base = f"/b2b/organizations/{organization['id']}/invitations"
    assert (await project.client.post(base, {"email": invited})).status_code == 201
    new = await auth.signed_up(invited)
    mails = await auth.mails(invited)
    token = next(found[1] for mail in mails if (found := re.search(r"invitation\?token=(\S+)", mail["text"])))
    accepted = await auth.as_(new["accessToken"]).post("/invitations/accept", {"token": token})
    assert (accepted.status_code, "accessToken" in accepted.json()) == (200, False), accepted.text
    assert (await auth.post("/token/refresh", {"refreshToken": new["refreshToken"]})).status_code == 401
    assert is_asked_to_enroll(await auth.sign_in(invited))


async def test_joining_by_domain_at_sign_in_applies_the_requirement_at_once(auth, directory, clock):
    """Defects: I10"""
    organization = await directory.organization()
    domain = await directory.verified_domain(organization, f"{uuid4().hex[:10]}.example")
    path = f"/b2b/organizations/{organization['id']}"
    assert (await directory.project.client.patch(path, {"requireMfa": True})).status_code == 200
    address = f"ada@{domain['domain']}"
    started = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
    body = {"challengeId": started["challengeId"], "code": await auth.code(address)}
    into, _ = await enrolled(auth, clock, await auth.post("/sign-up/verify", body))
    assert [each["customerId"] for each in await directory.members_of(organization)] == [into["customer"]["id"]]


async def test_the_requirement_applies_after_a_merge(auth, directory, project, clock):
    """Defects: I2, I10"""
    address = new_address()
    kept, gone = await auth.signed_up(address), await auth.signed_up()
    await organization_of(directory, gone["customer"]["id"])
    await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    assert (await auth.post("/token/refresh", {"refreshToken": kept["refreshToken"]})).status_code == 401
    into, app = await enrolled(auth, clock, await auth.sign_in(address))
    other = await auth.signed_up()
    survivor = await merged(project, other["customer"]["id"], into["customer"]["id"])
    assert survivor["mfaEnabledAt"] is not None
    asked = (await auth.sign_in(address)).json()
    assert (asked["mfaRequired"], asked["mfaEnrollmentRequired"]) == (True, False)
    done = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert done.status_code == 200


async def test_the_requirement_is_not_enforced_while_the_organization_is_suspended(auth, directory):
    """Defects: I10"""
    address = new_address()
    up = await auth.signed_up(address)
    organization = await organization_of(directory, up["customer"]["id"])
    path = f"/b2b/organizations/{organization['id']}"
    await directory.project.client.patch(path, {"status": "SUSPENDED"})
    assert (await auth.sign_in(address)).json()["accessToken"]
    await directory.project.client.patch(path, {"status": "ACTIVE"})
    assert is_asked_to_enroll(await auth.sign_in(address))


async def test_requiring_it_needs_the_permission_to_change_the_organization(auth, directory, new_project):
    """Defects: I10"""
    organization = await directory.organization()
    path = f"/b2b/organizations/{organization['id']}"
    reader = await directory.project.key("organizations:read")
    assert (await reader.patch(path, {"requireMfa": True})).status_code == 403
    assert (await (await new_project()).client.patch(path, {"requireMfa": True})).status_code == 404
    wrong = await directory.project.client.patch(path, {"requireMfa": "yes"})
    assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (400, "/requireMfa")


async def test_the_pages_set_up_a_second_factor_and_show_recovery_codes(auth, browser, clock):
    """Defects: I10"""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    page = await browser.submit(await browser.open("sign-in", **FLOW), email=address, password=GOOD)
    assert "<svg" in page.text
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    app = App(key, clock)
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    for code in (wrong, "12345", "abcdef"):
        refused = await browser.submit(page, code=code)
        assert refused.answer.status_code == 401
        assert 'role="alert"' in refused.text
        assert " ".join(re.findall("....", key)) in refused.text, "the app goes on with what it scanned"
    shown = await browser.submit(refused, code=f" {app.code()[:3]} {app.code()[3:]} ")
    codes = re.findall(r"<code>([A-Z0-9-]{14})</code>", shown.text)
    assert len(codes) == 10
    into = await redeemed(auth, await browser.submit(shown))
    assert into["customer"]["email"] == address
    again = await browser.submit(shown)
    assert again.answer.status_code == 401, "the page goes on once"
    factor = await browser.submit(await browser.open("sign-in", **FLOW), email=address, password=GOOD)
    await redeemed(auth, await browser.submit(factor, code=codes[0]))


async def test_the_mfa_page_sets_up_a_second_factor_after_any_sign_in(auth, browser, clock):
    """Defects: I10"""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token = (await auth.sign_in(address)).json()["mfaToken"]
    page = await browser.open("mfa", **FLOW, mfaToken=token)
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    shown = await browser.submit(page, code=App(key, clock).code())
    into = await redeemed(auth, await browser.submit(shown))
    assert into["customer"]["email"] == address


async def test_a_provider_sign_in_sets_up_a_second_factor_on_the_pages(auth, browser, clock, provider_browser):
    """Defects: I10"""
    await require(auth)
    provider_browser.provider.claims = {"email": new_address(), "email_verified": True}
    start = await browser.open("sign-in", **FLOW)
    there = await auth.client.get(next(each for each in start.links if "/providers/ACME/start" in each))
    back = urlsplit((await provider_browser.come_back(there)).headers["location"])
    page = Page(await auth.client.get(f"{back.path}?{back.query}"))
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    shown = await browser.submit(page, code=App(key, clock).code())
    assert (await redeemed(auth, await browser.submit(shown)))["customer"]["identities"] == ["ACME"]
