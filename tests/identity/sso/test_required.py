"""Required single sign-on, of an organization's members or of all customers of a project."""

import asyncio
import html
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_merging import merged
from tests.identity.customers.test_providers import VERIFIER, ProviderBrowser, provider, put, settings
from tests.identity.customers.test_providers import query_of as provider_query_of
from tests.identity.customers.test_required_second_factor import enrolled
from tests.identity.customers.test_second_factor import sign_in_with_passkey, with_passkey, with_totp
from tests.identity.sso.conftest import REDIRECT_URL, Acme, person, query_of
from tests.identity.sso.test_pages import page, submit

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
    """Create another organization of the project, with its own domain and connection."""
    organization = await acme.directory.organization(f"Other {uuid4().hex[:6]}")
    domain = await acme.directory.verified_domain(organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    other = Acme(acme.directory, idp, organization, domain, acme.app, acme.clock)
    await other.connect()
    return other


def is_refused(answer):
    return (answer.status_code, answer.json()["code"]) == (403, "sso_required")


def without_ids(answer):
    return {name: value for name, value in answer.json().items() if name not in ("requestId", "instance")}


async def refresh(auth, signed_in):
    return await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})


async def test_sso_cannot_be_required_without_a_working_connection(acme, auth):
    """Regression test of I10 (tests/defects.md)."""
    for answer in (await require(acme, status=409), await require_in_project(auth, status=409)):
        assert answer["code"] == "sso_not_ready"
        assert "activate" in answer["next"]
    await acme.connect(active=False)
    await require(acme, status=409)
    await acme.client.post(f"{acme.connection_path}/activate")
    assert (await require(acme))["requireSso"] is True
    app_path = f"/apps/{acme.directory.project.id}/organizations/{acme.organization['id']}"
    assert (await acme.client.get(app_path)).json()["requireSso"] is True
    assert (await require_in_project(auth))["settings"]["signIn"]["requireSso"] is True
    (event,) = await acme.directory.events("organization.updated")
    assert event["data"]["requireSso"] is True


SIGN_IN_REQUESTS = {
    "password": ("/sign-in", {"password": GOOD}),
    "code": ("/sign-in/code", {}),
    "link": ("/sign-in/link", {}),
    "signing up": ("/sign-up", {"password": GOOD}),
    "a forgotten password": ("/password/forgot", {}),
}


@pytest.mark.parametrize("method", SIGN_IN_REQUESTS)
@pytest.mark.parametrize("required_by", ["organization", "project"])
async def test_the_requirement_depends_on_the_domain_and_reveals_no_accounts(connected, auth, method, required_by):
    """Regression test of I10 (tests/defects.md)."""
    address = connected.address()
    await connected.directory.customer(address)
    await (require(connected) if required_by == "organization" else require_in_project(auth))
    path, fields = SIGN_IN_REQUESTS[method]
    existing = await auth.post(path, {"email": address.upper(), **fields})
    unknown = await auth.post(path, {"email": connected.address(), **fields})
    wrong_password = await auth.post(
        path, {"email": address, **fields, **({"password": "wrong one"} if fields else {})}
    )
    assert is_refused(existing)
    assert without_ids(existing) == without_ids(unknown) == without_ids(wrong_password)
    if required_by == "organization":
        assert connected.connection["loginUrl"] in existing.json()["next"]
        other_domain = await auth.post(path, {"email": new_address(), **fields})
        assert other_domain.status_code in (200, 201, 204, 401), "the requirement does not apply to other addresses"
    assert await auth.mails(address) == []
    signed_in = await connected.browser().sign_in(address)
    assert signed_in["customer"]["email"] == address
    assert (await refresh(auth, signed_in)).status_code == 200


async def passkey_of(auth, address):
    """Sign up a customer with a passkey. Returns a function that signs in with it."""
    _, _, device, _, _ = await with_passkey(auth, address)
    return lambda: sign_in_with_passkey(auth, device)


