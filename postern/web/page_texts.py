"""Texts of hosted pages that a project writes itself, in each language."""

from postern.kernel.values import Record


class PageTexts(Record):
    """The texts of hosted pages in one language; null for the built-in text."""

    sign_in_title: str | None = None
    sign_in_lead: str | None = None
    """A sentence below the title of the sign-in page."""
    sign_in_button: str | None = None
    """The button of the first page, below the e-mail address."""
    sign_up_title: str | None = None
    sign_up_lead: str | None = None
    """A sentence below the title of the sign-up page."""
    sign_up_button: str | None = None
    footer: str | None = None
    """A line in the foot of all pages, such as the name of the company."""


class PageTextSettings(Record):
    """The texts of hosted pages, by language; null if a language has none."""

    en: PageTexts | None = None
    de: PageTexts | None = None
    es: PageTexts | None = None
    fr: PageTexts | None = None
    pt: PageTexts | None = None
    ja: PageTexts | None = None


WITHOUT_BUILT_IN = ("sign_in_lead", "sign_up_lead", "footer")
"""Texts that pages show only if the project has written them."""


def texts_in(settings: PageTextSettings, language: str, default_language: str) -> PageTexts:
    """The texts for a page in a language.

    Titles and buttons that the project has not written in it are the built-in ones in this language. What has no
    built-in text is taken from the default language.
    """
    own = getattr(settings, language) or PageTexts()
    default = getattr(settings, default_language) or PageTexts()
    return PageTexts(
        **{
            name: getattr(own, name) or (getattr(default, name) if name in WITHOUT_BUILT_IN else None) or None
            for name in PageTexts.__struct_fields__
        }
    )
