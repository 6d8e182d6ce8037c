"""The texts of mails to customers, which a project edits per mail and language."""

import re
from uuid import UUID

import msgspec
import pytest

from postern.identity.customers import mailer
from postern.identity.customers.mail_text_model import MAIL_NAMES
from postern.identity.customers.mail_texts import (
    built_in_content,
    check_content,
    render_built_in,
    render_edited,
    sample_of,
)
from postern.platform.projects.operations import require_project
from postern.protocols.mail.templates.rendering import RenderingBusy
from postern.web.languages import LANGUAGES, format_moment
from tests.identity.customers.conftest import GOOD, new_address

CODE = {
    "subject": "Your {{ app }} code",
    "preheader": "Valid for 10 minutes, {{ email }}.",
    "blocks": [
        {"type": "text", "text": "Hello {{ email }},\nthis is <b>for you</b>."},
        {"type": "code", "text": "Your code:"},
        {"type": "text", "text": "{% if app %}Greetings from {{ app }}.{% endif %}"},
    ],
    "footer": "Acme & Sons\n1 Main Street",
}


@pytest.fixture
def texts(project):
    return Texts(project)


class Texts:
    """The operations on the texts of a project's mails."""

    def __init__(self, project):
        self.developer = project.developer

    async def put(self, content, place="CODE/en", **headers):
        return await self.developer.put(f"/customer-mails/{place}", content, headers=headers)

    async def ok(self, content, place="CODE/en"):
        response = await self.put(content, place)
        assert response.status_code == 200, response.text
        return response.json()

    async def get(self, place="CODE/en"):
        response = await self.developer.get(f"/customer-mails/{place}")
        assert response.status_code == 200, response.text
        return response.json()


async def mailed(auth, language="en"):
    """The mail with a code for signing in, requested in a language."""
    address = new_address()
    await auth.signed_up(address)
    response = await auth.post("/sign-in/code", {"email": address}, **{"accept-language": language})
    assert response.status_code == 200, response.text
    return address, (await auth.mails(address))[-1]


FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
LYING = "Mozilla/5.0 Call +1 555 0100 <b>now</b> {{ app }} {code}"
LYING_FIREFOX = f"{LYING} (Windows NT 10.0) Firefox/140.0"


async def test_mails_with_codes_and_links_say_who_asked_for_them(auth, clock):
    await auth.settings(redirectUrls=["https://app.example/in"])
    address = new_address()
    await auth.signed_up(address)
    asked = {
        "/sign-in/code": ("10", "nobody can sign in without the code."),
        "/sign-in/link": ("15", "nobody can sign in without the link."),
        "/password/forgot": ("30", "your password stays as it is."),
    }
    for path, (minutes, end) in asked.items():
        response = await auth.post(path, {"email": address}, **{"user-agent": FIREFOX})
        assert response.is_success, response.text
        time = format_moment("en", clock())
        mail = (await auth.mails(address))[-1]
        sentence = (
            f"Asked for on {time} from Firefox on Windows, 203.0.113.7. If it was not you, ignore this mail: {end}"
        )
        assert sentence in mail["text"]
        assert re.search(f'<p class="soft"[^>]*>{re.escape(sentence)}</p>', mail["html"])
        assert f"It is valid once, for {minutes} minutes." in mail["text"]


@pytest.mark.parametrize(
    ("agent", "language", "sentence"),
    [
        (LYING, "en", "from 203.0.113.7."),
        (LYING_FIREFOX, "en", "from Firefox on Windows, 203.0.113.7."),
        ("postern-python/1.0 httpx/0.28", "de", "von 203.0.113.7."),
        (FIREFOX, "de", "von Firefox unter Windows, 203.0.113.7."),
        (FIREFOX, "ja", "Windows"),
    ],
)
async def test_the_device_in_a_mail_has_a_name_of_ours_or_none(auth, agent, language, sentence):
    address = new_address()
    await auth.signed_up(address)
    headers = {"user-agent": agent, "accept-language": language}
    await auth.post("/sign-in/code", {"email": address}, **headers)
    mail = (await auth.mails(address))[-1]
    assert sentence in mail["text"]
    assert "555" not in mail["text"] + mail["html"]
    assert "{" not in mail["text"]


