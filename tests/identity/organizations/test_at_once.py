"""Concurrent changes of the same customers, roles and plans succeed or are rejected; none causes a 500."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import uuid4

import pytest

from tests.identity.organizations.test_invitations import invite, signed_in, token_for

ROUNDS = 5
EXPECTED_ERRORS = {401, 403, 404, 409, 422}


async def concurrently(*calls: Awaitable[Any]) -> list[int]:
    """Await the calls concurrently. Returns the status codes, each a success or one of EXPECTED_ERRORS."""
    responses = await asyncio.gather(*calls)
    unexpected = [
        (response.status_code, response.text)
        for response in responses
        if not response.is_success and response.status_code not in EXPECTED_ERRORS
    ]
    assert unexpected == []
    return [response.status_code for response in responses]


async def test_joining_during_the_erasure_of_the_customer(directory, project, auth):
    acme = await directory.organization()
    domain = f"{uuid4().hex}.example"
    await directory.verified_domain(acme, domain)
    path = f"/b2b/organizations/{acme['id']}/members"
    for number in range(ROUNDS):
        customer = await directory.customer(f"ada{number}@{domain}")
        erased, *_ = await concurrently(
            project.client.delete(f"/customers/{customer['id']}"),
            project.client.post(path, {"customerId": customer["id"]}),
            project.client.post("/b2b/domain-join", {"customerId": customer["id"]}),
            auth.at(ip=f"10.0.0.{number}").sign_in(customer["email"]),
        )
        assert erased == 200
    assert await directory.members_of(acme) == []


async def test_joining_during_a_merge_of_two_customers(directory, project, auth):
    acme = await directory.organization()
    domain = f"{uuid4().hex}.example"
    await directory.verified_domain(acme, domain)
    for number in range(ROUNDS):
        survivor = await directory.customer(f"kept{number}@{domain}")
        loser = await directory.customer(f"gone{number}@{domain}", externalUserId=f"user-{number}")
        merged, *_ = await concurrently(
            project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": f"user-{number}"}),
            project.client.post("/b2b/domain-join", {"customerId": survivor["id"]}),
            project.client.post("/b2b/domain-join", {"customerId": loser["id"]}),
            auth.at(ip=f"10.0.1.{number}").sign_in(survivor["email"]),
        )
        assert merged == 200
        assert [member["customerId"] for member in await directory.members_of(acme)].count(survivor["id"]) == 1
    assert len(await directory.members_of(acme)) == ROUNDS


async def test_accepting_an_invitation_while_being_added_as_a_member(directory, project, auth):
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/members"
    for number in range(ROUNDS):
        email = f"ada{number}@example.com"
        await invite(directory, acme, email, role="ADMIN")
        token = await token_for(auth, email)
        ada = await signed_in(auth.at(ip=f"10.0.2.{number}"), directory, email)
        customer = (await project.client.get(f"/customers?q={email}")).json()["data"][0]
        accepted, *_ = await concurrently(
            ada.post("/invitations/accept", {"token": token}),
            project.client.post(path, {"customerId": customer["id"]}),
            project.client.patch(f"/customers/{customer['id']}/metadata", {"metadata": {"round": number}}),
        )
        assert accepted == 200
    assert ["ADMIN" in member["roles"] for member in await directory.members_of(acme)] == [True] * ROUNDS


async def test_changing_roles_during_the_deletion_of_a_permission(project):
    for number in range(ROUNDS):
        permission, role_path = f"posts{number}:read", f"/access/roles/editor{number}"
        await project.client.post("/access/permissions", {"key": permission})
        await project.client.post("/access/roles", {"key": f"editor{number}", "permissions": [permission]})
        _, deleted, *_ = await concurrently(
            project.client.patch(role_path, {"permissions": [permission], "name": "Editor"}),
            project.client.delete(f"/access/permissions/{permission}"),
            project.client.patch(role_path, {"permissions": [permission]}),
        )
        assert deleted == 200
        assert (await project.client.get(role_path)).json()["permissions"] == []


@pytest.mark.parametrize("limit", [3, None])
async def test_changing_plans_during_the_deletion_of_a_feature(project, limit):
    for number in range(ROUNDS):
        feature_key, plan_path = f"seats{number}", f"/b2b/plans/pro{number}"
        await project.client.post("/b2b/features", {"key": feature_key, "type": "LIMIT"})
        await project.client.post("/b2b/plans", {"key": f"pro{number}", "features": [{"featureKey": feature_key}]})
        change = {"features": [{"featureKey": feature_key, "limit": limit}]}
        first, deleted, second = await concurrently(
            project.client.patch(plan_path, change),
            project.client.delete(f"/b2b/features/{feature_key}"),
            project.client.patch(plan_path, change),
        )
        assert (deleted, {first, second} <= {200, 422}) == (204, True)
        assert (await project.client.get(plan_path)).json()["features"] == []