async def account_of(auth, provider, address):
    """A function that signs in with an external provider, whose account has this address.

    The function returns the response of `auth/token`, or the `error` in the redirect.
    """
    provider_browser = ProviderBrowser(auth, provider)
    await put(auth, "ACME", provider.issuer)
    provider.claims = {"sub": uuid4().hex, "email": address, "email_verified": True}

    async def sign_in():
        query = provider_query_of(await provider_browser.come_back(await provider_browser.start()))
        if "error" in query:
            return query["error"]
        return await auth.post("/token", {"code": query["code"], "codeVerifier": VERIFIER})

    return sign_in


async def test_passkeys_and_providers_cannot_bypass_required_sso(connected, auth, provider):
    """Regression test of I10 (tests/defects.md)."""
    address, new_customer = connected.address(), connected.address()
    sign_in_by_passkey = await passkey_of(auth, address)
    sign_in_by_provider = await account_of(auth, provider, address)
    assert (await sign_in_by_passkey()).status_code == 200
    assert (await sign_in_by_provider()).status_code == 200
    await require(connected)
    assert is_refused(await sign_in_by_passkey())
    assert await sign_in_by_provider() == "sso_required"
    customers = await connected.customer_count()
    assert await (await account_of(auth, provider, new_customer))() == "sso_required"
    assert await connected.customer_count() == customers, "a refused sign-in does not create a customer"


@pytest.mark.parametrize("method", ["password", "code", "link", "passkey", "account"])
async def test_the_requirement_applies_to_members_at_other_domains(connected, auth, provider, method):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    if method == "passkey":
        sign_in_by_passkey = await passkey_of(auth, address)
    elif method == "account":
        await auth.signed_up(address)
        sign_in_by_provider = await account_of(auth, provider, address)
        assert (await sign_in_by_provider()).status_code == 200
    else:
        await auth.signed_up(address)
    customer = (await connected.client.get(f"/customers?q={address}")).json()["data"][0]
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    assert (await connected.client.post(members_path, {"customerId": customer["id"]})).status_code == 201

    async def sign_in():
        if method == "password":
            wrong_password = await auth.sign_in(address, "wrong one")
            assert wrong_password.status_code == 401, "a wrong password does not reveal the requirement"
            return await auth.sign_in(address)
        if method == "code":
            challenge = (await auth.post("/sign-in/code", {"email": address})).json()
            body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
            return await auth.post("/sign-in/code/verify", body)
        if method == "link":
            await auth.post("/sign-in/link", {"email": address, "redirectUrl": REDIRECT_URL})
            return await auth.post("/sign-in/link/verify", {"token": await auth.link_token(address)})
        return await (sign_in_by_passkey() if method == "passkey" else sign_in_by_provider())

    assert (await sign_in()).status_code == 200
    await require(connected)
    refused = await sign_in()
    assert refused == "sso_required" if method == "account" else is_refused(refused)
    assert (await connected.client.delete(f"{members_path}/{customer['id']}")).status_code == 200
    assert (await sign_in()).status_code == 200


async def test_sign_ins_started_before_the_requirement_cannot_be_completed(connected, auth, provider, clock):
    """Regression test of I10 (tests/defects.md)."""
    await auth.settings(verifyEmail="REQUIRED")
    address = connected.address()
    session, _, app, _ = await with_totp(auth, clock, address)
    mfa_token = (await auth.sign_in(address)).json()["mfaToken"]
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    code = await auth.code(address)
    await auth.post("/password/forgot", {"email": address})
    reset_token = await auth.link_token(address)
    sign_up_address = connected.address()
    sign_up = (await auth.post("/sign-up", {"email": sign_up_address, "password": GOOD})).json()
    sign_up_code = await auth.code(sign_up_address)
    provider_browser = ProviderBrowser(auth, provider)
    await put(auth, "ACME", provider.issuer)
    provider.claims = {"sub": "42", "email": address, "email_verified": True}
    grant = provider_query_of(await provider_browser.come_back(await provider_browser.start()))["code"]
    await require(connected)
    assert is_refused(await auth.post("/mfa/verify", {"mfaToken": mfa_token, "code": app.code()}))
    assert is_refused(
        await auth.post("/sign-in/code/verify", {"challengeId": challenge["challengeId"], "code": code}),
    )
    body = {"challengeId": sign_up["challengeId"], "code": sign_up_code}
    assert is_refused(await auth.post("/sign-up/verify", body))
    assert is_refused(await auth.post("/token", {"code": grant, "codeVerifier": VERIFIER}))
    refreshed = await refresh(auth, session)
    assert refreshed.status_code == 401
    assert (await auth.post("/password/reset", {"token": reset_token, "password": GOOD + "!"})).status_code == 204
    assert is_refused(await auth.sign_in(address, GOOD + "!"))