async def test_the_address_of_an_app_server_is_not_that_of_who_asked(auth):
    address = new_address()
    tokens = await auth.signed_up(address)
    server, body = auth.project.client, {"email": address}
    path = f"/projects/{auth.project.id}/auth/sign-in/code"
    visitor = {"Postern-Visitor-Address": "198.51.100.4", "Postern-Visitor-Agent": FIREFOX}
    for headers, source in ((visitor, "from Firefox on Windows, 198.51.100.4."), ({}, "from Unknown device.")):
        assert (await server.post(path, body, headers=headers)).is_success
        assert source in (await auth.mails(address))[-1]["text"], headers
    # With an access token, only a browser shows that the customer has sent the request.
    for agent, source in (("python-httpx/0.28", "from Unknown device."), (FIREFOX, "from Firefox on Windows, 203.0")):
        own = auth.at(agent=agent).as_(tokens["accessToken"])
        assert (await own.post("/step-up/email-code")).is_success
        assert source in (await auth.mails(address))[-1]["text"], agent


async def test_texts_of_a_project_can_say_who_asked(auth, texts):
    await texts.ok(CODE)
    kinds = (await texts.developer.get("/customer-mails")).json()
    listed = next(kind for kind in kinds if kind["mail"] == "CODE")
    variables = [variable["name"] for variable in listed["variables"]]
    assert variables == ["app", "email", "time", "minutes", "source", "device", "ip"]
    _, mail = await mailed(auth)
    assert "Greetings from" in mail["text"], "texts that do not use the variables stay valid"
    words = "{{ minutes }} minutes, {% if device %}{{ device }}{% else %}a program{% endif %} at {{ ip }}: {{ source }}"
    await texts.ok({**CODE, "blocks": [*CODE["blocks"], {"type": "text", "text": words}]})
    _, mail = await mailed(auth)
    assert "10 minutes, Firefox on Linux at 203.0.113.7: Firefox on Linux, 203.0.113.7" in mail["text"]


async def test_a_mail_that_an_earlier_version_has_queued_is_sent(auth, world, monkeypatch):
    address = new_address()
    await auth.signed_up(address)
    sealed = mailer.SealedMail

    def earlier(*, ip, user_agent, **fields):
        return sealed(**fields)

    monkeypatch.setattr(mailer, "SealedMail", earlier)
    await auth.post("/sign-in/code", {"email": address})
    monkeypatch.undo()
    assert "from Unknown device." in (await auth.mails(address))[-1]["text"]


async def test_the_built_in_texts_of_all_mails_and_languages_can_be_edited(world, project):
    """What a project gets to edit is valid, and looks as the mail did before it was edited."""
    stored = await require_project(world.db, UUID(project.id))
    for mail in MAIL_NAMES:
        for language in LANGUAGES:
            content = built_in_content(mail, language)
            sample = sample_of(world, mail, language, "Acme", "ada@example.com")
            if language in ("en", "ja"):
                await check_content(world.rendering, stored.id, content, sample)
                assert await render_edited(world.rendering, stored, content, sample) == render_built_in(stored, sample)
            assert "{{ app }}" in f"{content.subject}{content.blocks}"


