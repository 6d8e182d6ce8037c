"""Content that is not stored is rendered as a template is, and its errors have their places."""

import pytest

from postern.messaging.templates.model import VARIABLES_BYTES
from tests.platform.accounts.members import AccountHelper

BLOCKS = {"blocks": [{"type": "text", "text": "Hello {{firstName}}"}]}


async def render(client, **fields) -> dict:
    response = await client.post("/templates/render", fields)
    assert response.status_code == 200, response.text
    return response.json()


async def test_it_is_rendered_as_the_stored_template(project):
    content = {
        "subject": "Hi {{ name }}",
        "html": '<p>{{ name }} {{ plan }}</p><a href="{{ unsubscribe_url }}">leave</a>',
    }
    variables = {"name": "<Ada>", "plan": "pro"}
    rendered = await render(project.client, **content, variables=variables)
    made = (await project.client.post("/templates", {"name": "t", **content})).json()
    previewed = (await project.client.post(f"/templates/{made['id']}/preview", {"variables": variables})).json()
    assert rendered == {**previewed, "variables": made["variables"], "problems": []}
    assert "&lt;Ada&gt; pro" in rendered["html"]


async def test_nothing_is_stored(project):
    before = (await project.client.get("/events")).json()
    await render(project.client, subject="Hi", builderJson=BLOCKS)
    assert (await project.client.get("/templates")).json() == []
    assert (await project.client.get("/events")).json() == before


async def test_a_builder_document_is_rendered_with_a_sample_contact(project):
    contact = {"email": "ada@example.com", "attributes": {"firstName": "Ada", "plan": "free"}}
    rendered = await render(
        project.client,
        subject="{{ contact.email }} {{ plan }} {{ attributes.plan }}",
        builderJson=BLOCKS,
        contact=contact,
        variables={"plan": "pro"},
    )
    assert rendered["subject"] == "ada@example.com pro free"
    assert "Hello Ada" in rendered["html"]
    assert "Hello Ada" in rendered["text"]
    assert set(rendered["variables"]) >= {"firstName", "plan"}
    mjml = (
        "<mjml><mj-body><mj-section><mj-column><mj-text>{{ email }}</mj-text></mj-column></mj-section></mj-body></mjml>"
    )
    rendered = await render(project.client, builderJson={"mjml": mjml}, contact=contact)
    assert "ada@example.com" in rendered["html"]
    assert rendered["subject"] is None


async def test_each_part_has_its_errors_and_the_others_are_rendered(project):
    rendered = await render(
        project.client, subject="{{ broken", html="<p>{{ x }}\n  {% if %}</p>", text="{{ x }}", variables={"x": 1}
    )
    assert [(fault["path"], fault["line"]) for fault in rendered["problems"]] == [("/subject", 1), ("/html", 2)]
    assert all(fault["column"] and fault["message"] and fault["code"] for fault in rendered["problems"])
    assert (rendered["subject"], rendered["html"], rendered["text"]) == (None, None, "1")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"builderJson": {"blocks": [{"type": "text", "text": "a"}, {"type": "poem"}]}}, "/builderJson/blocks/1/type"),
        ({"builderJson": {"mjml": "<mjml>"}}, "/builderJson/mjml"),
        ({"html": "{{ x|nothing }}"}, "/html"),
        ({"html": "".join(f'<a href="https://a.example/{n}">x</a>' for n in range(1_001))}, "/html"),
        ({"text": "{% for a in range(100001) %}x{% endfor %}"}, "/text"),
        ({"subject": "a\r\nBcc: x@example.com"}, "/subject"),
    ],
)
async def test_errors_have_the_path_of_their_part(project, fields, path):
    rendered = await render(project.client, **fields)
    assert [fault["path"] for fault in rendered["problems"]] == [path]
    assert rendered["html"] is None
    assert rendered["text"] is None


async def test_expensive_content_is_an_error_of_its_part(project):
    loops = "{% for a in x %}{% for b in x %}{% for c in x %}.{% endfor %}{% endfor %}{% endfor %}"
    rendered = await render(project.client, subject="fine", html=loops, variables={"x": list(range(400))})
    assert [fault["path"] for fault in rendered["problems"]] == ["/html"]
    assert rendered["html"] is None


async def test_without_an_engine_nothing_is_replaced(project):
    rendered = await render(project.client, html="<p>{{ x }} {% if</p>", engine="none", variables={"x": 1})
    assert "{{ x }} {% if" in rendered["html"]
    assert (rendered["variables"], rendered["problems"]) == ([], [])


async def test_content_without_parts_renders_to_nothing(project):
    rendered = await render(project.client)
    assert (rendered["subject"], rendered["html"], rendered["text"], rendered["problems"]) == (None, None, None, [])


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"html": 7}, "/html"),
        ({"colour": "red"}, "/colour"),
        ({"variables": {"x": "y" * VARIABLES_BYTES}}, "/variables"),
        ({"contact": {"email": "a@b", "attributes": {"x": "y" * VARIABLES_BYTES}}}, "/contact/attributes"),
        ({"contact": {}}, "/contact/email"),
        ({"subject": "x" * 2_001}, "/subject"),
        ({"engine": "jinja"}, "/engine"),
    ],
)
async def test_invalid_requests_are_refused_with_their_path(project, body, path):
    refused = await project.client.post("/templates/render", body)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == path


async def test_permissions(project, new_project, stranger, run_due_work, world):
    _, viewer = await AccountHelper(project, stranger, run_due_work, world).member("VIEWER")
    assert (await render(viewer, subject="Hi"))["subject"] == "Hi"
    narrow = await project.key("emails:read")
    assert (await narrow.post("/templates/render", {})).status_code == 403
    foreign = await (await new_project()).client.post(f"/projects/{project.id}/templates/render", {})
    assert foreign.status_code == 404
