"""Managing single sign-on connections."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from lxml import etree

from postern.identity.sso.model import NEXT_STATUS
from tests.peers.identity_provider import IdentityProvider, keys

MD = "{urn:oasis:names:tc:SAML:2.0:metadata}"


async def test_a_connection_is_managed_under_projects_and_apps(acme):
    connection = await acme.connect(active=False)
    assert (connection["status"], connection["held"], connection["idpCertificate"]) == (
        "DRAFT",
        None,
        [acme.idp.certificate],
    )
    assert connection["spAcsUrl"] == f"http://127.0.0.1:8025/sso/saml/{connection['id']}/acs"
    assert [certificate["place"] for certificate in connection["spCertificates"]] == ["CURRENT", "NEXT"]
    assert connection["spCertificate"] == connection["spCertificates"][0]["certificate"]
    project_path, app_path = (
        acme.connections_path,
        f"/apps/{acme.directory.project.id}/organizations/{acme.organization['id']}/sso-connections",
    )
    for path in (project_path, app_path):
        connection_path = f"{path}/{connection['id']}"
        assert [listed["id"] for listed in (await acme.client.get(path)).json()] == [connection["id"]]
        assert (await acme.client.get(connection_path)).json()["name"] in ("Acme", "At /b2b")
        assert (await acme.client.patch(connection_path, {"name": f"At {path[:4]}"})).json()["name"] == f"At {path[:4]}"
        assert (await acme.client.post(f"{connection_path}/activate")).json()["status"] == "ACTIVE"
        assert (await acme.client.post(f"{connection_path}/deactivate")).json()["status"] == "INACTIVE"
        metadata = await acme.client.get(f"{connection_path}/metadata.xml")
        assert metadata.headers["content-type"].startswith("application/xml")
        assert etree.fromstring(metadata.content).get("entityID") == connection["spEntityId"]
    connections = (await acme.client.get("/b2b/sso-connections")).json()
    ref = {name: acme.organization[name] for name in ("id", "name", "slug")}
    assert [(listed["id"], listed["organization"]) for listed in connections] == [(connection["id"], ref)]
    second = (await acme.client.post(app_path, {"name": "Two", "domain": "two.example"})).json()
    assert (second["appId"], second["idpEntityId"], second["idpCertificate"]) == (acme.directory.project.id, None, [])
    for path, deleted in ((project_path, connection), (app_path, second)):
        assert (await acme.client.delete(f"{path}/{deleted['id']}")).json() == {"removed": True}
        assert (await acme.client.get(f"{path}/{deleted['id']}")).json()["code"] == "sso_connection_missing"
    assert (await acme.client.get(project_path)).json() == []


async def test_actions_on_a_connection_are_visible_under_projects_and_apps(connected):
    app_path = f"/apps/{connected.directory.project.id}/organizations/{connected.organization['id']}/sso-connections"
    connection_path = f"{app_path}/{connected.connection['id']}"
    before = (await connected.client.get(connected.connection_path)).json()
    rotated = await connected.client.post(f"{connection_path}/rotate-certificate")
    assert rotated.json() == (await connected.client.get(connection_path)).json()
    after = (await connected.client.get(connected.connection_path)).json()
    assert after["spCertificate"] == before["spCertificates"][1]["certificate"]
    test_link = await connected.client.post(f"{connection_path}/test")
    assert test_link.status_code == 200, test_link.text
    assert f"/sso/saml/{connected.connection['id']}/login" in test_link.json()["url"]
    await connected.browser().sign_in(connected.address())
    traces = (await connected.client.get(f"{connection_path}/traces")).json()
    assert len(traces) == 1
    assert traces == await connected.traces()


async def test_a_connection_keeps_its_latest_traces(connected, monkeypatch):
    monkeypatch.setattr("postern.identity.sso.endpoints.TRACES_PER_CONNECTION", 2)
    latest = []
    for _ in range(3):
        await connected.browser().sign_in(connected.address())
        latest.append((await connected.traces())[0]["id"])
    assert [trace["id"] for trace in await connected.traces()] == [latest[2], latest[1]]


async def test_a_connection_belongs_to_its_organization_and_project(connected, new_project):
    other = await connected.directory.organization("Other")
    path_of_other_organization = f"/b2b/organizations/{other['id']}/sso-connections/{connected.connection['id']}"
    assert (await connected.client.get(path_of_other_organization)).status_code == 404
    other_project = await new_project()
    other_organization = await other_project.client.post("/b2b/organizations", {"name": "Other"})
    path_of_other_project = (
        f"/b2b/organizations/{other_organization.json()['id']}/sso-connections/{connected.connection['id']}"
    )
    for verb, path in [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/activate"), ("GET", "/metadata.xml")]:
        assert (await other_project.client.request(verb, path_of_other_project + path, json={})).status_code == 404
    assert (await connected.client.get(f"{connected.connections_path}/{uuid4()}")).status_code == 404
    assert (await connected.client.get(f"{connected.connections_path}/nonsense")).status_code == 404


async def test_reading_and_changing_need_different_permissions(connected):
    reader = await connected.directory.project.key("sso:read")
    assert (await reader.get(connected.connection_path)).status_code == 200
    for verb, path in [("PATCH", ""), ("DELETE", ""), ("POST", "/activate"), ("POST", "/test")]:
        assert (await reader.request(verb, connected.connection_path + path, json={})).status_code == 403


@pytest.mark.parametrize(("status", "action"), list(NEXT_STATUS), ids=str)
async def test_states_change_according_to_the_table(acme, status, action):
    await acme.connect(active=status != "DRAFT")
    if status == "INACTIVE":
        await acme.client.post(f"{acme.connection_path}/deactivate")
    answer = await acme.client.post(f"{acme.connection_path}/{action.lower()}")
    new_status = NEXT_STATUS[status, action]
    assert answer.status_code == (200 if new_status else 409)
    assert (await acme.client.get(acme.connection_path)).json()["status"] == (new_status or status)
    event_types = [
        event["type"]
        for event_type in ("sso.activated", "sso.deactivated")
        for event in await acme.directory.events(event_type)
    ]
    expected = ["sso.activated"] if status != "DRAFT" else []
    expected += ["sso.deactivated"] if status == "INACTIVE" else []
    if new_status and new_status != status:
        expected.append("sso.activated" if new_status == "ACTIVE" else "sso.deactivated")
    assert sorted(event_types) == sorted(expected)


def test_the_state_table_covers_every_state_and_action():
    statuses, actions = {status for status, _ in NEXT_STATUS}, {action for _, action in NEXT_STATUS}
    assert len(NEXT_STATUS) == len(statuses) * len(actions)
    assert statuses == {"DRAFT", "ACTIVE", "INACTIVE"}


EXPIRED = keys("expired", not_after=datetime(2024, 1, 1, tzinfo=UTC)).pem


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"idpEntityId": None}, "/idpEntityId", "missing"),
        ({"idpSsoUrl": None}, "/idpSsoUrl", "missing"),
        ({"idpCertificate": []}, "/idpCertificate", "missing"),
        ({"idpCertificate": [EXPIRED]}, "/idpCertificate", "expired"),
        ({"domain": "unverified.example"}, "/domain", "domain_not_verified"),
    ],
    ids=["entity id", "URL", "certificate", "expired", "domain"],
)
async def test_activation_reports_what_is_missing(acme, fields, path, code):
    await acme.connect(active=False, **fields)
    answer = await acme.client.post(f"{acme.connection_path}/activate")
    assert (answer.status_code, answer.json()["code"]) == (409, "sso_connection_incomplete")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]
    assert (await acme.client.get(acme.connection_path)).json()["status"] == "DRAFT"


async def test_activation_reports_all_missing_fields_together(acme):
    created = await acme.client.post(acme.connections_path, {"name": "Bare", "domain": "bare.example"})
    answer = await acme.client.post(f"{acme.connections_path}/{created.json()['id']}/activate")
    expected_paths = ["/idpEntityId", "/idpSsoUrl", "/idpCertificate", "/domain"]
    assert [error["path"] for error in answer.json()["errors"]] == expected_paths


async def test_an_active_connection_must_stay_complete(connected):
    for fields in ({"idpCertificate": []}, {"idpEntityId": None}, {"domain": "other.example"}):
        answer = await connected.client.patch(connected.connection_path, fields)
        assert (answer.status_code, answer.json()["code"]) == (409, "sso_connection_incomplete")
    assert (await connected.client.get(connected.connection_path)).json()["idpCertificate"] == [
        connected.idp.certificate
    ]


async def test_a_domain_has_at_most_one_active_connection(connected):
    first_path = connected.connection_path
    await connected.connect(active=False)
    refused = await connected.client.post(f"{connected.connection_path}/activate")
    assert (refused.status_code, refused.json()["code"]) == (409, "sso_domain_served")
    await connected.client.post(f"{first_path}/deactivate")
    assert (await connected.client.post(f"{connected.connection_path}/activate")).status_code == 200
    assert (await connected.client.post(f"{first_path}/activate")).status_code == 409


async def test_a_domain_verified_by_another_organization_cannot_be_used(acme):
    other = await acme.directory.organization("Other")
    path = f"/b2b/organizations/{other['id']}/sso-connections"
    created = await acme.client.post(path, {"name": "Other", "domain": acme.domain["domain"], **acme.idp_fields()})
    answer = await acme.client.post(f"{path}/{created.json()['id']}/activate")
    assert [error["code"] for error in answer.json()["errors"]] == ["domain_not_verified"]


async def test_an_active_connection_does_not_work_without_its_domain(connected):
    await connected.remove_domain()
    assert (await connected.client.get(connected.connection_path)).json()["held"] == "DOMAIN_NOT_VERIFIED"


@pytest.mark.parametrize("domain_loss", ["removed", "lapsed", "removed while suspended"])
async def test_a_new_owner_of_a_domain_is_not_blocked_by_the_former_connection(
    connected, clock, run_due_work, zone, domain_loss
):
    domain_name, former_path = connected.domain["domain"], connected.connection_path
    if domain_loss == "lapsed":
        zone.remove(connected.domain["recordName"])
        # A domain lapses when three checks in a row have failed, and 72 hours have passed since the first of them.
        for _ in range(4):
            clock.move(timedelta(days=1))
            await run_due_work()
    else:
        await connected.remove_domain()
    if domain_loss == "removed while suspended":
        organization_path = f"/b2b/organizations/{connected.organization['id']}"
        assert (await connected.client.patch(organization_path, {"status": "SUSPENDED"})).status_code == 200
    assert (await connected.client.get(former_path)).json()["held"] is not None
    other = await connected.directory.organization("Next")
    await connected.directory.verified_domain(other, domain_name)
    path = f"/b2b/organizations/{other['id']}/sso-connections"
    new_connection = (
        await connected.client.post(path, {"name": "Next", "domain": domain_name, **connected.idp_fields()})
    ).json()
    answer = await connected.client.post(f"{path}/{new_connection['id']}/activate")
    assert (answer.status_code, answer.json().get("status")) == (200, "ACTIVE"), answer.text
    assert (await connected.client.get(former_path)).json()["status"] == "INACTIVE"
    (event,) = await connected.directory.events("sso.deactivated")
    assert (event["subjectId"], event["data"]["reason"]) == (connected.connection["id"], "DOMAIN_LOST")
    lookup = f"/projects/{connected.directory.project.id}/auth/sso"
    lookup_result = await connected.client.post(lookup, {"email": f"ada@{domain_name}"})
    assert lookup_result.json()["organizationId"] == other["id"]
    reactivation = await connected.client.post(f"{former_path}/activate")
    assert "domain_not_verified" in [error["code"] for error in reactivation.json()["errors"]]


async def test_metadata_sets_all_fields_of_the_identity_provider(acme):
    body = {"name": "By XML", "domain": "x.example", "idpMetadataXml": acme.idp.metadata().decode()}
    created = await acme.client.post(acme.connections_path, body)
    assert created.status_code == 201, created.text
    for name, value in acme.idp_fields().items():
        assert created.json()[name] == value
    assert created.json()["idpCertificates"][0]["expired"] is False
    newer = IdentityProvider("https://new.example/metadata", "https://new.example", keys("newer"))
    changed = await acme.client.patch(
        f"{acme.connections_path}/{created.json()['id']}", {"idpMetadataXml": newer.metadata().decode()}
    )
    assert changed.json()["idpEntityId"] == "https://new.example/metadata"
    assert changed.json()["idpCertificate"] == [newer.certificate]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"idpMetadataXml": "<nonsense/>"}, "/idpMetadataXml"),
        ({"idpMetadataXml": "<!DOCTYPE x []><x/>"}, "/idpMetadataXml"),
        ({"idpMetadataUrl": "http://idp.example/metadata"}, "/idpMetadataUrl"),
        ({"idpMetadataUrl": "https://127.0.0.1:1/metadata"}, "/idpMetadataUrl"),
        ({"idpSsoUrl": "http://idp.example/login"}, "/idpSsoUrl"),
        ({"idpSsoUrl": "javascript:alert(1)"}, "/idpSsoUrl"),
        ({"idpCertificate": ["nonsense"]}, "/idpCertificate/0"),
        ({"domain": "co.uk"}, "/domain"),
        ({"defaultRoles": ["nobody"]}, "/defaultRoles"),
        ({"groupRoles": {"a/b": ["nobody"]}}, "/groupRoles/a~1b"),
        ({"defaultRedirectUrl": "https://evil.example/"}, "/defaultRedirectUrl"),
        ({"clockSkewSeconds": 301}, "/clockSkewSeconds"),
        ({"unknownField": 1}, "/unknownField"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
async def test_invalid_fields_are_rejected_with_their_path(acme, fields, path):
    answer = await acme.client.post(acme.connections_path, {"name": "Bad", "domain": "bad.example", **fields})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["errors"][0]["path"] == path
    assert (await acme.client.get(acme.connections_path)).json() == []


async def test_the_private_key_is_encrypted_and_never_returned(connected, world):
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select private_key from sso_keys where project_id = %s", [connected.directory.project.id]
        )
        stored_keys = [bytes(key) for (key,) in await rows.fetchall()]
    assert len(stored_keys) == 2
    assert not any(b"PRIVATE KEY" in key for key in stored_keys)
    assert "PRIVATE" not in (await connected.client.get(connected.connection_path)).text


async def test_rotation_switches_to_the_published_next_key(connected):
    async def signing_certificates():
        metadata = etree.fromstring((await connected.client.get(f"{connected.connection_path}/metadata.xml")).content)
        descriptors = metadata.iter(f"{MD}KeyDescriptor")
        return ["".join(key.itertext()).strip() for key in descriptors if key.get("use") in ("signing", None)]

    before = (await connected.client.get(connected.connection_path)).json()
    published = await signing_certificates()
    after = (await connected.client.post(f"{connected.connection_path}/rotate-certificate")).json()
    assert after["spCertificate"] == before["spCertificates"][1]["certificate"]
    assert [certificate["place"] for certificate in after["spCertificates"]] == ["CURRENT", "NEXT", "PREVIOUS"]
    assert after["spCertificates"][2]["certificate"] == before["spCertificate"]
    published_after = await signing_certificates()
    assert published_after[0] == published[1]
    assert published_after[1] not in published
    again = (await connected.client.post(f"{connected.connection_path}/rotate-certificate")).json()
    assert before["spCertificate"] not in [certificate["certificate"] for certificate in again["spCertificates"]]


async def test_a_change_with_a_stale_etag_is_rejected(connected):
    before = await connected.client.get(connected.connection_path)
    current = {"if-match": before.headers["etag"]}
    assert (
        await connected.client.patch(connected.connection_path, {"name": "New"}, headers=current)
    ).status_code == 200
    stale = await connected.client.patch(connected.connection_path, {"name": "Old"}, headers={"if-match": '"0"'})
    assert stale.status_code == 412


async def test_actions_are_in_the_audit_log(connected):
    await connected.client.patch(connected.connection_path, {"name": "New"})
    await connected.client.delete(connected.connection_path)
    entries = (await connected.directory.project.developer.get("/account/audit-log")).json()["data"]
    actions = [entry["action"] for entry in entries if entry["action"].startswith("sso_connection.")]
    assert sorted(actions) == [f"sso_connection.{action}" for action in ("activated", "created", "deleted", "updated")]


async def test_deleting_an_organization_deletes_its_connections(connected):
    assert (await connected.client.delete(f"/b2b/organizations/{connected.organization['id']}")).status_code == 200
    assert (await connected.client.get("/b2b/sso-connections")).json() == []


@pytest.mark.parametrize("days", [32, 20])
async def test_expiring_certificates_are_reported_by_events(acme, run_due_work, clock, days):
    expiring = keys(f"short-{days}", not_after=(clock() + timedelta(days=days)).replace(microsecond=0))
    await acme.connect(active=False, idpCertificate=[expiring.pem])
    await run_due_work()
    assert await acme.directory.events("sso.certificate_expiring") == []
    await acme.client.post(f"{acme.connection_path}/activate")
    for _ in range(days + 2):
        await run_due_work()
        clock.move(timedelta(days=1))
    events = await acme.directory.events("sso.certificate_expiring")
    assert {(event["subjectId"], event["data"]["owner"]) for event in events} == {(acme.connection["id"], "IDP")}
    # Warnings are recorded 30, 14, 7 and 1 days before the expiry and at the expiry; `daysLeft` is rounded down.
    days_left = sorted((event["data"]["daysLeft"] for event in events), reverse=True)
    assert days_left == ([29, 13, 6, 0, 0] if days == 32 else [19, 13, 6, 0, 0])


async def test_a_newer_certificate_prevents_the_expiry_event(acme, run_due_work, clock):
    expiring = keys("short-beside", not_after=clock() + timedelta(days=5))
    await acme.connect(idpCertificate=[expiring.pem, acme.idp.certificate])
    await run_due_work()
    assert await acme.directory.events("sso.certificate_expiring") == []
    await acme.change(idpCertificate=[expiring.pem])
    await run_due_work()
    assert [event["data"]["daysLeft"] for event in await acme.directory.events("sso.certificate_expiring")] == [4]


async def test_an_expiring_sp_certificate_is_reported_until_rotation(connected, run_due_work, clock):
    expires_at = datetime.fromisoformat(connected.connection["spCertificates"][0]["expiresAt"])
    clock.move(expires_at - timedelta(days=20) - clock())
    await run_due_work()
    (event,) = await connected.directory.events("sso.certificate_expiring")
    assert (event["data"]["owner"], event["data"]["daysLeft"]) == ("SP", 20)
    for _ in range(2):  # The NEXT key expires on the same day as the CURRENT key, so rotate twice.
        assert (await connected.client.post(f"{connected.connection_path}/rotate-certificate")).status_code == 200
    clock.move(timedelta(days=30))
    await run_due_work()
    assert len(await connected.directory.events("sso.certificate_expiring")) == 1
