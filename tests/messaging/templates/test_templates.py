"""Templates over HTTP: validation, versions, previews, and sending."""

import asyncio
import email
import email.policy
import html
from uuid import uuid4

import pytest

BLOCKS = {
    "blocks": [
        {"type": "heading", "text": "Hello {{firstName}}"},
        {"type": "button", "text": "Start", "url": "https://acme.example/start?who={{customer.id}}"},
    ]
}


async def create(project, **fields):
    response = await project.client.post("/templates", {"name": "Welcome", **fields})
    assert response.status_code == 201, response.text
    return response.json()


async def test_create_get_change_and_delete_a_template(project):
    template = await create(project, html="<p>Dear {{name}}</p>", subject="Hi {{name}}", text="Dear {{name}}, {{age}}")
    assert template["appId"] == project.id
    assert template["builderJson"] is None
    assert template["variables"] == ["age", "name"]
    path = f"/templates/{template['id']}"
    response = await project.client.get(path)
    assert response.json() == template
    changed = (await project.client.patch(path, {"name": "Bye", "subject": None})).json()
    assert (changed["name"], changed["subject"], changed["html"]) == ("Bye", None, template["html"])
    assert changed["version"] == 2
    assert (await project.client.get("/templates")).json() == [changed]
    assert (await project.client.delete(path)).json() == {"deleted": True}
    for method in ("get", "delete"):
        assert (await getattr(project.client, method)(path)).status_code == 404


async def test_the_builder_document_is_rendered_unless_html_is_given(project):
    template = await create(project, builderJson=BLOCKS)
    assert template["builderJson"] == BLOCKS
    assert "Hello {{firstName}}" in template["html"]
    assert template["variables"] == ["customer.id", "firstName"]
    path = f"/templates/{template['id']}"
    with_html = (await project.client.patch(path, {"html": "<b>own</b>"})).json()
    assert (with_html["html"], with_html["builderJson"]) == ("<b>own</b>", BLOCKS)
    other_document = {
        "mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>Bye {{x}}</mj-text></mj-column></mj-section></mj-body>"
        "</mjml>"
    }
    with_other_document = (await project.client.patch(path, {"builderJson": other_document})).json()
    assert (with_other_document["html"], with_other_document["builderJson"]) == ("<b>own</b>", other_document)
    without_html = (await project.client.patch(path, {"html": None})).json()
    assert "Bye {{x}}" in without_html["html"]
    assert without_html["variables"] == ["x"]
    without_document = (await project.client.patch(path, {"builderJson": None, "text": "Bye"})).json()
    assert (without_document["html"], without_document["builderJson"]) == (None, None)


async def test_the_rendered_builder_document_is_sent(project):
    template = await create(project, builderJson=BLOCKS, subject="For {{firstName}}")
    mail = {"to": ["ada@example.com"], "from": "hello@acme.example", "templateId": template["id"]}
    sent = await project.client.post("/emails", {**mail, "variables": {"firstName": "Ada"}})
    assert sent.status_code == 201, sent.text
    raw = (await project.client.get(f"/emails/logs/{sent.json()['id']}/message")).content
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert message["Subject"] == "For Ada"
    assert "Hello Ada" in message.get_body(("html",)).get_content()
    assert "Hello Ada" in message.get_body(("plain",)).get_content()


@pytest.mark.parametrize(
    ("fields", "path", "message_part"),
    [
        ({"html": "<p>\n  {{ name"}, "/html", "Line 2"),
        ({"html": "<p>{% if x %}"}, "/html", "Line 1"),
        ({"html": "{{ x|nothing }}"}, "/html", "column"),
        ({"html": "{% macro a() %}{% endmacro %}"}, "/html", "Line 1"),
        ({"text": "a\nb\n{% for %}"}, "/text", "Line 3"),
        ({"subject": "{{ broken"}, "/subject", "Line 1"),
        ({"subject": "a\r\nBcc: x@example.com"}, "/subject", ""),
        ({"builderJson": {}}, "/builderJson", "mjml"),
        ({"builderJson": {"blocks": [{"type": "poem"}]}}, "/builderJson/blocks/0/type", "expected"),
        ({"builderJson": {"blocks": [{"type": "text"}]}}, "/builderJson/blocks/0/text", "required"),
        ({"builderJson": {"mjml": "<mjml>"}}, "/builderJson/mjml", "MJML"),
        ({"builderJson": {"mjml": "<mjml>"}, "html": "fine"}, "/builderJson/mjml", "MJML"),
        ({"builderJson": []}, "/builderJson", ""),
        ({"name": ""}, "/name", ""),
        ({"name": "x" * 201}, "/name", ""),
        ({"name": None}, "/name", ""),
        ({"html": 7}, "/html", ""),
        ({"colour": "red"}, "/colour", ""),
        ({"html": "".join(f'<a href="https://a.example/{n}">x</a>' for n in range(1_001))}, "/html", "1,000"),
    ],
)
async def test_invalid_templates_are_refused_with_the_location(project, fields, path, message_part):
    response = await project.client.post("/templates", {"name": "Bad", **fields})
    assert response.status_code == 400, response.text
    error = response.json()["errors"][0]
    assert error["path"] == path
    assert message_part in error["message"]
    assert (await project.client.get("/templates")).json() == []


async def test_an_invalid_change_does_not_change_the_template(project):
    template = await create(project, html="<p>fine</p>")
    path = f"/templates/{template['id']}"
    assert (await project.client.patch(path, {"name": "New", "html": "{{"})).status_code == 400
    assert (await project.client.get(path)).json() == template


