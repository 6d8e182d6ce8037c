"""Features, plans, overrides, and the entitlements that result from them."""

import asyncio
import itertools
from datetime import timedelta
from uuid import uuid4

import jwt
import pytest

from postern.identity.entitlements.model import EntitlementRow
from postern.identity.entitlements.rules import entitlement_of
from tests.identity.customers.conftest import auth
from tests.identity.organizations.conftest import directory

__all__ = ["auth", "directory"]


async def declare(project, key: str, **fields) -> dict:
    response = await project.client.post("/b2b/features", {"key": key, "name": key.capitalize(), **fields})
    assert response.status_code == 201, response.text
    return response.json()


async def make_plan(project, key: str, *features: dict) -> dict:
    response = await project.client.post("/b2b/plans", {"key": key, "features": list(features)})
    assert response.status_code == 201, response.text
    return response.json()


async def set_plan(project, organization, key: str | None) -> None:
    response = await project.client.put(f"/b2b/organizations/{organization['id']}/plan", {"planKey": key})
    assert (response.status_code, response.content) == (204, b"")


async def check(project, key: str, organization=None) -> dict:
    body = {"featureKey": key, **({"organizationId": organization["id"]} if organization else {})}
    answer = await project.client.post("/b2b/entitlements/check", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def summary(entitlement: dict) -> tuple:
    """`enabled`, `limit` and `source` of an entitlement."""
    return entitlement["enabled"], entitlement["limit"], entitlement["source"]


async def test_a_feature_is_declared_changed_and_deleted(project):
    feature = await declare(project, "seats", type="LIMIT", defaultEnabled=True, defaultLimit=5)
    assert feature | {"createdAt": 0, "updatedAt": 0} == {
        "key": "seats",
        "name": "Seats",
        "type": "LIMIT",
        "defaultEnabled": True,
        "defaultLimit": 5,
        "createdAt": 0,
        "updatedAt": 0,
    }
    twice = await project.client.post("/b2b/features", {"key": "seats"})
    assert (twice.status_code, twice.json()["code"]) == (409, "feature_exists")
    assert (await project.client.get("/b2b/features")).json() == [feature]
    response = await project.client.get("/b2b/features/seats")
    assert response.json() == feature
    changed = await project.client.patch("/b2b/features/seats", {"defaultLimit": None, "name": "Places"})
    assert changed.headers["ETag"] != response.headers["ETag"]
    assert (changed.json()["defaultLimit"], changed.json()["name"]) == (None, "Places")
    deleted = await project.client.delete("/b2b/features/seats")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await project.client.delete("/b2b/features/seats")).status_code == 404
    assert (await project.client.get("/b2b/features/seats")).status_code == 404
    assert summary(await check(project, "seats")) == (False, None, "NONE")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"key": "sso", "type": "BOOLEAN", "defaultLimit": 5}, 422),
        ({"key": "sso", "type": "METERED"}, 400),
        ({"key": "two words"}, 400),
        ({"key": "sso\n"}, 400),
        ({"key": "seats", "type": "LIMIT", "defaultLimit": -1}, 400),
        ({"key": "seats", "type": "LIMIT", "defaultLimit": 2**60}, 400),
        ({"name": "no key"}, 400),
    ],
)
async def test_invalid_features_are_rejected(project, body, status):
    assert (await project.client.post("/b2b/features", body)).status_code == status
    assert (await project.client.get("/b2b/features")).json() == []


@pytest.mark.parametrize("key", ["nothing", "", "'; drop table x", "x" * 256])
async def test_undeclared_features_are_disabled_without_an_error(project, directory, key):
    acme = await directory.organization()
    assert await check(project, key, acme) == {
        "featureKey": key,
        "type": None,
        "enabled": False,
        "limit": None,
        "source": "NONE",
        "planKey": None,
        "reason": None,
        "expiresAt": None,
        "organizationId": acme["id"],
    }


