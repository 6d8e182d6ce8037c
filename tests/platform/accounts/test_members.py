"""Members of an account: invitations, roles, leaving, and ownership."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import House, token_in

ROLES = ("ADMIN", "DEVELOPER", "VIEWER")


async def test_an_invited_person_signs_up_into_the_account(house):
    her_id, grace = await house.member("VIEWER")
    profile = (await grace.get("/account")).json()
    assert profile["role"] == "VIEWER"
    assert profile["account"]["id"] == house.tenant.account_id
    assert profile["emailVerifiedAt"] is not None
    assert [each["id"] for each in profile["projects"]] == [house.tenant.id]
    assert (await house.members())[her_id] == "VIEWER"
    assert (await house.owner.get("/account/invitations")).json() == []
    log = (await house.owner.get("/account/audit-log?action=member.*")).json()["data"]
    assert [each["action"] for each in log] == ["member.joined", "member.invited"]


async def test_an_invitation_works_once_for_its_address_within_a_week(house, stranger, clock):
    email = f"{uuid4().hex[:12]}@example.com"
    first = await house.invite(email)
    second = await house.invite(email, "ADMIN")
    body = {"email": email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": first})).json()["code"] == "link_invalid"
    other = {**body, "email": f"x{email}", "invitationToken": second}
    assert (await stranger.post("/auth/sign-up", other)).json()["code"] == "link_invalid"
    clock.move(timedelta(days=7, seconds=1))
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": second})).status_code == 400


@pytest.mark.parametrize("how", ["removed", "left", "demoted", "moved away"])
async def test_invitations_of_a_member_who_may_no_longer_invite_are_invalid(house, new_project, how):
    """A removed member cannot return with an invitation that they sent to themselves before."""
    grace_id, grace = await house.member("ADMIN")
    email = f"{uuid4().hex[:12]}@example.com"
    assert (await grace.post("/account/invitations", {"email": email, "role": "ADMIN"})).status_code == 201
    token = token_in(await house.mail(email))
    await house.invite(f"{uuid4().hex[:12]}@example.com")
    if how == "removed":
        done = await house.owner.delete(f"/account/members/{grace_id}")
    elif how == "left":
        done = await grace.post("/account/leave")
    elif how == "demoted":
        done = await house.owner.patch(f"/account/members/{grace_id}", {"role": "DEVELOPER"})
    else:
        theirs = (await grace.get("/account")).json()["email"]
        elsewhere = House(await new_project(), house.stranger, house.work_off, house.world)
        done = await grace.post("/account/invitations/accept", {"token": await elsewhere.invite(theirs)})
    assert done.is_success, done.text
    body = {"email": email, "password": PASSWORD, "name": "Eve", "invitationToken": token}
    refused = await house.stranger.post("/auth/sign-up", body)
    assert (refused.status_code, refused.json()["code"]) == (400, "link_invalid")
    assert [each["invitedBy"] for each in (await house.owner.get("/account/invitations")).json()] == [
        house.tenant.email
    ]


async def test_a_revoked_invitation_is_invalid(house, stranger):
    email = f"{uuid4().hex[:12]}@example.com"
    token = await house.invite(email)
    (open_,) = (await house.owner.get("/account/invitations")).json()
    assert (open_["email"], open_["invitedBy"]) == (email, house.tenant.email)
    assert (await house.owner.delete(f"/account/invitations/{open_['id']}")).status_code == 204
    assert (await house.owner.delete(f"/account/invitations/{open_['id']}")).status_code == 404
    up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD, "invitationToken": token})
    assert up.status_code == 400


async def test_a_member_of_another_account_moves_and_an_owner_must_delete_theirs_first(house, new_project, work_off):
    theirs = await new_project()
    token = await house.invite(theirs.email, "ADMIN")
    refused = await theirs.developer.post("/account/invitations/accept", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (409, "owns_an_account")
    body = {"token": token, "deleteMyAccount": True}
    assert (await theirs.developer.post("/account/invitations/accept", body)).status_code == 403
    moved = await theirs.developer.post("/account/invitations/accept", {**body, "password": PASSWORD})
    assert moved.status_code == 200, moved.text
    assert (moved.json()["role"], moved.json()["email"]) == ("ADMIN", theirs.email)
    profile = (await theirs.developer.get("/account")).json()
    assert profile["account"]["id"] == house.tenant.account_id
    assert (await theirs.client.get("")).status_code == 401  # The key of the project that was given up.
    await work_off()
    again = await theirs.developer.post("/account/invitations/accept", {"token": token})
    assert again.json()["code"] == "link_invalid"


async def test_an_owner_with_other_members_cannot_move_by_invitation(house, new_project, work_off, world):
    from tests.platform.accounts.members import House

    theirs = await new_project()
    await House(theirs, house.stranger, work_off, world).member()
    token = await house.invite(theirs.email)
    body = {"token": token, "deleteMyAccount": True, "password": PASSWORD}
    answer = await theirs.developer.post("/account/invitations/accept", body)
    assert (answer.status_code, answer.json()["code"]) == (409, "owns_an_account")


async def test_a_removed_member_is_refused_on_the_next_request(house):
    her_id, grace = await house.member()
    assert (await grace.get("")).status_code == 200
    assert (await house.owner.delete(f"/account/members/{her_id}")).status_code == 204
    assert (await grace.get("")).status_code == 401
    assert (await house.owner.delete(f"/account/members/{her_id}")).status_code == 404


async def test_a_changed_role_applies_to_the_next_request(house):
    her_id, grace = await house.member("VIEWER")
    assert (await grace.post("/api-keys", {"name": "x"})).status_code == 403
    assert (await house.owner.patch(f"/account/members/{her_id}", {"role": "ADMIN"})).json()["role"] == "ADMIN"
    assert (await grace.post("/api-keys", {"name": "x"})).status_code == 201
    await house.owner.patch(f"/account/members/{her_id}", {"role": "DEVELOPER"})
    assert (await grace.post("/account/invitations", {"email": "a@example.com"})).status_code == 403


async def test_a_deleted_key_is_refused_on_its_next_request(house):
    made = (await house.owner.post("/api-keys", {"name": "x"})).json()
    key = Client(house.stranger.app, made["key"], house.owner.base)
    assert (await key.get("")).status_code == 200
    assert (await house.owner.delete(f"/api-keys/{made['id']}")).status_code == 200
    assert (await key.get("")).status_code == 401


async def test_revoked_access_is_refused_in_every_process(house, clock, settings, database_url):
    """A second process has authenticated all of them before, and must not cache that."""
    from postern.app import HOOKS, make_app
    from postern.world import open_world

    made = (await house.owner.post("/api-keys", {"name": "x"})).json()
    removed_id, removed = await house.member("ADMIN")
    demoted_id, demoted = await house.member("ADMIN")
    async with open_world(settings, database_url, HOOKS, clock=clock) as other:
        app, base = make_app(other), house.owner.base
        key, gone, less = (Client(app, token, base) for token in (made["key"], removed.token, demoted.token))
        for _ in range(2):
            assert [(await each.get("")).status_code for each in (key, gone, less)] == [200] * 3
        assert (await less.post("/api-keys", {"name": "y"})).status_code == 201
        await house.owner.delete(f"/api-keys/{made['id']}")
        await house.owner.delete(f"/account/members/{removed_id}")
        await house.owner.patch(f"/account/members/{demoted_id}", {"role": "VIEWER"})
        assert [(await each.get("")).status_code for each in (key, gone, less)] == [401, 401, 200]
        assert (await less.post("/api-keys", {"name": "z"})).status_code == 403


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


async def test_each_role_has_its_permissions(house):
    people = {"OWNER": house.owner} | {role: (await house.member(role))[1] for role in ROLES}
    for (method, path), allowed in ALLOWED.items():
        for role, client in people.items():
            answer = await client.request(method, path.replace("{id}", str(uuid4())), json={})
            # The permission is looked at before the body and the record: 403 says that it is missing.
            refused = answer.status_code == 403 and answer.json()["code"] == "permission_missing"
            assert refused == (role not in allowed), f"{role}: {method} {path}: {answer.status_code}"


async def test_keys_and_anonymous_callers_cannot_use_account_operations(house, stranger):
    for method, path in ALLOWED:
        path = path.replace("{id}", house.tenant.id)
        assert (await stranger.request(method, path, json={})).status_code == 401
        assert (await house.tenant.client.request(method, path, json={})).status_code == 403


async def test_members_of_another_account_are_not_found(house, new_project):
    theirs = await new_project()
    foreign = (await theirs.developer.get("/account")).json()["id"]
    for identifier in (foreign, str(uuid4()), "x"):
        answers = [
            await house.owner.delete(f"/account/members/{identifier}"),
            await house.owner.patch(f"/account/members/{identifier}", {"role": "ADMIN"}),
            await house.owner.post(f"/account/members/{identifier}/transfer-ownership", {"password": PASSWORD}),
        ]
        assert [each.status_code for each in answers] == [404] * 3
        assert {each.json()["code"] for each in answers} == {"member_missing"}
    assert (await theirs.developer.get("/account")).status_code == 200


async def test_the_owner_cannot_leave_or_be_removed(house):
    _, admin = await house.member("ADMIN")
    owner = (await house.owner.get("/account")).json()["id"]
    for answer in (
        await house.owner.post("/account/leave"),
        await admin.delete(f"/account/members/{owner}"),
        await admin.patch(f"/account/members/{owner}", {"role": "VIEWER"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "owner_stays")
    assert (await house.owner.patch(f"/account/members/{owner}", {"role": "OWNER"})).status_code == 400
    assert (await admin.post("/account/leave")).status_code == 204
    assert (await admin.get("/account")).status_code == 401


async def test_ownership_is_transferred_with_the_password(house):
    her_id, grace = await house.member("DEVELOPER")
    path = f"/account/members/{her_id}/transfer-ownership"
    wrong = await house.owner.post(path, {"password": "wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    moved = await house.owner.post(path, {"password": PASSWORD})
    assert (moved.status_code, moved.json()["role"]) == (200, "OWNER")
    assert (await house.owner.get("/account")).json()["role"] == "ADMIN"
    assert (await house.owner.post(path, {"password": PASSWORD})).status_code == 403
    assert (await grace.post("/account/leave")).status_code == 409
    assert (await house.owner.post("/account/leave")).status_code == 204


async def test_concurrent_transfers_and_departures_leave_one_owner(house):
    """In any order, the account has exactly one owner afterwards, who is still a member."""
    (first, ada), (second, grace) = await house.member("ADMIN"), await house.member("ADMIN")
    for _ in range(3):
        answers = await asyncio.gather(
            house.owner.post(f"/account/members/{first}/transfer-ownership", {"password": PASSWORD}),
            house.owner.post(f"/account/members/{second}/transfer-ownership", {"password": PASSWORD}),
        )
        assert sorted(each.status_code for each in answers) == [200, 403]
        roles = await house.members()
        (owner,) = [each for each, role in roles.items() if role == "OWNER"]
        client = ada if owner == first else grace
        back = (await house.owner.get("/account")).json()["id"]
        path = f"/account/members/{back}/transfer-ownership"
        assert (await client.post(path, {"password": PASSWORD})).status_code == 200
    answers = await asyncio.gather(
        house.owner.post(f"/account/members/{first}/transfer-ownership", {"password": PASSWORD}),
        ada.post("/account/leave"),
        house.owner.post("/account/leave"),
        grace.post("/account/leave"),
    )
    assert {each.status_code for each in answers} <= {200, 204, 401, 404, 409}
    someone = ada if answers[0].status_code == 200 else house.owner
    rows = (await someone.get("/account/members")).json()
    assert [each["role"] for each in rows].count("OWNER") == 1


async def test_an_invitation_accepted_twice_concurrently_creates_one_member(house, stranger):
    email = f"{uuid4().hex[:12]}@example.com"
    body = {"email": email, "password": PASSWORD, "invitationToken": await house.invite(email)}
    answers = await asyncio.gather(*(stranger.post("/auth/sign-up", body) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 400, 400, 400]


async def test_invitations_to_one_address_are_limited_over_all_accounts(house, new_project):
    address, other = f"{uuid4().hex}@example.com", await new_project()
    inviters = [house.owner, other.developer]
    for number in range(10):
        body = {"email": address if number % 3 else address.upper()}
        assert (await inviters[number % 2].post("/account/invitations", body)).status_code == 201
    for inviter in inviters:
        refused = await inviter.post("/account/invitations", {"email": address})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert int(refused.headers["retry-after"]) > 3_600
    assert (await house.owner.post("/account/invitations", {"email": f"{uuid4().hex}@example.com"})).status_code == 201


async def test_a_member_is_not_invited_again(house):
    answer = await house.owner.post("/account/invitations", {"email": house.tenant.email.upper()})
    assert (answer.status_code, answer.json()["code"]) == (409, "already_member")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"email": "nobody"}, "/email"),
        ({"email": "a@example.com", "role": "OWNER"}, "/role"),
        ({"email": "a@example.com", "colour": "red"}, "/colour"),
        ({}, "/email"),
    ],
)
async def test_an_invalid_invitation_points_to_the_field(house, body, path):
    answer = await house.owner.post("/account/invitations", body)
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, path)


async def test_an_invited_address_can_sign_up_while_sign_up_is_closed(house, world, stranger):
    import msgspec

    email = f"{uuid4().hex[:12]}@example.com"
    token = await house.invite(email)
    world.settings = msgspec.structs.replace(world.settings, sign_up=False)
    body = {"email": email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-up", body)).status_code == 403
    assert (await stranger.post("/auth/sign-up", {**body, "invitationToken": token})).status_code == 201
