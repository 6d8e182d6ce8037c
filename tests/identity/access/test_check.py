"""Permission checks, with the explanation of every step."""

import asyncio
import itertools
from datetime import timedelta
from uuid import uuid4

import pytest

from postern.identity.access.model import CHECKS_PER_REQUEST, AccessFacts
from postern.identity.access.rules import decide
from tests.conftest import Client
from tests.identity.customers.conftest import auth
from tests.identity.organizations.conftest import directory

__all__ = ["auth", "directory"]

IN_PROJECT = ["PERMISSION_DECLARED", "CUSTOMER_GIVEN", "CUSTOMER_NOT_BANNED", "PROJECT_ROLE"]
IN_ORGANIZATION = [
    *IN_PROJECT[:3],
    *("ORGANIZATION_ACTIVE", "MEMBER", "ORGANIZATION_ROLE", "ALL_ORGANIZATIONS_ROLE"),
]


async def declare(project, *keys: str) -> None:
    for key in keys:
        assert (await project.client.post("/access/permissions", {"key": key})).status_code == 201


async def make_role(project, key: str, *permissions: str, **fields) -> None:
    body = {"key": key, "permissions": list(permissions), **fields}
    response = await project.client.post("/access/roles", body)
    assert response.status_code == 201, response.text


async def check(project, permission: str, customer=None, organization=None):
    body = {"permission": permission}
    if customer:
        body["customerId"] = customer["id"]
    if organization:
        body["organizationId"] = organization["id"]
    answer = await project.client.post("/access/check", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_project_role_grants_its_permissions(project, directory):
    await declare(project, "posts:write", "posts:read")
    await make_role(project, "editor", "posts:*")
    ada = await directory.customer(roles=["editor", "MEMBER"])
    answer = await check(project, "posts:write", ada)
    assert answer == {
        "allowed": True,
        "reason": "PROJECT_ROLE",
        "permission": "posts:write",
        "scope": "PROJECT",
        "roles": ["editor", "MEMBER"],
        "customerId": ada["id"],
        "organizationId": None,
        "explanation": [
            {"step": "PERMISSION_DECLARED", "ok": True, "roles": []},
            {"step": "CUSTOMER_GIVEN", "ok": True, "roles": []},
            {"step": "CUSTOMER_NOT_BANNED", "ok": True, "roles": []},
            {"step": "PROJECT_ROLE", "ok": True, "roles": ["editor"]},
        ],
    }
    await project.client.patch("/access/roles/editor", {"permissions": ["posts:read"]})
    refused = await check(project, "posts:write", ada)
    assert (refused["allowed"], refused["reason"]) == (False, "NO_ROLE_GRANTS_PERMISSION")


async def test_an_undeclared_permission_is_denied_even_to_owners(project, directory):
    owner = await directory.customer(roles=["OWNER"])
    for permission in ("posts:unknown", "*", "nonsense", "a:b:c:d:e", "'; drop table x; --", '{"x"}'):
        answer = await check(project, permission, owner)
        assert (answer["allowed"], answer["reason"]) == (False, "UNKNOWN_PERMISSION")
    await declare(project, "posts:write")
    assert (await check(project, "posts:write", owner))["reason"] == "PROJECT_ROLE"
    await project.client.delete("/access/permissions/posts:write")
    assert (await check(project, "posts:write", owner))["reason"] == "UNKNOWN_PERMISSION"


async def test_roles_apply_only_where_they_are_assigned(project, directory):
    await declare(project, "invoices:pay")
    await make_role(project, "buyer", "invoices:pay", scope="ORGANIZATION")
    await make_role(project, "clerk", "invoices:pay")
    acme, other = await directory.organization(), await directory.organization("Other")
    ada = await directory.member(acme, "buyer", roles=["clerk"])
    in_acme = await check(project, "invoices:pay", ada, acme)
    assert (in_acme["reason"], in_acme["scope"], in_acme["roles"]) == ("ORGANIZATION_ROLE", "ORGANIZATION", ["buyer"])
    assert [step["step"] for step in in_acme["explanation"]] == IN_ORGANIZATION
    assert (await check(project, "invoices:pay", ada))["reason"] == "PROJECT_ROLE"
    assert (await check(project, "invoices:pay", ada, other))["reason"] == "NOT_A_MEMBER"
    member = await directory.member(acme)
    assert (await check(project, "invoices:pay", member, acme))["reason"] == "NO_ROLE_GRANTS_PERMISSION"
    owner = await directory.member(other, "OWNER")
    assert (await check(project, "invoices:pay", owner, other))["reason"] == "ORGANIZATION_ROLE"
    assert (await check(project, "invoices:pay", owner, acme))["reason"] == "NOT_A_MEMBER"


@pytest.mark.parametrize(
    ("granted", "matching", "other"),
    [
        ("a:b:c", ["a:b:c"], ["a:b", "a:b:cc", "a:b:d"]),
        ("a:*", ["a:b", "a:b:c"], ["aa:b"]),
        ("a:b:*", ["a:b:c", "a:b:c:d"], ["a:b", "a:bb:c"]),
        ("a_a:*", ["a_a:b"], ["aba:b"]),
        ("a:b_c", ["a:b_c"], ["a:bbc"]),
        ("*", ["a:b", "z_z:y:x:w"], []),
    ],
)
async def test_wildcards_match_permissions(project, directory, granted, matching, other):
    await declare(project, *matching, *other)
    await make_role(project, "editor", granted)
    ada = await directory.customer(roles=["editor"])
    answers = {permission: await check(project, permission, ada) for permission in [*matching, *other]}
    assert [permission for permission, answer in answers.items() if answer["allowed"]] == matching


async def test_a_role_for_all_organizations_applies_in_each(project, directory):
    await declare(project, "tickets:read")
    await make_role(project, "support", "tickets:*", appliesToAllOrganizations=True)
    await make_role(project, "agent", "tickets:*", scope="ORGANIZATION", appliesToAllOrganizations=True)
    acme = await directory.organization()
    for role, in_project in (("support", "PROJECT_ROLE"), ("agent", "NO_ROLE_GRANTS_PERMISSION")):
        ada = await directory.customer(roles=[role])
        answer = await check(project, "tickets:read", ada, acme)
        assert (answer["allowed"], answer["reason"]) == (True, "ALL_ORGANIZATIONS_ROLE")
        assert {"step": "MEMBER", "ok": False, "roles": []} in answer["explanation"]
        assert (await check(project, "tickets:read", ada))["reason"] == in_project
        await project.client.patch(f"/access/roles/{role}", {"appliesToAllOrganizations": False})
        assert (await check(project, "tickets:read", ada, acme))["reason"] == "NOT_A_MEMBER"


async def test_bans_and_suspensions_deny_access_regardless_of_roles(project, directory, clock):
    await declare(project, "posts:write")
    acme = await directory.organization()
    ada = await directory.member(acme, "OWNER", roles=["ADMIN"])
    await project.client.patch(f"/b2b/organizations/{acme['id']}", {"status": "SUSPENDED"})
    suspended = await check(project, "posts:write", ada, acme)
    assert (suspended["allowed"], suspended["reason"]) == (False, "ORGANIZATION_SUSPENDED")
    assert {"step": "ORGANIZATION_ROLE", "ok": True, "roles": ["OWNER"]} in suspended["explanation"]
    until = (clock() + timedelta(days=1)).isoformat()
    await project.client.post(f"/customers/{ada['id']}/ban", {"expiresAt": until})
    assert (await check(project, "posts:write", ada, acme))["reason"] == "CUSTOMER_BANNED"
    assert (await check(project, "posts:write", ada))["reason"] == "CUSTOMER_BANNED"
    clock.move(timedelta(days=1, seconds=1))
    assert (await check(project, "posts:write", ada))["reason"] == "PROJECT_ROLE"


async def test_a_customer_token_checks_only_that_customer(project, directory, auth):
    await declare(project, "posts:write")
    await make_role(project, "editor", "posts:write")
    ada, bob = await directory.customer(roles=["editor"]), await directory.customer()
    customer_client = auth.as_((await auth.sign_in(ada["email"])).json()["accessToken"]).client
    path = f"/projects/{project.id}/access/check"
    own = await customer_client.post(path, {"permission": "posts:write"})
    assert (own.json()["allowed"], own.json()["customerId"]) == (True, ada["id"])
    assert (await customer_client.post(path, {"permission": "posts:write", "customerId": ada["id"]})).status_code == 200
    foreign = await customer_client.post(path, {"permission": "posts:write", "customerId": bob["id"]})
    assert (foreign.status_code, foreign.json()["code"]) == (403, "not_yourself")
    batch = await customer_client.post(f"{path}/batch", {"checks": [{"permission": "posts:write"}]})
    assert [result["allowed"] for result in batch.json()["results"]] == [True]
    assert (await customer_client.get(f"/projects/{project.id}/access/roles")).status_code == 403


async def test_a_check_without_a_customer_is_denied_with_the_reason(project):
    await declare(project, "posts:write")
    answer = await check(project, "posts:write")
    assert (answer["allowed"], answer["reason"]) == (False, "NO_ROLE_GRANTS_PERMISSION")
    assert [step["step"] for step in answer["explanation"]] == IN_PROJECT
    assert answer["explanation"][1]["ok"] is False


async def test_unknown_and_foreign_customers_are_404(project, directory, new_project):
    other_project = await new_project()
    foreign_customer = (await other_project.client.post("/customers", {"email": "a@example.com"})).json()
    foreign_organization = (await other_project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    ada = await directory.customer()
    for body, path in (
        ({"customerId": foreign_customer["id"]}, "/customerId"),
        ({"customerId": "nobody"}, "/customerId"),
        ({"customerId": ada["id"], "organizationId": foreign_organization["id"]}, "/organizationId"),
        ({"customerId": ada["id"], "organizationId": str(uuid4())}, "/organizationId"),
    ):
        answer = await project.client.post("/access/check", {"permission": "a:b", **body})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (404, path)
        batch = {"checks": [{"permission": "a:b"}, {"permission": "a:b", **body}]}
        answer = await project.client.post("/access/check/batch", batch)
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (404, "/checks/1" + path)


async def test_batch_results_are_in_order_and_limited(project, directory):
    await declare(project, *(f"area{number}:read" for number in range(5)))
    await make_role(project, "odd", "area1:read", "area3:read")
    ada = await directory.customer(roles=["odd"])
    checks = [{"permission": f"area{number}:read", "customerId": ada["id"]} for number in range(5)]
    answer = await project.client.post("/access/check/batch", {"checks": checks})
    assert [result["allowed"] for result in answer.json()["results"]] == [False, True, False, True, False]
    assert [result["permission"] for result in answer.json()["results"]] == [result["permission"] for result in checks]
    most = checks * 20
    assert len(most) == CHECKS_PER_REQUEST == 100
    answer = await project.client.post("/access/check/batch", {"checks": most})
    assert [result["allowed"] for result in answer.json()["results"]] == [False, True, False, True, False] * 20
    too_many = {"checks": most + checks[:1]}
    assert (await project.client.post("/access/check/batch", too_many)).status_code == 400
    assert (await project.client.post("/access/check/batch", {"checks": []})).status_code == 400


async def test_an_assigned_role_cannot_be_deleted(project, directory):
    await make_role(project, "editor")
    await make_role(project, "buyer", scope="ORGANIZATION")
    await make_role(project, "guest", scope="ORGANIZATION")
    acme = await directory.organization()
    ada = await directory.member(acme, "buyer", roles=["editor"])
    invited = await project.client.post(
        f"/b2b/organizations/{acme['id']}/invitations", {"email": "x@example.com", "role": "guest"}
    )
    for key in ("editor", "buyer", "guest"):
        refused = await project.client.delete(f"/access/roles/{key}")
        assert (refused.status_code, refused.json()["code"]) == (409, "role_in_use")
    await project.client.put(f"/customers/{ada['id']}/roles", {"roles": []})
    await project.client.delete(f"/b2b/organizations/{acme['id']}/members/{ada['id']}")
    await project.client.delete(f"/b2b/organizations/{acme['id']}/invitations/{invited.json()['id']}")
    for key in ("editor", "buyer", "guest"):
        assert (await project.client.delete(f"/access/roles/{key}")).status_code == 200


FLAGS = list(itertools.product((True, False), repeat=6))


@pytest.mark.parametrize(("declared", "banned", "suspended", "member", "role_grants", "for_all_organizations"), FLAGS)
def test_every_combination_of_a_check(declared, banned, suspended, member, role_grants, for_all_organizations):
    facts = AccessFacts(
        number=1,
        declared=declared,
        customer_exists=True,
        banned=banned,
        customer_roles=["support"],
        organization_exists=True,
        suspended=suspended,
        member_roles=["buyer"] if member else None,
        granting_in_project=["support"] if role_grants and declared else [],
        granting_in_all_organizations=["support"] if for_all_organizations and declared else [],
        granting_in_organization=["buyer"] if role_grants and member and declared else [],
    )
    decision = decide("a:b", facts, uuid4(), uuid4())
    if not declared:
        expected = "UNKNOWN_PERMISSION"
    elif banned:
        expected = "CUSTOMER_BANNED"
    elif suspended:
        expected = "ORGANIZATION_SUSPENDED"
    elif member and role_grants:
        expected = "ORGANIZATION_ROLE"
    elif for_all_organizations:
        expected = "ALL_ORGANIZATIONS_ROLE"
    else:
        expected = "NO_ROLE_GRANTS_PERMISSION" if member else "NOT_A_MEMBER"
    assert decision.reason == expected
    assert decision.allowed is expected.endswith("_ROLE")
    assert [step.step for step in decision.explanation] == IN_ORGANIZATION
    in_project = decide("a:b", facts, uuid4(), None)
    assert [step.step for step in in_project.explanation] == IN_PROJECT
    assert in_project.allowed is (declared and not banned and role_grants)


async def test_batched_checks_do_not_mix_up_results(project, directory, new_project):
    """Concurrent checks of two projects, of customers that exist, do not exist, or belong to the other project."""
    other = await new_project()
    for tenant, allowed in ((project, "posts:write"), (other, "posts:read")):
        await declare(tenant, "posts:read", "posts:write")
        await make_role(tenant, "writer", allowed)
    ada = await directory.customer(roles=["writer"])
    bob = (await other.client.post("/customers", {"email": "bob@example.com", "roles": ["writer"]})).json()
    unknown = {"id": str(uuid4())}
    checks = [
        (project, "posts:write", ada, 200, True),
        (project, "posts:read", ada, 200, False),
        (other, "posts:write", bob, 200, False),
        (other, "posts:read", bob, 200, True),
        (other, "posts:read", ada, 404, None),
        (project, "posts:write", bob, 404, None),
        (project, "posts:write", unknown, 404, None),
        (project, "no such permission", ada, 200, False),
    ] * 10

    async def ask(checked_project, permission, customer, *_):
        body = {"permission": permission, "customerId": customer["id"]}
        return await checked_project.client.post("/access/check", body)

    answers = await asyncio.gather(*(ask(*arguments) for arguments in checks))
    for (_, permission, customer, status, allowed), answer in zip(checks, answers, strict=True):
        assert answer.status_code == status, answer.text
        if status == 200:
            decision = answer.json()
            assert (decision["permission"], decision["customerId"]) == (permission, customer["id"])
            assert decision["allowed"] is allowed


async def test_an_etag_changes_with_the_decision(project, directory):
    await declare(project, "posts:write")
    await make_role(project, "editor", "posts:*")
    ada, eve = await directory.customer(roles=["editor"]), await directory.customer(roles=["editor"])
    body = {"permission": "posts:write", "customerId": ada["id"]}

    async def ask(path="/access/check", body=body, **headers):
        return await project.client.post(path, body, headers={"If-None-Match": headers.get("etag", '"none"')})

    first = await ask()
    assert first.status_code == 200
    etag = first.headers["etag"]
    for sent in (etag, f"W/{etag}", f'"other", {etag}'):
        again = await ask(etag=sent)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    other = await ask(body={**body, "customerId": eve["id"]}, etag=etag)
    assert other.status_code == 200
    assert other.headers["etag"] != etag
    await project.client.put(f"/customers/{ada['id']}/roles", {"roles": []})
    changed = await ask(etag=etag)
    assert (changed.status_code, changed.json()["allowed"]) == (200, False)
    assert changed.headers["etag"] != etag
    await project.client.put(f"/customers/{ada['id']}/roles", {"roles": ["editor"]})
    assert (await ask(etag=etag)).status_code == 304
    checks = {"checks": [body, {**body, "customerId": eve["id"]}]}
    batch = await ask("/access/check/batch", checks)
    assert (await ask("/access/check/batch", checks, etag=batch.headers["etag"])).status_code == 304
    await project.client.delete("/access/permissions/posts:write")
    assert (await ask("/access/check/batch", checks, etag=batch.headers["etag"])).status_code == 200


async def test_if_none_match_does_not_admit_a_request(project, new_project, directory):
    await declare(project, "posts:write")
    ada = await directory.customer()
    body = {"permission": "posts:write", "customerId": ada["id"]}
    etag = (await project.client.post("/access/check", body)).headers["etag"]
    headers = {"If-None-Match": etag}
    assert (await project.client.post("/access/check", body, headers=headers)).status_code == 304
    restricted = await project.key("emails:send")
    assert (await restricted.post("/access/check", body, headers=headers)).status_code == 403
    foreign = await new_project()
    assert (await foreign.client.post("/access/check", body, headers=headers)).status_code == 404
    as_other = Client(project.client.app, foreign.secret_key, project.client.base)
    assert (await as_other.post("/access/check", body, headers=headers)).status_code == 404
    stranger = Client(project.client.app, None, project.client.base)
    assert (await stranger.post("/access/check", body, headers=headers)).status_code == 401
