"""The organization context of access tokens: claims, the active organization, switching, limits and permissions."""

import asyncio
import base64
import json
import random
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import md5
from itertools import pairwise
from types import SimpleNamespace
from uuid import UUID

import jwt
import pytest
from psycopg.sql import SQL

from postern.identity.customers.token_authentication import CheckedToken, token_bearers_of
from postern.identity.customers.tokens import METADATA_CLAIMS_LIMIT, PERMISSIONS_LIMIT, SESSIONS
from postern.kernel.database.statements import Queries
from postern.security.sessions import RefreshRequest, refresh_batch
from postern.security.totp import code_at
from tests.conftest import Client
from tests.identity.access.test_check import declare, make_role
from tests.identity.customers.conftest import auth
from tests.identity.customers.test_pages import FLOW, browser, passkey_options, redeemed, with_passkey_of_page
from tests.identity.customers.test_second_factor import ORIGIN, answer_of, decoded
from tests.identity.organizations.conftest import directory

__all__ = ["auth", "browser", "directory"]


def claims_of(tokens):
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False})


class Person:
    """A signed-in customer, with the tokens of the session."""

    def __init__(self, auth, customer, tokens):
        self.auth, self.customer, self.tokens = auth, customer, tokens

    @property
    def claims(self):
        return claims_of(self.tokens)

    @property
    def client(self):
        return self.auth.as_(self.tokens["accessToken"])

    async def try_refresh(self, **body):
        return await self.auth.post("/token/refresh", {"refreshToken": self.tokens["refreshToken"], **body})

    async def refresh(self, **body):
        """Refresh the tokens; returns the new claims."""
        response = await self.try_refresh(**body)
        assert response.status_code == 200, response.text
        self.tokens = response.json()
        claims = self.claims
        assert self.tokens["organizationId"] == claims.get("org", {}).get("id")
        return claims


@pytest.fixture
def sign_in(auth):
    async def sign_in(customer) -> Person:
        response = await auth.sign_in(customer["email"])
        assert response.status_code == 200, response.text
        person = Person(auth, customer, response.json())
        active = person.claims.get("org", {}).get("id")
        assert person.tokens["organizationId"] == person.tokens["customer"]["organizationId"] == active
        return person

    return sign_in


async def join(project, organization, customer, *roles):
    body = {"customerId": customer["id"], "roles": list(roles) or ["MEMBER"]}
    response = await project.client.post(f"/b2b/organizations/{organization['id']}/members", body)
    assert response.status_code == 201, response.text


async def set_status(project, organization, status):
    changed = await project.client.patch(f"/b2b/organizations/{organization['id']}", {"status": status})
    assert changed.status_code == 200, changed.text


async def test_the_claims_describe_the_active_organization(project, directory, sign_in):
    await declare(project, "posts:write", "posts:read", "invoices:pay", "tickets:read")
    await make_role(project, "editor", "posts:*")
    await make_role(project, "buyer", "invoices:pay", scope="ORGANIZATION")
    await make_role(project, "support", "tickets:*", scope="ORGANIZATION", appliesToAllOrganizations=True)
    acme = await directory.organization("Acme", metadata={"region": "eu", "secret": "x"})
    ada = await directory.member(
        acme, "buyer", "MEMBER", roles=["editor", "support"], metadata={"plan": "pro", "note": "x"}
    )
    person = await sign_in(ada)
    claims = person.claims
    assert claims["roles"] == ["editor", "support"]
    assert claims["permissions"] == ["posts:read", "posts:write"]
    assert claims["org"] == {
        "id": acme["id"],
        "slug": "acme",
        "name": "Acme",
        "roles": ["buyer", "MEMBER"],
        "permissions": ["invoices:pay", "tickets:read"],
        "entitlements_version": 0,
    }
    assert not {"metadata", "metadata_omitted", "permissions_url"} & set(claims)
    assert (claims["iss"], claims["aud"], claims["sub"]) == (
        claims["iss"].rpartition("/")[0] + f"/{project.id}",
        str(project.id),
        ada["id"],
    )
    assert (await person.client.get("/me")).json()["organizationId"] == acme["id"]
    unchanged = await person.refresh()
    assert {**unchanged, "iat": 0, "exp": 0} == {**claims, "iat": 0, "exp": 0}