async def test_an_override_takes_precedence_over_the_plan_and_the_plan_over_the_default(project, directory, clock):
    await declare(project, "seats", type="LIMIT", defaultEnabled=True, defaultLimit=5)
    await declare(project, "sso")
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/entitlements"
    assert summary(await check(project, "seats", acme)) == (True, 5, "DEFAULT")
    await make_plan(project, "pro", {"featureKey": "seats", "limit": 50})
    await set_plan(project, acme, "pro")
    by_plan = await check(project, "seats", acme)
    assert (summary(by_plan), by_plan["planKey"]) == ((True, 50, "PLAN"), "pro")
    assert summary(await check(project, "sso", acme)) == (False, None, "DEFAULT")
    until = clock() + timedelta(days=14)
    body = {"enabled": True, "limit": 80, "reason": "Trial", "expiresAt": until.isoformat()}
    override = await project.client.put(f"{path}/seats", body)
    assert (summary(override.json()), override.json()["reason"]) == ((True, 80, "OVERRIDE"), "Trial")
    assert await check(project, "seats", acme) == override.json()
    listed = (await project.client.get(path)).json()
    assert [(entitlement["featureKey"], entitlement["source"]) for entitlement in listed] == [
        ("seats", "OVERRIDE"),
        ("sso", "DEFAULT"),
    ]
    disabled = await project.client.put(f"{path}/seats", {"enabled": False})
    assert (summary(disabled.json()), disabled.json()["reason"]) == ((False, None, "OVERRIDE"), None)
    restored = await project.client.delete(f"{path}/seats")
    assert summary(restored.json()) == (True, 50, "PLAN")
    again = await project.client.delete(f"{path}/seats")
    assert (again.status_code, again.json()) == (200, restored.json())
    await set_plan(project, acme, None)
    assert summary(await check(project, "seats", acme)) == (True, 5, "DEFAULT")


async def test_an_override_expires_with_an_event(project, directory, clock, run_due_work):
    await declare(project, "sso")
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/entitlements/sso"
    await project.client.put(path, {"expiresAt": (clock() + timedelta(days=1)).isoformat()})
    await run_due_work()
    assert summary(await check(project, "sso", acme)) == (True, None, "OVERRIDE")
    clock.move(timedelta(days=1))
    assert summary(await check(project, "sso", acme)) == (False, None, "DEFAULT")
    assert await directory.events("entitlement.expired") == []
    await run_due_work()
    await run_due_work()
    (event,) = await directory.events("entitlement.expired")
    assert (event["subjectId"], event["data"]) == (acme["id"], {"featureKey": "sso"})
    past = await project.client.put(path, {"expiresAt": clock().isoformat()})
    assert (past.status_code, past.json()["errors"][0]["path"]) == (400, "/expiresAt")


async def test_an_extended_override_does_not_expire(project, directory, clock, run_due_work):
    await declare(project, "sso")
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/entitlements/sso"
    await project.client.put(path, {"expiresAt": (clock() + timedelta(days=1)).isoformat()})
    await project.client.put(path, {"expiresAt": (clock() + timedelta(days=9)).isoformat()})
    clock.move(timedelta(days=2))
    await run_due_work()
    assert summary(await check(project, "sso", acme)) == (True, None, "OVERRIDE")
    await project.client.put(path, {"reason": "Forever"})
    clock.move(timedelta(days=900))
    await run_due_work()
    assert summary(await check(project, "sso", acme)) == (True, None, "OVERRIDE")


async def test_plans_are_created_changed_and_deleted(project, directory):
    await declare(project, "seats", type="LIMIT")
    await declare(project, "sso")
    plan = await make_plan(project, "pro", {"featureKey": "sso"}, {"featureKey": "seats", "limit": 3})
    assert (plan["name"], plan["organizationCount"]) == ("pro", 0)
    assert plan["features"] == [
        {"featureKey": "seats", "enabled": True, "limit": 3},
        {"featureKey": "sso", "enabled": True, "limit": None},
    ]
    assert (await project.client.get("/b2b/plans/pro")).json() == plan
    assert (await project.client.get("/b2b/plans")).json() == [plan]
    assert (await project.client.post("/b2b/plans", {"key": "pro"})).json()["code"] == "plan_exists"
    acme = await directory.organization()
    await set_plan(project, acme, "pro")
    changed = await project.client.patch("/b2b/plans/pro", {"features": [{"featureKey": "seats", "enabled": False}]})
    assert (changed.json()["organizationCount"], len(changed.json()["features"])) == (1, 1)
    assert summary(await check(project, "seats", acme)) == (False, None, "PLAN")
    in_use = await project.client.delete("/b2b/plans/pro")
    assert (in_use.status_code, in_use.json()["code"]) == (409, "plan_in_use")
    deleted_organization = await directory.organization("Deleted")
    await set_plan(project, deleted_organization, "pro")
    await set_plan(project, acme, None)
    assert (await project.client.delete(f"/b2b/organizations/{deleted_organization['id']}")).status_code == 200
    # The worker has not deleted the rows of the deleted organization, which include its plan.
    assert (await project.client.delete("/b2b/plans/pro")).json() == {"deleted": True}
    for answer in (
        await project.client.get("/b2b/plans/pro"),
        await project.client.patch("/b2b/plans/pro", {"name": "X"}),
        await project.client.delete("/b2b/plans/pro"),
        await project.client.put(f"/b2b/organizations/{acme['id']}/plan", {"planKey": "pro"}),
        await project.client.put(f"/b2b/organizations/{uuid4()}/plan", {"planKey": None}),
    ):
        assert answer.status_code == 404