async def test_a_preview_renders_as_for_a_recipient(project):
    template = await create(
        project,
        subject="Hi {{ name }}",
        html='<p>{{ name }} has {{ n }}</p><a href="{{ unsubscribe_url }}">leave</a><a href="https://a.example">x</a>',
    )
    path = f"/templates/{template['id']}/preview"
    preview = (await project.client.post(path, {"variables": {"name": "<Ada>", "n": 3}})).json()
    assert preview["subject"] == "Hi <Ada>"
    assert "&lt;Ada&gt; has 3" in preview["html"]
    assert 'href="https://a.example"' in preview["html"]
    assert "/t/u/preview" in html.unescape(preview["html"])
    assert "/t/o/" not in preview["html"]
    assert "<Ada> has 3" in preview["text"]
    assert template["variables"] == ["n", "name"]
    without_variables = (await project.client.post(path, {})).json()
    assert without_variables["subject"] == "Hi"
    expensive = await create(
        project, html="{% for a in x %}{% for b in x %}{% for c in x %}.{% endfor %}{% endfor %}{% endfor %}"
    )
    response = await project.client.post(
        f"/templates/{expensive['id']}/preview", {"variables": {"x": list(range(400))}}
    )
    assert (response.status_code, response.json()["code"]) == (422, "render_failed")
    refused = await project.client.post(path, {"variables": {"x": "y" * 300_000}})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/variables")
    assert (await project.client.post(f"/templates/{uuid4()}/preview", {})).status_code == 404


async def test_the_last_fifty_versions_are_kept(project):
    template = await create(project, html="v1")
    path = f"/templates/{template['id']}"
    for number in range(2, 54):
        assert (await project.client.patch(path, {"html": f"v{number}"})).json()["version"] == number
    versions = (await project.client.get(f"{path}/versions")).json()
    assert [version["version"] for version in versions] == list(range(53, 3, -1))
    assert versions[-1]["html"] == "v4"
    assert versions[0]["createdBy"] == "server"


async def test_a_copy_is_independent(project):
    template = await create(project, builderJson=BLOCKS, subject="Hi")
    copy = (await project.client.post(f"/templates/{template['id']}/duplicate")).json()
    assert copy["id"] != template["id"]
    assert copy["name"] == "Welcome (copy)"
    for name in ("html", "builderJson", "subject", "text", "variables"):
        assert copy[name] == template[name]
    await project.client.patch(f"/templates/{copy['id']}", {"builderJson": {"blocks": []}})
    assert (await project.client.get(f"/templates/{template['id']}")).json() == template
    assert len((await project.client.get("/templates")).json()) == 2


async def test_if_match_prevents_lost_updates(project):
    template = await create(project, html="one")
    path = f"/templates/{template['id']}"
    tag = (await project.client.get(path)).headers["etag"]
    first = await project.client.patch(path, {"html": "two"}, headers={"if-match": tag})
    assert first.status_code == 200
    assert first.headers["etag"] != tag  # Also if both changes have the same time.
    assert (await project.client.patch(path, {"html": "three"}, headers={"if-match": tag})).status_code == 412
    assert (await project.client.delete(path, headers={"if-match": tag})).status_code == 412
    assert (await project.client.get(path)).json()["html"] == "two"


async def test_two_concurrent_changes_are_both_applied(project):
    template = await create(project, html="one")
    path = f"/templates/{template['id']}"
    responses = await asyncio.gather(
        project.client.patch(path, {"html": "two"}), project.client.patch(path, {"subject": "Hi"})
    )
    assert [response.status_code for response in responses] == [200, 200]
    changed = (await project.client.get(path)).json()
    assert (changed["html"], changed["subject"], changed["version"]) == ("two", "Hi", 3)


async def test_long_lists_have_a_link_to_the_next_page(project):
    for number in range(5):
        await create(project, html="x" * 900_000 if number != 2 else "y", text="z" * 900_000)
    rows, path, page_count = [], "/templates?limit=4", 0
    while path:
        response = await project.client.get(path)
        page_count += 1
        rows += response.json()
        link = response.headers.get("link")
        path = link.split(">")[0].partition("/projects/")[2] if link else None
        path = f"/projects/{path}" if path else None
    assert [row["html"][0] for row in rows] == ["x", "x", "y", "x", "x"]
    assert page_count == 2
    assert (await project.client.get("/templates?cursor=nonsense")).status_code == 400


async def test_templates_of_other_projects_are_not_found(project, new_project):
    other_template = await create(await new_project(), html="secret")
    for method, path in (("get", ""), ("delete", ""), ("post", "/duplicate"), ("get", "/versions")):
        response = await getattr(project.client, method)(f"/templates/{other_template['id']}{path}")
        assert (response.status_code, response.json()["code"]) == (404, "template_missing"), path
    assert (await project.client.patch(f"/templates/{other_template['id']}", {"name": "mine"})).status_code == 404
    mail = {"to": ["ada@example.com"], "from": "hello@acme.example", "templateId": other_template["id"]}
    assert (await project.client.post("/emails", mail)).status_code == 400


async def test_changes_are_in_the_audit_log_and_reading_keys_cannot_write(project):
    template = await create(project, html="x")
    await project.client.patch(f"/templates/{template['id']}", {"name": "y"})
    reader = await project.key("templates:read")
    assert (await reader.get(f"/templates/{template['id']}")).status_code == 200
    assert (await reader.post("/templates", {"name": "z"})).status_code == 403
    await project.client.delete(f"/templates/{template['id']}")
    log = (await project.developer.get("/account/audit-log")).json()
    actions = [item["action"] for item in log["data"] if item["targetId"] == template["id"]]
    assert actions == ["template.deleted", "template.updated", "template.created"]