async def test_without_an_organization_the_token_has_no_org(project, directory, sign_in):
    person = await sign_in(await directory.customer(roles=["MEMBER"]))
    assert "org" not in person.claims
    assert person.claims["permissions"] == []
    assert (await person.client.get("/me")).json()["organizationId"] is None
    assert (await person.client.get("/permissions")).json() == {"permissions": [], "organization": None}


async def test_switching_the_organization_at_refresh(project, directory, sign_in):
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme, "ADMIN")
    person = await sign_in(ada)
    assert person.claims["org"]["id"] == acme["id"]
    await join(project, other, ada)
    assert (await person.refresh())["org"]["id"] == acme["id"]
    switched = await person.refresh(organizationId=other["id"])
    assert (switched["org"]["slug"], switched["org"]["roles"]) == ("other", ["MEMBER"])
    assert switched["sid"] == person.claims["sid"]
    assert (await person.refresh())["org"]["id"] == other["id"]
    assert "org" not in await person.refresh(organizationId=None)
    assert "org" not in await person.refresh()
    assert (await person.refresh(organizationId=acme["id"]))["org"]["id"] == acme["id"]


async def test_an_organization_that_cannot_be_active_is_refused_and_nothing_changes(
    project, directory, sign_in, new_project
):
    acme, suspended = await directory.organization("Acme"), await directory.organization("Suspended")
    ada = await directory.member(acme)
    await join(project, suspended, ada)
    await set_status(project, suspended, "SUSPENDED")
    foreign = (await (await new_project()).client.post("/b2b/organizations", {"name": "Foreign"})).json()
    deleted = await directory.organization("Deleted")
    await join(project, deleted, ada)
    await project.client.delete(f"/b2b/organizations/{deleted['id']}")
    without_membership = await directory.organization("Without membership")
    person = await sign_in(ada)
    answers = []
    for organization_id in (
        suspended["id"],
        foreign["id"],
        deleted["id"],
        without_membership["id"],
        "nonsense",
        ada["id"],
    ):
        refused = await person.try_refresh(organizationId=organization_id)
        assert (refused.status_code, refused.json()["code"]) == (403, "not_a_member")
        assert refused.json()["errors"][0]["path"] == "/organizationId"
        answers.append({**refused.json(), "requestId": None})
    assert all(one == other for one, other in pairwise(answers)), "an answer must not reveal what exists"
    for invalid in (5, "", "x" * 65, {}):
        assert (await person.try_refresh(organizationId=invalid)).status_code == 400
    assert (await person.refresh())["org"]["id"] == acme["id"], "the refresh token must not be used up"


async def test_a_refused_switch_with_the_previous_refresh_token_changes_nothing(project, directory, sign_in):
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme)
    person = await sign_in(ada)
    previous = Person(person.auth, ada, person.tokens)
    await person.refresh()
    refused = await previous.try_refresh(organizationId=other["id"])
    assert (refused.status_code, refused.json()["code"]) == (403, "not_a_member")
    await join(project, other, ada)
    switched = await previous.refresh(organizationId=other["id"])
    assert switched["org"]["id"] == other["id"]
    assert previous.tokens["refreshToken"] == person.tokens["refreshToken"]
    assert (await person.refresh())["org"]["id"] == other["id"]


