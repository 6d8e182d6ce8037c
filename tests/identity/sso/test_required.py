"""Required single sign-on, of an organization's members or of all customers of a project."""

import asyncio
import html
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_merging import merged
from tests.identity.customers.test_providers import VERIFIER, ProviderBrowser, provider, put, settings
from tests.identity.customers.test_providers import query_of as came_back
from tests.identity.customers.test_required_second_factor import enrolled
from tests.identity.customers.test_second_factor import use, with_passkey, with_totp
from tests.identity.sso.conftest import REDIRECT_URL, Acme, person, query_of
from tests.identity.sso.test_pages import page, submitted

__all__ = ["provider", "settings"]


async def require(acme, value=True, status=200):
    path = f"/b2b/organizations/{acme.organization['id']}"
    answer = await acme.client.patch(path, {"requireSso": value})
    assert answer.status_code == status, answer.text
    return answer.json()


async def require_in_project(auth, value=True, status=200):
    answer = await auth.project.developer.patch("", {"settings": {"signIn": {"requireSso": value}}})
    assert answer.status_code == status, answer.text
    return answer.json()


async def second_acme(acme, idp):
    """Another organization of the project with a domain and a connection of its own."""
    organization = await acme.directory.organization(f"Other {uuid4().hex[:6]}")
    domain = await acme.directory.verified_domain(organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    other = Acme(acme.directory, idp, organization, domain, acme.app, acme.clock)
    await other.connect()
    return other


def is_refused(answer):
    return (answer.status_code, answer.json()["code"]) == (403, "sso_required")


def without_ids(answer):
    return {name: value for name, value in answer.json().items() if name not in ("requestId", "instance")}


async def refreshed(auth, signed_in):
    return await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})


async def test_sso_cannot_be_required_without_a_working_connection(acme, auth):
    """Defects: I10"""
    for answer in (await require(acme, status=409), await require_in_project(auth, status=409)):
        assert answer["code"] == "sso_not_ready"
        assert "activate" in answer["next"]
    await acme.connect(active=False)
    await require(acme, status=409)
    await acme.client.post(f"{acme.here}/activate")
    assert (await require(acme))["requireSso"] is True
    app_path = f"/apps/{acme.directory.project.id}/organizations/{acme.organization['id']}"
    assert (await acme.client.get(app_path)).json()["requireSso"] is True
    assert (await require_in_project(auth))["settings"]["signIn"]["requireSso"] is True
    (told,) = await acme.directory.events("organization.updated")
    assert told["data"]["requireSso"] is True


