"""Texts of hosted pages that a project replaces, one by one, in a language."""

import html
from urllib.parse import urlencode

import pytest

from postern.web.languages import LANGUAGES, placeholders_of
from postern.web.page_catalogue import message_id, page_messages
from tests.conftest import Client
from tests.identity.customers.test_pages import FLOW, browser
from tests.identity.oauth.conftest import provider
from tests.identity.self_service.conftest import acme, directory, entered, section_of

__all__ = ["acme", "browser", "directory", "provider"]

SIGN_IN = message_id("Sign in")
FORM = {"content-type": "application/x-www-form-urlencoded"}


def path_of(english, language="en"):
    return f"/page-texts/{language}/{message_id(english)}"


async def replace(project, english, text, language="en"):
    response = await project.developer.put(path_of(english, language), {"text": text})
    assert response.status_code == 200, response.text
    return response.json()


async def listed(project, language="en", **query):
    response = await project.client.get(f"/page-texts/{language}?{urlencode(query)}")
    assert response.status_code == 200, response.text
    return response.json()


async def test_pages_say_what_the_project_says(auth, browser, new_project):
    project = auth.project
    replaced = await replace(project, "Sign in", "Log <in> & go")
    assert replaced == {
        "id": SIGN_IN,
        "pages": ["ACCOUNT", "ALL", "PASSWORD", "SIGN_IN", "SIGN_UP"],
        "english": "Sign in",
        "builtIn": "Sign in",
        "text": "Log <in> & go",
        "placeholders": [],
    }
    page = await browser.open("sign-in", **FLOW)
    assert "<h1>Log &lt;in&gt; &amp; go</h1>" in page.text
    assert "Log &lt;in&gt; &amp; go</a>" in (await browser.open("sign-up", **FLOW)).text, "wherever the text stands"
    assert "<h1>Anmelden</h1>" in (await browser.open("sign-in", **FLOW, lang="de")).text
    await auth.settings(pageTexts={"en": {"signInTitle": "Welcome"}})
    assert "<h1>Welcome</h1>" in (await browser.open("sign-in", **FLOW)).text, "a text of one place comes first"
    other = await new_project()
    assert (await listed(other, changed="true")) == []
    assert [text["text"] for text in await listed(other, q="Sign in") if text["id"] == SIGN_IN] == [None]


async def test_problems_and_numbers_have_the_texts_of_the_project(auth, browser):
    await replace(auth.project, "Wrong email or password.", "Das passt nicht zusammen.", "de")
    page = await browser.open("sign-in", **FLOW, lang="de")
    second = await browser.submit(page, email="ada@example.com")
    wrong = await browser.submit(second, "?".join([second.actions[0].partition("?")[0], "lang=de"]), password="x" * 12)
    assert "Das passt nicht zusammen." in wrong.text
    problem = await auth.client.get(f"{browser.base}/nonsense", headers={"accept": "text/html"})
    assert "This page does not exist. Check the link." in html.unescape(problem.text)
    await replace(auth.project, "This page does not exist. Check the link.", "Nothing here.")
    problem = await auth.client.get(f"{browser.base}/nonsense", headers={"accept": "text/html"})
    assert "Nothing here." in problem.text


async def test_the_pages_of_an_organization_and_their_lists(auth, acme):
    organization, browsers = acme
    for english, text in (
        ("{count} person", "{count} colleague"),
        ("{count} people", "{count} colleagues"),
        ("Allowed: {methods}", "You may use {methods}"),
        ("Password", "Secret word"),
    ):
        await replace(auth.project, english, text)
    path = f"/b2b/organizations/{organization['id']}"
    assert (await auth.project.client.patch(path, {"allowedMethods": ["PASSWORD", "PASSKEY"]})).status_code == 200
    page = await entered(browsers["OWNER"], organization)
    assert "3 colleagues" in page.text
    assert "You may use Secret word, Passkey" in section_of(page, "sign-in"), "a text within a text"


async def test_an_invitation_and_a_consent_have_them(auth, provider, directory):
    await replace(provider.project, "Allow", "Yes, share it")
    await replace(provider.project, "It will be able to:", "It sees:")
    consent = await provider.browser().signed_in()
    assert "Yes, share it</button>" in consent.text
    assert "It sees:" in consent.text
    await replace(
        auth.project,
        "This link is no longer valid. Use the latest invitation that you received, or ask for a new one.",
        "Ask for a new invitation.",
    )
    page = await auth.client.get(
        f"/projects/{auth.project.id}/auth/pages/invitation?token=x", headers={"accept": "text/html"}
    )
    assert "Ask for a new invitation." in page.text