async def test_changes_are_visible_at_the_next_refresh(project, directory, sign_in):
    await declare(project, "posts:write")
    acme = await directory.organization("Acme")
    owner, ada = await directory.member(acme, "OWNER"), await directory.member(acme)
    person = await sign_in(ada)
    path = f"/b2b/organizations/{acme['id']}"
    assert person.claims["org"]["permissions"] == []
    await project.client.patch(f"{path}/members/{ada['id']}", {"roles": ["ADMIN"]})
    assert (await person.refresh())["org"]["permissions"] == ["posts:write"]
    await project.client.patch(path, {"name": "Acme Ltd", "slug": "acme-ltd"})
    renamed = (await person.refresh())["org"]
    assert (renamed["name"], renamed["slug"]) == ("Acme Ltd", "acme-ltd")
    await set_status(project, acme, "SUSPENDED")
    assert "org" not in await person.refresh()
    await set_status(project, acme, "ACTIVE")
    assert (await person.refresh())["org"]["id"] == acme["id"]
    before = person.client
    assert (await project.client.delete(f"{path}/members/{ada['id']}")).status_code == 200
    assert (await before.get("/permissions")).json()["organization"] is None
    assert "org" not in await person.refresh()
    assert (await project.client.delete(path)).status_code == 200
    assert "org" not in (await sign_in(owner)).claims


async def test_the_first_active_organization(project, directory, sign_in):
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme)
    assert (await sign_in(ada)).claims["org"]["id"] == acme["id"], "the only one"
    await join(project, other, ada)
    person = await sign_in(ada)
    assert person.claims["org"]["id"] == acme["id"], "that of the most recent session"
    await person.refresh(organizationId=other["id"])
    assert (await sign_in(ada)).claims["org"]["id"] == other["id"]
    await set_status(project, other, "SUSPENDED")
    assert (await sign_in(ada)).claims["org"]["id"] == acme["id"], "the only one that is not suspended"
    await set_status(project, other, "ACTIVE")
    await person.refresh(organizationId=None)
    await (await sign_in(ada)).refresh(organizationId=None)
    assert "org" not in (await sign_in(ada)).claims, "none was active in the most recent session"
    grace = await directory.member(acme)
    await join(project, other, grace)
    assert "org" not in (await sign_in(grace)).claims, "several, and no earlier session"


async def test_an_organization_that_the_sign_in_joins_by_domain_is_active(project, directory, auth, sign_in):
    acme = await directory.organization("Acme")
    await directory.verified_domain(acme, "acme.example")
    ada = await directory.customer("ada@acme.example")
    assert await directory.members_of(acme) == []
    assert (await sign_in(ada)).claims["org"]["id"] == acme["id"]
    signed_up = await auth.signed_up("grace@acme.example")
    assert signed_up["organizationId"] == claims_of(signed_up)["org"]["id"] == acme["id"]


async def test_of_concurrent_refreshes_with_one_token_the_switch_wins(project, directory, sign_in):
    organizations = [await directory.organization(f"Org {number}") for number in range(3)]
    ada = await directory.customer()
    for organization in organizations:
        await join(project, organization, ada)
    person = await sign_in(ada)
    ids = [organization["id"] for organization in organizations]
    bodies = [{}, {"organizationId": ids[0]}, {}, {"organizationId": "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"}]
    for order in (bodies, bodies[::-1], [bodies[3], bodies[1]]):
        responses = await asyncio.gather(*(person.try_refresh(**body) for body in order))
        answers = {response.status_code: response for response in responses}
        assert set(answers) <= {200, 403}
        for body, response in zip(order, responses, strict=True):
            assert response.status_code == (403 if body == bodies[3] else 200)
            if body == bodies[1]:
                assert response.json()["organizationId"] == ids[0]
        tokens = {response.json()["refreshToken"] for response in responses if response.status_code == 200}
        assert len(tokens) == 1
        person.tokens = answers[200].json()
        assert (await person.refresh())["org"]["id"] == ids[0]
        await person.refresh(organizationId=None)
    switches = await asyncio.gather(*(person.try_refresh(organizationId=switched_to) for switched_to in ids))
    assert [response.json()["organizationId"] for response in switches] == ids, "each gets what it asked for"
    assert len({response.json()["refreshToken"] for response in switches}) == 1
    person.tokens = switches[0].json()
    assert (await person.refresh())["org"]["id"] in ids


