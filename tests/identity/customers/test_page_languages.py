"""Hosted pages and e-mails in the language of the customer."""

import html
import re
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest
from psycopg import OperationalError

from postern.identity.customers import sign_in
from postern.identity.customers.model import CODE_LIFE
from postern.kernel.limits import TooManyRequests
from postern.web.languages import LANGUAGES, match_language
from postern.web.problem_texts import INVALID_TEXTS, PROBLEM_TEXTS
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_pages import FLOW, Page, browser, redeemed
from tests.identity.customers.test_providers import REDIRECT_URL, provider, provider_browser, put, settings
from tests.identity.customers.test_second_factor import with_totp

__all__ = ["browser", "provider", "provider_browser", "settings"]

SIGN_IN = {
    "en": "Sign in",
    "de": "Anmelden",
    "es": "Iniciar sesión",
    "fr": "Se connecter",
    "pt": "Entrar",
    "ja": "サインイン",
}
HOSTILE = ("<script>alert(1)</script>", "{0.__class__}", "%(x)s", "../../etc/passwd", "de" * 4_000, "\r\nX: y", "ü", "")


def heading(page: Page) -> str:
    match = re.search(r"<h1>(.*?)</h1>", page.text)
    assert match, page.text
    return html.unescape(match[1])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_page_is_in_the_language_of_its_url(auth, browser, language):
    page = await browser.open("sign-in", **FLOW, lang=language)
    assert heading(page) == SIGN_IN[language]
    assert f'<html lang="{language}">' in page.text
    assert page.response.headers["content-language"] == language
    assert "Accept-Language" in page.response.headers["vary"]
    assert all(f"lang={language}" in action for action in page.actions), "the next page has another language"
    links = {
        parameters["lang"]: parameters
        for parameters in (dict(parse_qsl(urlsplit(link).query)) for link in page.links)
        if parameters.get("lang") != language
    }
    assert set(links) == set(LANGUAGES) - {language}
    for parameters in links.values():
        assert {name: parameters[name] for name in FLOW} == FLOW, "the switch loses parameters of the flow"


async def test_the_browser_and_then_the_project_choose_if_the_url_does_not(auth, browser):
    async def opened(path: str, accept_language: str) -> Page:
        headers = {"accept-language": accept_language}
        return Page(await auth.client.get(f"{browser.base}/{path}", headers=headers))

    assert heading(await opened("forgot", "fr-CH, de;q=0.5")) == "Réinitialiser votre mot de passe"
    assert heading(await opened("forgot?lang=ja", "fr-CH")) == "パスワードの再設定"
    assert heading(await opened("forgot?ui_locales=zh+pt-PT", "fr")) == "Redefinir sua senha"
    await auth.settings(defaultLanguage="es")
    assert heading(await opened("forgot", "zh")) == "Restablecer su contraseña"
    await auth.settings(defaultLanguage=None)
    assert heading(await opened("forgot", "zh")) == "Reset your password"
    response = await auth.project.developer.patch("", {"settings": {"signIn": {"defaultLanguage": "xx"}}})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/settings/signIn/defaultLanguage")


@pytest.mark.parametrize("value", HOSTILE)
async def test_a_hostile_language_is_ignored(auth, browser, value):
    page = await browser.open("sign-in", **FLOW, lang=value)
    assert (page.response.status_code, heading(page)) == (200, "Sign in")
    assert value[:40] not in page.text or not value or value == "ü"
    accepted = await auth.client.get(f"{browser.base}/forgot", headers={"accept-language": value.strip().encode()})
    assert (accepted.status_code, accepted.headers["content-language"]) == (200, match_language(value[:256]) or "en")


async def test_a_sign_up_stays_in_its_language_and_so_does_its_mail(auth, browser):
    address = new_address()
    page = await browser.open("sign-up", **FLOW, lang="de")
    code_page = await browser.submit(page, email=address, password=GOOD, name="Ada")
    assert f"Wir haben einen sechsstelligen Code an {address} gesendet." in code_page.text
    mail = (await auth.mails(address))[-1]
    assert mail["subject"].startswith("Ihr Registrierungscode für Ada ")
    wrong = await browser.submit(code_page, code="000000" if await auth.code(address) != "000000" else "111111")
    assert str(html.unescape(wrong.text)).count("Dieser Code oder Link ist falsch, abgelaufen") == 1
    # The switch shows the page again, and neither uses the code nor sends another one.
    path = next(action for action in wrong.actions if action.endswith("sign-up/verify"))
    french = await browser.submit(wrong, f"{path}?lang=fr", switch="fr")
    assert (french.response.status_code, heading(french)) == (200, "Saisissez votre code")
    assert 'role="alert"' not in french.text
    assert len(await auth.mails(address)) == 1
    await redeemed(auth, await browser.submit(french, code=await auth.code(address)))


