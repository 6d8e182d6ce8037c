"""The languages of pages and mails: complete catalogues, the choice of a language, and hostile values."""

import re
from datetime import UTC, datetime

import pytest
from babel.messages.catalog import Message

from postern.kernel.http.call import Origin
from postern.platform.projects.model import PageLanguage
from postern.web import problem_texts
from postern.web.languages import (
    FOLDER,
    LANGUAGES,
    built_in_texts,
    counted_text,
    format_moment,
    insert_values,
    language_of,
    match_language,
    text,
    translated,
    translator,
)
from postern.web.mails import render_mail
from postern.web.pages import FOLDER as TEMPLATES
from tests.translations import (
    CUSTOMER_MAILS,
    CUSTOMER_TEMPLATES,
    MODULES_OF_MAILS,
    PAGE_CATALOGUE,
    PAGES_BY_MODULE,
    catalogue,
    modules_with_texts,
    page_catalogue,
    program_texts,
    updated,
)
from tests.web.test_mails import MAILS, VALUES, used_values

OTHERS = [language for language in LANGUAGES if language != "en"]
PLACEHOLDER = re.compile(r"{(\w+)}")
FORMAT_STRINGS = ("{0.__class__}", "{x.__init__}", "%(x)s", "%s", "{{ 7 * 7 }}", "{% raise %}", "{app}", "{}")


def test_the_settings_offer_every_language():
    assert set(PageLanguage.__args__) == set(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_exactly_the_texts_of_the_program(language):
    """If this fails, run `script/translations` and translate what it has added."""
    assert (FOLDER / f"{language}.po").read_bytes() == updated(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_own_texts_for_one_and_for_more(language):
    forms, own = ("{count} person", "{count} people"), {"{count} person": "ONE", "{count} people": "MORE {count}"}
    shown = {count: translated(language, counted_text(*forms, count), own) for count in (0, 1, 2, 5, 1_000_000)}
    singular = {"ja": (), "fr": (0, 1), "pt": (0, 1)}.get(language, (1,))
    assert shown == {count: "ONE" if count in singular else f"MORE {count}" for count in shown}
    built_in = built_in_texts(language, *forms)
    assert list(built_in) == list(forms[len(forms) - 1 if language == "ja" else 0 :])
    assert built_in[forms[1]] == translated(language, counted_text(*forms, 2)).replace("2", "{count}")


def test_the_list_of_the_texts_of_pages_is_complete():
    """If this fails, say in tests/translations.py where the texts are shown, and run `script/translations`."""
    assert modules_with_texts() == {*PAGES_BY_MODULE, *MODULES_OF_MAILS}
    assert PAGE_CATALOGUE.read_text("utf-8") == page_catalogue()


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_with_the_same_placeholders(language):
    messages: list[Message] = [message for message in catalogue(language) if message.id]
    assert len(messages) == len(program_texts())
    for message in messages:
        assert not message.fuzzy, message.id
        originals = message.id if isinstance(message.id, (tuple, list)) else (message.id,)
        strings = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        assert all(strings), f"{message.id} is not translated"
        for string in strings:
            # The text for the number one need not contain it.
            assert set(PLACEHOLDER.findall(string)) in [set(PLACEHOLDER.findall(original)) for original in originals]
            assert string.strip() == string
            assert not re.search(r"<|>|%\(", string), string
            assert originals[0].count("\n") == string.count("\n"), message.id


@pytest.mark.parametrize("pattern", CUSTOMER_TEMPLATES)
def test_templates_have_no_text_outside_of_the_catalogues(pattern):
    for file in TEMPLATES.glob(pattern):
        source = re.sub(r"{% block (?:shape|body) %}.*?{% endblock %}", "", file.read_text("utf-8"))
        source = re.sub(r"{#.*?#}|{%.*?%}", "", source, flags=re.DOTALL)
        source = re.sub(r"{{.*?}}", "", source, flags=re.DOTALL)
        attributes = re.findall(r'\b(?:alt|title|placeholder|aria-label|data-[\w-]+-error)="([^"]*)"', source)
        assert not any(attributes), (file.name, attributes)
        assert not re.search(r"[^\W\d_]{2,}", re.sub(r'<[^>]*>|data-[a-z-]+=""', "", source)), file.name


@pytest.mark.parametrize(
    ("wishes", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "de"),
        ("xx, fr ; q = 0.3,ja;q=0.4", "ja"),
        ("fr-CA fr en", "fr"),
        ("pt_BR", "pt"),
        ("EN-us", "en"),
        ("en;q=0, *", None),
        ("zh-Hant-TW", None),
        ("de;q=2", None),
        ("../../etc/passwd", None),
        ("<script>", None),
        ("{0.__class__}", None),
        ("de" * 50_000, None),
        (",;=" * 50_000, None),
        ("xx," * 100_000 + "de", None),
        ("", None),
    ],
)
def test_the_best_language_is_chosen(wishes, language):
    assert match_language(wishes) == language


def test_the_url_comes_before_the_browser_and_the_project():
    origin = Origin("", "", accept_language="fr", language="ja")
    assert language_of(origin, default="de") == "ja"
    assert language_of(Origin("", "", accept_language="fr"), default="de") == "fr"
    assert language_of(Origin("", "", accept_language="zh"), default="de") == "de"
    assert language_of(Origin("", "", accept_language="zh", language="<x>")) == "en"


@pytest.mark.parametrize("value", FORMAT_STRINGS)
def test_values_are_inserted_and_not_interpreted(value):
    shown = translator("de")("Continue with {provider}", provider=value)
    assert shown == f"Weiter mit {value}"
    assert translated("fr", text("Continue with {provider}", provider=value)).endswith(value)


def test_a_text_without_its_value_is_an_error():
    with pytest.raises(KeyError):
        insert_values("{missing}", {})


@pytest.mark.parametrize(("count", "de"), [(1, "einer Minute"), (2, "2 Minuten"), (1_000_000, "1000000 Minuten")])
def test_numbers_have_their_plural(count, de):
    problem = problem_texts.text_of_code("too_many_requests", status=429, retry_after_seconds=count * 60)
    assert de in translated("de", problem)
    for language in OTHERS:
        assert "Too" not in translated(language, problem)
    assert counted_text("{count} a", "{count} b", 1).text == "{count} a"


def test_dates_are_written_as_in_the_language():
    moment = datetime(2026, 1, 31, 17, 5, tzinfo=UTC)
    assert {language: format_moment(language, moment) for language in LANGUAGES} == {
        "en": "31 January 2026, 17:05 UTC",
        "de": "31. Januar 2026, 17:05 UTC",
        "es": "31 de enero de 2026, 17:05 UTC",
        "fr": "31 janvier 2026, 17:05 UTC",
        "pt": "31 de janeiro de 2026 17:05 UTC",
        "ja": "2026年1月31日 17:05 UTC",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_mails_are_in_their_language_as_html_and_text(language):
    english = {name: render_mail(name, app="Acme", **used_values(name)) for name in MAILS}
    for name in MAILS:
        if not name.startswith(CUSTOMER_MAILS):
            continue
        mail = render_mail(name, app="Acme", language=language, **used_values(name))
        assert f'<html lang="{language}">' in mail.html
        assert (mail.subject == english[name].subject) == (language == "en")
        assert (mail.text == english[name].text) == (language == "en")
        for value in used_values(name).values():
            if value in (VALUES["code"], VALUES["link"]):
                assert value in mail.text
        assert mail.secrets == english[name].secrets
        assert "<script" not in mail.html
        assert "49" not in mail.html + mail.text.replace("428913", "")