async def test_concurrent_refreshes_of_sessions_in_different_organizations_do_not_mix(project, directory, sign_in):
    organizations = [await directory.organization(f"Org {number}") for number in range(4)]
    devices = [await sign_in(await directory.member(organization)) for organization in organizations]
    refused = organizations[0]["id"]
    responses = await asyncio.gather(
        *(person.try_refresh() for person in devices),
        *(person.try_refresh(organizationId=refused) for person in devices),
    )
    assert [claims_of(response.json())["org"]["id"] for response in responses[:4]] == [
        organization["id"] for organization in organizations
    ]
    assert [response.status_code for response in responses[4:]] == [200, 403, 403, 403]


@pytest.mark.parametrize("seed", range(3))
async def test_permissions_are_those_that_checks_allow(project, directory, sign_in, clock, seed):
    """A comparison over random roles with wildcards, in and for all organizations, and with suspensions and bans."""
    chance = random.Random(seed)
    permissions = ["posts:read", "posts:write", "posts:draft:read", "post_x:read", "postsx:read", "a_b:c_d", "axb:c_d"]
    await declare(project, *permissions)
    grants = ["*", "posts:*", "posts:draft:*", "posts:draft:read", "a_b:*", "a_b:c_d", "post_x:read", "none:*"]
    for number in range(6):
        fields = {"scope": ["PROJECT", "ORGANIZATION"][number % 2], "appliesToAllOrganizations": number in (2, 3)}
        await make_role(project, f"r{number}", *chance.sample(grants, chance.randint(0, 2)), **fields)
    of_customers, of_members = ["r0", "r2", "r3", "r4", "OWNER", "ADMIN"], ["r1", "r3", "r5", "OWNER", "ADMIN"]
    acme = await directory.organization("Acme")
    await directory.member(acme, "OWNER")
    ada = await directory.member(acme)
    person = await sign_in(ada)
    for _ in range(12):
        clock.move(timedelta(seconds=20))
        roles = chance.sample(of_customers, chance.choice((0, 1, 1, 2)))
        member_roles = chance.sample(of_members, chance.choice((0, 1, 1, 2)))
        changed = await project.client.put(f"/customers/{ada['id']}/roles", {"roles": roles})
        assert changed.status_code == 200, changed.text
        member = f"/b2b/organizations/{acme['id']}/members/{ada['id']}"
        assert (await project.client.patch(member, {"roles": member_roles or ["MEMBER"]})).status_code == 200
        status = chance.choice(("ACTIVE", "ACTIVE", "SUSPENDED"))
        await set_status(project, acme, status)
        is_banned = chance.random() < 0.15
        if is_banned:
            expires_at = (clock() + timedelta(seconds=5)).isoformat()
            assert (
                await project.client.post(f"/customers/{ada['id']}/ban", {"expiresAt": expires_at})
            ).status_code == 200
            person = None
        checks = [
            {"permission": permission, "customerId": ada["id"], **scope}
            for scope in ({}, {"organizationId": acme["id"]})
            for permission in permissions
        ]
        decisions = (await project.client.post("/access/check/batch", {"checks": checks})).json()["results"]
        allowed = [
            sorted(
                decision["permission"] for decision in decisions if decision["allowed"] and decision["scope"] == scope
            )
            for scope in ("PROJECT", "ORGANIZATION")
        ]
        if person is None:
            assert allowed == [[], []]
            clock.move(timedelta(seconds=6))
            person = await sign_in(ada)
            continue
        claims = await person.refresh(organizationId=acme["id"] if status == "ACTIVE" else None)
        assert [claims["permissions"], claims.get("org", {}).get("permissions", [])] == allowed
        listed = (await person.client.get("/permissions")).json()
        assert listed["permissions"] == allowed[0]
        assert (listed["organization"] or {"permissions": []})["permissions"] == allowed[1]


async def declare_many(world, project, keys):
    """Declare permissions directly in the database, because there are many."""
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into access_permissions (project_id, id, key, created_at)"
            " select %s, gen_random_uuid(), key, now() from unnest(%s::text[]) as key",
            [project.id, list(keys)],
        )