async def test_unused_grants_are_rejected_once_sso_is_required(connected, auth):
    """Regression test of I10 (tests/defects.md)."""
    session = await auth.signed_up()
    email = session["customer"]["email"]
    redirect = await submit(connected, "sign-in", email=email, password=GOOD)
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members_path, {"customerId": session["customer"]["id"]})
    await require(connected)
    code = query_of(redirect)["code"]
    exchange = await auth.post("/token", {"code": code, "codeVerifier": "v" * 50})
    assert exchange.status_code == 401


async def test_sessions_not_started_by_sso_end_at_the_next_refresh(connected, auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    address = connected.address()
    by_password = await auth.signed_up(address)
    by_sso = await connected.browser().sign_in(address)
    other_domain = await auth.signed_up()
    await require(connected)
    assert (await auth.as_(by_password["accessToken"]).get("/me")).status_code == 200
    refused = await refresh(auth, by_password)
    assert (refused.status_code, refused.json()["code"]) == (401, "refresh_token_invalid")
    assert (await auth.as_(by_password["accessToken"]).get("/me")).status_code == 401
    events = (await connected.client.get("/events?type=customer.session_revoked")).json()["data"]
    assert [event["data"]["reason"] for event in events] == ["SSO_REQUIRED"]
    refreshed = await refresh(auth, by_sso)
    assert refreshed.status_code == 200
    assert (await refresh(auth, refreshed.json())).status_code == 200
    assert (await refresh(auth, other_domain)).status_code == 200
    await require_in_project(auth)
    clock.move(timedelta(minutes=1))
    assert (await refresh(auth, other_domain)).status_code == 401


async def test_sso_of_another_organization_is_not_sufficient(connected, auth, idp):
    """Regression test of I10 (tests/defects.md)."""
    other = await second_acme(connected, idp)
    address = other.address()
    signed_in = await other.browser().sign_in(address)
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    added = await connected.client.post(members_path, {"customerId": signed_in["customer"]["id"]})
    assert added.status_code == 201, added.text
    await require(connected)
    assert (await refresh(auth, signed_in)).status_code == 401
    assert is_refused(await token_response(other, address))
    await require(other)
    assert (await other.browser().sign_in(address))["customer"]["email"] == address, (
        "a sign-on with one of the two organizations is sufficient"
    )


async def test_a_project_can_require_sso_of_all_customers(connected, auth, provider):
    """Regression test of I10 (tests/defects.md)."""
    address = new_address()
    sign_in_by_passkey = await passkey_of(auth, new_address())
    await put(auth, "ACME", provider.issuer)
    options = (await auth.post("/passkeys/sign-in/options")).status_code
    assert options == 200
    await require_in_project(auth)
    for path, fields in SIGN_IN_REQUESTS.values():
        assert is_refused(await auth.post(path, {"email": address, **fields}))
    assert is_refused(await auth.post("/passkeys/sign-in/options"))
    assert (await ProviderBrowser(auth, provider).start()).status_code == 403
    await require_in_project(auth, value=False)
    signed_in = await sign_in_by_passkey()
    assert signed_in.status_code == 200
    await require_in_project(auth)
    sign_in_page = await page(connected)
    visible = [field["name"] for field in sign_in_page.inputs if field.get("type") != "hidden"]
    assert (visible, sign_in_page.actions) == (["email"], [f"/projects/{auth.project.id}/auth/pages/sso"])
    assert sign_in_page.scripts == []
    redirect_page = await submit(connected, "sso", email=connected.address())
    assert connected.connection["loginUrl"] in html.unescape(redirect_page.text)


async def test_the_hosted_page_redirects_members_to_sso(connected, auth):
    """Regression test of I10 (tests/defects.md)."""
    member = await auth.signed_up()
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members_path, {"customerId": member["customer"]["id"]})
    await require(connected)
    answer = await submit(connected, "sign-in", email=member["customer"]["email"], password=GOOD)
    assert answer.status_code == 200
    assert connected.connection["loginUrl"] in html.unescape(answer.text)
    assert "code=" not in answer.headers.get("location", "")


