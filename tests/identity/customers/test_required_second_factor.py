"""A second factor that an organization requires of its members, or a project of all its customers."""

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
from tests.identity.customers.test_providers import (
    REDIRECT_URL,
    VERIFIER,
    provider,
    provider_browser,
    query_of,
    settings,
)
from tests.identity.customers.test_second_factor import App, sign_in_with_passkey, with_passkey, with_totp
from tests.identity.organizations.conftest import Directory, directory

__all__ = ["browser", "directory", "provider", "provider_browser", "settings"]


async def require(auth, value=True):
    """Change whether the project requires a second factor."""
    await auth.settings(requireMfa=value)


async def organization_of(directory: Directory, customer_id: str, **fields):
    """Create an organization that requires a second factor, with this customer as a member."""
    organization = await directory.organization(f"Acme {uuid4().hex[:6]}")
    path = f"/b2b/organizations/{organization['id']}"
    changed = await directory.project.client.patch(path, {"requireMfa": True, **fields})
    assert (changed.status_code, changed.json()["requireMfa"]) == (200, True), changed.text
    added = await directory.project.client.post(f"{path}/members", {"customerId": customer_id})
    assert added.status_code == 201, added.text
    return organization


def is_asked_to_enroll(response):
    """Whether a sign-in has started no session, because a second factor must be set up first."""
    body = response.json()
    assert response.status_code == 200, response.text
    required = (body["mfaRequired"], body["mfaEnrollmentRequired"], body["mfaMethods"]) == (True, True, ["TOTP"])
    return required and body["accessToken"] is None and body["refreshToken"] is None and body["sessionId"] is None


async def begin_enrollment(auth, clock, response):
    """Begin to set up the second factor that a sign-in requires. Returns the MFA token and the authenticator app."""
    assert is_asked_to_enroll(response)
    token = response.json()["mfaToken"]
    enrollment = await auth.post("/mfa/enroll", {"mfaToken": token})
    assert enrollment.status_code == 200, enrollment.text
    return token, App(enrollment.json()["secret"], clock)


async def enrolled(auth, clock, response):
    """Set up the second factor that a sign-in requires. Returns the body with the tokens, and the authenticator app."""
    token, app = await begin_enrollment(auth, clock, response)
    confirmed = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return confirmed.json(), app


async def by_password(auth, address):
    return await auth.sign_in(address)


async def by_code(auth, address):
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    return await auth.post("/sign-in/code/verify", body)


async def by_link(auth, address):
    await auth.settings(redirectUrls=[REDIRECT_URL])
    await auth.post("/sign-in/link", {"email": address, "redirectUrl": REDIRECT_URL})
    return await auth.post("/sign-in/link/verify", {"token": await auth.link_token(address)})


SIGN_IN_METHODS = {"password": by_password, "code": by_code, "link": by_link}


@pytest.mark.parametrize("required_by", ["project", "organization"])
@pytest.mark.parametrize("method", SIGN_IN_METHODS)
async def test_no_session_begins_before_a_required_second_factor_is_set_up(auth, directory, clock, method, required_by):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_up = await auth.signed_up(address)
    assert (await SIGN_IN_METHODS[method](auth, address)).json()["accessToken"], "nothing is required yet"
    await (require(auth) if required_by == "project" else organization_of(directory, sign_up["customer"]["id"]))
    signed_in, app = await enrolled(auth, clock, await SIGN_IN_METHODS[method](auth, address))
    assert signed_in["accessToken"]
    assert signed_in["customer"]["mfaEnabledAt"] is not None
    assert len(set(signed_in["recoveryCodes"])) == 10
    assert (await auth.as_(signed_in["accessToken"]).get("/me")).status_code == 200
    assert (await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})).status_code == 200
    pending = (await SIGN_IN_METHODS[method](auth, address)).json()
    assert (pending["mfaRequired"], pending["mfaEnrollmentRequired"]) == (True, False)
    verified = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert verified.status_code == 200
    pending = (await SIGN_IN_METHODS[method](auth, address)).json()
    recovery = {"mfaToken": pending["mfaToken"], "recoveryCode": signed_in["recoveryCodes"][0]}
    recovered = (await auth.post("/mfa/verify", recovery)).json()
    assert (await auth.post("/token/refresh", {"refreshToken": recovered["refreshToken"]})).status_code == 200
    events = (await directory.project.client.get(f"/customers/{sign_up['customer']['id']}/events")).json()["data"]
    assert [event["type"] for event in events].count("customer.mfa_enabled") == 1
    assert any("second factor was turned on" in mail["text"] for mail in await auth.mails(address))