async def test_customers_get_the_edited_text_in_its_language_only(auth, texts):
    await auth.settings(appName="Acme <Tools>")
    listed = {entry["mail"]: entry for entry in (await texts.developer.get("/customer-mails")).json()}
    assert listed["CODE"]["requiredBlock"] == "code"
    assert listed["CODE"]["editedLanguages"] == []
    before = await texts.get()
    assert (before["isBuiltIn"], before["version"], before["updatedBy"]) == (True, 0, None)
    saved = await texts.ok(CODE)
    assert (saved["isBuiltIn"], saved["version"], saved["content"]) == (False, 1, CODE)
    assert await texts.get() == saved
    listed = {entry["mail"]: entry for entry in (await texts.developer.get("/customer-mails")).json()}
    assert listed["CODE"]["editedLanguages"] == ["en"]

    address, mail = await mailed(auth)
    assert mail["subject"] == "Your Acme <Tools> code"
    assert f"Hello {address},\nthis is <b>for you</b>.\n\nYour code: " in mail["text"].replace("\r\n", "\n")
    assert "Greetings from Acme <Tools>.\n\n-- \nAcme & Sons\n1 Main Street\n" in mail["text"].replace("\r\n", "\n")
    assert "this is &lt;b&gt;for you&lt;&#x2f;b&gt;" in mail["html"]
    assert f"Valid for 10 minutes, {address}." in mail["html"]
    assert "Acme &amp; Sons<br>1 Main Street" in mail["html"]
    _, german = await mailed(auth, "de")
    assert german["subject"].startswith("Ihr Anmeldecode"), "German is not edited"


