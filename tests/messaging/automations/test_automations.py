"""Automations over HTTP."""

from uuid import uuid4

import pytest

JOINED = {"type": "AUDIENCE_JOINED", "audienceId": str(uuid4())}


async def test_create_get_change_and_delete_an_automation(project, email_step):
    body = {
        "name": "Welcome",
        "trigger": {"type": "CONTACT_CREATED"},
        "steps": [{"type": "DELAY", "hours": 1}, email_step()],
    }
    created = await project.client.post("/automations", body)
    assert created.status_code == 201
    automation = created.json()
    assert (automation["active"], automation["version"], automation["appId"]) == (False, 1, project.id)
    assert automation["steps"] == body["steps"]
    assert automation["trigger"] == {"type": "CONTACT_CREATED", "once": True}
    toggled = (await project.client.patch(f"/automations/{automation['id']}/active")).json()
    assert toggled["active"] is True
    assert (await project.client.patch(f"/automations/{automation['id']}/active")).json()["active"] is False
    activated = await project.client.patch(f"/automations/{automation['id']}/active", {"active": True})
    activated_again = await project.client.patch(f"/automations/{automation['id']}/active", {"active": True})
    assert activated.json()["active"] is activated_again.json()["active"] is True
    renamed = (await project.client.patch(f"/automations/{automation['id']}", {"name": "Hello"})).json()
    assert (renamed["name"], renamed["version"]) == ("Hello", 1)
    changed = (await project.client.patch(f"/automations/{automation['id']}", {"steps": [email_step("New")]})).json()
    assert (changed["version"], changed["active"]) == (2, True)
    assert [listed["id"] for listed in (await project.client.get("/automations")).json()] == [automation["id"]]
    assert (await project.client.delete(f"/automations/{automation['id']}")).json() == {"deleted": True}
    assert (await project.client.get(f"/automations/{automation['id']}")).status_code == 404


async def test_activation_lists_missing_references(project, create_audience):
    missing_id = str(uuid4())
    steps = [
        {"type": "SEND_EMAIL", "templateId": missing_id, "domainId": missing_id, "fromEmail": "hello@example.org"},
        {"type": "ADD_TO_AUDIENCE", "audienceId": missing_id},
        {
            "type": "CONDITION",
            "rules": {
                "conditions": [
                    {
                        "match": "any",
                        "conditions": [
                            {"field": "audience", "operator": "neq", "value": missing_id},
                        ],
                    }
                ]
            },
        },
    ]
    draft = await project.client.post("/automations", {"name": "Draft", "trigger": JOINED, "steps": steps})
    assert draft.status_code == 201, "an inactive automation may refer to missing records"
    response = await project.client.patch(f"/automations/{draft.json()['id']}/active")
    assert (response.status_code, response.json()["code"]) == (409, "automation_incomplete")
    assert [fault["path"] for fault in response.json()["errors"]] == [
        "/trigger/audienceId",
        "/steps/0/templateId",
        "/steps/1/audienceId",
        "/steps/2/rules",
    ]
    assert (await project.client.get(f"/automations/{draft.json()['id']}")).json()["active"] is False
    active_body = {"name": "Draft", "trigger": JOINED, "steps": steps, "active": True}
    assert (await project.client.post("/automations", active_body)).status_code == 409


async def test_mail_needs_a_verified_domain_unless_it_is_captured(project, email_step):
    await project.developer.patch("", {"settings": {"transport": "relay", "relays": [{"host": "smtp.example.com"}]}})
    body = {"name": "W", "trigger": {"type": "CONTACT_CREATED"}, "steps": [email_step()], "active": True}
    response = await project.client.post("/automations", body)
    assert response.status_code == 409
    assert response.json()["errors"][0]["path"] == "/steps/0/fromEmail"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"trigger": JOINED, "steps": []}, "/name"),
        ({"name": "A", "steps": []}, "/trigger"),
        ({"name": "A", "trigger": JOINED}, "/steps"),
        ({"name": "A", "trigger": {"type": "MOON"}, "steps": []}, "/trigger/type"),
        ({"name": "A", "trigger": {"type": "EVENT", "event": "email.gone"}, "steps": []}, "/trigger/event"),
        ({"name": "A", "trigger": JOINED, "steps": [{"type": "DANCE"}]}, "/steps/0/type"),
        ({"name": "A", "trigger": JOINED, "steps": [{"type": "DELAY", "weeks": 2}]}, "/steps/0/weeks"),
        ({"name": "A", "trigger": JOINED, "steps": [{"type": "DELAY"}]}, "/steps/0"),
        ({"name": "A", "trigger": JOINED, "steps": [{"type": "EXIT"}] * 151}, "/steps"),
    ],
)
async def test_invalid_automations_are_refused_with_the_path(project, body, path):
    response = await project.client.post("/automations", body)
    assert response.status_code == 400, response.text
    assert response.json()["errors"][0]["path"] == path


async def test_automations_of_other_projects_are_not_found(project, new_project):
    other_project = await new_project()
    body = {"name": "Theirs", "trigger": JOINED, "steps": [{"type": "EXIT"}]}
    automation = (await other_project.client.post("/automations", body)).json()
    for method, path, data in (
        ("GET", "", None),
        ("PATCH", "", {"name": "Mine"}),
        ("DELETE", "", None),
        ("PATCH", "/active", None),
        ("GET", "/runs", None),
        ("GET", "/totals", None),
        ("GET", "/webhook-secret", None),
        ("GET", f"/runs/{uuid4()}", None),
        ("POST", f"/runs/{uuid4()}/cancel", None),
    ):
        response = await project.client.request(method, f"/automations/{automation['id']}{path}", json=data)
        assert response.status_code == 404, (method, path)


async def test_a_change_with_an_outdated_if_match_is_refused(project):
    body = {"name": "A", "trigger": JOINED, "steps": [{"type": "EXIT"}]}
    created = await project.client.post("/automations", body)
    response = await project.client.patch(
        f"/automations/{created.json()['id']}", {"name": "B"}, headers={"if-match": '"0"'}
    )
    assert response.status_code == 412