async def test_invalid_plans_are_rejected(project):
    await declare(project, "sso")
    for features, status, path in (
        ([{"featureKey": "ssso"}], 422, "/features/0/featureKey"),
        ([{"featureKey": "sso"}, {"featureKey": "sso"}], 400, "/features/1/featureKey"),
        ([{"featureKey": "sso", "limit": 5}], 422, "/features/0/limit"),
    ):
        refused = await project.client.post("/b2b/plans", {"key": "pro", "features": features})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (status, path)
    assert (await project.client.get("/b2b/plans")).json() == []


async def test_invalid_overrides_are_rejected(project, directory, new_project):
    await declare(project, "sso")
    acme = await directory.organization()
    other_project = await new_project()
    foreign = (await other_project.client.post("/b2b/organizations", {"name": "Theirs"})).json()
    for organization, key, body, status in (
        (acme, "ssso", {}, 404),
        (foreign, "sso", {}, 404),
        (acme, "sso", {"limit": 5}, 422),
        (acme, "sso", {"enabled": "yes"}, 400),
        (acme, "sso", {"colour": "red"}, 400),
    ):
        path = f"/b2b/organizations/{organization['id']}/entitlements/{key}"
        assert (await project.client.put(path, body)).status_code == status
    assert (await project.client.delete(f"/b2b/organizations/{acme['id']}/entitlements/ssso")).status_code == 404
    body = {"featureKey": "sso", "organizationId": foreign["id"]}
    assert (await project.client.post("/b2b/entitlements/check", body)).status_code == 404


async def test_deleting_a_feature_removes_it_from_plans_and_overrides(project, directory):
    await declare(project, "sso")
    acme = await directory.organization()
    await make_plan(project, "pro", {"featureKey": "sso"})
    await set_plan(project, acme, "pro")
    await project.client.put(f"/b2b/organizations/{acme['id']}/entitlements/sso", {})
    assert (await project.client.delete("/b2b/features/sso")).status_code == 204
    assert (await project.client.get("/b2b/plans/pro")).json()["features"] == []
    await declare(project, "sso")
    assert summary(await check(project, "sso", acme)) == (False, None, "DEFAULT")


async def test_a_suspended_organization_has_no_entitlements(project, directory):
    await declare(project, "sso", defaultEnabled=True)
    acme = await directory.organization()
    await project.client.patch(f"/b2b/organizations/{acme['id']}", {"status": "SUSPENDED"})
    answer = await check(project, "sso", acme)
    assert (summary(answer), answer["reason"]) == ((False, None, "DEFAULT"), "The organization is suspended.")


async def test_a_customers_token_implies_the_organization(project, directory, auth):
    await declare(project, "sso")
    acme, other = await directory.organization(), await directory.organization("Other")
    await project.client.put(f"/b2b/organizations/{acme['id']}/entitlements/sso", {})
    ada = await directory.customer()
    customer_client = auth.as_((await auth.sign_in(ada["email"])).json()["accessToken"]).client
    path = f"/projects/{project.id}/b2b/entitlements/check"
    without_organization = (await customer_client.post(path, {"featureKey": "sso"})).json()
    assert (summary(without_organization), without_organization["organizationId"]) == ((False, None, "DEFAULT"), None)
    foreign = await customer_client.post(path, {"featureKey": "sso", "organizationId": acme["id"]})
    assert foreign.status_code == 404
    await project.client.post(f"/b2b/organizations/{acme['id']}/members", {"customerId": ada["id"]})
    implied = (await customer_client.post(path, {"featureKey": "sso"})).json()
    assert (summary(implied), implied["organizationId"]) == ((True, None, "OVERRIDE"), acme["id"])
    await project.client.post(f"/b2b/organizations/{other['id']}/members", {"customerId": ada["id"]})
    ambiguous = await customer_client.post(path, {"featureKey": "sso"})
    assert (ambiguous.status_code, ambiguous.json()["errors"][0]["path"]) == (400, "/organizationId")
    explicit = (await customer_client.post(path, {"featureKey": "sso", "organizationId": other["id"]})).json()
    assert summary(explicit) == (False, None, "DEFAULT")


