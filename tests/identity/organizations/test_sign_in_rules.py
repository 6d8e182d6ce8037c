"""Sign-in methods that organizations allow, and limits of the sessions of their members."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from postern.identity.customers.requirement_store import SignInRequirement, SignInRules
from postern.identity.customers.requirements import meets_rules
from postern.kernel.values import new_id
from tests.identity.customers.conftest import GOOD, auth, new_address
from tests.identity.customers.test_providers import provider, settings
from tests.identity.customers.test_second_factor import sign_in_with_passkey, with_passkey
from tests.identity.oauth.conftest import Provider
from tests.identity.sso.conftest import REDIRECT_URL, acme, idp
from tests.identity.sso.test_required import account_of

__all__ = ["acme", "auth", "idp", "provider", "settings"]


class Member:
    """A customer with a password in an organization with rules."""

    def __init__(self, auth, directory, organization, address, customer):
        self.auth, self.directory, self.organization = auth, directory, organization
        self.address, self.customer = address, customer

    async def rule(self, expected=200, **fields):
        path = f"/b2b/organizations/{self.organization['id']}"
        answer = await self.directory.project.client.patch(path, fields)
        assert answer.status_code == expected, answer.text
        return answer.json()

    async def sign_in(self):
        return await self.auth.post("/sign-in", {"email": self.address, "password": GOOD})

    async def refresh(self, signed_in, **fields):
        return await self.auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"], **fields})


@pytest.fixture
async def member(auth, directory):
    return await member_of(auth, directory, await directory.organization("Acme"), new_address())


async def member_of(auth, directory, organization, address, customer=None):
    customer = customer or await directory.customer(address)
    body = {"customerId": customer["id"], "roles": ["MEMBER"]}
    path = f"/b2b/organizations/{organization['id']}/members"
    assert (await directory.project.client.post(path, body)).status_code == 201
    return Member(auth, directory, organization, address, customer)


async def test_only_allowed_methods_sign_in(member, auth):
    signed_in = (await member.sign_in()).json()
    changed = await member.rule(allowedMethods=["EMAIL_CODE", "PASSKEY", "EMAIL_CODE"])
    assert changed["allowedMethods"] == ["EMAIL_CODE", "PASSKEY"]
    refused = (await member.sign_in()).json()
    assert (refused["status"], refused["code"]) == (403, "sign_in_method_not_allowed")
    assert "EMAIL_CODE, PASSKEY" in refused["next"]
    wrong = await auth.post("/sign-in", {"email": member.address, "password": "not the password"})
    assert wrong.json()["code"] == "sign_in_failed", "the rule is not told before the password is right"
    ended = await member.refresh(signed_in)
    assert (ended.status_code, "sign in again" in ended.text) == (401, True)
    (event,) = await member.directory.events("customer.session_revoked")
    assert event["data"]["reason"] == "METHOD_NOT_ALLOWED"
    (event,) = await member.directory.events("organization.updated")
    assert event["data"]["allowedMethods"] == ["EMAIL_CODE", "PASSKEY"]
    await member.rule(allowedMethods=None)
    assert (await member.sign_in()).status_code == 200


async def test_a_suspended_organization_has_no_rules(member):
    await member.rule(allowedMethods=["EMAIL_CODE"], sessionLifetimeMinutes=15)
    await member.rule(status="SUSPENDED")
    assert (await member.sign_in()).status_code == 200


async def test_a_passkey_is_an_allowed_method(member, auth, directory):
    address = new_address()
    _, _, device, _, _ = await with_passkey(auth, address)
    signed_in = (await sign_in_with_passkey(auth, device)).json()
    await member_of(auth, directory, member.organization, address, signed_in["customer"])
    await member.rule(allowedMethods=["PASSKEY"])
    assert (await sign_in_with_passkey(auth, device)).status_code == 200
    await member.rule(allowedMethods=["PASSWORD"])
    assert (await sign_in_with_passkey(auth, device)).status_code == 403


async def test_rules_of_all_organizations_apply(member, directory, clock):
    other = await directory.organization("Other")
    second = await member_of(member.auth, directory, other, member.address, member.customer)
    await member.rule(allowedMethods=["PASSWORD", "PASSKEY"], sessionLifetimeMinutes=600)
    await second.rule(allowedMethods=["PASSWORD", "EMAIL_CODE"], sessionLifetimeMinutes=60)
    signed_in = (await member.sign_in()).json()
    clock.move(timedelta(minutes=61))
    assert (await member.refresh(signed_in)).status_code == 401
    await second.rule(allowedMethods=["EMAIL_CODE"])
    refused = (await member.sign_in()).json()
    assert (refused["code"], "no sign-in method in common" in refused["next"]) == ("sign_in_method_not_allowed", True)


async def test_sessions_end_after_the_lifetime(member, clock):
    before = (await member.sign_in()).json()
    await member.rule(sessionLifetimeMinutes=60)
    signed_in = (await member.sign_in()).json()
    for _ in range(2):
        clock.move(timedelta(minutes=25))
        answer = await member.refresh(signed_in)
        assert answer.status_code == 200
        signed_in = answer.json()
    shortened = (await member.refresh(before)).json()
    assert shortened["refreshTokenExpiresAt"] == signed_in["refreshTokenExpiresAt"]
    clock.move(timedelta(minutes=11))
    assert (await member.refresh(signed_in)).status_code == 401
    assert (await member.refresh(shortened)).status_code == 401


async def test_a_session_that_is_too_old_ends_at_its_next_refresh(member, clock):
    signed_in = (await member.sign_in()).json()
    clock.move(timedelta(hours=5))
    await member.rule(sessionLifetimeMinutes=60)
    assert (await member.refresh(signed_in)).status_code == 401
    (event,) = await member.directory.events("customer.session_revoked")
    assert event["data"]["reason"] == "SESSION_TOO_OLD"


async def test_sessions_end_without_use(member, clock):
    await member.rule(sessionIdleMinutes=30)
    signed_in = (await member.sign_in()).json()
    for _ in range(3):
        clock.move(timedelta(minutes=20))
        answer = await member.refresh(signed_in)
        assert answer.status_code == 200
        signed_in = answer.json()
    clock.move(timedelta(minutes=31))
    assert (await member.refresh(signed_in)).status_code == 401
    again = (await member.sign_in()).json()
    switched = await member.refresh(again, organizationId=None)
    assert switched.status_code == 200
    clock.move(timedelta(minutes=31))
    assert (await member.refresh(switched.json())).status_code == 401, "rules apply to all sessions of a member"


async def test_owners_are_not_locked_out_by_mistake(member, directory, auth):
    owner = await directory.customer(new_address())
    path = f"/b2b/organizations/{member.organization['id']}/members"
    body = {"customerId": owner["id"], "roles": ["OWNER"]}
    assert (await directory.project.client.post(path, body)).status_code == 201
    for methods in (["PASSKEY"], ["SOCIAL"], ["PASSKEY", "SSO"]):
        refused = await member.rule(409, allowedMethods=methods)
        assert refused["code"] == "owners_locked_out"
        assert "allowLockOut" in refused["next"]
    assert (await member.rule(409, allowedMethods=["SSO"], allowLockOut=True))["code"] == "sso_not_ready"
    assert (await member.rule(allowedMethods=["PASSKEY"], allowLockOut=True))["allowedMethods"] == ["PASSKEY"]
    assert (await member.rule(allowedMethods=["PASSWORD"]))["allowedMethods"] == ["PASSWORD"]
    assert (await member.rule(name="Renamed"))["allowedMethods"] == ["PASSWORD"]


async def test_an_account_at_a_provider_is_refused_before_the_browser_returns(member, auth, provider, directory):
    await auth.settings(redirectUrls=[REDIRECT_URL])
    sign_in = await account_of(auth, provider, new_address())
    signed_in = (await sign_in()).json()
    await member_of(auth, directory, member.organization, None, signed_in["customer"])
    await member.rule(allowedMethods=["SOCIAL"])
    assert (await sign_in()).status_code == 200
    await member.rule(allowedMethods=["PASSWORD"])
    assert await sign_in() == "sign_in_method_not_allowed"


async def test_a_refused_single_sign_on_shows_a_page_to_browsers_of_oauth_clients(acme, auth):
    await acme.connect()
    address = acme.address()
    await acme.browser().sign_in(address)
    organization = f"/b2b/organizations/{acme.organization['id']}"
    assert (await acme.client.patch(organization, {"allowedMethods": ["PASSKEY"]})).status_code == 200
    oauth = Provider(auth)
    await oauth.register()
    oauth_browser, sso_browser = oauth.browser(), acme.browser()
    flow = dict(parse_qsl(urlsplit((await oauth_browser.authorize()).headers["location"]).query))
    flow = {name: flow[name] for name in ("redirectUrl", "codeChallenge", "state")}
    started = await sso_browser.start(**flow)
    answer = await sso_browser.post(*sso_browser.idp_response(started.headers["location"], address))
    refused = await oauth_browser.open(answer.headers["location"])
    assert refused.headers["content-type"].startswith("text/html")
    assert "does not allow this way to sign in" in refused.text


async def test_required_single_sign_on_and_the_methods_must_have_one_in_common(acme):
    """Both rules apply: without SSO among the methods, nobody could sign in."""
    await acme.connect()
    organization = f"/b2b/organizations/{acme.organization['id']}"
    owner = await acme.directory.customer(acme.address())
    body = {"customerId": owner["id"], "roles": ["OWNER"]}
    assert (await acme.client.post(f"{organization}/members", body)).status_code == 201
    assert (await acme.client.patch(organization, {"allowedMethods": ["PASSWORD"]})).status_code == 200
    refused = await acme.client.patch(organization, {"requireSso": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "owners_locked_out")
    assert (await acme.client.patch(organization, {"requireSso": True, "allowedMethods": ["SSO"]})).status_code == 200
    refused = await acme.client.patch(organization, {"allowedMethods": ["PASSWORD"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "owners_locked_out")
    confirmed = await acme.client.patch(organization, {"allowedMethods": ["PASSWORD"], "allowLockOut": True})
    assert confirmed.status_code == 200


async def test_the_last_connection_stays_while_only_single_sign_on_is_allowed(acme):
    await acme.connect()
    organization = f"/b2b/organizations/{acme.organization['id']}"
    assert (await acme.client.patch(organization, {"allowedMethods": ["SSO"]})).status_code == 200
    for answer in (
        await acme.client.post(f"{acme.connection_path}/deactivate"),
        await acme.client.delete(acme.connection_path),
        await acme.client.delete(f"{organization}/domains/{acme.domain['id']}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "sso_still_required")
        assert "allowedMethods" in answer.json()["next"]
    assert (await acme.client.patch(organization, {"allowedMethods": ["SSO", "PASSKEY"]})).status_code == 200
    assert (await acme.client.post(f"{acme.connection_path}/deactivate")).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"allowedMethods": []},
        {"allowedMethods": ["MAGIC"]},
        {"sessionLifetimeMinutes": 14},
        {"sessionLifetimeMinutes": 43_201},
        {"sessionIdleMinutes": 4},
        {"sessionIdleMinutes": "30"},
    ],
)
async def test_rules_are_checked(member, fields):
    await member.rule(400, **fields)


def test_which_sign_ins_meet_the_rules():
    one, two, three = new_id(), new_id(), new_id()

    def required(**allowed):
        rules = [
            SignInRules(
                organization_id=organization_id,
                allowed_methods=methods,
                session_lifetime_minutes=None,
                session_idle_minutes=None,
            )
            for organization_id, methods in allowed.values()
        ]
        return SignInRequirement(project_id=one, customer_id=one, sso_organization_ids=[], mfa=False, rules=rules)

    sso_only = required(a=(one, ["SSO"]), b=(two, ["SSO", "PASSWORD"]))
    assert meets_rules(sso_only, ["fed"], one)
    assert meets_rules(sso_only, ["fed", "mfa"], two)
    assert not meets_rules(sso_only, ["fed"], three), "an organization without the rule does not vouch"
    assert not meets_rules(sso_only, ["fed"], None)
    assert not meets_rules(sso_only, ["pwd"], None)
    assert meets_rules(required(a=(one, ["SOCIAL"])), ["fed"], None)
    assert not meets_rules(required(a=(one, ["SOCIAL"])), ["fed"], two)
    assert meets_rules(required(a=(one, ["EMAIL_CODE"])), ["pwd", "otp"], None)
    assert not meets_rules(required(a=(one, ["EMAIL_CODE"])), ["pwd", "totp"], None)
    assert not meets_rules(required(a=(one, ["PASSWORD"])), [], None)
    assert meets_rules(required(a=(one, None)), [], None)