async def test_sign_up_requires_setting_up_a_second_factor(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    await require(auth)
    address = new_address()
    challenge = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    signed_in, _ = await enrolled(auth, clock, await auth.post("/sign-up/verify", body))
    assert signed_in["customer"]["email"] == address
    await auth.settings(verifyEmail="LATER")
    unverified = await auth.post("/sign-up", {"email": new_address(), "password": GOOD})
    assert unverified.status_code == 201
    assert (unverified.json()["mfaEnrollmentRequired"], unverified.json()["accessToken"]) == (True, None)


async def test_a_provider_sign_in_requires_setting_up_a_second_factor(auth, clock, provider_browser):
    """Regression test of I10 (tests/defects.md)."""
    await require(auth)
    # The claim `amr` does not count: the provider is one that customers chose, not one of an organization.
    provider_browser.provider.claims = {
        "sub": "42",
        "email": new_address(),
        "email_verified": True,
        "amr": ["pwd", "mfa"],
    }
    returned = query_of(await provider_browser.come_back(await provider_browser.start()))
    response = await auth.post("/token", {"code": returned["code"], "codeVerifier": VERIFIER})
    signed_in, _ = await enrolled(auth, clock, response)
    assert signed_in["customer"]["identities"] == ["ACME"]


class VerifiedUser:
    """An authenticator whose responses assert user verification, such as a PIN."""

    def __init__(self, device):
        self.device = device

    def get(self, options, origin):
        from hashlib import sha256
        from struct import pack

        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.hashes import SHA256

        credential = self.device.get(options, origin)
        authenticator_data = sha256(self.device.rp_id.encode()).digest() + b"\x05" + pack(">I", self.device.sign_count)
        signed_data = authenticator_data + sha256(credential["response"]["clientDataJSON"]).digest()
        credential["response"] |= {
            "authenticatorData": authenticator_data,
            "signature": self.device.private_key.sign(signed_data, ECDSA(SHA256())),
        }
        return credential


async def test_a_passkey_with_user_verification_is_sufficient(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    _, _, device, _, _ = await with_passkey(auth, new_address())
    await require(auth)
    signed_in = (await sign_in_with_passkey(auth, VerifiedUser(device))).json()
    assert signed_in["accessToken"]
    assert (await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})).status_code == 200
    assert is_asked_to_enroll(await sign_in_with_passkey(auth, device)), (
        "without user verification, a passkey is one factor"
    )


async def test_a_session_without_a_second_factor_ends_at_the_next_refresh(auth, directory):
    """Regression test of I10 (tests/defects.md)."""
    sign_up, other = await auth.signed_up(), await auth.signed_up()
    await organization_of(directory, sign_up["customer"]["id"])
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 200
    assert (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).status_code == 401
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 401
    (ended,) = await directory.events("customer.session_revoked")
    assert ended["data"]["reason"] == "MFA_REQUIRED"
    assert (await auth.post("/token/refresh", {"refreshToken": other["refreshToken"]})).status_code == 200


async def test_a_session_that_sets_up_a_second_factor_in_time_continues(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_up, ada, _, _ = await with_totp(auth, clock, address)
    await require(auth)
    renewed = await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})
    assert renewed.status_code == 200
    assert (await ada.get("/me")).status_code == 200


