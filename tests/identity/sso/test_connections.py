"""Managing single sign-on connections."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from lxml import etree

from postern.identity.sso.model import NEXT_STATUS
from tests.peers.identity_provider import IdentityProvider, keys

MD = "{urn:oasis:names:tc:SAML:2.0:metadata}"


async def test_a_connection_is_managed_under_projects_and_apps(acme):
    made = await acme.connect(active=False)
    assert (made["status"], made["held"], made["idpCertificate"]) == ("DRAFT", None, [acme.idp.certificate])
    assert made["spAcsUrl"] == f"http://127.0.0.1:8025/sso/saml/{made['id']}/acs"
    assert [each["place"] for each in made["spCertificates"]] == ["CURRENT", "NEXT"]
    assert made["spCertificate"] == made["spCertificates"][0]["certificate"]
    project, app = (
        acme.path,
        f"/apps/{acme.directory.project.id}/organizations/{acme.organization['id']}/sso-connections",
    )
    for base in (project, app):
        here = f"{base}/{made['id']}"
        assert [each["id"] for each in (await acme.client.get(base)).json()] == [made["id"]]
        assert (await acme.client.get(here)).json()["name"] in ("Acme", "At /b2b")
        assert (await acme.client.patch(here, {"name": f"At {base[:4]}"})).json()["name"] == f"At {base[:4]}"
        assert (await acme.client.post(f"{here}/activate")).json()["status"] == "ACTIVE"
        assert (await acme.client.post(f"{here}/deactivate")).json()["status"] == "INACTIVE"
        described = await acme.client.get(f"{here}/metadata.xml")
        assert described.headers["content-type"].startswith("application/xml")
        assert etree.fromstring(described.content).get("entityID") == made["spEntityId"]
    whole = (await acme.client.get("/b2b/sso-connections")).json()
    ref = {name: acme.organization[name] for name in ("id", "name", "slug")}
    assert [(each["id"], each["organization"]) for each in whole] == [(made["id"], ref)]
    other = (await acme.client.post(app, {"name": "Two", "domain": "two.example"})).json()
    assert (other["appId"], other["idpEntityId"], other["idpCertificate"]) == (acme.directory.project.id, None, [])
    for base, which in ((project, made), (app, other)):
        assert (await acme.client.delete(f"{base}/{which['id']}")).json() == {"removed": True}
        assert (await acme.client.get(f"{base}/{which['id']}")).json()["code"] == "sso_connection_missing"
    assert (await acme.client.get(project)).json() == []


async def test_actions_on_a_connection_are_visible_under_projects_and_apps(connected):
    app = f"/apps/{connected.directory.project.id}/organizations/{connected.organization['id']}/sso-connections"
    here = f"{app}/{connected.connection['id']}"
    before = (await connected.client.get(connected.here)).json()
    rotated = await connected.client.post(f"{here}/rotate-certificate")
    assert rotated.json() == (await connected.client.get(here)).json()
    after = (await connected.client.get(connected.here)).json()
    assert after["spCertificate"] == before["spCertificates"][1]["certificate"]
    trial = await connected.client.post(f"{here}/test")
    assert trial.status_code == 200, trial.text
    assert f"/sso/saml/{connected.connection['id']}/login" in trial.json()["url"]
    await connected.browser().sign_in(connected.address())
    traces = (await connected.client.get(f"{here}/traces")).json()
    assert len(traces) == 1
    assert traces == await connected.traces()


async def test_a_connection_belongs_to_its_organization_and_project(connected, new_project):
    other = await connected.directory.organization("Other")
    wrong = f"/b2b/organizations/{other['id']}/sso-connections/{connected.connection['id']}"
    assert (await connected.client.get(wrong)).status_code == 404
    theirs = await new_project()
    mine = await theirs.client.post("/b2b/organizations", {"name": "Mine"})
    foreign = f"/b2b/organizations/{mine.json()['id']}/sso-connections/{connected.connection['id']}"
    for verb, path in [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/activate"), ("GET", "/metadata.xml")]:
        assert (await theirs.client.request(verb, foreign + path, json={})).status_code == 404
    assert (await connected.client.get(f"{connected.path}/{uuid4()}")).status_code == 404
    assert (await connected.client.get(f"{connected.path}/nonsense")).status_code == 404


async def test_reading_and_changing_need_different_permissions(connected):
    reader = await connected.directory.project.key("sso:read")
    assert (await reader.get(connected.here)).status_code == 200
    for verb, path in [("PATCH", ""), ("DELETE", ""), ("POST", "/activate"), ("POST", "/test")]:
        assert (await reader.request(verb, connected.here + path, json={})).status_code == 403


@pytest.mark.parametrize(("state", "sign"), list(NEXT_STATUS), ids=str)
async def test_states_change_according_to_the_table(acme, state, sign):
    await acme.connect(active=state != "DRAFT")
    if state == "INACTIVE":
        await acme.client.post(f"{acme.here}/deactivate")
    answer = await acme.client.post(f"{acme.here}/{sign.lower()}")
    after = NEXT_STATUS[state, sign]
    assert answer.status_code == (200 if after else 409)
    assert (await acme.client.get(acme.here)).json()["status"] == (after or state)
    told = [each["type"] for kind in ("sso.activated", "sso.deactivated") for each in await acme.directory.events(kind)]
    expected = ["sso.activated"] if state != "DRAFT" else []
    expected += ["sso.deactivated"] if state == "INACTIVE" else []
    if after and after != state:
        expected.append("sso.activated" if after == "ACTIVE" else "sso.deactivated")
    assert sorted(told) == sorted(expected)


def test_the_state_table_covers_every_state_and_action():
    states, signs = {state for state, _ in NEXT_STATUS}, {sign for _, sign in NEXT_STATUS}
    assert len(NEXT_STATUS) == len(states) * len(signs)
    assert states == {"DRAFT", "ACTIVE", "INACTIVE"}


EXPIRED = keys("expired", not_after=datetime(2024, 1, 1, tzinfo=UTC)).pem


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"idpEntityId": None}, "/idpEntityId", "missing"),
        ({"idpSsoUrl": None}, "/idpSsoUrl", "missing"),
        ({"idpCertificate": []}, "/idpCertificate", "missing"),
        ({"idpCertificate": [EXPIRED]}, "/idpCertificate", "expired"),
        ({"domain": "somebody-elses.example"}, "/domain", "domain_not_verified"),
    ],
    ids=["entity id", "address", "certificate", "expired", "domain"],
)
async def test_activation_reports_what_is_missing(acme, fields, path, code):
    await acme.connect(active=False, **fields)
    answer = await acme.client.post(f"{acme.here}/activate")
    assert (answer.status_code, answer.json()["code"]) == (409, "sso_connection_incomplete")
    assert [(each["path"], each["code"]) for each in answer.json()["errors"]] == [(path, code)]
    assert (await acme.client.get(acme.here)).json()["status"] == "DRAFT"


async def test_activation_reports_all_missing_fields_together(acme):
    made = await acme.client.post(acme.path, {"name": "Bare", "domain": "bare.example"})
    answer = await acme.client.post(f"{acme.path}/{made.json()['id']}/activate")
    wanted = ["/idpEntityId", "/idpSsoUrl", "/idpCertificate", "/domain"]
    assert [each["path"] for each in answer.json()["errors"]] == wanted


async def test_an_active_connection_must_stay_complete(connected):
    for fields in ({"idpCertificate": []}, {"idpEntityId": None}, {"domain": "other.example"}):
        answer = await connected.client.patch(connected.here, fields)
        assert (answer.status_code, answer.json()["code"]) == (409, "sso_connection_incomplete")
    assert (await connected.client.get(connected.here)).json()["idpCertificate"] == [connected.idp.certificate]


async def test_a_domain_has_at_most_one_active_connection(connected):
    first = connected.here
    await connected.connect(active=False)
    refused = await connected.client.post(f"{connected.here}/activate")
    assert (refused.status_code, refused.json()["code"]) == (409, "sso_domain_served")
    await connected.client.post(f"{first}/deactivate")
    assert (await connected.client.post(f"{connected.here}/activate")).status_code == 200
    assert (await connected.client.post(f"{first}/activate")).status_code == 409


async def test_a_domain_verified_by_another_organization_cannot_be_used(acme):
    other = await acme.directory.organization("Thieves")
    path = f"/b2b/organizations/{other['id']}/sso-connections"
    made = await acme.client.post(path, {"name": "T", "domain": acme.domain["domain"], **acme.idp_fields()})
    answer = await acme.client.post(f"{path}/{made.json()['id']}/activate")
    assert [each["code"] for each in answer.json()["errors"]] == ["domain_not_verified"]


async def test_an_active_connection_is_blocked_while_its_domain_is_lapsed(connected):
    await connected.lapse()
    assert (await connected.client.get(connected.here)).json()["held"] == "DOMAIN_NOT_VERIFIED"


@pytest.mark.parametrize("how", ["removed", "lapsed", "while suspended"])
async def test_a_new_owner_of_a_domain_is_not_blocked_by_the_former_connection(connected, clock, work_off, zone, how):
    name, before = connected.domain["domain"], connected.here
    if how == "lapsed":
        zone.remove(connected.domain["recordName"])
        for _ in range(4):  # Three misses, and 72 hours between the first and the last.
            clock.move(timedelta(days=1))
            await work_off()
    else:
        await connected.lapse()
    if how == "while suspended":
        mine = f"/b2b/organizations/{connected.organization['id']}"
        assert (await connected.client.patch(mine, {"status": "SUSPENDED"})).status_code == 200
    assert (await connected.client.get(before)).json()["held"] is not None
    other = await connected.directory.organization("Next")
    await connected.directory.verified_domain(other, name)
    path = f"/b2b/organizations/{other['id']}/sso-connections"
    made = (await connected.client.post(path, {"name": "Next", "domain": name, **connected.idp_fields()})).json()
    answer = await connected.client.post(f"{path}/{made['id']}/activate")
    assert (answer.status_code, answer.json().get("status")) == (200, "ACTIVE"), answer.text
    assert (await connected.client.get(before)).json()["status"] == "INACTIVE"
    (told,) = await connected.directory.events("sso.deactivated")
    assert (told["subjectId"], told["data"]["reason"]) == (connected.connection["id"], "DOMAIN_LOST")
    lookup = f"/projects/{connected.directory.project.id}/auth/sso"
    found = await connected.client.post(lookup, {"email": f"ada@{name}"})
    assert found.json()["organizationId"] == other["id"]
    back = await connected.client.post(f"{before}/activate")
    assert "domain_not_verified" in [each["code"] for each in back.json()["errors"]]


async def test_metadata_sets_all_fields_of_the_identity_provider(acme):
    body = {"name": "By XML", "domain": "x.example", "idpMetadataXml": acme.idp.metadata().decode()}
    made = await acme.client.post(acme.path, body)
    assert made.status_code == 201, made.text
    for name, value in acme.idp_fields().items():
        assert made.json()[name] == value
    assert made.json()["idpCertificates"][0]["expired"] is False
    newer = IdentityProvider("https://new.example/metadata", "https://new.example", keys("newer"))
    changed = await acme.client.patch(f"{acme.path}/{made.json()['id']}", {"idpMetadataXml": newer.metadata().decode()})
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
    ids=lambda each: each if isinstance(each, str) else next(iter(each)),
)
async def test_invalid_fields_are_rejected_with_their_path(acme, fields, path):
    answer = await acme.client.post(acme.path, {"name": "Bad", "domain": "bad.example", **fields})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["errors"][0]["path"] == path
    assert (await acme.client.get(acme.path)).json() == []


async def test_the_private_key_is_encrypted_and_never_returned(connected, world):
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select private_key from sso_keys where project_id = %s", [connected.directory.project.id]
        )
        sealed = [bytes(key) for (key,) in await rows.fetchall()]
    assert len(sealed) == 2
    assert not any(b"PRIVATE KEY" in key for key in sealed)
    assert "PRIVATE" not in (await connected.client.get(connected.here)).text


async def test_rotation_switches_to_the_published_next_key(connected):
    async def signing():
        found = etree.fromstring((await connected.client.get(f"{connected.here}/metadata.xml")).content)
        each = found.iter(f"{MD}KeyDescriptor")
        return ["".join(key.itertext()).strip() for key in each if key.get("use") == "signing"]

    before = (await connected.client.get(connected.here)).json()
    published = await signing()
    after = (await connected.client.post(f"{connected.here}/rotate-certificate")).json()
    assert after["spCertificate"] == before["spCertificates"][1]["certificate"]
    assert [each["place"] for each in after["spCertificates"]] == ["CURRENT", "NEXT", "PREVIOUS"]
    assert after["spCertificates"][2]["certificate"] == before["spCertificate"]
    renewed = await signing()
    assert renewed[0] == published[1]
    assert renewed[1] not in published
    again = (await connected.client.post(f"{connected.here}/rotate-certificate")).json()
    assert before["spCertificate"] not in [each["certificate"] for each in again["spCertificates"]]


async def test_a_change_with_a_stale_etag_is_rejected(connected):
    before = await connected.client.get(connected.here)
    seen = {"if-match": before.headers["etag"]}
    assert (await connected.client.patch(connected.here, {"name": "New"}, headers=seen)).status_code == 200
    stale = await connected.client.patch(connected.here, {"name": "Old"}, headers={"if-match": '"0"'})
    assert stale.status_code == 412


async def test_actions_are_in_the_audit_log(connected):
    await connected.client.patch(connected.here, {"name": "New"})
    await connected.client.delete(connected.here)
    log = (await connected.directory.project.developer.get("/account/audit-log")).json()["data"]
    actions = [each["action"] for each in log if each["action"].startswith("sso_connection.")]
    assert sorted(actions) == [f"sso_connection.{each}" for each in ("activated", "created", "deleted", "updated")]


async def test_deleting_an_organization_deletes_its_connections(connected):
    assert (await connected.client.delete(f"/b2b/organizations/{connected.organization['id']}")).status_code == 200
    assert (await connected.client.get("/b2b/sso-connections")).json() == []


@pytest.mark.parametrize("days", [32, 20])
async def test_expiring_certificates_are_reported_by_events(acme, work_off, clock, days):
    short = keys(f"short-{days}", not_after=(clock() + timedelta(days=days)).replace(microsecond=0))
    await acme.connect(active=False, idpCertificate=[short.pem])
    await work_off()
    assert await acme.directory.events("sso.certificate_expiring") == []
    await acme.client.post(f"{acme.here}/activate")
    for _ in range(days + 2):
        await work_off()
        clock.move(timedelta(days=1))
    told = await acme.directory.events("sso.certificate_expiring")
    assert {(each["subjectId"], each["data"]["owner"]) for each in told} == {(acme.connection["id"], "IDP")}
    left = sorted((each["data"]["daysLeft"] for each in told), reverse=True)
    assert left == ([29, 13, 6, 0, 0] if days == 32 else [19, 13, 6, 0, 0])


async def test_a_newer_certificate_prevents_the_expiry_event(acme, work_off, clock):
    short = keys("short-beside", not_after=clock() + timedelta(days=5))
    await acme.connect(idpCertificate=[short.pem, acme.idp.certificate])
    await work_off()
    assert await acme.directory.events("sso.certificate_expiring") == []
    await acme.change(idpCertificate=[short.pem])
    await work_off()
    assert [each["data"]["daysLeft"] for each in await acme.directory.events("sso.certificate_expiring")] == [4]


async def test_an_expiring_sp_certificate_is_reported_until_rotation(connected, work_off, clock):
    ends = datetime.fromisoformat(connected.connection["spCertificates"][0]["expiresAt"])
    clock.move(ends - timedelta(days=20) - clock())
    await work_off()
    (told,) = await connected.directory.events("sso.certificate_expiring")
    assert (told["data"]["owner"], told["data"]["daysLeft"]) == ("SP", 20)
    for _ in range(2):  # The next one was made on the same day as the current one.
        assert (await connected.client.post(f"{connected.here}/rotate-certificate")).status_code == 200
    clock.move(timedelta(days=30))
    await work_off()
    assert len(await connected.directory.events("sso.certificate_expiring")) == 1
