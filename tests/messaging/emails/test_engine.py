"""Mail with the engine `none` arrives unchanged, whether single, in batches, by campaigns or automations."""

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
PLAIN = {"subject": SUBJECT, "html": HTML, "text": TEXT, "engine": "none"}
MAIL = {"to": ["ada@example.org"], "from": "Acme <hello@example.com>", "trackOpens": False, "trackClicks": False}


def parsed(message):
    return email.message_from_bytes(message.raw, policy=email.policy.default)


def words(message):
    """Subject, html and text as a mail client shows them."""
    read = parsed(message)
    bodies = [read.get_body((kind,)) for kind in ("html", "plain")]
    return (read["Subject"], *(body and body.get_content().replace("\r\n", "\n") for body in bodies))


WRITTEN = (SUBJECT, HTML.replace("\r\n", "\n"), TEXT)


async def template(project, **fields):
    made = await project.client.post("/templates", {"name": "Plain", **PLAIN, **fields})
    assert made.status_code == 201, made.text
    return made.json()


async def campaign(project, clock, **fields):
    """A campaign to three contacts that is ready to be sent."""
    (domain,) = (await project.client.get("/domains")).json()
    audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
    for name in ("ada", "bob", "cyd"):
        contact = {"email": f"{name}@example.org", "attributes": {"name": name}}
        made = (await project.client.post("/contacts", contact)).json()["id"]
        assert (await project.client.post(f"/audiences/{audience}/contacts", {"contactId": made})).status_code < 300
    fields = {"fromEmail": "hello@example.com", "domainId": domain["id"], "audienceId": audience, **fields}
    made = await project.client.post("/campaigns", {"name": "News", **fields})
    assert made.status_code == 201, made.text
    return made.json()["id"]


async def test_a_message_without_an_engine_arrives_unchanged(sender, sink):
    """Defects: M9"""
    refused = await sender.client.post("/emails", {**MAIL, **PLAIN, "engine": "minijinja"})
    assert refused.status_code == 400
    sent = await sender.client.post("/emails", {**MAIL, **PLAIN, "variables": {"name": "Ada"}})
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    (message,) = sink.messages
    assert words(message) == WRITTEN
    log = await entry(sender, sent.json()["id"])
    assert (log["engine"], log["subject"]) == ("none", SUBJECT)
    shown = (await sender.client.get(f"/emails/logs/{sent.json()['id']}/message")).content
    assert shown == message.raw


async def test_tracking_and_unsubscribing_work_without_an_engine(sender, sink, stranger):
    """Defects: M9"""
    target = "https://acme.example/?q={{name}}&x=1"
    html = f'<p>{{{{name}}}} <a href="{target}">{{% here %}}</a></p>'
    mail = {**MAIL, **PLAIN, "html": html, "text": None, "trackOpens": True, "trackClicks": True}
    sent = await sender.client.post("/emails", {**mail, "unsubscribable": True})
    assert sent.json()["status"] == "SENT", sent.text
    (message,) = sink.messages
    _, shown, text = words(message)
    assert "<p>{{name}} <a href=" in shown
    assert "/t/o/" in shown
    link = shown.partition('href="')[2].partition('"')[0].replace("&amp;", "&")
    followed = await stranger.http.get(link)
    assert (followed.status_code, followed.headers["location"]) == (302, target)
    assert text == f"{{{{name}}}} {{% here %}} ({target})\n"
    leave = parsed(message)["List-Unsubscribe"].strip("<>")
    assert (await stranger.http.post(leave, data={"List-Unsubscribe": "One-Click"})).status_code == 200
    (suppressed,) = (await sender.client.get("/suppressions")).json()["data"]
    assert suppressed["reason"] == "UNSUBSCRIBE"


LEAVE = """<p>News &amp; {{ name }}</p><A DATA-POSTERN-UNSUBSCRIBE href=%s>No {{ more }}</A> <a href="#top">up</a>"""