WAYS = {
    "password": ("/sign-in", {"password": GOOD}),
    "code": ("/sign-in/code", {}),
    "link": ("/sign-in/link", {}),
    "signing up": ("/sign-up", {"password": GOOD}),
    "a forgotten password": ("/password/forgot", {}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", ["organization", "project"])
async def test_the_requirement_depends_on_the_domain_and_reveals_no_accounts(connected, auth, way, by):
    """Defects: I10"""
    address = connected.address()
    await connected.directory.customer(address)
    await (require(connected) if by == "organization" else require_in_project(auth))
    path, fields = WAYS[way]
    known = await auth.post(path, {"email": address.upper(), **fields})
    unknown = await auth.post(path, {"email": connected.address(), **fields})
    wrong = await auth.post(path, {"email": address, **fields, **({"password": "wrong one"} if fields else {})})
    assert is_refused(known)
    assert without_ids(known) == without_ids(unknown) == without_ids(wrong)
    if by == "organization":
        assert connected.connection["loginUrl"] in known.json()["next"]
        provider_browser = await auth.post(path, {"email": new_address(), **fields})
        assert provider_browser.status_code in (200, 201, 204, 401), "other addresses sign in as ever"
    assert await auth.mails(address) == []
    signed_in = await connected.browser().sign_in(address)
    assert signed_in["customer"]["email"] == address
    assert (await refreshed(auth, signed_in)).status_code == 200


async def passkey_of(auth, address):
    _, _, device, _, _ = await with_passkey(auth, address)
    return lambda: use(auth, device)


async def account_of(auth, provider, address):
    """An account elsewhere of somebody with this address; what the app or the browser gets."""
    provider_browser = ProviderBrowser(auth, provider)
    await put(auth, "ACME", provider.issuer)
    provider.claims = {"sub": uuid4().hex, "email": address, "email_verified": True}

    async def sign_in():
        back = came_back(await provider_browser.come_back(await provider_browser.start()))
        if "error" in back:
            return back["error"]
        return await auth.post("/token", {"code": back["code"], "codeVerifier": VERIFIER})

    return sign_in


async def test_passkeys_and_providers_cannot_bypass_required_sso(connected, auth, provider):
    """Defects: I10"""
    address, stranger = connected.address(), connected.address()
    by_passkey = await passkey_of(auth, address)
    by_account = await account_of(auth, provider, address)
    assert (await by_passkey()).status_code == 200
    assert (await by_account()).status_code == 200
    await require(connected)
    assert is_refused(await by_passkey())
    assert await by_account() == "sso_required"
    customers = await connected.customers()
    assert await (await account_of(auth, provider, stranger))() == "sso_required"
    assert await connected.customers() == customers, "nobody is created by a sign-in that is refused"


@pytest.mark.parametrize("way", ["password", "code", "link", "passkey", "account"])
async def test_the_requirement_applies_to_members_at_other_domains(connected, auth, provider, way):
    """Defects: I10"""
    address = new_address()
    if way == "passkey":
        by_passkey = await passkey_of(auth, address)
    elif way == "account":
        await auth.signed_up(address)
        by_account = await account_of(auth, provider, address)
        assert (await by_account()).status_code == 200
    else:
        await auth.signed_up(address)
    customer = (await connected.client.get(f"/customers?q={address}")).json()["data"][0]
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    assert (await connected.client.post(members, {"customerId": customer["id"]})).status_code == 201

    async def sign_in():
        if way == "password":
            wrong = await auth.sign_in(address, "wrong one")
            assert wrong.status_code == 401, "who has not proved anything learns nothing"
            return await auth.sign_in(address)
        if way == "code":
            asked = (await auth.post("/sign-in/code", {"email": address})).json()
            body = {"challengeId": asked["challengeId"], "code": await auth.code(address)}
            return await auth.post("/sign-in/code/verify", body)
        if way == "link":
            await auth.post("/sign-in/link", {"email": address, "redirectUrl": REDIRECT_URL})
            return await auth.post("/sign-in/link/verify", {"token": await auth.link_token(address)})
        return await (by_passkey() if way == "passkey" else by_account())

    assert (await sign_in()).status_code == 200
    await require(connected)
    refused = await sign_in()
    assert refused == "sso_required" if way == "account" else is_refused(refused)
    assert (await connected.client.delete(f"{members}/{customer['id']}")).status_code == 200
    assert (await sign_in()).status_code == 200


async def test_sign_ins_begun_before_the_requirement_do_not_finish(connected, auth, provider, clock):
    """Defects: I10"""
    await auth.settings(verifyEmail="REQUIRED")
    address = connected.address()
    up, _, app, _ = await with_totp(auth, clock, address)
    pending = (await auth.sign_in(address)).json()["mfaToken"]
    asked = (await auth.post("/sign-in/code", {"email": address})).json()
    code = await auth.code(address)
    await auth.post("/password/forgot", {"email": address})
    reset = await auth.link_token(address)
    newcomer = connected.address()
    begun = (await auth.post("/sign-up", {"email": newcomer, "password": GOOD})).json()
    sign_up_code = await auth.code(newcomer)
    provider_browser = ProviderBrowser(auth, provider)
    await put(auth, "ACME", provider.issuer)
    provider.claims = {"sub": "42", "email": address, "email_verified": True}
    grant = came_back(await provider_browser.come_back(await provider_browser.start()))["code"]
    await require(connected)
    assert is_refused(await auth.post("/mfa/verify", {"mfaToken": pending, "code": app.code()}))
    assert is_refused(
        await auth.post("/sign-in/code/verify", {"challengeId": asked["challengeId"], "code": code}),
    )
    body = {"challengeId": begun["challengeId"], "code": sign_up_code}
    assert is_refused(await auth.post("/sign-up/verify", body))
    assert is_refused(await auth.post("/token", {"code": grant, "codeVerifier": VERIFIER}))
    ended = await refreshed(auth, up)
    assert ended.status_code == 401
    assert (await auth.post("/password/reset", {"token": reset, "password": GOOD + "!"})).status_code == 204
    assert is_refused(await auth.sign_in(address, GOOD + "!"))


async def test_unused_grants_are_rejected_once_sso_is_required(connected, auth):
    """Defects: I10"""
    up = await auth.signed_up()
    email = up["customer"]["email"]
    going = await submitted(connected, "sign-in", email=email, password=GOOD)
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members, {"customerId": up["customer"]["id"]})
    await require(connected)
    code = query_of(going)["code"]
    late = await auth.post("/token", {"code": code, "codeVerifier": "v" * 50})
    assert late.status_code == 401


async def test_sessions_begun_otherwise_end_at_the_next_refresh(connected, auth, clock):
    """Defects: I10"""
    address = connected.address()
    by_password = await auth.signed_up(address)
    by_sso = await connected.browser().sign_in(address)
    outside = await auth.signed_up()
    await require(connected)
    assert (await auth.as_(by_password["accessToken"]).get("/me")).status_code == 200
    ended = await refreshed(auth, by_password)
    assert (ended.status_code, ended.json()["code"]) == (401, "refresh_token_invalid")
    assert (await auth.as_(by_password["accessToken"]).get("/me")).status_code == 401
    events = (await connected.client.get("/events?type=customer.session_revoked")).json()["data"]
    assert [each["data"]["reason"] for each in events] == ["SSO_REQUIRED"]
    renewed = await refreshed(auth, by_sso)
    assert renewed.status_code == 200
    assert (await refreshed(auth, renewed.json())).status_code == 200
    assert (await refreshed(auth, outside)).status_code == 200
    await require_in_project(auth)
    clock.move(timedelta(minutes=1))
    assert (await refreshed(auth, outside)).status_code == 401


async def test_sso_of_another_organization_is_not_sufficient(connected, auth, idp):
    """Defects: I10"""
    other = await second_acme(connected, idp)
    address = other.address()
    signed_in = await other.browser().sign_in(address)
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    added = await connected.client.post(members, {"customerId": signed_in["customer"]["id"]})
    assert added.status_code == 201, added.text
    await require(connected)
    assert (await refreshed(auth, signed_in)).status_code == 401
    assert is_refused(await answered(other, address))
    await require(other)
    assert (await other.browser().sign_in(address))["customer"]["email"] == address, "either of two will do"


async def test_a_project_can_require_sso_of_all_customers(connected, auth, provider):
    """Defects: I10"""
    stranger = new_address()
    by_passkey = await passkey_of(auth, new_address())
    await put(auth, "ACME", provider.issuer)
    options = (await auth.post("/passkeys/sign-in/options")).status_code
    assert options == 200
    await require_in_project(auth)
    for path, fields in WAYS.values():
        assert is_refused(await auth.post(path, {"email": stranger, **fields}))
    assert is_refused(await auth.post("/passkeys/sign-in/options"))
    assert (await ProviderBrowser(auth, provider).start()).status_code == 403
    await require_in_project(auth, value=False)
    begun = await by_passkey()
    assert begun.status_code == 200
    await require_in_project(auth)
    shown = await page(connected)
    visible = [each["name"] for each in shown.inputs if each.get("type") != "hidden"]
    assert (visible, shown.actions) == (["email"], [f"/projects/{auth.project.id}/auth/pages/sso"])
    assert shown.scripts == []
    going = await submitted(connected, "sso", email=connected.address())
    assert connected.connection["loginUrl"] in html.unescape(going.text)


async def test_the_hosted_page_redirects_members_to_sso(connected, auth):
    """Defects: I10"""
    guest = await auth.signed_up()
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members, {"customerId": guest["customer"]["id"]})
    await require(connected)
    answer = await submitted(connected, "sign-in", email=guest["customer"]["email"], password=GOOD)
    assert answer.status_code == 200
    assert connected.connection["loginUrl"] in html.unescape(answer.text)
    assert "code=" not in answer.headers.get("location", "")


