"""The language that a customer has stored: who sets it, who changes it, and which mails and pages are in it."""

import html
import re

import pytest

from postern.web.language_tags import read_language_tag
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_pages import FLOW, browser
from tests.identity.customers.test_providers import provider, provider_browser, settings
from tests.identity.self_service.conftest import Visitor, done_of, problem_of

__all__ = ["browser", "provider", "provider_browser", "settings"]


async def customer_of(auth, address):
    (customer,) = (await auth.project.client.get(f"/customers?q={address}")).json()["data"]
    return customer


async def created(auth, **fields):
    response = await auth.project.client.post("/customers", {"email": new_address(), **fields})
    assert response.status_code == 201, response.text
    return response.json()


async def test_a_sign_up_on_a_german_page_stores_german(auth, browser):
    address = new_address()
    page = await browser.open("sign-up", **FLOW, lang="de")
    page = await browser.submit(page, email=address, password=GOOD, name="Ada")
    await browser.submit(page, code=await auth.code(address))
    assert (await customer_of(auth, address))["language"] == "de"
    # What is stored is not replaced by what later pages are read in.
    signed_in = await auth.post("/sign-in", {"email": address, "password": GOOD}, **{"accept-language": "ja"})
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["customer"]["language"] == "de"


async def test_the_sign_up_of_an_app_stores_what_it_sends_or_the_language_of_the_browser(auth):
    for body, headers, expected in (
        ({"language": "zh-Hant"}, {"accept-language": "fr"}, "zh-Hant"),
        ({}, {"accept-language": "fr-CH, de;q=0.5"}, "fr"),
        ({}, {"accept-language": "zh"}, None),
    ):
        address = new_address()
        challenge = (await auth.post("/sign-up", {"email": address, "password": GOOD, **body}, **headers)).json()
        verification = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
        signed_up = await auth.post("/sign-up/verify", verification, **headers)
        assert signed_up.json()["customer"]["language"] == expected, headers
    refused = await auth.post("/sign-up", {"email": new_address(), "password": GOOD, "language": "Deutsch!"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/language")


async def test_the_first_sign_in_at_a_provider_stores_the_language_of_the_page(auth, provider_browser, project):
    address = new_address()
    started = await provider_browser.start(lang="pt")
    provider_browser.provider.claims = {"sub": "42", "email": address, "email_verified": True}
    await provider_browser.come_back(started)
    assert (await customer_of(auth, address))["language"] == "pt"


async def test_a_customer_without_a_language_gets_that_of_the_first_sign_in(auth, project):
    customer = await created(auth, password=GOOD)
    assert customer["language"] is None
    for accepted, expected in (("zh", None), ("es-MX", "es"), ("fr", "es")):
        body = {"email": customer["email"], "password": GOOD}
        signed_in = await auth.post("/sign-in", body, **{"accept-language": accepted})
        assert signed_in.json()["customer"]["language"] == expected, accepted
    events = (await project.client.get(f"/customers/{customer['id']}/events")).json()["data"]
    assert [event["metadata"] for event in events if event["type"] == "customer.updated"] == [{"changed": ["language"]}]


async def test_a_developer_sets_and_clears_it_and_another_project_does_not(auth, project, new_project):
    customer = await created(auth, language="pt-BR")
    path = f"/customers/{customer['id']}"
    assert customer["language"] == "pt-BR"
    changed = await project.client.patch(path, {"language": "de-AT"})
    assert (changed.status_code, changed.json()["language"]) == (200, "de-AT")
    assert (await project.client.patch(path, {"name": "Ada"})).json()["language"] == "de-AT", "left out, so it stays"
    for wrong in ("", "d", "de_AT", "de-", "-de", "x" * 36, "de\n", "de, en", "<b>", 5):
        refused = await project.client.patch(path, {"language": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/language"), wrong
        refused = await project.client.post("/customers", {"email": new_address(), "language": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/language"), wrong
    exported = (await project.client.get(f"/customers/export?q={customer['email']}")).text.splitlines()
    assert (exported[0].split(",")[-1], exported[1].split(",")[-1]) == ("language", "de-AT")
    other = await new_project()
    assert (await other.client.patch(path, {"language": "fr"})).status_code == 404
    cleared = await project.client.patch(path, {"language": None})
    assert cleared.json()["language"] is None
    log = (await project.client.get(f"{path}/audit-log")).json()["data"]
    assert log[0]["metadata"] == {"changed": ["language"]}
    report = await project.client.post("/customers/import", {"customers": [{"email": new_address(), "language": "ja"}]})
    assert (report.status_code, report.json()["created"]) == (200, 1)


async def test_a_customer_changes_and_clears_the_own_one(auth):
    signed_up = await auth.signed_up()
    ada = auth.as_(signed_up["accessToken"])
    assert (await ada.client.patch("/me", {"language": "ja"})).json()["language"] == "ja"
    assert (await ada.client.patch("/me", {"name": "Ada"})).json()["language"] == "ja"
    cleared = (await ada.client.patch("/me", {"language": None})).json()
    assert (cleared["language"], cleared["name"]) == (None, "Ada")
    refused = await ada.client.patch("/me", {"language": "not a language"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/language")


async def test_mails_that_others_cause_are_in_the_stored_language(auth, project):
    """The project's default is English, and so is the browser of who causes them."""
    signed_up = await auth.signed_up()
    address, path = signed_up["customer"]["email"], f"/customers/{signed_up['customer']['id']}"
    english = {"accept-language": "en"}

    async def subject():
        return (await auth.mails(address))[-1]["subject"]

    assert (await project.client.patch(path, {"language": "de-AT"})).status_code == 200
    body = {"reason": "Ticket 1"}
    assert (await project.developer.post(f"{path}/impersonate", body, headers=english)).status_code == 200
    german = await subject()
    assert "auf Ihr Konto zugegriffen" in german
    key = await project.key("customers:impersonate")
    server = await key.post(f"{path}/impersonate", body, headers=english)
    assert await subject() == german, "a server does not speak for the customer either"
    staff = auth.as_(server.json()["accessToken"])
    assert (await staff.client.patch("/me", {"name": "Ada"}, headers=english)).status_code == 200
    # A new device: whoever has signed in may not be the customer.
    signed_in = await auth.at(agent="curl/8").post("/sign-in", {"email": address, "password": GOOD}, **english)
    assert "Neue Anmeldung" in await subject()
    # The customer reads English now, and so is what the customer does.
    ada = auth.as_(signed_in.json()["accessToken"])
    change = {"currentPassword": GOOD, "newPassword": "an entirely different one"}
    assert (await ada.post("/password/change", change, **english)).status_code == 204
    assert "password was changed" in await subject()
    # Codes are in the language of the page that waits for them; without one, in the stored language.
    await auth.post("/sign-in/code", {"email": address}, **{"accept-language": "fr"})
    assert "Votre code" in await subject()
    await auth.post("/sign-in/code", {"email": address})
    assert "Ihr " in await subject()
    # A language that mails do not have is stored, and the project's default counts.
    assert (await project.client.patch(path, {"language": "zh-Hant"})).json()["language"] == "zh-Hant"
    await project.developer.post(f"{path}/impersonate", body)
    assert "acted in your account" in await subject()
    assert (await project.client.patch(path, {"language": None})).status_code == 200
    stranger = auth.at(agent="Another/1.0")
    assert (
        await stranger.post(
            "/sign-in", {"email": address, "password": change["newPassword"]}, **{"accept-language": "ja"}
        )
    ).is_success
    assert (await project.client.get(path)).json()["language"] is None, "a stranger does not decide it"


async def test_the_account_page_is_in_the_stored_language_and_changes_it_without_scripts(auth):
    signed_up = await auth.signed_up()
    address = signed_up["customer"]["email"]
    visitor = Visitor(auth)
    page = await visitor.sign_in(address)
    assert ("Your account" in page.text, "Not set" in page.text) == (True, True)
    page = await visitor.open("account/language", lang="fr")
    assert "Modifier votre langue" in page.text
    assert re.findall(r'<option value="(\w+)" selected', page.text) == ["fr"]
    wrong = await visitor.submit(page, "account/language", language="tlh")
    assert (wrong.response.status_code, bool(problem_of(wrong))) == (400, True)
    changed = await visitor.submit(page, "account/language", language="de")
    assert done_of(changed) == "Ihre Sprache wurde geändert."
    assert '<html lang="de">' in changed.text, "although the URL asked for French before"
    assert (await customer_of(auth, address))["language"] == "de"
    # The browser is English; the customer is not.
    again = await visitor.send("GET", "/account", headers={"accept-language": "en"})
    assert "Ihr Konto" in again.text
    assert "<p>Deutsch</p>" in html.unescape(again.text)
    english = await visitor.open("account", lang="en")
    assert "Your account" in english.text, "a link can ask for another one"
    signed_out = await visitor.submit(changed, "account/sign-out")
    assert "Sie sind abgemeldet" in signed_out.text
    stranger = await Visitor(auth).send("GET", "/account", follow=False)
    assert stranger.status_code == 303, "and nothing of it is known before the sign-in"


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        *[("de", "de"), (" pt_BR.UTF-8 ", "pt-BR"), ("sr@latin", "sr"), ("C", None), ("de DE", None), ("", None)],
        # RFC 7643 §4.1.1 refers to the header Accept-Language.
        *[("en-US,en;q=0.8", "en-US"), ("*, en ; q=0.5, fr_CA;q=0.9,de;q=0", "fr-CA"), ("de;q=0.3", "de")],
        *[("de;q=0", None), ("de;q=2", None), ("de;x=1", None), (",;q=1,", None), (5, None)],
        *[("de" + " " * 900, "de"), ("de" + " " * 1_000, None), ("de;q=" + " " * 900, None)],
    ],
)
def test_names_of_locales_and_lists_of_languages_are_read_as_tags(value, tag):
    assert read_language_tag(value) == tag
