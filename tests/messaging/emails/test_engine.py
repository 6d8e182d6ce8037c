"""Mail with the engine `none` arrives unchanged: single e-mails, batches, and mail of campaigns and automations."""

import email
import email.policy
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.messaging.emails.test_relay import entry, sender, sink

__all__ = ["sender", "sink"]

SUBJECT = "Use {{ name }}, {% if x %} and {# this #}"
HTML = (
    "<!doctype html><html><head><style>@media print{#body{margin:0}}</style></head><body>"
    "<p>{{ unclosed and {% endfor %} {# {{name}} &amp; {{first-name}}</p>\r\n"
    "<p>{{}} }} %} #} {{ 1 / 0 }}</p></body></html>"
)
TEXT = "Dear {{name}},\n{% raw %} {# nothing #} {{ is read\n"
WITHOUT_ENGINE = {"subject": SUBJECT, "html": HTML, "text": TEXT, "engine": "none"}
MAIL = {"to": ["ada@example.org"], "from": "Acme <hello@example.com>", "trackOpens": False, "trackClicks": False}


def parse(message):
    return email.message_from_bytes(message.raw, policy=email.policy.default)


def content_of(message):
    """Subject, html and text as a mail client shows them."""
    parsed = parse(message)
    bodies = [parsed.get_body((kind,)) for kind in ("html", "plain")]
    return (parsed["Subject"], *(body and body.get_content().replace("\r\n", "\n") for body in bodies))


EXPECTED_CONTENT = (SUBJECT, HTML.replace("\r\n", "\n"), TEXT)


async def create_template(project, **fields):
    created = await project.client.post("/templates", {"name": "Plain", **WITHOUT_ENGINE, **fields})
    assert created.status_code == 201, created.text
    return created.json()


async def create_campaign(project, clock, **fields):
    """A campaign to three contacts that is ready to be sent."""
    (domain,) = (await project.client.get("/domains")).json()
    audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
    for name in ("ada", "bob", "cyd"):
        contact = {"email": f"{name}@example.org", "attributes": {"name": name}}
        contact_id = (await project.client.post("/contacts", contact)).json()["id"]
        added = await project.client.post(f"/audiences/{audience}/contacts", {"contactId": contact_id})
        assert added.status_code < 300
    fields = {"fromEmail": "hello@example.com", "domainId": domain["id"], "audienceId": audience, **fields}
    created = await project.client.post("/campaigns", {"name": "News", **fields})
    assert created.status_code == 201, created.text
    return created.json()["id"]


async def test_a_message_without_an_engine_arrives_unchanged(sender, sink):
    """Regression test of M9 (tests/defects.md)."""
    refused = await sender.client.post("/emails", {**MAIL, **WITHOUT_ENGINE, "engine": "minijinja"})
    assert refused.status_code == 400
    sent = await sender.client.post("/emails", {**MAIL, **WITHOUT_ENGINE, "variables": {"name": "Ada"}})
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    (message,) = sink.messages
    assert content_of(message) == EXPECTED_CONTENT
    log = await entry(sender, sent.json()["id"])
    assert (log["engine"], log["subject"]) == ("none", SUBJECT)
    eml = (await sender.client.get(f"/emails/logs/{sent.json()['id']}/message")).content
    assert eml == message.raw


async def test_tracking_and_unsubscribing_work_without_an_engine(sender, sink, stranger):
    """Regression test of M9 (tests/defects.md)."""
    target = "https://acme.example/?q={{name}}&x=1"
    html = f'<p>{{{{name}}}} <a href="{target}">{{% here %}}</a></p>'
    mail = {**MAIL, **WITHOUT_ENGINE, "html": html, "text": None, "trackOpens": True, "trackClicks": True}
    sent = await sender.client.post("/emails", {**mail, "unsubscribable": True})
    assert sent.json()["status"] == "SENT", sent.text
    (message,) = sink.messages
    _, html_part, text = content_of(message)
    assert "<p>{{name}} <a href=" in html_part
    assert "/t/o/" in html_part
    link = html_part.partition('href="')[2].partition('"')[0].replace("&amp;", "&")
    redirect = await stranger.http.get(link)
    assert (redirect.status_code, redirect.headers["location"]) == (302, target)
    assert text == f"{{{{name}}}} {{% here %}} ({target})\n"
    unsubscribe_url = parse(message)["List-Unsubscribe"].strip("<>")
    assert (await stranger.http.post(unsubscribe_url, data={"List-Unsubscribe": "One-Click"})).status_code == 200
    (suppressed,) = (await sender.client.get("/suppressions")).json()["data"]
    assert suppressed["reason"] == "UNSUBSCRIBE"


