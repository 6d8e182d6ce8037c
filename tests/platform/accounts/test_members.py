"""Members of an account: invitations, roles, leaving, and ownership."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import AccountHelper, token_in

ROLES = ("ADMIN", "DEVELOPER", "VIEWER")


async def test_an_invited_person_signs_up_into_the_account(account):
    member_id, grace = await account.member("VIEWER")
    profile = (await grace.get("/account")).json()
    assert profile["role"] == "VIEWER"
    assert profile["account"]["id"] == account.tenant.account_id
    assert profile["emailVerifiedAt"] is not None
    assert [project["id"] for project in profile["projects"]] == [account.tenant.id]
    assert (await account.members())[member_id] == "VIEWER"
    assert (await account.owner.get("/account/invitations")).json() == []
    log = (await account.owner.get("/account/audit-log?action=member.*")).json()["data"]
    assert [entry["action"] for entry in log] == ["member.joined", "member.invited"]


async def test_an_invitation_works_once_for_its_address_within_a_week(account, stranger, clock):
    email = f"{uuid4().hex[:12]}@example.com"
    first_token = await account.invite(email)
    second_token = await account.invite(email, "ADMIN")
    body = {"email": email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": first_token})).json()[
        "code"
    ] == "link_invalid"
    other_address = {**body, "email": f"x{email}", "invitationToken": second_token}
    assert (await stranger.post("/auth/sign-up", other_address)).json()["code"] == "link_invalid"
    clock.move(timedelta(days=7, seconds=1))
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": second_token})).status_code == 400


@pytest.mark.parametrize("departure", ["removed", "left", "demoted", "moved away"])
async def test_invitations_of_a_member_who_may_no_longer_invite_are_invalid(account, new_project, departure):
    """A removed member cannot return with an invitation that they sent to themselves before."""
    grace_id, grace = await account.member("ADMIN")
    email = f"{uuid4().hex[:12]}@example.com"
    assert (await grace.post("/account/invitations", {"email": email, "role": "ADMIN"})).status_code == 201
    token = token_in(await account.mail(email))
    await account.invite(f"{uuid4().hex[:12]}@example.com")
    if departure == "removed":
        response = await account.owner.delete(f"/account/members/{grace_id}")
    elif departure == "left":
        response = await grace.post("/account/leave")
    elif departure == "demoted":
        response = await account.owner.patch(f"/account/members/{grace_id}", {"role": "DEVELOPER"})
    else:
        her_address = (await grace.get("/account")).json()["email"]
        other_account = AccountHelper(await new_project(), account.stranger, account.run_due_work, account.world)
        response = await grace.post("/account/invitations/accept", {"token": await other_account.invite(her_address)})
    assert response.is_success, response.text
    body = {"email": email, "password": PASSWORD, "name": "Eve", "invitationToken": token}
    refused = await account.stranger.post("/auth/sign-up", body)
    assert (refused.status_code, refused.json()["code"]) == (400, "link_invalid")
    assert [invitation["invitedBy"] for invitation in (await account.owner.get("/account/invitations")).json()] == [
        account.tenant.email
    ]


async def test_a_revoked_invitation_is_invalid(account, stranger):
    email = f"{uuid4().hex[:12]}@example.com"
    token = await account.invite(email)
    (invitation,) = (await account.owner.get("/account/invitations")).json()
    assert (invitation["email"], invitation["invitedBy"]) == (email, account.tenant.email)
    assert (await account.owner.delete(f"/account/invitations/{invitation['id']}")).status_code == 204
    assert (await account.owner.delete(f"/account/invitations/{invitation['id']}")).status_code == 404
    signed_up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD, "invitationToken": token})
    assert signed_up.status_code == 400


async def test_a_member_of_another_account_moves_and_an_owner_must_delete_theirs_first(
    account, new_project, run_due_work
):
    other_project = await new_project()
    token = await account.invite(other_project.email, "ADMIN")
    refused = await other_project.developer.post("/account/invitations/accept", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (409, "owns_an_account")
    body = {"token": token, "deleteMyAccount": True}
    assert (await other_project.developer.post("/account/invitations/accept", body)).status_code == 403
    moved = await other_project.developer.post("/account/invitations/accept", {**body, "password": PASSWORD})
    assert moved.status_code == 200, moved.text
    assert (moved.json()["role"], moved.json()["email"]) == ("ADMIN", other_project.email)
    profile = (await other_project.developer.get("/account")).json()
    assert profile["account"]["id"] == account.tenant.account_id
    assert (await other_project.client.get("")).status_code == 401  # The key of the deleted project.
    await run_due_work()
    again = await other_project.developer.post("/account/invitations/accept", {"token": token})
    assert again.json()["code"] == "link_invalid"


async def test_an_owner_with_other_members_cannot_move_by_invitation(account, new_project, run_due_work, world):
    from tests.platform.accounts.members import AccountHelper

    other_project = await new_project()
    await AccountHelper(other_project, account.stranger, run_due_work, world).member()
    token = await account.invite(other_project.email)
    body = {"token": token, "deleteMyAccount": True, "password": PASSWORD}
    response = await other_project.developer.post("/account/invitations/accept", body)
    assert (response.status_code, response.json()["code"]) == (409, "owns_an_account")


async def test_a_removed_member_is_refused_on_the_next_request(account):
    member_id, grace = await account.member()
    assert (await grace.get("")).status_code == 200
    assert (await account.owner.delete(f"/account/members/{member_id}")).status_code == 204
    assert (await grace.get("")).status_code == 401
    assert (await account.owner.delete(f"/account/members/{member_id}")).status_code == 404


async def test_a_changed_role_applies_to_the_next_request(account):
    member_id, grace = await account.member("VIEWER")
    assert (await grace.post("/api-keys", {"name": "x"})).status_code == 403
    assert (await account.owner.patch(f"/account/members/{member_id}", {"role": "ADMIN"})).json()["role"] == "ADMIN"
    assert (await grace.post("/api-keys", {"name": "x"})).status_code == 201
    await account.owner.patch(f"/account/members/{member_id}", {"role": "DEVELOPER"})
    assert (await grace.post("/account/invitations", {"email": "a@example.com"})).status_code == 403


async def test_a_deleted_key_is_refused_on_its_next_request(account):
    created = (await account.owner.post("/api-keys", {"name": "x"})).json()
    key = Client(account.stranger.app, created["key"], account.owner.base)
    assert (await key.get("")).status_code == 200
    assert (await account.owner.delete(f"/api-keys/{created['id']}")).status_code == 200
    assert (await key.get("")).status_code == 401


async def test_revoked_access_is_refused_in_every_process(account, clock, settings, database_url):
    """A second process has authenticated all of them before, and must not cache that."""
    from postern.app import HOOKS, make_app
    from postern.world import open_world

    created = (await account.owner.post("/api-keys", {"name": "x"})).json()
    removed_id, removed = await account.member("ADMIN")
    demoted_id, demoted = await account.member("ADMIN")
    async with open_world(settings, database_url, HOOKS, clock=clock) as other:
        app, base = make_app(other), account.owner.base
        key, removed_client, demoted_client = (
            Client(app, token, base) for token in (created["key"], removed.token, demoted.token)
        )
        for _ in range(2):
            assert [(await client.get("")).status_code for client in (key, removed_client, demoted_client)] == [200] * 3
        assert (await demoted_client.post("/api-keys", {"name": "y"})).status_code == 201
        await account.owner.delete(f"/api-keys/{created['id']}")
        await account.owner.delete(f"/account/members/{removed_id}")
        await account.owner.patch(f"/account/members/{demoted_id}", {"role": "VIEWER"})
        assert [(await client.get("")).status_code for client in (key, removed_client, demoted_client)] == [
            401,
            401,
            200,
        ]
        assert (await demoted_client.post("/api-keys", {"name": "z"})).status_code == 403


ALLOWED = {
    ("GET", "/account"): {"OWNER", "ADMIN", "DEVELOPER", "VIEWER"},
    ("GET", "/account/members"): {"OWNER", "ADMIN", "DEVELOPER", "VIEWER"},
    ("GET", "/account/audit-log"): {"OWNER", "ADMIN", "DEVELOPER", "VIEWER"},
    ("GET", "/account/export"): {"OWNER", "ADMIN"},
    ("POST", "/account/invitations"): {"OWNER", "ADMIN"},
    ("DELETE", "/account/members/{id}"): {"OWNER", "ADMIN"},
    ("PATCH", "/account/members/{id}"): {"OWNER", "ADMIN"},
    ("POST", "/account/members/{id}/transfer-ownership"): {"OWNER"},
    ("DELETE", "/account"): {"OWNER"},
    ("POST", "http://postern.test/projects"): {"OWNER", "ADMIN", "DEVELOPER"},
}


async def test_each_role_has_its_permissions(account):
    clients = {"OWNER": account.owner} | {role: (await account.member(role))[1] for role in ROLES}
    for (method, path), allowed in ALLOWED.items():
        for role, client in clients.items():
            response = await client.request(method, path.replace("{id}", str(uuid4())), json={})
            # The permission is checked before the body and the record, so 403 means that it is missing.
            refused = response.status_code == 403 and response.json()["code"] == "permission_missing"
            assert refused == (role not in allowed), f"{role}: {method} {path}: {response.status_code}"


async def test_keys_and_anonymous_callers_cannot_use_account_operations(account, stranger):
    for method, path in ALLOWED:
        path = path.replace("{id}", account.tenant.id)
        assert (await stranger.request(method, path, json={})).status_code == 401
        assert (await account.tenant.client.request(method, path, json={})).status_code == 403


async def test_members_of_another_account_are_not_found(account, new_project):
    other_project = await new_project()
    foreign_id = (await other_project.developer.get("/account")).json()["id"]
    for identifier in (foreign_id, str(uuid4()), "x"):
        responses = [
            await account.owner.delete(f"/account/members/{identifier}"),
            await account.owner.patch(f"/account/members/{identifier}", {"role": "ADMIN"}),
            await account.owner.post(f"/account/members/{identifier}/transfer-ownership", {"password": PASSWORD}),
        ]
        assert [response.status_code for response in responses] == [404] * 3
        assert {response.json()["code"] for response in responses} == {"member_missing"}
    assert (await other_project.developer.get("/account")).status_code == 200


async def test_the_owner_cannot_leave_or_be_removed(account):
    _, admin = await account.member("ADMIN")
    owner = (await account.owner.get("/account")).json()["id"]
    for response in (
        await account.owner.post("/account/leave"),
        await admin.delete(f"/account/members/{owner}"),
        await admin.patch(f"/account/members/{owner}", {"role": "VIEWER"}),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "owner_stays")
    assert (await account.owner.patch(f"/account/members/{owner}", {"role": "OWNER"})).status_code == 400
    assert (await admin.post("/account/leave")).status_code == 204
    assert (await admin.get("/account")).status_code == 401


async def test_ownership_is_transferred_with_the_password(account):
    member_id, grace = await account.member("DEVELOPER")
    path = f"/account/members/{member_id}/transfer-ownership"
    wrong = await account.owner.post(path, {"password": "wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    moved = await account.owner.post(path, {"password": PASSWORD})
    assert (moved.status_code, moved.json()["role"]) == (200, "OWNER")
    assert (await account.owner.get("/account")).json()["role"] == "ADMIN"
    assert (await account.owner.post(path, {"password": PASSWORD})).status_code == 403
    assert (await grace.post("/account/leave")).status_code == 409
    assert (await account.owner.post("/account/leave")).status_code == 204


async def test_concurrent_transfers_and_departures_leave_one_owner(account):
    """In any order, the account has exactly one owner afterwards, who is still a member."""
    (first_id, ada), (second_id, grace) = await account.member("ADMIN"), await account.member("ADMIN")
    for _ in range(3):
        responses = await asyncio.gather(
            account.owner.post(f"/account/members/{first_id}/transfer-ownership", {"password": PASSWORD}),
            account.owner.post(f"/account/members/{second_id}/transfer-ownership", {"password": PASSWORD}),
        )
        assert sorted(response.status_code for response in responses) == [200, 403]
        roles = await account.members()
        (owner,) = [member_id for member_id, role in roles.items() if role == "OWNER"]
        client = ada if owner == first_id else grace
        former_owner_id = (await account.owner.get("/account")).json()["id"]
        path = f"/account/members/{former_owner_id}/transfer-ownership"
        assert (await client.post(path, {"password": PASSWORD})).status_code == 200
    responses = await asyncio.gather(
        account.owner.post(f"/account/members/{first_id}/transfer-ownership", {"password": PASSWORD}),
        ada.post("/account/leave"),
        account.owner.post("/account/leave"),
        grace.post("/account/leave"),
    )
    assert {response.status_code for response in responses} <= {200, 204, 401, 404, 409}
    remaining_member = ada if responses[0].status_code == 200 else account.owner
    rows = (await remaining_member.get("/account/members")).json()
    assert [member["role"] for member in rows].count("OWNER") == 1


async def test_an_invitation_accepted_twice_concurrently_creates_one_member(account, stranger):
    email = f"{uuid4().hex[:12]}@example.com"
    body = {"email": email, "password": PASSWORD, "invitationToken": await account.invite(email)}
    responses = await asyncio.gather(*(stranger.post("/auth/sign-up", body) for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [201, 400, 400, 400]


async def test_invitations_to_one_address_are_limited_over_all_accounts(account, new_project):
    address, other = f"{uuid4().hex}@example.com", await new_project()
    inviters = [account.owner, other.developer]
    for number in range(10):
        body = {"email": address if number % 3 else address.upper()}
        assert (await inviters[number % 2].post("/account/invitations", body)).status_code == 201
    for inviter in inviters:
        refused = await inviter.post("/account/invitations", {"email": address})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert int(refused.headers["retry-after"]) > 3_600
    assert (
        await account.owner.post("/account/invitations", {"email": f"{uuid4().hex}@example.com"})
    ).status_code == 201


async def test_a_member_is_not_invited_again(account):
    response = await account.owner.post("/account/invitations", {"email": account.tenant.email.upper()})
    assert (response.status_code, response.json()["code"]) == (409, "already_member")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"email": "nobody"}, "/email"),
        ({"email": "a@example.com", "role": "OWNER"}, "/role"),
        ({"email": "a@example.com", "colour": "red"}, "/colour"),
        ({}, "/email"),
    ],
)
async def test_an_invalid_invitation_points_to_the_field(account, body, path):
    response = await account.owner.post("/account/invitations", body)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, path)


async def test_an_invited_address_can_sign_up_while_sign_up_is_closed(account, world, stranger):
    import msgspec

    email = f"{uuid4().hex[:12]}@example.com"
    token = await account.invite(email)
    world.settings = msgspec.structs.replace(world.settings, sign_up=False)
    body = {"email": email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-up", body)).status_code == 403
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": token})).status_code == 201