async def test_permissions_that_are_too_large_for_the_token_have_a_url(project, directory, sign_in, world, stranger):
    # Each key takes 30 bytes in the list, with quotes and comma; a list has one byte more.
    keys = [f"area{number:03}:{'x' * 19}" for number in range(60)]
    await declare_many(world, project, keys)
    await make_role(project, "all", "*")
    await make_role(project, "some", *keys[:5], scope="ORGANIZATION")
    acme = await directory.organization("Acme")
    ada = await directory.member(acme, "some", roles=["all"])
    person = await sign_in(ada)
    claims = person.claims
    assert claims["permissions"] is None, "the larger list is left out"
    assert claims["org"]["permissions"] == keys[:5]
    assert claims["permissions_url"] == f"{claims['iss']}/auth/permissions"
    path = claims["permissions_url"].removeprefix(claims["iss"].partition("/projects")[0])
    listed = await Client(stranger.app, person.tokens["accessToken"]).get(path)
    assert listed.json() == {
        "permissions": sorted(keys),
        "organization": {"id": acme["id"], "roles": ["some"], "permissions": keys[:5]},
    }
    await project.client.patch(f"/b2b/organizations/{acme['id']}/members/{ada['id']}", {"roles": ["ADMIN"]})
    both = await person.refresh()
    assert (both["permissions"], both["org"]["permissions"]) == (None, None)
    assert (await project.client.put(f"/customers/{ada['id']}/roles", {"roles": []})).status_code == 200
    only = await person.refresh()
    assert (only["permissions"], only["org"]["permissions"]) == ([], None)
    assert only["permissions_url"]
    # Exactly at the limit, with the empty list of the project. Brackets, quotes and `fit:` take eight bytes.
    await declare_many(world, project, ["fit:" + "y" * (PERMISSIONS_LIMIT - len("[]") - 49 * 30 - 8)])
    exact = [*keys[:49], "fit:*"]
    await make_role(project, "exact", *exact, scope="ORGANIZATION")
    await project.client.patch(f"/b2b/organizations/{acme['id']}/members/{ada['id']}", {"roles": ["exact"]})
    fitting = await person.refresh()
    assert len(fitting["org"]["permissions"]) == 50
    assert "permissions_url" not in fitting
    await declare_many(world, project, ["fit:y"])
    assert (await person.refresh())["org"]["permissions"] is None


async def test_a_token_lists_permissions_of_the_organization_it_was_issued_for(project, directory, sign_in):
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme)
    await join(project, other, ada)
    person = await sign_in(ada)
    await person.refresh(organizationId=acme["id"])
    in_acme = person.client
    await person.refresh(organizationId=other["id"])
    assert (await in_acme.get("/permissions")).json()["organization"]["id"] == acme["id"]
    assert (await person.client.get("/permissions")).json()["organization"]["id"] == other["id"]


async def test_declared_metadata_is_in_the_token(project, directory, auth, sign_in):
    acme = await directory.organization("Acme", metadata={"region": "eu", "seats": 5})
    ada = await directory.member(acme, metadata={"plan": "pro", "note": "internal"})
    person = await sign_in(ada)
    await auth.settings(tokenClaims={"customer": ["plan", "missing", "plan"]})
    claims = await person.refresh()
    assert claims["metadata"] == {"plan": "pro"}
    assert "metadata" not in claims["org"]
    await auth.settings(tokenClaims={"organization": ["region"]})
    settings = (await project.client.get("")).json()["settings"]["signIn"]["tokenClaims"]
    assert settings == {"customer": ["plan", "missing"], "organization": ["region"]}
    claims = await person.refresh()
    assert (claims["metadata"], claims["org"]["metadata"]) == ({"plan": "pro"}, {"region": "eu"})
    await project.client.patch(f"/customers/{ada['id']}/metadata", {"metadata": {"plan": None}})
    assert (await person.refresh())["metadata"] == {}
    await auth.settings(tokenClaims=None)
    claims = await person.refresh()
    assert "metadata" not in claims
    assert "metadata" not in claims["org"]
    for wrong in ({"customer": [""]}, {"customer": ["x" * 129]}, {"organization": ["k"] * 51}, {"other": []}, []):
        response = await project.developer.patch("", {"settings": {"signIn": {"tokenClaims": wrong}}})
        assert response.status_code == 400, wrong


