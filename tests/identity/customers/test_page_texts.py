"""Texts of hosted pages that a project writes itself."""

from postern.web.languages import LANGUAGES
from postern.web.page_texts import PageTextSettings
from tests.identity.customers.test_pages import FLOW, browser

__all__ = ["browser"]

TEXTS = {
    "signInTitle": "Welcome <back>",
    "signInLead": "Your orders and invoices.",
    "signInButton": "Go on",
    "signUpTitle": "Join us",
    "signUpLead": "It takes a minute.",
    "signUpButton": "Join",
    "footer": "Acme & Sons",
}


async def test_pages_show_the_texts_of_the_project(auth, browser):
    await auth.settings(pageTexts={"en": TEXTS, "de": {"signInTitle": "Willkommen"}})
    page = await browser.open("sign-in", **FLOW)
    assert "<h1>Welcome &lt;back&gt;</h1>" in page.text
    assert "<p>Your orders and invoices.</p>" in page.text
    assert "<button>Go on</button>" in page.text
    assert "<p>Acme &amp; Sons</p>" in page.text
    second = await browser.submit(page, email="ada@example.com")
    assert "<h1>Welcome &lt;back&gt;</h1>" in second.text
    sign_up = await browser.open("sign-up", **FLOW)
    for shown in ("<h1>Join us</h1>", "<p>It takes a minute.</p>", "<button>Join</button>", "<p>Acme &amp; Sons</p>"):
        assert shown in sign_up.text

    german = await browser.open("sign-in", **FLOW, lang="de")
    assert "<h1>Willkommen</h1>" in german.text
    assert "<button>Weiter</button>" in german.text, "a button has a built-in text in this language"
    assert "<p>Your orders and invoices.</p>" in german.text, (
        "a lead has none, so that of the default language is shown"
    )
    french = await browser.open("sign-in", **FLOW, lang="fr")
    assert "Welcome" not in french.text
    assert "<p>Acme &amp; Sons</p>" in french.text


async def test_texts_are_changed_one_by_one_and_limited(auth, project):
    async def change(**texts):
        return await project.developer.patch("", {"settings": {"signIn": {"pageTexts": texts}}})

    async def stored():
        return (await project.developer.get("")).json()["settings"]["signIn"]["pageTexts"]

    await change(en=TEXTS, de={"footer": "Acme"})
    await change(en={"signInTitle": None, "footer": " "})
    assert (await stored())["en"] == {**TEXTS, "signInTitle": None, "footer": None}
    await change(en=None, de={"footer": None})
    assert await stored() == dict.fromkeys(LANGUAGES)
    for texts, path in (
        ({"en": {"signInTitle": "x" * 81}}, "/settings/signIn/pageTexts/en/signInTitle"),
        ({"en": {"footer": "x" * 301}}, "/settings/signIn/pageTexts/en/footer"),
        ({"xx": {}}, "/settings/signIn/pageTexts/xx"),
    ):
        response = await change(**texts)
        assert response.status_code == 400
        assert response.json()["errors"][0]["path"] == path


def test_every_language_can_have_texts():
    assert set(PageTextSettings.__struct_fields__) == set(LANGUAGES)