async def test_the_last_working_connection_cannot_be_removed_while_required(connected, auth):
    """Regression test of I10 (tests/defects.md)."""
    await require(connected)
    domain_path = f"/b2b/organizations/{connected.organization['id']}/domains/{connected.domain['id']}"
    for verb, path in [
        ("POST", f"{connected.connection_path}/deactivate"),
        ("DELETE", connected.connection_path),
        ("DELETE", domain_path),
    ]:
        refused = await connected.client.request(verb, path)
        assert (refused.status_code, refused.json()["code"]) == (409, "sso_still_required")
        assert "requireSso" in refused.json()["next"]
    await require(connected, value=False)
    await require_in_project(auth)
    assert (await connected.client.post(f"{connected.connection_path}/deactivate")).status_code == 409
    organization_path = f"/b2b/organizations/{connected.organization['id']}"
    for refused in (
        await connected.client.patch(organization_path, {"status": "SUSPENDED"}),
        await connected.client.delete(organization_path),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "sso_still_required")
    other = await connected.directory.organization("Other")
    assert (await connected.client.delete(f"/b2b/organizations/{other['id']}")).status_code == 200
    await require_in_project(auth, value=False)
    await require(connected)
    assert (await connected.client.patch(organization_path, {"status": "SUSPENDED"})).status_code == 200
    assert (await connected.client.post(f"{connected.connection_path}/deactivate")).status_code == 200, (
        "a suspended organization does not enforce the requirement"
    )


async def test_the_requirement_holds_for_a_lapsed_domain_and_can_be_switched_off(connected, auth, clock, run_due_work):
    """Regression test of I10 (tests/defects.md)."""
    member = await auth.signed_up()
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members_path, {"customerId": member["customer"]["id"]})
    await require(connected)
    connected.directory.zone.remove(connected.domain["recordName"])
    path = f"/b2b/organizations/{connected.organization['id']}/domains/{connected.domain['id']}"
    for _ in range(5):
        clock.move(timedelta(days=1))
        await connected.client.post(f"{path}/verify")
    assert (await connected.client.get(connected.connection_path)).json()["held"] == "DOMAIN_NOT_VERIFIED"
    refused = await auth.sign_in(member["customer"]["email"])
    assert is_refused(refused)
    assert "administrator" in refused.json()["next"]
    await require(connected, value=False)
    assert (await auth.sign_in(member["customer"]["email"])).status_code == 200


async def test_the_requirement_is_not_enforced_while_suspended(connected, auth):
    """Regression test of I10 (tests/defects.md)."""
    address = connected.address()
    await auth.signed_up(address)
    await require(connected)
    organization = f"/b2b/organizations/{connected.organization['id']}"
    assert (await connected.client.patch(organization, {"status": "SUSPENDED"})).json()["requireSso"] is True
    assert (await auth.sign_in(address)).status_code == 200
    await connected.client.patch(organization, {"status": "ACTIVE"})
    assert is_refused(await auth.sign_in(address))


async def test_requiring_sso_needs_the_permission_to_change_the_organization(connected, new_project):
    """Regression test of I10 (tests/defects.md)."""
    path = f"/b2b/organizations/{connected.organization['id']}"
    reader = await connected.directory.project.key("organizations:read", "sso:write")
    assert (await reader.patch(path, {"requireSso": True})).status_code == 403
    other = await new_project()
    assert (await other.client.patch(path, {"requireSso": True})).status_code == 404
    for invalid in ("yes", None, 1):
        assert (await connected.client.patch(path, {"requireSso": invalid})).status_code == 400
    assert (await connected.client.get(path)).json()["requireSso"] is False