async def test_metadata_that_is_too_large_is_left_out(project, directory, auth, sign_in):
    # `{"a":"…"}` takes 8 bytes around the value, and the empty metadata of the organization 2.
    exact = "x" * (METADATA_CLAIMS_LIMIT - 2 - 8)
    acme = await directory.organization("Acme")
    ada = await directory.member(acme, metadata={"a": exact})
    await auth.settings(tokenClaims={"customer": ["a", "b", "ü"], "organization": ["large", "small"]})
    person = await sign_in(ada)
    assert person.claims["metadata"] == {"a": exact}
    assert "metadata_omitted" not in person.claims
    await project.client.patch(f"/customers/{ada['id']}/metadata", {"metadata": {"b": 1}})
    claims = await person.refresh()
    assert (claims["metadata"], claims["metadata_omitted"]) == ({"b": 1}, ["metadata.a"])
    path = f"/b2b/organizations/{acme['id']}"
    await project.client.patch(path, {"metadata": {"large": ["y" * 2_000], "small": True}})
    await project.client.patch(f"/customers/{ada['id']}/metadata", {"metadata": {"a": None, "ü": "ü" * 200}})
    claims = await person.refresh()
    assert claims["org"]["metadata"] == {"small": True}
    assert claims["metadata"] == {"b": 1}, "characters count as the token encodes them: six bytes for ü"
    assert claims["metadata_omitted"] == ["metadata.ü", "org.metadata.large"]


async def test_the_largest_tokens_are_accepted(project, directory, auth, sign_in):
    acme = await directory.organization("組" * 200)
    ada = await directory.member(acme)
    names = [f"{number:02}{'k' * 126}" for number in range(50)]
    await project.client.patch(f"/customers/{ada['id']}/metadata", {"metadata": dict.fromkeys(names, "v" * 150)})
    await auth.settings(tokenClaims={"customer": names})
    person = await sign_in(ada)
    omitted = person.claims["metadata_omitted"]
    assert omitted == [f"metadata.{name}" for name in names[: len(omitted)]]
    assert 0 < len(json.dumps(omitted, separators=(",", ":"))) <= METADATA_CLAIMS_LIMIT
    assert len(person.tokens["accessToken"]) > 4_096
    assert (await person.client.get("/me")).status_code == 200


async def test_codes_links_and_second_factors_give_the_context(project, directory, auth, sign_in, clock):
    acme = await directory.organization("Acme")
    ada = await directory.member(acme)
    challenge = await auth.post("/sign-in/code", {"email": ada["email"]})
    body = {"challengeId": challenge.json()["challengeId"], "code": await auth.code(ada["email"])}
    by_code = await auth.post("/sign-in/code/verify", body)
    assert claims_of(by_code.json())["org"]["id"] == acme["id"]
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    await auth.post("/sign-in/link", {"email": ada["email"], "redirectUrl": "https://app.example.com/in"})
    by_link = await auth.post("/sign-in/link/verify", {"token": await auth.link_token(ada["email"])})
    assert claims_of(by_link.json())["org"]["id"] == acme["id"]
    await auth.settings(requireMfa=True)
    pending = (await auth.sign_in(ada["email"])).json()
    assert (pending["mfaEnrollmentRequired"], pending["organizationId"]) == (True, None)
    enrolment = (await auth.post("/mfa/enroll", {"mfaToken": pending["mfaToken"]})).json()
    secret = base64.b32decode(enrolment["secret"])
    code = code_at(secret, int(clock().timestamp()) // 30)
    confirmed = await auth.post("/mfa/enroll/confirm", {"mfaToken": pending["mfaToken"], "code": code})
    assert confirmed.status_code == 200, confirmed.text
    assert claims_of(confirmed.json())["org"]["id"] == acme["id"]


async def test_pages_and_passkeys_give_the_context(directory, auth, browser):
    acme = await directory.organization("Acme")
    ada = await directory.member(acme)
    device, _, _, added = await with_passkey_of_page(auth, browser, ada["email"])
    by_password = await redeemed(auth, added)
    assert by_password["organizationId"] == claims_of(by_password)["org"]["id"] == acme["id"]
    page = await browser.open("sign-in", **FLOW)
    challenge = await passkey_options(auth, page)
    answer = answer_of(device.get(decoded(challenge["options"]), ORIGIN))
    fields = {"challengeId": challenge["challengeId"], "credential": json.dumps(answer)}
    by_passkey = await redeemed(auth, await browser.submit(page, f"{browser.base}/passkey", **fields))
    assert claims_of(by_passkey)["org"]["id"] == acme["id"]


async def test_a_customer_who_is_added_again_gets_the_organization_of_the_session_back(project, directory, sign_in):
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme)
    await join(project, other, ada)
    person = await sign_in(ada)
    await person.refresh(organizationId=acme["id"])
    await project.client.delete(f"/b2b/organizations/{acme['id']}/members/{ada['id']}")
    assert "org" not in await person.refresh()
    await join(project, acme, ada)
    assert (await person.refresh())["org"]["id"] == acme["id"]