async def test_the_last_working_connection_cannot_be_removed_while_required(connected, auth):
    """Defects: I10"""
    await require(connected)
    domain = f"/b2b/organizations/{connected.organization['id']}/domains/{connected.domain['id']}"
    for verb, path in [("POST", f"{connected.here}/deactivate"), ("DELETE", connected.here), ("DELETE", domain)]:
        kept = await connected.client.request(verb, path)
        assert (kept.status_code, kept.json()["code"]) == (409, "sso_still_required")
        assert "requireSso" in kept.json()["next"]
    await require(connected, value=False)
    await require_in_project(auth)
    assert (await connected.client.post(f"{connected.here}/deactivate")).status_code == 409
    organization = f"/b2b/organizations/{connected.organization['id']}"
    for kept in (
        await connected.client.patch(organization, {"status": "SUSPENDED"}),
        await connected.client.delete(organization),
    ):
        assert (kept.status_code, kept.json()["code"]) == (409, "sso_still_required")
    other = await connected.directory.organization("Other")
    assert (await connected.client.delete(f"/b2b/organizations/{other['id']}")).status_code == 200
    await require_in_project(auth, value=False)
    await require(connected)
    assert (await connected.client.patch(organization, {"status": "SUSPENDED"})).status_code == 200
    assert (await connected.client.post(f"{connected.here}/deactivate")).status_code == 200, "it rests"


