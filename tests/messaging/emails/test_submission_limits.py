"""Limits are checked at submission: messages that cannot be sent are refused, others are accepted."""

MAIL = {"from": "Acme <a@acme.example>", "to": ["b@example.org"], "subject": "Hello", "trackClicks": True}
IMAGE = '<p>{{name}}<img src="data:image/png;base64,' + "iVBORw0K" * 600_000 + '"></p>'


async def test_html_with_inlined_images_of_megabytes_is_accepted_and_sent(project):
    """Regression test of M8 (tests/defects.md)."""
    key = await project.key(type="SECRET", environment="TEST")
    for html in (IMAGE, IMAGE.replace("{{name}}", "")):
        sent = await key.post("/emails", {**MAIL, "html": html, "variables": {"name": "Ada"}})
        assert (sent.status_code, sent.json()["status"]) == (201, "DELIVERED"), sent.text[:500]
    template = await key.post("/templates", {"name": "Image", "html": IMAGE[:3_000_000] + '">'})
    assert template.status_code == 201, template.text[:500]


async def test_more_links_than_can_be_rewritten_are_refused(project):
    """Regression test of M8 (tests/defects.md)."""
    key = await project.key(type="SECRET", environment="TEST")
    for html in (
        '<a href="https://acme.example/">x</a>' * 1_001,
        "{{ n }}" + '<A HREF="https://acme.example/">x</A>' * 1_001,
    ):
        refused = await key.post("/emails", {**MAIL, "html": html})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
        assert refused.json()["errors"][0]["code"] == "too_many_links"


async def test_content_that_is_too_large_after_encoding_is_refused(project):
    """Regression test of M8 (tests/defects.md)."""
    key = await project.key(type="SECRET", environment="TEST")
    refused = await key.post("/emails", {**MAIL, "text": "é" * 11_000_000})
    assert (refused.status_code, refused.json()["code"]) == (413, "message_too_large")
    assert refused.json()["errors"][0]["path"] == "/text"


async def test_a_message_that_fails_to_render_is_refused(project):
    """Regression test of M9 (tests/defects.md)."""
    key = await project.key(type="SECRET", environment="TEST")
    refused = await key.post("/emails", {**MAIL, "html": "{{ 1 / n }}", "variables": {"n": 0}})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    accepted = await key.post(
        "/emails", {**MAIL, "subject": "{{first-name}}", "html": "<style>{#a{b:c}}</style>{{x-y}}"}
    )
    assert (accepted.status_code, accepted.json()["status"]) == (201, "DELIVERED")