class ExplainingQueries(Queries):
    """Runs statements on `world.db`, and collects the nodes of their plans; with `is_generic`, of the plans for unknown
    parameters."""

    def __init__(self, db, *, is_generic=False):
        self.db, self.nodes, self.is_generic = db, [], is_generic

    @asynccontextmanager
    async def connection(self):
        async with self.db.connection() as self.on:
            yield self

    async def execute(self, query, values, **options):
        async with self.on.transaction(force_rollback=True):
            if self.is_generic:
                await self.on.execute("set local plan_cache_mode = force_generic_plan")
            composed = SQL(query) if isinstance(query, str) else query
            explained = await self.on.execute(SQL("explain (analyze, format json) ") + composed, values)
            (plan,) = await explained.fetchone()
        self._collect(plan[0]["Plan"])
        return await self.on.execute(query, values, **options)

    def _collect(self, node):
        self.nodes.append(node)
        for inner in node.get("Plans", []):
            self._collect(inner)


SESSIONS_OF_ONE_CUSTOMER = """
    insert into sessions (project_id, id, subject_id, methods, authenticated_at, user_agent, ip_address, created_at,
                          last_used_at, expires_at, idle_expires_at, due_at)
    select %(project)s, gen_random_uuid(), %(customer)s, '{pwd}', now(), '', '', now(), now(),
           now() + interval '9 days', now() + interval '9 days', now() + interval '9 days'
    from generate_series(1, 1000) n
"""
MANY = 3_000
FILL = """
    insert into customers (project_id, id, email, email_key, roles, providers, metadata, created_at, updated_at)
    select %(project)s, md5('c' || n)::uuid, n || '@x.example', n || '@x.example', array['editor'], '{}', '{}', now(),
           now() from generate_series(1, %(many)s) n;
    insert into organizations (project_id, id, name, slug, created_at, updated_at)
    select %(project)s, md5('o' || n)::uuid, 'Org', 'org-' || n, now(), now() from generate_series(1, %(many)s) n;
    insert into organization_members (project_id, id, organization_id, customer_id, roles, source, joined_at,
                                      updated_at)
    select %(project)s, gen_random_uuid(), md5('o' || n)::uuid, md5('c' || n)::uuid, array['buyer'], 'API', now(), now()
    from generate_series(1, %(many)s) n;
    insert into sessions (project_id, id, subject_id, methods, authenticated_at, user_agent, ip_address, created_at,
                          last_used_at, expires_at, idle_expires_at, due_at, organization_id)
    select %(project)s, md5('s' || n)::uuid, md5('c' || n)::uuid, '{pwd}', now(), '', '', now(), now(),
           now() + interval '9 days', now() + interval '9 days', now() + interval '9 days', md5('o' || n)::uuid
    from generate_series(1, %(many)s) n;
    insert into access_roles (project_id, id, key, name, scope, permissions, created_at, updated_at)
    select %(project)s, gen_random_uuid(), 'role' || n, 'Role', 'PROJECT', array['p:a'], now(), now()
    from generate_series(1, %(many)s) n;
    insert into entitlement_overrides (project_id, id, organization_id, feature_id, enabled, expires_at, created_at,
                                       updated_at)
    select %(project)s, gen_random_uuid(), md5('o' || n)::uuid, (select id from features where
           project_id = %(project)s limit 1), true, now() - interval '1 hour', now(), now()
    from generate_series(1, %(many)s) n;
"""
LARGE_TABLES = {
    "customers",
    "organizations",
    "organization_members",
    "sessions",
    "access_roles",
    "entitlement_overrides",
}