async def test_the_requirement_holds_for_a_lapsed_domain_and_can_be_switched_off(connected, auth, clock, work_off):
    """Defects: I10"""
    guest = await auth.signed_up()
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members, {"customerId": guest["customer"]["id"]})
    await require(connected)
    connected.directory.zone.remove(connected.domain["recordName"])
    path = f"/b2b/organizations/{connected.organization['id']}/domains/{connected.domain['id']}"
    for _ in range(5):
        clock.move(timedelta(days=1))
        await connected.client.post(f"{path}/verify")
    assert (await connected.client.get(connected.here)).json()["held"] == "DOMAIN_NOT_VERIFIED"
    refused = await auth.sign_in(guest["customer"]["email"])
    assert is_refused(refused)
    assert "administrator" in refused.json()["next"]
    await require(connected, value=False)
    assert (await auth.sign_in(guest["customer"]["email"])).status_code == 200


async def test_the_requirement_is_not_enforced_while_suspended(connected, auth):
    """Defects: I10"""
    address = connected.address()
    await auth.signed_up(address)
    await require(connected)
    organization = f"/b2b/organizations/{connected.organization['id']}"
    assert (await connected.client.patch(organization, {"status": "SUSPENDED"})).json()["requireSso"] is True
    assert (await auth.sign_in(address)).status_code == 200
    await connected.client.patch(organization, {"status": "ACTIVE"})
    assert is_refused(await auth.sign_in(address))


async def test_requiring_sso_needs_the_permission_to_change_the_organization(connected, new_project):
    """Defects: I10"""
    path = f"/b2b/organizations/{connected.organization['id']}"
    reader = await connected.directory.project.key("organizations:read", "sso:write")
    assert (await reader.patch(path, {"requireSso": True})).status_code == 403
    other = await new_project()
    assert (await other.client.patch(path, {"requireSso": True})).status_code == 404
    for wrong in ("yes", None, 1):
        assert (await connected.client.patch(path, {"requireSso": wrong})).status_code == 400
    assert (await connected.client.get(path)).json()["requireSso"] is False