@pytest.mark.parametrize("engine", ["none", "minijinja"])
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("href", ["'https://acme.example/prefs?{{ a }}'", "#", '""'])
async def test_a_marked_link_unsubscribes_the_recipient(sender, sink, stranger, engine, tracked, href):
    """Defects: M9"""
    mail = {**MAIL, "subject": "x", "html": LEAVE % href, "engine": engine, "unsubscribable": True}
    tracking = {"trackOpens": tracked, "trackClicks": tracked}
    sent = await sender.client.post("/emails", {**mail, **tracking, "to": [f"{uuid4().hex}@example.org"]})
    assert sent.json()["status"] == "SENT", sent.text
    _, html, text = words(sink.messages[-1])
    leave = parsed(sink.messages[-1])["List-Unsubscribe"].strip("<>")
    assert f'href="{leave}"' in html
    assert f"({leave})" in text
    assert ('<a href="#top">' in html, "acme.example" in html) == (True, False)
    assert ("{{ name }}" in html) is ("{{ name }}" in text) is (engine == "none")
    assert (await stranger.http.get(leave)).status_code == 200
    # In mail that nobody can unsubscribe from, the link stays as it was written.
    sent = await sender.client.post("/emails", {**mail, "unsubscribable": False})
    assert sent.json()["status"] == "SENT", sent.text
    _, html, text = words(sink.messages[-1])
    assert "/t/u/" not in html + text
    assert ".invalid" not in html + text
    if engine == "none":
        assert html == mail["html"]


async def test_a_campaign_without_an_engine_has_an_unsubscribe_link(sender, sink, clock, work_off):
    """Defects: M9"""
    made = await template(sender, html=LEAVE % "#", text=None)
    preview = (await sender.client.post(f"/templates/{made['id']}/preview", {})).json()
    assert "/t/u/preview" in preview["html"]
    assert "/t/u/preview" in preview["text"]
    campaign_id = await campaign(sender, clock, templateId=made["id"], subject="News")
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await work_off()
    links = set()
    for message in sink.messages:
        leave = parsed(message)["List-Unsubscribe"].strip("<>")
        assert f'href="{leave}"' in words(message)[1]
        assert f"({leave})" in words(message)[2]
        links.add(leave)
    assert len(links) == 3


async def test_retries_and_scheduled_messages_keep_the_engine(sender, sink, clock, work_off):
    """Defects: M9"""
    sink.behaviour.replies["DATA"] = b"451 4.3.0 later\r\n"
    key = {"Idempotency-Key": uuid4().hex}
    sent = await sender.client.post("/emails", {**MAIL, **PLAIN}, headers=key)
    again = await sender.client.post("/emails", {**MAIL, **PLAIN}, headers=key)
    assert (again.status_code, again.json()) == (201, sent.json())
    other = await sender.client.post("/emails", {**MAIL, **PLAIN, "subject": "x", "engine": None}, headers=key)
    assert other.status_code == 422
    sink.behaviour.replies.clear()
    assert (await sender.client.post(f"/emails/{sent.json()['id']}/retry")).status_code == 200
    at = (clock() + timedelta(hours=1)).isoformat()
    assert (await sender.client.post("/emails", {**MAIL, **PLAIN, "scheduledAt": at})).status_code == 201
    clock.move(timedelta(hours=2))
    await work_off()
    assert [words(message) for message in sink.messages] == [WRITTEN, WRITTEN]


async def test_a_batch_can_have_messages_with_and_without_an_engine(sender, sink, work_off):
    """Defects: M9"""
    filled = {**MAIL, "subject": "Hi {{name}}", "text": "Dear {{name}}\n", "variables": {"name": "Ada"}}
    wrong = {**MAIL, **PLAIN, "engine": "handlebars"}
    made = await sender.client.post("/emails/batch", {"emails": [{**MAIL, **PLAIN}, filled, wrong]})
    assert [each["status"] for each in made.json()["data"]] == ["QUEUED", "QUEUED", "FAILED"]
    assert made.json()["data"][2]["error"].startswith("/engine")
    await work_off()
    assert sorted(words(each) for each in sink.messages) == sorted([WRITTEN, ("Hi Ada", None, "Dear Ada\n")], key=str)