async def test_every_change_sends_one_event(project, directory):
    await declare(project, "sso")
    await make_plan(project, "pro", {"featureKey": "sso"})
    acme = await directory.organization()
    await set_plan(project, acme, "pro")
    await set_plan(project, acme, "pro")
    await project.client.put(f"/b2b/organizations/{acme['id']}/entitlements/sso", {"enabled": False})
    changes = [event["data"] for event in await directory.events("entitlement.changed")]
    assert changes == [{"featureKey": "sso", "enabled": False, "limit": None, "source": "OVERRIDE"}, {"planKey": "pro"}]


async def test_assigning_a_plan_during_its_deletion_has_one_consistent_result(project, directory):
    await make_plan(project, "pro")
    acme = await directory.organization()
    assigned, deleted = await asyncio.gather(
        project.client.put(f"/b2b/organizations/{acme['id']}/plan", {"planKey": "pro"}),
        project.client.delete("/b2b/plans/pro"),
    )
    assert (assigned.status_code, deleted.status_code) in ((204, 409), (404, 200))


@pytest.mark.parametrize(
    ("override", "plan", "default"), itertools.product((True, False, None), (True, False, None), (True, False))
)
def test_every_combination_of_an_entitlement(override, plan, default):
    row = EntitlementRow(
        key="seats",
        type="LIMIT",
        default_enabled=default,
        default_limit=1,
        plan_key="pro",
        plan_enabled=plan,
        plan_limit=2,
        override_enabled=override,
        override_limit=3,
        reason=None,
        expires_at=None,
        organization_suspended=False,
        organization_exists=True,
    )
    settings = {"OVERRIDE": (override, 3), "PLAN": (plan, 2), "DEFAULT": (default, 1)}
    source = next(name for name, (enabled, _) in settings.items() if enabled is not None)
    entitlement = entitlement_of(row, None)
    assert (entitlement.source, entitlement.enabled, entitlement.limit) == (source, *settings[source])
    assert entitlement.plan_key == ("pro" if source == "PLAN" else None)


async def test_batched_entitlement_checks_do_not_mix_up_results(project, directory, new_project):
    """Concurrent checks of two projects, with and without an organization or a plan, and of unknown features and
    organizations of the other project."""
    other = await new_project()
    await declare(project, "seats", type="LIMIT", defaultEnabled=True, defaultLimit=5)
    await declare(other, "seats", type="LIMIT", defaultEnabled=True, defaultLimit=7)
    acme, without_plan = await directory.organization("Acme"), await directory.organization("Plain")
    foreign = (await other.client.post("/b2b/organizations", {"name": "Foreign"})).json()
    await make_plan(project, "pro", {"featureKey": "seats", "limit": 50})
    await set_plan(project, acme, "pro")
    checks = [
        (project, "seats", acme, (True, 50, "PLAN")),
        (project, "seats", without_plan, (True, 5, "DEFAULT")),
        (project, "seats", None, (True, 5, "DEFAULT")),
        (other, "seats", foreign, (True, 7, "DEFAULT")),
        (project, "nothing", acme, (False, None, "NONE")),
        (project, "seats", foreign, None),
        (other, "seats", acme, None),
    ] * 10

    async def ask(checked_project, key, organization, _):
        body = {"featureKey": key, **({"organizationId": organization["id"]} if organization else {})}
        return await checked_project.client.post("/b2b/entitlements/check", body)

    answers = await asyncio.gather(*(ask(*arguments) for arguments in checks))
    for (_, key, _, expected), answer in zip(checks, answers, strict=True):
        assert answer.status_code == (200 if expected else 404), answer.text
        if expected:
            assert (answer.json()["featureKey"], summary(answer.json())) == (key, expected)