MARKED_LINK = (
    """<p>News &amp; {{ name }}</p><A DATA-POSTERN-UNSUBSCRIBE href=%s>No {{ more }}</A> <a href="#top">up</a>"""
)
"""A message with a link that `data-postern-unsubscribe` marks as the place of the unsubscribe link."""


@pytest.mark.parametrize("engine", ["none", "minijinja"])
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("href", ["'https://acme.example/prefs?{{ a }}'", "#", '""'])
async def test_a_marked_link_unsubscribes_the_recipient(sender, sink, stranger, engine, tracked, href):
    """Regression test of M9 (tests/defects.md)."""
    mail = {**MAIL, "subject": "x", "html": MARKED_LINK % href, "engine": engine, "unsubscribable": True}
    tracking = {"trackOpens": tracked, "trackClicks": tracked}
    sent = await sender.client.post("/emails", {**mail, **tracking, "to": [f"{uuid4().hex}@example.org"]})
    assert sent.json()["status"] == "SENT", sent.text
    _, html, text = content_of(sink.messages[-1])
    unsubscribe_url = parse(sink.messages[-1])["List-Unsubscribe"].strip("<>")
    assert f'href="{unsubscribe_url}"' in html
    assert f"({unsubscribe_url})" in text
    assert ('<a href="#top">' in html, "acme.example" in html) == (True, False)
    assert ("{{ name }}" in html) is ("{{ name }}" in text) is (engine == "none")
    assert (await stranger.http.get(unsubscribe_url)).status_code == 200
    # In mail without an unsubscribe link, the marked link stays unchanged.
    sent = await sender.client.post("/emails", {**mail, "unsubscribable": False})
    assert sent.json()["status"] == "SENT", sent.text
    _, html, text = content_of(sink.messages[-1])
    assert "/t/u/" not in html + text
    assert ".invalid" not in html + text
    if engine == "none":
        assert html == mail["html"]