@pytest.mark.parametrize("path", ["/emails", "/templates"])
async def test_an_unknown_engine_is_refused_with_the_path(project, path):
    """Defects: M9"""
    body = {**MAIL, **PLAIN} if path == "/emails" else {"name": "x", **PLAIN}
    refused = await project.client.post(path, {**body, "engine": "liquid"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/engine")
    assert "'none'" in refused.json()["errors"][0]["message"] or "none" in refused.json()["detail"]


async def test_a_template_without_an_engine_is_stored_previewed_copied_and_sent(sender, sink):
    """Defects: M9"""
    made = await template(sender)
    assert (made["engine"], made["variables"]) == ("none", [])
    path = f"/templates/{made['id']}"
    preview = (await sender.client.post(f"{path}/preview", {"variables": {"name": "Ada"}})).json()
    assert preview == {"subject": SUBJECT, "html": HTML, "text": TEXT}
    copy = (await sender.client.post(f"{path}/duplicate")).json()
    assert (copy["engine"], copy["html"]) == ("none", HTML)
    # Words that the engine cannot read do not come to it.
    refused = await sender.client.patch(path, {"engine": "minijinja"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    readable = await sender.client.patch(path, {"engine": "minijinja", "html": "{{a}}", "text": None, "subject": "b"})
    assert (readable.json()["engine"], readable.json()["variables"], readable.json()["version"]) == (
        "minijinja",
        ["a"],
        2,
    )
    versions = (await sender.client.get(f"{path}/versions")).json()
    assert [each["engine"] for each in versions] == ["minijinja", "none"]
    sent = await sender.client.post("/emails", {**MAIL, "templateId": copy["id"]})
    assert sent.json()["status"] == "SENT", sent.text
    # The message's own engine wins, and so do its own words.
    filled = {"templateId": copy["id"], "html": "<p>{{name}}</p>", "subject": "s", "variables": {"name": "Ada"}}
    assert (await sender.client.post("/emails", {**MAIL, **filled})).json()["status"] == "SENT"
    assert (await sender.client.post("/emails", {**MAIL, "templateId": path[11:], "engine": "none"})).status_code == 201
    assert [words(each)[1] for each in sink.messages] == [WRITTEN[1], "<p>Ada</p>", "{{a}}"]


async def test_the_output_of_the_builder_keeps_its_braces_without_an_engine(project):
    """Defects: M9"""
    blocks = {
        "blocks": [
            {"type": "heading", "text": "{{ unclosed"},
            {"type": "text", "html": "<b>{% if %}</b>{#a#}"},
            {"type": "button", "text": "Go {{{x}}}", "url": "https://acme.example/?q={{a}}"},
        ]
    }
    made = await template(project, html=None, text=None, subject=None, builderJson=blocks)
    for written in ("{{ unclosed", "<b>{% if %}</b>{#a#}", "Go {{{x}}}", 'href="https://acme.example/?q={{a}}"'):
        assert written in made["html"]
    assert made["builderJson"] == blocks
    assert (made["variables"], made["engine"]) == ([], "none")
    mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>{{ x {#</mj-text></mj-column></mj-section></mj-body></mjml>"
    assert "{{ x {#" in (await template(project, html=None, builderJson={"mjml": mjml}))["html"]
    refused = await project.client.post("/templates", {"name": "x", "builderJson": blocks})
    assert (refused.status_code, refused.json()["errors"][0]["path"][:12]) == (400, "/builderJson")


async def test_a_campaign_uses_the_engine_of_its_template(sender, sink, clock, work_off):
    """Defects: M9"""
    made = await template(sender)
    own = {"subject": "{{ news", "previewText": "{% now & <then>", "fromName": "{{ Acme"}
    # The own words are read by the template's engine, so that these are refused without such a template.
    refused = await sender.client.post("/campaigns", {"name": "x", **own})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/subject")
    campaign_id = await campaign(sender, clock, templateId=made["id"], **own)
    assert (await sender.client.post(f"/campaigns/{campaign_id}/test", {"to": "test@example.org"})).status_code == 200
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await work_off()
    line = "{% now &amp; &lt;then&gt;</div>"
    assert len(sink.messages) == 4
    for message in sink.messages:
        subject, html, text = words(message)
        assert subject in ("{{ news", "[Test] {{ news")
        assert line in html
        assert "{{ unclosed and {% endfor %} {# {{name}}" in html
        assert text == TEXT
        assert parsed(message)["From"].addresses[0].display_name == "{{ Acme"
        assert parsed(message)["List-Unsubscribe"].startswith("<http")
        assert parsed(message)["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


async def test_each_variant_uses_the_engine_of_its_own_template(sender, sink, clock, work_off):
    """Defects: M9"""
    plain = await template(sender, subject="plain {{ name }}")
    filled = await template(
        sender, subject="filled {{ name }}", html="<p>{{ name }}</p>", text=None, engine="minijinja"
    )
    variants = [
        {"name": "A", "weight": 50, "templateId": plain["id"], "subject": "A {{ name"},
        {"name": "B", "weight": 50, "templateId": filled["id"], "subject": "B {{ name }}"},
    ]
    test = {"abTestSamplePercent": 100, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 15}
    campaign_id = await campaign(sender, clock, abTestEnabled=True, variants=variants, **test)
    assert (await sender.client.post(f"/campaigns/{campaign_id}/send")).status_code == 200
    await work_off()
    subjects = {words(message)[0] for message in sink.messages}
    assert "A {{ name" in subjects
    assert subjects - {"A {{ name"} <= {"B ada", "B bob", "B cyd"}
    assert len(subjects) >= 2
    variants[0]["templateId"], variants[1]["subject"] = filled["id"], None
    refused = await sender.client.post("/campaigns", {"name": "x", "variants": variants})
    assert refused.json()["errors"][0]["path"] == "/variants/0/subject"


async def test_a_campaign_does_not_start_if_the_new_engine_cannot_render_it(sender, sink, clock, work_off):
    """Defects: M9"""
    made = await template(sender, html="<p>fine</p>", text=None)
    at = (clock() + timedelta(hours=1)).isoformat()
    now = await campaign(sender, clock, templateId=made["id"], subject="{{ news")
    later = (await sender.client.post(f"/campaigns/{now}/duplicate")).json()["id"]
    assert (await sender.client.patch(f"/campaigns/{later}", {"scheduledAt": at})).status_code == 200
    assert (await sender.client.post(f"/campaigns/{later}/send")).status_code == 200
    change = {"engine": "minijinja", "subject": "x"}
    assert (await sender.client.patch(f"/templates/{made['id']}", change)).status_code == 200
    refused = await sender.client.post(f"/campaigns/{now}/send")
    assert (refused.status_code, refused.json()["code"]) == (409, "campaign_incomplete")
    assert refused.json()["errors"][0]["path"] == "/subject"
    clock.move(timedelta(hours=2))
    await work_off()
    assert (await sender.client.get(f"/campaigns/{later}")).json()["status"] == "FAILED"
    assert sink.messages == []


async def test_an_automation_uses_the_engine_of_its_template(sender, sink, work_off):
    """Defects: M9"""
    plain = await template(sender)
    step = {"type": "SEND_EMAIL", "templateId": plain["id"], "fromEmail": "hello@example.com", "subject": "{{ hello"}
    body = {"name": "Series", "trigger": {"type": "CONTACT_CREATED"}, "active": True}
    made = await sender.client.post("/automations", {**body, "steps": [step]})
    assert made.status_code == 201, made.text
    filled = await template(sender, html="<p>x</p>", text=None, subject="y", engine="minijinja")
    refused = await sender.client.post("/automations", {**body, "steps": [{**step, "templateId": filled["id"]}]})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/steps/0/subject")
    contact = {"email": "ada@example.org", "attributes": {"name": "Ada"}}
    assert (await sender.client.post("/contacts", contact)).status_code == 201
    await work_off()
    (message,) = sink.messages
    subject, html, text = words(message)
    assert (subject, text) == ("{{ hello", TEXT)
    assert "{{ unclosed and {% endfor %} {# {{name}}" in html
    (log,) = (await sender.client.get("/emails/logs")).json()["data"]
    assert log["subject"] == "{{ hello"