async def test_concurrent_requirement_and_deactivation_do_not_both_succeed(connected):
    """Defects: I10"""
    path = f"/b2b/organizations/{connected.organization['id']}"
    for _ in range(5):
        answers = await asyncio.gather(
            connected.client.patch(path, {"requireSso": True}),
            connected.client.post(f"{connected.here}/deactivate"),
        )
        assert sorted(each.status_code for each in answers) == [200, 409]
        await connected.client.patch(path, {"requireSso": False})
        assert (await connected.client.post(f"{connected.here}/activate")).status_code == 200


async def test_the_requirement_applies_after_a_merge(connected, auth, project):
    """Defects: I10, I2"""
    address = new_address()
    kept, gone = await auth.signed_up(address), await auth.signed_up(connected.address())
    await require(connected)
    await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    assert is_refused(await auth.sign_in(address))
    assert (await refreshed(auth, kept)).status_code == 401


async def test_responses_do_not_reveal_memberships(connected, auth):
    """Defects: I10"""
    member = await auth.signed_up()
    members = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members, {"customerId": member["customer"]["id"]})
    await require(connected)
    stranger = new_address()
    for path, fields in (("/sign-in/code", {}), ("/password/forgot", {}), ("/sign-in", {"password": "wrong one"})):
        one = await auth.post(path, {"email": member["customer"]["email"], **fields})
        other = await auth.post(path, {"email": stranger, **fields})
        assert one.status_code == other.status_code


CONTEXT = "<saml:AuthnContext><saml:AuthnContextClassRef>{}</saml:AuthnContextClassRef></saml:AuthnContext>"
REFEDS_MFA = CONTEXT.format("https://refeds.org/profile/mfa")
ENTRA = "http://schemas.microsoft.com/claims/"


async def answered(acme, address):
    """What `auth/token` answers after a sign-on."""
    browser = acme.browser()
    back = query_of(await browser.arrive(address))
    path = f"/projects/{acme.directory.project.id}/auth/token"
    return await browser.client.post(path, {"code": back["code"], "codeVerifier": "v" * 50})


@pytest.mark.parametrize("by", ["organization", "project"])
async def test_sso_counts_as_a_second_factor_if_the_assertion_says_so(connected, auth, clock, by):
    """Defects: I10"""
    path = f"/b2b/organizations/{connected.organization['id']}"
    if by == "organization":
        await connected.client.patch(path, {"requireMfa": True})
    else:
        await auth.settings(requireMfa=True)
    address = connected.address()
    silent = await connected.browser().sign_in(address)
    assert (silent["mfaEnrollmentRequired"], silent["accessToken"]) == (True, None)
    said = await connected.browser().sign_in(address, authn_context=REFEDS_MFA)
    assert said["accessToken"]
    assert (await refreshed(auth, said)).status_code == 200
    somebody = person(address, **{f"{ENTRA}authnmethodsreferences": [f"{ENTRA}multipleauthn"]})
    entra = connected.browser()
    by_entra = await entra.redeem(await entra.arrive(person=somebody))
    assert by_entra["accessToken"]
    await connected.change(trustMfa=True)
    trusted = await connected.browser().sign_in(address)
    assert trusted["accessToken"]
    await connected.change(trustMfa=False)
    into, _ = await enrolled(auth, clock, await answered(connected, address))
    assert (await refreshed(auth, into)).status_code == 200
    asked = await connected.browser().sign_in(address, authn_context=REFEDS_MFA)
    assert (asked["mfaRequired"], asked["mfaEnrollmentRequired"]) == (True, False), "its own is still asked for"


async def test_single_sign_on_and_a_second_factor_can_both_be_required(connected, auth, clock):
    """Defects: I10"""
    path = f"/b2b/organizations/{connected.organization['id']}"
    await connected.client.patch(path, {"requireSso": True, "requireMfa": True})
    address = connected.address()
    into, app = await enrolled(auth, clock, await answered(connected, address))
    assert (await refreshed(auth, into)).status_code == 200
    asked = await connected.browser().sign_in(address)
    done = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert (await refreshed(auth, done.json())).status_code == 200, "the second step keeps where the first came from"