async def test_the_version_in_the_token_grows_with_every_change(project, directory, auth, clock, run_due_work):
    """Also when an override expires: before and after the worker deletes it, and whatever happens in between."""
    acme, other = await directory.organization("Acme"), await directory.organization("Other")
    ada = await directory.member(acme)
    tokens = (await auth.sign_in(ada["email"])).json()
    path = f"/b2b/organizations/{acme['id']}"
    versions = []

    async def version() -> int:
        nonlocal tokens
        clock.move(timedelta(seconds=2))
        refreshed = await auth.post("/token/refresh", {"refreshToken": tokens["refreshToken"]})
        assert refreshed.status_code == 200, refreshed.text
        tokens = refreshed.json()
        return jwt.decode(tokens["accessToken"], options={"verify_signature": False})["org"]["entitlements_version"]

    async def changed(response=None) -> None:
        assert response is None or response.status_code in (200, 201, 204), response.text
        versions.append(await version())
        assert len(versions) == 1 or versions[-1] > versions[-2], versions

    async def unchanged(response=None) -> None:
        assert response is None or response.status_code in (200, 201, 204), response.text
        assert await version() == versions[-1]

    def in_seconds(seconds: int) -> str:
        return (clock() + timedelta(seconds=seconds)).isoformat()

    client = project.client
    await changed()
    await changed(await client.post("/b2b/features", {"key": "seats", "type": "LIMIT", "defaultLimit": 5}))
    await changed(await client.patch("/b2b/features/seats", {"defaultLimit": 6}))
    await unchanged(await client.post("/b2b/plans", {"key": "pro", "features": [{"featureKey": "seats"}]}))
    await changed(await client.put(f"{path}/plan", {"planKey": "pro"}))
    await unchanged(await client.put(f"{path}/plan", {"planKey": "pro"}))
    await changed(await client.patch("/b2b/plans/pro", {"features": [{"featureKey": "seats", "limit": 9}]}))
    await unchanged(await client.patch("/b2b/plans/pro", {"name": "Professional"}))
    await unchanged(await client.put(f"/b2b/organizations/{other['id']}/entitlements/seats", {"limit": 1}))
    override = f"{path}/entitlements/seats"
    await changed(await client.put(override, {"limit": 50}))
    await changed(await client.delete(override))
    await unchanged(await client.delete(override))
    # It expires, and the worker deletes it later.
    await changed(await client.put(override, {"limit": 50, "expiresAt": in_seconds(60)}))
    await unchanged()
    clock.move(timedelta(seconds=60))
    await changed()
    assert summary(await check(project, "seats", acme)) == (True, 9, "PLAN")
    await run_due_work()
    await unchanged()
    # It expires, and is replaced or deleted before the worker deletes it.
    for method, target, body in (
        ("PUT", override, {"limit": 51}),
        ("DELETE", override, None),
        ("DELETE", "/b2b/features/seats", None),
    ):
        await changed(await client.put(override, {"limit": 50, "expiresAt": in_seconds(60)}))
        clock.move(timedelta(seconds=60))
        await changed()
        await changed(await client.request(method, target, json=body))
    await run_due_work()
    await changed(await client.put(f"{path}/plan", {"planKey": None}))
    await client.patch(path, {"status": "SUSPENDED"})
    await changed(await client.patch(path, {"status": "ACTIVE"}))


async def test_concurrent_changes_are_all_counted_in_the_version(project, directory, auth, clock, world):
    acme = await directory.organization("Acme")
    ada = await directory.member(acme)
    for number in range(4):
        await declare(project, f"f{number}")
    path = f"/b2b/organizations/{acme['id']}/entitlements"
    before = jwt.decode((await auth.sign_in(ada["email"])).json()["accessToken"], options={"verify_signature": False})
    await asyncio.gather(
        *(project.client.put(f"{path}/f{number}", {"enabled": True}) for number in range(4)),
        *(project.client.patch(f"/b2b/features/f{number}", {"defaultEnabled": True}) for number in range(4)),
    )
    after = jwt.decode((await auth.sign_in(ada["email"])).json()["accessToken"], options={"verify_signature": False})
    assert after["org"]["entitlements_version"] == before["org"]["entitlements_version"] + 8