@pytest.mark.usefixtures("one_server")
async def test_a_refresh_reads_the_context_with_indexes_in_one_statement(project, world):
    """Renewals of concurrent requests stay one statement, and read only the rows of their sessions."""
    await declare(project, *(f"area{number}:read" for number in range(40)))
    await make_role(project, "editor", "area1:*", "area2:read")
    await make_role(project, "buyer", "area3:read", scope="ORGANIZATION")
    await project.client.post("/b2b/features", {"key": "sso"})
    project_id = UUID(project.id)
    async with world.db.connection() as connection:
        for part in FILL.split(";")[:-1]:
            await connection.execute(part, {"project": project_id, "many": MANY})
        await connection.execute("analyze customers, organizations, organization_members, sessions, access_roles")
    for count in (1, 50):
        sessions = [
            UUID(md5(f"s{number}".encode(), usedforsecurity=False).hexdigest()) for number in range(1, count + 1)
        ]
        explaining = ExplainingQueries(world.db)
        requests = [
            RefreshRequest(project_id, session, 2 if count > 1 and index == 0 else 1)
            for index, session in enumerate(sessions)
        ]
        renewed = await refresh_batch(
            SimpleNamespace(db=explaining, clock=world.clock, secrets=world.secrets), requests, SESSIONS
        )
        assert all(row.subject["permissions"] == ["area1:read", "area2:read"] for row in renewed)
        assert all(row.subject["organization"]["permissions"] == ["area3:read"] for row in renewed)
        assert {row.subject["organization"]["entitlementsVersion"] for row in renewed} == {2}
        scans = {(node["Relation Name"], node["Node Type"]) for node in explaining.nodes if "Relation Name" in node}
        assert not [scan for scan in scans if scan[0] in LARGE_TABLES and scan[1] == "Seq Scan"]


@pytest.mark.usefixtures("one_server")
async def test_tokens_are_looked_up_by_primary_keys(project, world, sign_in, directory):
    """Also with the plan for unknown parameters, which PostgreSQL uses after some executions."""
    person = await sign_in(await directory.customer())
    project_id, claims = UUID(project.id), person.claims
    header = jwt.get_unverified_header(person.tokens["accessToken"])
    token = CheckedToken("", project_id, UUID(claims["sid"]), UUID(header["kid"]), claims["exp"], None)
    async with world.db.connection() as connection:
        await connection.execute(SESSIONS_OF_ONE_CUSTOMER, {"project": project_id, "customer": claims["sub"]})
        await connection.execute("analyze sessions, customers, customer_signing_keys")
    explaining = ExplainingQueries(world.db, is_generic=True)
    bearers = await token_bearers_of(SimpleNamespace(db=explaining, clock=world.clock), [token, token])
    assert [str(bearer.session_id) for bearer in bearers] == [claims["sid"]] * 2
    indexes = {node["Relation Name"]: node.get("Index Name") for node in explaining.nodes if "Relation Name" in node}
    assert indexes["sessions"] == "sessions_pkey"
    assert indexes["customers"] == "customers_pkey"