async def test_a_security_notice_is_in_the_language_of_the_request_or_of_the_project(auth, browser, clock):
    address = new_address()
    await auth.settings(defaultLanguage="ja")
    sign_up = (await with_totp(auth, clock, address))[0]
    assert (await auth.mails(address))[-1]["subject"] == 'Ada & "Sons"の2要素認証の設定が変更されました'
    await auth.client.request(
        "POST",
        f"{browser.base}/forgot?lang=pt",
        content=f"email={address}",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert (await auth.mails(address))[-1]["subject"] == 'Redefina sua senha de Ada & "Sons"'
    # The language of a developer's browser is not that of the customer.
    removed = await auth.project.developer.request(
        "POST", f"/customers/{sign_up['customer']['id']}/mfa/reset", headers={"accept-language": "de"}
    )
    assert removed.status_code in (200, 204), removed.text
    mail = (await auth.mails(address))[-1]
    assert "によって2つ目の認証要素が削除されました" in mail["text"]
    assert re.search(r"\d{4}年\d+月\d+日 \d+:\d\d UTC", mail["text"])


async def test_the_language_survives_the_way_over_a_provider(auth, browser, clock, provider_browser):
    address = new_address()
    await with_totp(auth, clock, address)
    provider_browser.provider.claims = {"email": address, "email_verified": True}
    page = await browser.open("sign-in", **FLOW, lang="es")
    to_provider = await auth.client.get(next(link for link in page.links if "/providers/ACME/start" in link))
    url = urlsplit((await provider_browser.come_back(to_provider)).headers["location"])
    page = Page(await auth.client.get(f"{url.path}?{url.query}"))
    assert heading(page) == "Verificación en dos pasos"
    switched = Page(await auth.client.get(next(link for link in page.links if link.endswith("lang=fr"))))
    assert heading(switched) == "Connexion en deux étapes"


async def test_links_of_the_project_are_in_the_foot(auth, browser):
    await auth.settings(privacyUrl="https://example.com/privacy", termsUrl=None, helpUrl="mailto:help@example.com")
    page = await browser.open("sign-in", **FLOW, lang="fr")
    text = html.unescape(page.text)
    assert '<a href="https://example.com/privacy">Confidentialité</a>' in text
    assert '<a href="mailto:help@example.com">Aide</a>' in text
    assert "Conditions" not in page.text
    for url in ("javascript:alert(1)", "http://example.com", "https://a b", 'https://x"onclick=', "data:text/html,x"):
        response = await auth.project.developer.patch("", {"settings": {"signIn": {"privacyUrl": url}}})
        assert response.status_code == 400, url


async def test_error_pages_are_branded_and_translated(auth, browser):
    await auth.settings(helpUrl="https://example.com/help", logoUrl="https://example.com/logo.png")
    headers = {"accept": "text/html", "accept-language": "fr"}
    query = f"redirectUrl={REDIRECT_URL}/evil&codeChallenge={FLOW['codeChallenge']}"
    response = await auth.client.get(f"{browser.base}/sign-in?{query}", headers=headers)
    assert response.status_code == 400
    assert "<h1>Cela n’a pas fonctionné</h1>" in response.text
    assert "Revenez à l’application et recommencez." in response.text
    assert response.headers["content-language"] == "fr"
    assert response.headers["x-request-id"] in response.text
    page = Page(response)
    assert "Ada &amp; " in page.text
    assert {"https://example.com/help", "https://app.example.com/", f"{browser.base}/account"} < set(page.links)
    assert f'href="{browser.base}/style.css"' in html.unescape(page.text)
    assert "img-src 'self' https://example.com" in response.headers["content-security-policy"]
    assert not any("/problems/" in link for link in page.links), "that page is for developers"
    in_german = next(link for link in page.links if link.endswith("lang=de"))
    again = Page(await auth.client.get(in_german, headers=headers))
    assert (again.response.status_code, heading(again)) == (400, "Das hat nicht funktioniert")
    assert f"{browser.base}/account?lang=de" in again.links
    json = await auth.client.get(f"{browser.base}/sign-in?{query}", headers={"accept-language": "fr"})
    assert json.json()["detail"] == "This URL is not among the project's `redirectUrls`.", "the API is in English"


async def test_every_kind_of_error_page_has_the_brand(auth, browser, new_project, world, monkeypatch):
    await auth.settings(defaultLanguage="es")
    project = f"/projects/{auth.project.id}"
    form = {"content-type": "application/x-www-form-urlencoded", "origin": "https://evil.example"}

    async def opened(path: str, method: str = "GET", **headers: str) -> tuple[int, bool, str]:
        response = await auth.client.request(method, path, headers={"accept": "text/html", **headers})
        assert "/problems/" not in response.text or "style.css" not in response.text
        return response.status_code, f"{project}/auth/pages/style.css" in html.unescape(response.text), response.text

    plain = (404, False)
    assert (await opened(f"{project}/auth/pages/nothing"))[:2] == (404, True)
    status, branded, text = await opened(f"{project}/auth/providers/callback?state=x&code=y")
    assert (status, branded, "Continuar" in text or "aplicación" in text) == (400, True, True)
    assert (await opened(f"{project}/auth/pages/sign-in", "POST", **form))[:2] == (403, True)
    assert (await opened(f"{project}/oauth/nothing"))[:2] == (404, True)
    # Without a project, or outside of its pages, the page is plain.
    assert (await opened(f"/projects/{uuid4()}/auth/pages/nothing"))[:2] == plain
    assert (await opened("/projects/nonsense/auth/pages/nothing"))[:2] == plain
    assert (await opened(f"{project}/nothing"))[:2] == plain
    # A refused request must not cost more than one that is served.
    refused = TooManyRequests(retry_after_seconds=90)

    def refuse(*_args, **_options):
        raise refused

    with monkeypatch.context() as patched:
        patched.setattr("postern.kernel.http.handler.rate_of", refuse)
        status, branded, text = await opened(f"{project}/auth/pages/forgot")
        assert (status, branded, "2 minutos" in text) == (429, True, True)
        patched.setattr(world.limiter, "take", refuse)
        status, branded, text = await opened(f"{project}/auth/pages/forgot")
        assert (status, branded, "/problems/too_many_requests" in text) == (429, False, True)
    with monkeypatch.context() as patched:
        patched.setattr(sign_in, "project_of_call", away)
        assert (await opened(f"{project}/auth/pages/nothing"))[:2] == plain


async def away(_call):
    """A database that does not respond."""
    raise OperationalError


def test_every_problem_of_the_pages_has_a_text():
    from postern.app import OPERATIONS  # noqa: F401
    from postern.identity.customers import pages
    from postern.identity.organizations import invitation_pages
    from postern.kernel.http.operation import Operation

    operations = [
        value for module in (pages, invitation_pages) for value in vars(module).values() if isinstance(value, Operation)
    ]
    assert len(operations) > 20
    codes = {problem.code() for operation in operations for problem in operation.problems if problem.status != 429}
    assert codes - PROBLEM_TEXTS.keys() == {"invalid"}
    assert INVALID_TEXTS


@pytest.mark.parametrize(("language", "sentence"), [("en", "It is valid until {}."), ("ja", "{}まで有効です。")])
async def test_the_code_page_says_until_when_the_code_is_valid(auth, browser, clock, language, sentence):
    address = new_address()
    page = await browser.open("sign-in", **FLOW, lang=language)
    code_page = await browser.submit(page, f"{browser.base}/code?lang={language}", email=address)
    match = re.search(r'<time datetime="([^"]+)"[^>]*>([^<]+)</time>', code_page.text)
    assert match
    end = clock() + CODE_LIFE
    assert html.unescape(match[1]).startswith(end.strftime("%Y-%m-%dT%H:%M"))
    assert match[2].endswith(" UTC"), "without scripts the time zone is shown"
    assert match[2].zfill(9) == end.strftime("%H:%M UTC")
    assert sentence.format(match[0]) in code_page.text
    assert code_page.scripts == ["/assets/times.js"]
    assert "script-src 'self'" in code_page.response.headers["content-security-policy"]


async def test_icons_follow_from_the_issuer_and_not_from_the_name(auth, browser):
    await put(auth, "WORK", "https://accounts.google.com", name="Our company")
    await put(auth, "FAKE", "https://accounts.google.com.evil.example", name="Google")
    await auth.settings(termsUrl="https://example.com/terms")
    page = await browser.open("sign-up", **FLOW)
    buttons = re.findall(r'<a class="button second"[^>]*>(.*?)</a>', page.text, re.DOTALL)
    icons = {name: "<svg" in button for button in buttons for name in ("Our company", "with Google") if name in button}
    assert icons == {"Our company": True, "with Google": False}
    assert "By signing up, you accept:" in page.text