async def test_concurrent_requirement_and_deactivation_do_not_both_succeed(connected):
    """Regression test of I10 (tests/defects.md)."""
    path = f"/b2b/organizations/{connected.organization['id']}"
    for _ in range(5):
        answers = await asyncio.gather(
            connected.client.patch(path, {"requireSso": True}),
            connected.client.post(f"{connected.connection_path}/deactivate"),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        await connected.client.patch(path, {"requireSso": False})
        assert (await connected.client.post(f"{connected.connection_path}/activate")).status_code == 200


async def test_the_requirement_applies_after_a_merge(connected, auth, project):
    """Regression test of I10, I2 (tests/defects.md)."""
    address = new_address()
    survivor, loser = await auth.signed_up(address), await auth.signed_up(connected.address())
    await require(connected)
    await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    assert is_refused(await auth.sign_in(address))
    assert (await refresh(auth, survivor)).status_code == 401


async def test_responses_do_not_reveal_memberships(connected, auth):
    """Regression test of I10 (tests/defects.md)."""
    member = await auth.signed_up()
    members_path = f"/b2b/organizations/{connected.organization['id']}/members"
    await connected.client.post(members_path, {"customerId": member["customer"]["id"]})
    await require(connected)
    unknown_address = new_address()
    for path, fields in (("/sign-in/code", {}), ("/password/forgot", {}), ("/sign-in", {"password": "wrong one"})):
        answer_for_member = await auth.post(path, {"email": member["customer"]["email"], **fields})
        answer_for_unknown = await auth.post(path, {"email": unknown_address, **fields})
        assert answer_for_member.status_code == answer_for_unknown.status_code


CONTEXT = "<saml:AuthnContext><saml:AuthnContextClassRef>{}</saml:AuthnContextClassRef></saml:AuthnContext>"
REFEDS_MFA = CONTEXT.format("https://refeds.org/profile/mfa")
ENTRA = "http://schemas.microsoft.com/claims/"


async def token_response(acme, address):
    """Sign on, and exchange the code at `auth/token`. Returns the response."""
    browser = acme.browser()
    query = query_of(await browser.sign_on(address))
    path = f"/projects/{acme.directory.project.id}/auth/token"
    return await browser.client.post(path, {"code": query["code"], "codeVerifier": "v" * 50})


@pytest.mark.parametrize("required_by", ["organization", "project"])
async def test_sso_counts_as_a_second_factor_if_the_assertion_says_so(connected, auth, clock, required_by):
    """Regression test of I10 (tests/defects.md)."""
    path = f"/b2b/organizations/{connected.organization['id']}"
    if required_by == "organization":
        await connected.client.patch(path, {"requireMfa": True})
    else:
        await auth.settings(requireMfa=True)
    address = connected.address()
    without_context = await connected.browser().sign_in(address)
    assert (without_context["mfaEnrollmentRequired"], without_context["accessToken"]) == (True, None)
    with_context = await connected.browser().sign_in(address, authn_context=REFEDS_MFA)
    assert with_context["accessToken"]
    assert (await refresh(auth, with_context)).status_code == 200
    user = person(address, **{f"{ENTRA}authnmethodsreferences": [f"{ENTRA}multipleauthn"]})
    entra = connected.browser()
    by_entra = await entra.exchange_code(await entra.sign_on(person=user))
    assert by_entra["accessToken"]
    await connected.change(trustMfa=True)
    trusted = await connected.browser().sign_in(address)
    assert trusted["accessToken"]
    await connected.change(trustMfa=False)
    session, _ = await enrolled(auth, clock, await token_response(connected, address))
    assert (await refresh(auth, session)).status_code == 200
    first_factor = await connected.browser().sign_in(address, authn_context=REFEDS_MFA)
    assert (first_factor["mfaRequired"], first_factor["mfaEnrollmentRequired"]) == (True, False), (
        "the second factor of the customer is still required"
    )


async def test_single_sign_on_and_a_second_factor_can_both_be_required(connected, auth, clock):
    """Regression test of I10 (tests/defects.md)."""
    path = f"/b2b/organizations/{connected.organization['id']}"
    await connected.client.patch(path, {"requireSso": True, "requireMfa": True})
    address = connected.address()
    session, app = await enrolled(auth, clock, await token_response(connected, address))
    assert (await refresh(auth, session)).status_code == 200
    first_factor = await connected.browser().sign_in(address)
    signed_in = await auth.post("/mfa/verify", {"mfaToken": first_factor["mfaToken"], "code": app.code()})
    assert (await refresh(auth, signed_in.json())).status_code == 200, (
        "a session after the second factor still counts as single sign-on"
    )
