"""The languages of hosted pages and of e-mails to customers: which one to use, and the texts in it.

English texts are in the templates and the code. They are the keys of the catalogues in `translations/`, one for each
language in the format of gettext. A catalogue is read when its language is first needed. Values are inserted after
translation, in place of `{name}`, and never interpreted: neither a catalogue nor a value can name an attribute or
contain markup.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from postern.kernel.http.call import Call, Origin
from postern.kernel.values import Record

if TYPE_CHECKING:
    from gettext import NullTranslations

FOLDER = Path(__file__).parent / "translations"
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "pt": "Português",
    "ja": "日本語",
}
"""The languages by their codes (ISO 639-1), with the names that their readers know. `pt` is written as in Brazil."""
DEFAULT_LANGUAGE = "en"
LOCALES = {"en": "en_GB", "pt": "pt_BR"}
"""The locale (CLDR) for dates, if it is not that of the language alone."""
MAX_RANGES = 20
"""How many languages of an `Accept-Language` header are considered."""
_RANGE = re.compile(r"([A-Za-z]{1,8})(?:[-_][A-Za-z0-9]{1,8})*(?:;[qQ]=([01](?:\.[0-9]{0,3})?))?")
"""A language range with its weight (RFC 9110 §12.5.4); a tag may have `_` instead of `-`, as in names of locales."""
_PLACEHOLDER = re.compile(r"{(\w+)}")

Translate = Callable[..., str]
"""Returns the translation of a text, with the keyword arguments in place of its `{name}`."""


OwnTexts = Mapping[str, str]
"""Texts of a project by the English texts that they replace, in one language. They may have the same `{name}`."""
NO_OWN_TEXTS: OwnTexts = MappingProxyType({})


class Text(Record):
    """A text for people, in English, which is translated when it is shown. `values` replace its `{name}`."""

    text: str
    values: "Mapping[str, str | Sequence[Text]]" = {}
    """Texts in a value are translated, too, and joined by commas."""
    plural: str = ""
    """The text for numbers other than one; then `values` has the number as `count`."""


def text(english: str, /, **values: str | Sequence[Text]) -> Text:
    """A text with values. The catalogues contain each `english` that is given here."""
    return Text(text=english, values=values)


def counted_text(singular: str, plural: str, count: int) -> Text:
    """The text for a number, which is `{count}` in it."""
    return Text(text=singular, plural=plural, values={"count": str(count)})


def match_language(wishes: str) -> str | None:
    """The best of LANGUAGES for a value of `Accept-Language`, `lang` or `ui_locales`; None if none fits.

    Wishes are separated by commas or blanks; those with an equal weight in their order. Malformed ones are ignored.
    """
    best, best_weight = None, 0.0
    for wish in re.split(r"[,\s]+", re.sub(r"\s*([;=])\s*", r"\1", wishes))[:MAX_RANGES]:
        match = _RANGE.fullmatch(wish)
        language = match[1].lower() if match else ""
        weight = min(float(match[2] or 1), 1.0) if match else 0.0
        if language in LANGUAGES and weight > best_weight:
            best, best_weight = language, weight
    return best


def chosen_language(origin: Origin) -> str | None:
    """The language that the person or the client chose for this page, in the URL; None if it names none."""
    return match_language(origin.language)


def language_of(origin: Origin, *, default: str | None = None) -> str:
    """The language of a response: that of the URL, of the browser, the project's default, or English."""
    return chosen_language(origin) or match_language(origin.accept_language) or default or DEFAULT_LANGUAGE


def asked_language(call: Call) -> str | None:
    """The language of the customer, if this request tells it. The browser of a developer does not, nor does a program
    that keeps a directory in step: their language is not that of the customer."""
    if call.caller.kind == "developer" or call.caller.actor_type == "SCIM":
        return None
    return chosen_language(call.origin) or match_language(call.origin.accept_language)


def translator(language: str, own: OwnTexts = NO_OWN_TEXTS) -> Translate:
    """The function `_` of templates: it translates a text into `language` and inserts its values. A text in `own`
    replaces the translation."""
    catalogue = _catalogue(language)

    def translate(english: str, /, **values: Any) -> str:
        return insert_values((own.get(english) or catalogue.gettext(english)) if english else "", values)

    return translate


def translated(language: str, shown: Text, own: OwnTexts = NO_OWN_TEXTS) -> str:
    """A text in `language`, with its values. A text in `own` replaces the translation."""
    if shown.plural:
        english, template = _plural_form(language, shown.text, shown.plural, int(str(shown.values["count"])))
    else:
        english, template = shown.text, _catalogue(language).gettext(shown.text)
    values = {
        name: value if isinstance(value, str) else ", ".join(translated(language, part, own) for part in value)
        for name, value in shown.values.items()
    }
    return insert_values(own.get(english) or template, values)


def built_in_texts(language: str, english: str, plural: str = "") -> dict[str, str]:
    """A text in `language`, without values, by its English text; with `plural`, the text for one and that for two.

    Languages without a form for the number one, such as Japanese, have only the other.
    """
    if plural:
        return dict(_plural_form(language, english, plural, count) for count in (1, 2))
    return {english: _catalogue(language).gettext(english)}


def placeholders_of(template: str) -> list[str]:
    """The names of the values of a text, in their order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def _plural_form(language: str, singular: str, plural: str, count: int) -> tuple[str, str]:
    """The text for a number: in English, as the key of an own text, and in `language`.

    The key is the singular for numbers with the form of one, and the plural for all others: also for zero in English,
    for millions in Spanish, which have a form of their own, and for every number in Japanese, which has one form.
    """
    forms = {number: _form_of(language, number) for number in (1, 2, count)}
    english = singular if forms[count] == forms[1] != forms[2] else plural
    return english, _catalogue(language).ngettext(singular, plural, count)


def _form_of(language: str, count: int) -> int:
    """The number of the plural form that a language has for a number, as in the header of its catalogue."""
    catalogue = _catalogue(language)
    rule: Callable[[int], int] | None = getattr(catalogue, "plural", None)
    return rule(count) if rule is not None else int(count != 1)


def insert_values(template: str, values: Mapping[str, Any]) -> str:
    """Replace each `{name}` by its value. Raises KeyError if a value is missing."""
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)


def format_moment(language: str, moment: datetime) -> str:
    """A date and time in UTC, with the zone, as readers of the language write them."""
    from babel.core import Locale
    from babel.dates import format_date, format_time

    locale = Locale.parse(LOCALES.get(language, language))
    moment = moment.astimezone(UTC)
    pattern = str(locale.datetime_formats["medium"])
    day, time = format_date(moment, "long", locale), format_time(moment, "short", locale=locale)
    return f"{pattern.replace('{1}', day).replace('{0}', time)} UTC"


def format_number(language: str, number: int) -> str:
    """A whole number with its thousands apart, as readers of the language write it."""
    from babel.numbers import format_decimal

    return format_decimal(number, locale=LOCALES.get(language, language))


def format_time_of_day(language: str, moment: datetime) -> str:
    """A time in UTC, with the zone, as readers of the language write it."""
    from babel.dates import format_time

    return f"{format_time(moment.astimezone(UTC), 'short', locale=LOCALES.get(language, language))} UTC"


@cache
def _catalogue(language: str) -> "NullTranslations":
    """The catalogue of one of LANGUAGES. English has none: the texts are their own translations."""
    from gettext import GNUTranslations, NullTranslations

    if language == DEFAULT_LANGUAGE:
        return NullTranslations()
    from io import BytesIO

    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (FOLDER / f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