async def test_a_campaign_without_an_engine_has_an_unsubscribe_link(sender, sink, clock, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    template = await create_template(sender, html=MARKED_LINK % "#", text=None)
    preview = (await sender.client.post(f"/templates/{template['id']}/preview", {})).json()
    assert "/t/u/preview" in preview["html"]
    assert "/t/u/preview" in preview["text"]
    campaign_id = await create_campaign(sender, clock, templateId=template["id"], subject="News")
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await run_due_work()
    links = set()
    for message in sink.messages:
        unsubscribe_url = parse(message)["List-Unsubscribe"].strip("<>")
        assert f'href="{unsubscribe_url}"' in content_of(message)[1]
        assert f"({unsubscribe_url})" in content_of(message)[2]
        links.add(unsubscribe_url)
    assert len(links) == 3


async def test_retries_and_scheduled_messages_keep_the_engine(sender, sink, clock, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    sink.behaviour.replies["DATA"] = b"451 4.3.0 later\r\n"
    key = {"Idempotency-Key": uuid4().hex}
    sent = await sender.client.post("/emails", {**MAIL, **WITHOUT_ENGINE}, headers=key)
    repeated = await sender.client.post("/emails", {**MAIL, **WITHOUT_ENGINE}, headers=key)
    assert (repeated.status_code, repeated.json()) == (201, sent.json())
    with_other_body = await sender.client.post(
        "/emails", {**MAIL, **WITHOUT_ENGINE, "subject": "x", "engine": None}, headers=key
    )
    assert with_other_body.status_code == 422
    sink.behaviour.replies.clear()
    assert (await sender.client.post(f"/emails/{sent.json()['id']}/retry")).status_code == 200
    scheduled_at = (clock() + timedelta(hours=1)).isoformat()
    assert (
        await sender.client.post("/emails", {**MAIL, **WITHOUT_ENGINE, "scheduledAt": scheduled_at})
    ).status_code == 201
    clock.move(timedelta(hours=2))
    await run_due_work()
    assert [content_of(message) for message in sink.messages] == [EXPECTED_CONTENT, EXPECTED_CONTENT]


async def test_a_batch_can_have_messages_with_and_without_an_engine(sender, sink, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    with_engine = {**MAIL, "subject": "Hi {{name}}", "text": "Dear {{name}}\n", "variables": {"name": "Ada"}}
    with_unknown_engine = {**MAIL, **WITHOUT_ENGINE, "engine": "handlebars"}
    created = await sender.client.post(
        "/emails/batch", {"emails": [{**MAIL, **WITHOUT_ENGINE}, with_engine, with_unknown_engine]}
    )
    assert [item["status"] for item in created.json()["data"]] == ["QUEUED", "QUEUED", "FAILED"]
    assert created.json()["data"][2]["error"].startswith("/engine")
    await run_due_work()
    assert sorted(content_of(message) for message in sink.messages) == sorted(
        [EXPECTED_CONTENT, ("Hi Ada", None, "Dear Ada\n")], key=str
    )


@pytest.mark.parametrize("path", ["/emails", "/templates"])
async def test_an_unknown_engine_is_refused_with_the_path(project, path):
    """Regression test of M9 (tests/defects.md)."""
    body = {**MAIL, **WITHOUT_ENGINE} if path == "/emails" else {"name": "x", **WITHOUT_ENGINE}
    refused = await project.client.post(path, {**body, "engine": "liquid"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/engine")
    assert "'none'" in refused.json()["errors"][0]["message"] or "none" in refused.json()["detail"]


async def test_a_template_without_an_engine_is_stored_previewed_copied_and_sent(sender, sink):
    """Regression test of M9 (tests/defects.md)."""
    template = await create_template(sender)
    assert (template["engine"], template["variables"]) == ("none", [])
    path = f"/templates/{template['id']}"
    preview = (await sender.client.post(f"{path}/preview", {"variables": {"name": "Ada"}})).json()
    assert preview == {"subject": SUBJECT, "html": HTML, "text": TEXT}
    copy = (await sender.client.post(f"{path}/duplicate")).json()
    assert (copy["engine"], copy["html"]) == ("none", HTML)
    # The engine cannot be changed to one that cannot parse the content.
    refused = await sender.client.patch(path, {"engine": "minijinja"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    changed = await sender.client.patch(path, {"engine": "minijinja", "html": "{{a}}", "text": None, "subject": "b"})
    assert (changed.json()["engine"], changed.json()["variables"], changed.json()["version"]) == (
        "minijinja",
        ["a"],
        2,
    )
    versions = (await sender.client.get(f"{path}/versions")).json()
    assert [version["engine"] for version in versions] == ["minijinja", "none"]
    sent = await sender.client.post("/emails", {**MAIL, "templateId": copy["id"]})
    assert sent.json()["status"] == "SENT", sent.text
    # Engine and content of the request are used instead of those of the template.
    with_content = {"templateId": copy["id"], "html": "<p>{{name}}</p>", "subject": "s", "variables": {"name": "Ada"}}
    assert (await sender.client.post("/emails", {**MAIL, **with_content})).json()["status"] == "SENT"
    assert (
        await sender.client.post("/emails", {**MAIL, "templateId": template["id"], "engine": "none"})
    ).status_code == 201
    assert [content_of(message)[1] for message in sink.messages] == [EXPECTED_CONTENT[1], "<p>Ada</p>", "{{a}}"]


async def test_the_output_of_the_builder_keeps_its_braces_without_an_engine(project):
    """Regression test of M9 (tests/defects.md)."""
    blocks = {
        "blocks": [
            {"type": "heading", "text": "{{ unclosed"},
            {"type": "text", "html": "<b>{% if %}</b>{#a#}"},
            {"type": "button", "text": "Go {{{x}}}", "url": "https://acme.example/?q={{a}}"},
        ]
    }
    template = await create_template(project, html=None, text=None, subject=None, builderJson=blocks)
    for text in ("{{ unclosed", "<b>{% if %}</b>{#a#}", "Go {{{x}}}", 'href="https://acme.example/?q={{a}}"'):
        assert text in template["html"]
    assert template["builderJson"] == blocks
    assert (template["variables"], template["engine"]) == ([], "none")
    mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>{{ x {#</mj-text></mj-column></mj-section></mj-body></mjml>"
    assert "{{ x {#" in (await create_template(project, html=None, builderJson={"mjml": mjml}))["html"]
    refused = await project.client.post("/templates", {"name": "x", "builderJson": blocks})
    assert (refused.status_code, refused.json()["errors"][0]["path"][:12]) == (400, "/builderJson")


async def test_a_campaign_uses_the_engine_of_its_template(sender, sink, clock, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    template = await create_template(sender)
    fields = {"subject": "{{ news", "previewText": "{% now & <then>", "fromName": "{{ Acme"}
    # A campaign's fields are parsed by the engine of its template; without a template, by MiniJinja.
    refused = await sender.client.post("/campaigns", {"name": "x", **fields})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/subject")
    campaign_id = await create_campaign(sender, clock, templateId=template["id"], **fields)
    assert (await sender.client.post(f"/campaigns/{campaign_id}/test", {"to": "test@example.org"})).status_code == 200
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await run_due_work()
    preview_html = "{% now &amp; &lt;then&gt;</div>"
    assert len(sink.messages) == 4
    for message in sink.messages:
        subject, html, text = content_of(message)
        assert subject in ("{{ news", "[Test] {{ news")
        assert preview_html in html
        assert "{{ unclosed and {% endfor %} {# {{name}}" in html
        assert text == TEXT
        assert parse(message)["From"].addresses[0].display_name == "{{ Acme"
        assert parse(message)["List-Unsubscribe"].startswith("<http")
        assert parse(message)["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


async def test_each_variant_uses_the_engine_of_its_own_template(sender, sink, clock, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    without_engine = await create_template(sender, subject="plain {{ name }}")
    with_engine = await create_template(
        sender, subject="filled {{ name }}", html="<p>{{ name }}</p>", text=None, engine="minijinja"
    )
    variants = [
        {"name": "A", "weight": 50, "templateId": without_engine["id"], "subject": "A {{ name"},
        {"name": "B", "weight": 50, "templateId": with_engine["id"], "subject": "B {{ name }}"},
    ]
    ab_test = {"abTestSamplePercent": 100, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 15}
    campaign_id = await create_campaign(sender, clock, abTestEnabled=True, variants=variants, **ab_test)
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await run_due_work()
    subjects = {content_of(message)[0] for message in sink.messages}
    assert "A {{ name" in subjects
    assert subjects - {"A {{ name"} <= {"B ada", "B bob", "B cyd"}
    assert len(subjects) >= 2
    variants[0]["templateId"], variants[1]["subject"] = with_engine["id"], None
    refused = await sender.client.post("/campaigns", {"name": "x", "variants": variants})
    assert refused.json()["errors"][0]["path"] == "/variants/0/subject"


async def test_a_campaign_does_not_start_if_the_new_engine_cannot_render_it(sender, sink, clock, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    template = await create_template(sender, html="<p>fine</p>", text=None)
    scheduled_at = (clock() + timedelta(hours=1)).isoformat()
    campaign_id = await create_campaign(sender, clock, templateId=template["id"], subject="{{ news")
    scheduled_campaign_id = (await sender.client.post(f"/campaigns/{campaign_id}/duplicate")).json()["id"]
    assert (
        await sender.client.patch(f"/campaigns/{scheduled_campaign_id}", {"scheduledAt": scheduled_at})
    ).status_code == 200
    assert (await sender.client.post(f"/campaigns/{scheduled_campaign_id}/send")).status_code == 200
    change = {"engine": "minijinja", "subject": "x"}
    assert (await sender.client.patch(f"/templates/{template['id']}", change)).status_code == 200
    refused = await sender.client.post(f"/campaigns/{campaign_id}/send")
    assert (refused.status_code, refused.json()["code"]) == (409, "campaign_incomplete")
    assert refused.json()["errors"][0]["path"] == "/subject"
    clock.move(timedelta(hours=2))
    await run_due_work()
    assert (await sender.client.get(f"/campaigns/{scheduled_campaign_id}")).json()["status"] == "FAILED"
    assert sink.messages == []


async def test_an_automation_uses_the_engine_of_its_template(sender, sink, run_due_work):
    """Regression test of M9 (tests/defects.md)."""
    without_engine = await create_template(sender)
    step = {
        "type": "SEND_EMAIL",
        "templateId": without_engine["id"],
        "fromEmail": "hello@example.com",
        "subject": "{{ hello",
    }
    body = {"name": "Series", "trigger": {"type": "CONTACT_CREATED"}, "active": True}
    created = await sender.client.post("/automations", {**body, "steps": [step]})
    assert created.status_code == 201, created.text
    with_engine = await create_template(sender, html="<p>x</p>", text=None, subject="y", engine="minijinja")
    refused = await sender.client.post("/automations", {**body, "steps": [{**step, "templateId": with_engine["id"]}]})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/steps/0/subject")
    contact = {"email": "ada@example.org", "attributes": {"name": "Ada"}}
    assert (await sender.client.post("/contacts", contact)).status_code == 201
    await run_due_work()
    (message,) = sink.messages
    subject, html, text = content_of(message)
    assert (subject, text) == ("{{ hello", TEXT)
    assert "{{ unclosed and {% endfor %} {# {{name}}" in html
    (log,) = (await sender.client.get("/emails/logs")).json()["data"]
    assert log["subject"] == "{{ hello"
