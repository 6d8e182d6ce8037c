"""Concurrent changes of the same customers, roles and plans succeed or are rejected; none causes a 500."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import uuid4

import pytest

from tests.identity.organizations.test_invitations import invite, signed_in, token_for

ROUNDS = 5
REFUSALS = {401, 403, 404, 409, 422}


async def at_once(*calls: Awaitable[Any]) -> list[int]:
    """The statuses, none of which is our fault."""
    answers = await asyncio.gather(*calls)
    wrong = [
        (each.status_code, each.text) for each in answers if not each.is_success and each.status_code not in REFUSALS
    ]
    assert wrong == []
    return [each.status_code for each in answers]


async def test_joining_during_the_erasure_of_the_customer(directory, project, auth):
    acme = await directory.organization()
    domain = f"{uuid4().hex}.example"
    await directory.proved(acme, domain)
    path = f"/b2b/organizations/{acme['id']}/members"
    for number in range(ROUNDS):
        person = await directory.customer(f"ada{number}@{domain}")
        erased, *_ = await at_once(
            project.client.delete(f"/customers/{person['id']}"),
            project.client.post(path, {"customerId": person["id"]}),
            project.client.post("/b2b/domain-join", {"customerId": person["id"]}),
            auth.at(ip=f"10.0.0.{number}").sign_in(person["email"]),
        )
        assert erased == 200
    assert await directory.members_of(acme) == []


async def test_joining_during_a_merge_of_two_customers(directory, project, auth):
    acme = await directory.organization()
    domain = f"{uuid4().hex}.example"
    await directory.proved(acme, domain)
    for number in range(ROUNDS):
        kept = await directory.customer(f"kept{number}@{domain}")
        gone = await directory.customer(f"gone{number}@{domain}", externalUserId=f"user-{number}")
        merged, *_ = await at_once(
            project.client.post("/customers/link", {"customerId": kept["id"], "externalUserId": f"user-{number}"}),
            project.client.post("/b2b/domain-join", {"customerId": kept["id"]}),
            project.client.post("/b2b/domain-join", {"customerId": gone["id"]}),
            auth.at(ip=f"10.0.1.{number}").sign_in(kept["email"]),
        )
        assert merged == 200
        assert [each["customerId"] for each in await directory.members_of(acme)].count(kept["id"]) == 1
    assert len(await directory.members_of(acme)) == ROUNDS


async def test_accepting_an_invitation_while_being_added_as_a_member(directory, project, auth):
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/members"
    for number in range(ROUNDS):
        email = f"ada{number}@example.com"
        await invite(directory, acme, email, role="ADMIN")
        token = await token_for(auth, email)
        me = await signed_in(auth.at(ip=f"10.0.2.{number}"), directory, email)
        person = (await project.client.get(f"/customers?q={email}")).json()["data"][0]
        accepted, *_ = await at_once(
            me.post("/invitations/accept", {"token": token}),
            project.client.post(path, {"customerId": person["id"]}),
            project.client.patch(f"/customers/{person['id']}/metadata", {"metadata": {"round": number}}),
        )
        assert accepted == 200
    assert ["ADMIN" in each["roles"] for each in await directory.members_of(acme)] == [True] * ROUNDS


async def test_changing_roles_during_the_deletion_of_a_permission(project):
    for number in range(ROUNDS):
        permission, role = f"posts{number}:read", f"/access/roles/editor{number}"
        await project.client.post("/access/permissions", {"key": permission})
        await project.client.post("/access/roles", {"key": f"editor{number}", "permissions": [permission]})
        _, taken, *_ = await at_once(
            project.client.patch(role, {"permissions": [permission], "name": "Editor"}),
            project.client.delete(f"/access/permissions/{permission}"),
            project.client.patch(role, {"permissions": [permission]}),
        )
        assert taken == 200
        assert (await project.client.get(role)).json()["permissions"] == []


@pytest.mark.parametrize("limit", [3, None])
async def test_changing_plans_during_the_deletion_of_a_feature(project, limit):
    for number in range(ROUNDS):
        key, plan = f"seats{number}", f"/b2b/plans/pro{number}"
        await project.client.post("/b2b/features", {"key": key, "type": "LIMIT"})
        await project.client.post("/b2b/plans", {"key": f"pro{number}", "features": [{"featureKey": key}]})
        said = {"features": [{"featureKey": key, "limit": limit}]}
        first, deleted, second = await at_once(
            project.client.patch(plan, said),
            project.client.delete(f"/b2b/features/{key}"),
            project.client.patch(plan, said),
        )
        assert (deleted, {first, second} <= {200, 422}) == (204, True)
        assert (await project.client.get(plan)).json()["features"] == []