async def test_versions_are_listed_restored_and_reset(auth, texts, clock):
    first = await texts.ok(CODE)
    await texts.ok(CODE)
    second = await texts.ok({**CODE, "subject": "Another subject"})
    assert second["version"] == 2, "the same text is no new version"
    stale = await texts.put(CODE, **{"if-match": '"0"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "record_changed")
    reset = (await texts.developer.delete("/customer-mails/CODE/en")).json()
    assert (reset["isBuiltIn"], reset["version"]) == (True, 3)
    _, mail = await mailed(auth)
    assert "sign-in code" in mail["subject"]

    path = "/customer-mails/CODE/en"
    versions = (await texts.developer.get(f"{path}/versions")).json()
    assert [(entry["version"], entry["content"] and entry["content"]["subject"]) for entry in versions] == [
        (3, None),
        (2, "Another subject"),
        (1, CODE["subject"]),
    ]
    assert "@" in versions[0]["createdBy"]
    restored = (await texts.developer.post(f"{path}/restore", {"version": 1})).json()
    assert (restored["version"], restored["content"]) == (4, first["content"])
    missing = await texts.developer.post(f"{path}/restore", {"version": 77})
    assert (missing.status_code, missing.json()["code"]) == (404, "mail_version_missing")
    actions = [
        entry["action"] for entry in (await texts.developer.get("/account/audit-log?limit=100")).json()["data"][:4]
    ]
    assert actions == ["customer_mail.updated", "customer_mail.reset", "customer_mail.updated", "customer_mail.updated"]


FAULTS = [
    ("no code", {"blocks": CODE["blocks"][:1]}, "/blocks", "code_missing"),
    ("two codes", {"blocks": [*CODE["blocks"], CODE["blocks"][1]]}, "/blocks", "code_missing"),
    (
        "a button",
        {"blocks": [*CODE["blocks"], {"type": "button", "text": "Go"}]},
        "/blocks/3/type",
        "block_not_allowed",
    ),
    ("no such variable", {"footer": "{{ code }}"}, "/footer", "unknown_variable"),
    ("an attribute", {"footer": "{{ app.x }}"}, "/footer", "unknown_variable"),
    ("syntax", {"subject": "{% if %}"}, "/subject", "template_invalid"),
    ("empty", {"subject": "{% if not app %}x{% endif %}"}, "/subject", "required"),
    ("NUL", {"footer": "{{ '\\u0000' }}x"}, "/footer", "control_character"),
    ("a control character in a header", {"subject": "Hello {{ '\\u0080' }}x"}, "/subject", "control_character"),
    ("as it is", {"subject": "Hello \x1b[1m"}, "/subject", "control_character"),
    ("long subject", {"subject": "{% for i in range(300) %}x{% endfor %}"}, "/subject", "too_long"),
    (
        "long text",
        {"preheader": "{% for i in range(1000) %}{{ email }}{% endfor %}"},
        "/preheader",
        "too_long",
    ),
    ("no blocks", {"blocks": []}, "/blocks", "value_invalid"),
]


async def test_a_text_with_an_error_is_not_stored(texts):
    for name, change, path, code in FAULTS:
        response = await texts.put({**CODE, **change})
        assert response.status_code == 400, f"{name}: {response.text}"
        (error,) = response.json()["errors"]
        assert error["path"] == path, name
        assert error["code"] == code or code == "value_invalid", name
        preview = await texts.developer.post("/customer-mails/CODE/en/preview", {"content": {**CODE, **change}})
        assert preview.status_code == 400
        assert preview.json()["errors"][0]["path"] == f"/content{path}"
    link = await texts.put({**CODE, "blocks": CODE["blocks"][:1]}, "RESET/en")
    assert link.json()["errors"][0]["code"] == "link_missing"
    for place in ("CODE/xx", "NOTHING/en", "code/en"):
        assert (await texts.put(CODE, place)).json()["code"] == "customer_mail_missing"
    assert (await texts.get())["version"] == 0


async def test_a_text_that_fails_later_never_stops_a_mail(auth, project, world, texts, monkeypatch):
    """Neither a text that cannot be rendered, nor busy render processes, nor a defect."""
    await texts.ok(CODE)
    async with world.db.connection() as connection:
        broken = msgspec.json.encode({**CODE, "subject": "{{ 1 // 0 }}"}).decode()
        await connection.execute(
            "update customer_mail_versions set content = %s where project_id = %s", [broken, project.id]
        )
    failures = [None, RenderingBusy(), RuntimeError("a defect")]
    for failure in failures:
        with monkeypatch.context() as patch:
            if failure is not None:

                async def fail(*_, failure=failure, **__):
                    raise failure

                patch.setattr("postern.identity.customers.mail_texts._render_texts", fail)
            _, mail = await mailed(auth)
            assert "sign-in code" in mail["subject"]
            assert mail["text"].startswith("Enter this code to sign in: ")
    events = (await project.client.get("/events?type=customer.mail_text_failed")).json()["data"]
    assert [(entry["data"]["kind"], entry["data"]["language"]) for entry in events] == [("CODE", "en")] * 3
    assert sorted(entry["data"]["code"] for entry in events) == ["internal", "render_failed", "rendering_busy"]


async def test_previews_and_tests_use_sample_values(auth, texts, run_due_work):
    content = {
        **CODE,
        "blocks": [{"type": "button", "text": "Join {{ organization }}"}],
        "subject": "{{ organization }}",
    }
    preview = (await texts.developer.post("/customer-mails/INVITATION/de/preview", {"content": content})).json()
    assert preview["subject"] == "Analytical Engines"
    assert "Join Analytical Engines" in preview["html"]
    assert "token=sample" in preview["text"]
    content["subject"] = "{{ inviter }}: {{ role }}"
    preview = (await texts.developer.post("/customer-mails/INVITATION/de/preview", {"content": content})).json()
    assert preview["subject"] == "Charles Babbage: Member"
    built_in = (await texts.developer.post("/customer-mails/NEW_DEVICE/de/preview", {})).json()
    assert "203.0.113.7" in built_in["text"]
    assert (await texts.get("INVITATION/de"))["version"] == 0

    address = new_address()
    sent = await texts.developer.post("/customer-mails/CODE/en/test", {"to": address, "content": CODE})
    assert sent.status_code == 202, sent.text
    (mail,) = await auth.mails(address)
    assert mail["subject"].startswith("[Test] Your ")
    assert "428913" in mail["text"]
    wrong = await texts.developer.post("/customer-mails/CODE/en/test", {"to": "nobody"})
    assert wrong.status_code == 400
    assert (await auth.sign_in(address, GOOD)).status_code == 401, "a test creates no account"


async def test_only_developers_change_texts(project, new_project):
    assert (await project.client.put("/customer-mails/CODE/en", CODE)).status_code == 403
    assert (await project.client.get("/customer-mails")).status_code == 200
    other = await new_project()
    path = f"/projects/{project.id}/customer-mails/CODE/en"
    assert (await other.developer.put(path, CODE)).status_code in (403, 404)