async def test_the_last_second_factor_cannot_be_removed_while_it_is_required(auth, project, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_up, ada, app, codes = await with_totp(auth, clock, address)
    await require(auth)
    not_disabled = await ada.post("/mfa/totp/disable", {"code": app.code()})
    assert (not_disabled.status_code, not_disabled.json()["code"]) == (409, "mfa_still_required")
    assert not_disabled.json()["next"]
    pending = (await auth.sign_in(address)).json()
    verified = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert verified.status_code == 200, "the refused request did not use up the code"
    reset = await project.client.post(f"/customers/{sign_up['customer']['id']}/mfa/reset")
    assert reset.status_code == 204
    signed_in, _ = await enrolled(auth, clock, await auth.sign_in(address))
    assert not set(signed_in["recoveryCodes"]) & set(codes)
    await require(auth, False)
    _, other, _, added, _ = await with_passkey(auth, new_address())
    await require(auth)
    refused = await other.client.delete(f"/passkeys/{added['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "mfa_still_required")
    await require(auth, False)
    assert (await other.client.delete(f"/passkeys/{added['id']}")).status_code == 204


async def test_an_enrollment_token_gives_no_other_access(auth, new_project, clock):
    """Regression test of I10 (tests/defects.md)."""
    await require(auth, False)
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begin_enrollment(auth, clock, await auth.sign_in(address))
    answer = {"mfaToken": token, "code": app.code()}
    assert (await auth.as_(token).get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": token})).status_code == 401
    assert (await auth.post("/token", {"code": token, "codeVerifier": VERIFIER})).status_code == 401
    assert (await auth.post("/mfa/verify", answer)).status_code == 401
    assert (await auth.post("/mfa/totp/confirm", {"code": app.code()})).status_code == 401
    other_client = Client(auth.app, None, f"/projects/{(await new_project()).id}/auth")
    assert (await other_client.post("/mfa/enroll", {"mfaToken": token})).status_code == 401
    assert (await other_client.post("/mfa/enroll/confirm", answer)).status_code == 401
    repeated = (await auth.post("/mfa/enroll", {"mfaToken": token})).json()
    assert App(repeated["secret"], clock).secret == app.secret, "repeated requests return the same secret"
    assert (await auth.post("/mfa/enroll/confirm", answer)).status_code == 200
    for path in ("/mfa/enroll", "/mfa/enroll/confirm"):
        replayed = await auth.post(path, answer if path.endswith("confirm") else {"mfaToken": token})
        assert (replayed.status_code, replayed.json()["code"]) == (401, "code_invalid")


async def test_an_enrollment_token_expires(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begin_enrollment(auth, clock, await auth.sign_in(address))
    clock.move(timedelta(minutes=10, seconds=1))
    assert (await auth.post("/mfa/enroll", {"mfaToken": token})).status_code == 401
    late = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert late.status_code == 401
    assert is_asked_to_enroll(await auth.sign_in(address))


async def test_wrong_enrollment_codes_count_toward_the_lockout(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token, app = await begin_enrollment(auth, clock, await auth.sign_in(address))
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    tried = [
        (await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": wrong})).status_code for _ in range(11)
    ]
    assert tried == [401] * 10 + [429]
    locked = await auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()})
    assert (locked.status_code, locked.json()["code"]) == (429, "sign_in_locked")
    clock.move(timedelta(minutes=16))
    signed_in, _ = await enrolled(auth, clock, await auth.sign_in(address))
    assert signed_in["accessToken"]


async def test_of_concurrent_enrollments_one_succeeds(auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    enrollments = [await begin_enrollment(auth, clock, await auth.sign_in(address)) for _ in range(3)]
    assert len({app.secret for _, app in enrollments}) == 3
    responses = await asyncio.gather(
        *(auth.post("/mfa/enroll/confirm", {"mfaToken": token, "code": app.code()}) for token, app in enrollments)
    )
    assert sorted(response.status_code for response in responses).count(200) == 1
    assert all(response.status_code in (200, 401, 409) for response in responses)
    winner = next(app for (_, app), response in zip(enrollments, responses, strict=True) if response.status_code == 200)
    clock.move(timedelta(seconds=60))
    pending = (await auth.sign_in(address)).json()
    signed_in = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": winner.code()})
    assert signed_in.status_code == 200


async def test_a_code_confirms_only_the_secret_of_its_own_enrollment(auth, clock, world):
    """Two sessions of one customer set up an app concurrently: neither can confirm the secret of the other.

    Regression test of I10 (tests/defects.md).
    """
    address = new_address()
    first_session = auth.as_((await auth.signed_up(address))["accessToken"])
    second_session = auth.as_((await auth.sign_in(address)).json()["accessToken"])
    first_app = App((await first_session.post("/mfa/totp/enroll")).json()["secret"], clock)
    second_app = App((await second_session.post("/mfa/totp/enroll")).json()["secret"], clock)
    responses = await asyncio.gather(
        first_session.post("/mfa/totp/confirm", {"code": first_app.code()}),
        second_session.post("/mfa/totp/confirm", {"code": second_app.code()}),
    )
    assert [response.status_code for response in responses] == [401, 200]


async def test_no_other_operation_starts_a_session_without_the_second_factor(auth, directory, project, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    challenge = (await ada.post("/verify-email/send")).json()
    await auth.post("/password/forgot", {"email": address})
    reset_token = await auth.link_token(address)
    organization = await organization_of(directory, sign_up["customer"]["id"])
    verified = await ada.post(
        "/verify-email", {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    )
    assert (verified.status_code, "accessToken" in verified.json()) == (200, False)
    assert (await auth.post("/password/reset", {"token": reset_token, "password": GOOD + "!"})).status_code == 204
    assert is_asked_to_enroll(await auth.sign_in(address, GOOD + "!"))
    # An invited customer becomes a member, and needs a second factor from then on.
    invited = new_address()
    base = f"/b2b/organizations/{organization['id']}/invitations"
    assert (await project.client.post(base, {"email": invited})).status_code == 201
    member = await auth.signed_up(invited)
    mails = await auth.mails(invited)
    token = next(match[1] for mail in mails if (match := re.search(r"invitation\?token=(\S+)", mail["text"])))
    accepted = await auth.as_(member["accessToken"]).post("/invitations/accept", {"token": token})
    assert (accepted.status_code, "accessToken" in accepted.json()) == (200, False), accepted.text
    assert (await auth.post("/token/refresh", {"refreshToken": member["refreshToken"]})).status_code == 401
    assert is_asked_to_enroll(await auth.sign_in(invited))


async def test_joining_by_domain_at_sign_in_applies_the_requirement_at_once(auth, directory, clock):
    """Regression test of I10 (tests/defects.md)."""
    organization = await directory.organization()
    domain = await directory.verified_domain(organization, f"{uuid4().hex[:10]}.example")
    path = f"/b2b/organizations/{organization['id']}"
    assert (await directory.project.client.patch(path, {"requireMfa": True})).status_code == 200
    address = f"ada@{domain['domain']}"
    challenge = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    signed_in, _ = await enrolled(auth, clock, await auth.post("/sign-up/verify", body))
    assert [member["customerId"] for member in await directory.members_of(organization)] == [
        signed_in["customer"]["id"]
    ]


async def test_the_requirement_applies_after_a_merge(auth, directory, project, clock):
    """Regression test of I2, I10 (tests/defects.md)."""
    address = new_address()
    first_survivor, loser = await auth.signed_up(address), await auth.signed_up()
    await organization_of(directory, loser["customer"]["id"])
    await merged(project, first_survivor["customer"]["id"], loser["customer"]["id"])
    assert (await auth.post("/token/refresh", {"refreshToken": first_survivor["refreshToken"]})).status_code == 401
    signed_in, app = await enrolled(auth, clock, await auth.sign_in(address))
    other = await auth.signed_up()
    survivor = await merged(project, other["customer"]["id"], signed_in["customer"]["id"])
    assert survivor["mfaEnabledAt"] is not None
    pending = (await auth.sign_in(address)).json()
    assert (pending["mfaRequired"], pending["mfaEnrollmentRequired"]) == (True, False)
    verified = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert verified.status_code == 200


async def test_the_requirement_is_not_enforced_while_the_organization_is_suspended(auth, directory):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_up = await auth.signed_up(address)
    organization = await organization_of(directory, sign_up["customer"]["id"])
    path = f"/b2b/organizations/{organization['id']}"
    await directory.project.client.patch(path, {"status": "SUSPENDED"})
    assert (await auth.sign_in(address)).json()["accessToken"]
    await directory.project.client.patch(path, {"status": "ACTIVE"})
    assert is_asked_to_enroll(await auth.sign_in(address))


async def test_requiring_a_second_factor_needs_the_permission_to_change_the_organization(auth, directory, new_project):
    """Regression test of I10 (tests/defects.md)."""
    organization = await directory.organization()
    path = f"/b2b/organizations/{organization['id']}"
    reader = await directory.project.key("organizations:read")
    assert (await reader.patch(path, {"requireMfa": True})).status_code == 403
    assert (await (await new_project()).client.patch(path, {"requireMfa": True})).status_code == 404
    wrong = await directory.project.client.patch(path, {"requireMfa": "yes"})
    assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (400, "/requireMfa")


async def test_the_pages_set_up_a_second_factor_and_show_recovery_codes(auth, browser, clock):
    """Regression test of I10 (tests/defects.md)."""
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
        assert refused.response.status_code == 401
        assert 'role="alert"' in refused.text
        assert " ".join(re.findall("....", key)) in refused.text, "the page shows the same secret again"
    codes_page = await browser.submit(refused, code=f" {app.code()[:3]} {app.code()[3:]} ")
    codes = re.findall(r"<code>([A-Z0-9-]{14})</code>", codes_page.text)
    assert len(codes) == 10
    signed_in = await redeemed(auth, await browser.submit(codes_page))
    assert signed_in["customer"]["email"] == address
    repeated = await browser.submit(codes_page)
    assert repeated.response.status_code == 401, "the page can be submitted once"
    mfa_page = await browser.submit(await browser.open("sign-in", **FLOW), email=address, password=GOOD)
    await redeemed(auth, await browser.submit(mfa_page, code=codes[0]))


async def test_the_mfa_page_sets_up_a_second_factor_after_any_sign_in(auth, browser, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token = (await auth.sign_in(address)).json()["mfaToken"]
    page = await browser.open("mfa", **FLOW, mfaToken=token)
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    codes_page = await browser.submit(page, code=App(key, clock).code())
    signed_in = await redeemed(auth, await browser.submit(codes_page))
    assert signed_in["customer"]["email"] == address


async def test_a_provider_sign_in_sets_up_a_second_factor_on_the_pages(auth, browser, clock, provider_browser):
    """Regression test of I10 (tests/defects.md)."""
    await require(auth)
    provider_browser.provider.claims = {"email": new_address(), "email_verified": True}
    sign_in_page = await browser.open("sign-in", **FLOW)
    to_provider = await auth.client.get(next(link for link in sign_in_page.links if "/providers/ACME/start" in link))
    returned = urlsplit((await provider_browser.come_back(to_provider)).headers["location"])
    page = Page(await auth.client.get(f"{returned.path}?{returned.query}"))
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    codes_page = await browser.submit(page, code=App(key, clock).code())
    assert (await redeemed(auth, await browser.submit(codes_page)))["customer"]["identities"] == ["ACME"]