async def test_values_are_those_of_the_built_in_text(auth, project):
    english = "{client} is not part of {app}. It asks for access to your account:"
    for text in ("{client} und {app}", "Ohne Werte", "100 % {app} %(x)s {{ 7 * 7 }} {% raw %}"):
        assert (await replace(project, english, text, "de"))["text"] == text
    for text, code in (
        ("{user} asks", "unknown_placeholder"),
        ("{__class__} of {client}", "unknown_placeholder"),
        ("", "invalid"),
        (" ", "invalid"),
        ("two\nlines", "invalid"),
        ("x" * 1_001, "invalid"),
        (7, "invalid"),
    ):
        refused = await project.developer.put(path_of(english, "de"), {"text": text})
        assert refused.status_code == 400
        assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [("/text", code)], text
    assert (
        "Possible values: `{client}`, `{app}`." in (await project.developer.put(path_of(english), {"text": "{x}"})).text
    )
    no_values = await project.developer.put(path_of("Sign in"), {"text": "{app}"})
    assert "Possible values: none." in no_values.text


async def test_the_list_is_searched_and_texts_are_reset(project):
    everything = await listed(project, "de")
    assert len(everything) == len({text["id"] for text in everything}) > 500
    (own,) = [text for text in everything if text["english"] == "Sign in"]
    assert (own["builtIn"], own["text"]) == ("Anmelden", None)
    await replace(project, "Sign in", "Einloggen", "de")
    assert [text["text"] for text in await listed(project, "de", changed="true")] == ["Einloggen"]
    assert await listed(project, "fr", changed="true") == []
    assert SIGN_IN in [text["id"] for text in await listed(project, "de", q="EINLOGGEN")]
    assert SIGN_IN in [text["id"] for text in await listed(project, "de", q="in SIGN anmelden")], "all words, anywhere"
    assert await listed(project, "de", q="no such words") == []
    for _ in range(2):
        assert (await project.developer.delete(path_of("Sign in", "de"))).status_code == 204
    assert await listed(project, "de", changed="true") == []
    log = (await project.developer.get(f"/account/audit-log?projectId={project.id}")).json()["data"]
    entries = [entry for entry in log if entry["targetType"] == "PageText"]
    assert [(entry["action"], entry["targetId"]) for entry in reversed(entries)] == [
        ("page_text.updated", f"de/{SIGN_IN}"),
        ("page_text.reset", f"de/{SIGN_IN}"),
    ]
    assert entries[-1]["metadata"] == {"english": "Sign in", "text": "Einloggen"}


async def test_a_text_that_an_update_has_removed_is_listed_and_can_be_deleted(project, world):
    await replace(project, "Sign in", "Log in")
    async with world.db.connection() as connection:
        await connection.execute(
            "update page_texts set id = 'ffffffffffff', english = 'Enter' where project_id = %s", [project.id]
        )
    assert await listed(project, changed="true") == [
        {"id": "ffffffffffff", "pages": [], "english": "Enter", "builtIn": "", "text": "Log in", "placeholders": []}
    ]
    assert (await project.developer.put("/page-texts/en/ffffffffffff", {"text": "x"})).status_code == 404
    assert (await project.developer.delete("/page-texts/en/ffffffffffff")).status_code == 204
    assert (await project.developer.delete("/page-texts/en/ffffffffffff")).status_code == 404


async def test_unknown_texts_languages_and_foreign_keys(project, new_project):
    for path in ("/page-texts/xx", "/page-texts/EN", "/page-texts/pt-BR"):
        assert (await project.client.get(path)).json()["code"] == "page_text_missing"
    for path in ("/page-texts/en/nonsense", f"/page-texts/xx/{SIGN_IN}", "/page-texts/en/" + "f" * 12):
        assert (await project.developer.put(path, {"text": "x"})).json()["code"] == "page_text_missing"
        assert (await project.developer.delete(path)).json()["code"] == "page_text_missing"
    reader = await project.key("projects:read")
    assert (await reader.get("/page-texts/en")).status_code == 200
    assert (await reader.put(path_of("Sign in"), {"text": "x"})).status_code == 403
    assert (await reader.delete(path_of("Sign in"))).status_code == 403
    other = await new_project()
    foreign = await Client(other.developer.app, other.developer.token, f"/projects/{project.id}").put(
        path_of("Sign in"), {"text": "x"}
    )
    assert foreign.status_code == 404
    assert await listed(project, changed="true") == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_text_can_be_its_own_replacement(project, language):
    """What is listed is accepted, so that a text can be copied and changed."""
    assert len({message_id(message.english) for message in page_messages()}) == len(page_messages())
    for text in (await listed(project, language))[::25]:
        assert text["builtIn"]
        assert set(placeholders_of(text["builtIn"])) <= set(text["placeholders"])
        path = f"/page-texts/{language}/{text['id']}"
        assert (await project.developer.put(path, {"text": text["builtIn"]})).status_code == 200, text
