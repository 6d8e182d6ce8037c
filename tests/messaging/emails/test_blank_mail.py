"""E-mails without content are refused: single e-mails, batches, and those of templates, campaigns and automations."""

import pytest

MAIL = {"to": ["ada@example.org"], "from": "hello@example.com", "subject": "Hello"}


@pytest.mark.parametrize("content", [{}, {"html": ""}, {"text": " \n"}, {"html": None, "text": "\t"}])
async def test_an_email_without_content_is_refused(project, content):
    """Regression test of N8 (tests/defects.md)."""
    refused = await project.client.post("/emails", {**MAIL, **content})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    batch = (await project.client.post("/emails/batch", {"emails": [{**MAIL, **content}]})).json()["data"]
    assert batch[0]["status"] == "FAILED"
    assert batch[0]["error"].startswith("/html: ")


async def test_a_blank_template_is_refused_unless_the_email_has_content(project):
    """Regression test of N8 (tests/defects.md)."""
    template = (await project.client.post("/templates", {"name": "Later", "subject": "Hello"})).json()
    refused = await project.client.post("/emails", {**MAIL, "templateId": template["id"]})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/templateId")
    accepted = await project.client.post("/emails", {**MAIL, "templateId": template["id"], "text": "Hello."})
    assert accepted.status_code == 201


@pytest.mark.parametrize(
    ("content", "change", "paths"),
    [
        ({"html": "<p>Hello</p>"}, {"html": None}, ["/html"]),
        ({"html": "<p>Hello</p>"}, {"html": "  "}, ["/html"]),
        ({"text": "Hello"}, {"text": None, "subject": "Hello"}, ["/text"]),
        ({"html": "<p>Hello</p>", "text": "Hello"}, {"html": None, "text": ""}, ["/html", "/text"]),
        ({"builderJson": {"blocks": [{"type": "text", "text": "Hello"}]}}, {"builderJson": None}, ["/builderJson"]),
    ],
)
async def test_a_template_cannot_be_emptied(project, content, change, paths):
    """Regression test of M10 (tests/defects.md)."""
    template = (await project.client.post("/templates", {"name": "T", "subject": "Hi", **content})).json()
    refused = await project.client.patch(f"/templates/{template['id']}", change)
    assert refused.status_code == 400, refused.text
    assert [error["path"] for error in refused.json()["errors"]] == paths
    assert (await project.client.get(f"/templates/{template['id']}")).json() == template


async def test_parts_of_a_template_can_be_removed_if_one_remains(project):
    """Regression test of M10 (tests/defects.md)."""
    fields = {"name": "T", "subject": "Hi", "html": "<p>Hello</p>", "text": "Hello"}
    template = (await project.client.post("/templates", fields)).json()
    assert (await project.client.patch(f"/templates/{template['id']}", {"html": None})).status_code == 200
    assert (await project.client.patch(f"/templates/{template['id']}", {"text": None})).status_code == 400
    renamed = await project.client.patch(f"/templates/{template['id']}", {"name": "Named"})
    assert renamed.json()["text"] == "Hello"


async def test_a_campaign_with_a_blank_template_is_incomplete(project):
    """Regression test of M10, N8 (tests/defects.md)."""
    blank = (await project.client.post("/templates", {"name": "Blank", "subject": "Hi"})).json()
    audience = (await project.client.post("/audiences", {"name": "All"})).json()
    domain = (await project.client.post("/domains", {"domain": "blank.example"})).json()
    body = {"name": "C", "fromEmail": "news@blank.example", "domainId": domain["id"]}
    body |= {"audienceId": audience["id"], "templateId": blank["id"]}
    campaign = (await project.client.post("/campaigns", body)).json()
    refused = await project.client.post(f"/campaigns/{campaign['id']}/send")
    assert (refused.status_code, refused.json()["code"]) == (409, "campaign_incomplete")
    assert [error["path"] for error in refused.json()["errors"]] == ["/templateId"]


async def test_an_automation_with_a_blank_template_is_not_activated(project):
    """Regression test of M10, N8 (tests/defects.md)."""
    blank = (await project.client.post("/templates", {"name": "Blank", "subject": "Hi"})).json()
    step = {"type": "SEND_EMAIL", "templateId": blank["id"], "fromEmail": "news@blank.example"}
    body = {"name": "A", "trigger": {"type": "CONTACT_CREATED"}, "steps": [step]}
    created = await project.client.post("/automations", body)
    assert created.status_code == 201, created.text
    refused = await project.client.patch(f"/automations/{created.json()['id']}/active", {"active": True})
    assert refused.status_code in (400, 409), refused.text
    assert [error["code"] for error in refused.json()["errors"]] == ["template_blank"]
