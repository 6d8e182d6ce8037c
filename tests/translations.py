"""The catalogues of `postern/web/translations`: which texts they must have, and how they are brought up to date.

`script/translations` adds new texts without a translation, and removes those that the program no longer has. It also
writes the list of the texts of pages, with the pages that show them (`postern/web/page_catalogue.py`).
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po

from postern.web import mails
from postern.web.languages import DEFAULT_LANGUAGE, FOLDER, LANGUAGES
from postern.web.page_catalogue import FILE as PAGE_CATALOGUE
from postern.web.pages import FOLDER as TEMPLATES

ROOT = Path(__file__).parent.parent
IMPORT = "from postern.web.languages import"
KEYWORDS = ("text", "counted_text")
LITERAL = re.compile(r"""\b_\("((?:[^"\\]|\\.)*)\"""")
VALUE = re.compile(r"\{\w+\}")
CUSTOMER_TEMPLATES = ("hosted/*.html", "error.html")
"""The templates of pages that customers see."""
CUSTOMER_MAILS = "customers/"
PAGES_BY_TEMPLATE = (
    (r"(sign-in|credentials|verify|onwards|not-me)\.html", "SIGN_IN"),
    (r"sign-up\.html", "SIGN_UP"),
    (r"(mfa|mfa-enroll|recovery-codes)\.html", "SECOND_FACTOR"),
    (r"passkey[a-z-]*\.html", "PASSKEY"),
    (r"(forgot|reset|reset-denied|expired-link)\.html", "PASSWORD"),
    (r"terms\.html", "TERMS"),
    (r"invitation\.html", "INVITATION"),
    (r"account[a-z-]*\.html", "ACCOUNT"),
    (r"organization\.html", "ORGANIZATION"),
    (r"oauth-[a-z-]+\.html", "APPS"),
    (r"sso-[a-z-]+\.html", "SINGLE_SIGN_ON"),
    (r"setup[a-z-]*\.html", "SETUP"),
    (r"impersonation-link\.html", "SUPPORT"),
    (r"(layout|back|notice|error|form-post|provider-icon)\.html", "ALL"),
)
"""What the texts of a template are part of, by its name."""
PAGES_BY_MODULE = {
    "identity/customers/devices.py": "ACCOUNT",
    "identity/customers/impersonation_links.py": "SUPPORT",
    "identity/customers/pages.py": "SIGN_IN",
    "identity/customers/sign_in_alerts.py": "SIGN_IN",
    "identity/oauth/authorization.py": "APPS",
    "identity/oauth/browsers.py": "APPS",
    "identity/oauth/devices.py": "APPS",
    "identity/oauth/logout.py": "APPS",
    "identity/oauth/rules.py": "APPS",
    "identity/organizations/invitation_pages.py": "INVITATION",
    "identity/self_service/account_pages.py": "ACCOUNT",
    "identity/self_service/credential_pages.py": "ACCOUNT",
    "identity/self_service/organization_pages.py": "ORGANIZATION",
    "identity/self_service/sign_in_rules_pages.py": "ORGANIZATION",
    "identity/self_service/visits.py": "ACCOUNT",
    "identity/setup_links/guides.py": "SETUP",
    "identity/setup_links/pages.py": "SETUP",
    "identity/sso/endpoints.py": "SINGLE_SIGN_ON",
    "identity/sso/logout.py": "SINGLE_SIGN_ON",
    "identity/sso/oidc_endpoints.py": "SINGLE_SIGN_ON",
    "web/problem_texts.py": "PROBLEMS",
}
"""What the texts of a module are part of."""
MODULES_OF_MAILS = {
    *(f"identity/customers/{name}.py" for name in ("address_proofs", "credentials", "identities", "linking")),
    *(f"identity/customers/{name}.py" for name in ("mail_texts", "merging", "operations", "passkeys")),
    *(f"identity/customers/{name}.py" for name in ("step_up", "totp")),
    "web/mails.py",
}
"""Modules whose texts are in mails only, which have texts of their own."""
WIDTH = 110
DATED_HEADERS = re.compile(
    rb'^"(?:Project-Id|Report-Msgid|POT-|PO-Revision|Last-Translator|Language-Team|Generated-By|MIME|Content-Transfer).*\n',
    re.MULTILINE,
)
"""Headers of catalogues that would change without a reason, or say nothing."""


def program_texts() -> dict[str, str]:
    """The texts that the program can show to customers, with their plural ("" for none)."""
    texts: dict[str, str] = {}
    plurals: dict[str, str] = {}
    for file in sorted((ROOT / "postern").rglob("*.py")):
        if IMPORT in file.read_text("utf-8"):
            in_module = dict(_texts_of_module(file))
            texts |= in_module
            plurals |= {text: plural for text, plural in in_module.items() if plural}
    for pattern in CUSTOMER_TEMPLATES:
        for file in sorted(TEMPLATES.glob(pattern)):
            texts |= dict.fromkeys(LITERAL.findall(file.read_text("utf-8")), "")
    for name, (subject, parts, origin) in mails._MAILS.items():
        if name.startswith(CUSTOMER_MAILS):
            shown = [subject, *(part.label or part.text for part in parts), origin]
            # A paragraph that is only a value has nothing to translate.
            texts |= {shown_text: "" for shown_text in shown if not VALUE.fullmatch(shown_text)}
    return texts | plurals


def page_catalogue() -> str:
    """The list of the texts of pages: a line of the pages that show it, the text, and its plural or nothing."""
    shown_on: dict[tuple[str, str], set[str]] = {}
    for pattern in CUSTOMER_TEMPLATES:
        for file in sorted(TEMPLATES.glob(pattern)):
            for text in LITERAL.findall(file.read_text("utf-8")):
                shown_on.setdefault((text, ""), set()).add(pages_of_template(file.name))
    for name, pages in PAGES_BY_MODULE.items():
        for text in _texts_of_module(ROOT / "postern" / name):
            shown_on.setdefault(text, set()).add(pages)
    return "".join(
        "\t".join([",".join(sorted(pages)), *text]).rstrip("\t") + "\n" for text, pages in sorted(shown_on.items())
    )


def pages_of_template(name: str) -> str:
    """What a template is part of. Raises KeyError for a name that PAGES_BY_TEMPLATE does not have."""
    for pattern, pages in PAGES_BY_TEMPLATE:
        if re.fullmatch(pattern, name):
            return pages
    raise KeyError(name)


def modules_with_texts() -> set[str]:
    """The modules of the package that have texts for customers."""
    files = (file for file in (ROOT / "postern").rglob("*.py") if IMPORT in file.read_text("utf-8"))
    return {file.relative_to(ROOT / "postern").as_posix() for file in files if any(_texts_of_module(file))}


def _texts_of_module(file: Path) -> Iterator[tuple[str, str]]:
    with file.open("rb") as source:
        for _, function, messages, _ in extract_python(source, KEYWORDS, (), {"encoding": "utf-8"}):
            if function == "counted_text":
                yield messages[0], messages[1]
            elif isinstance(messages, tuple) and messages[0]:
                yield messages[0], ""
            elif isinstance(messages, str) and messages:
                yield messages, ""


def catalogue(language: str) -> Catalog:
    """The stored catalogue of a language."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str) -> bytes:
    """The file of a catalogue with exactly the texts of the program."""
    path = FOLDER / f"{language}.po"
    stored = catalogue(language) if path.exists() else Catalog(locale=language, header_comment=f"# {language}")
    changed = Catalog(locale=language, fuzzy=False, charset="utf-8")
    changed.header_comment = stored.header_comment
    for text, plural in program_texts().items():
        before = stored.get(text)
        changed.add((text, plural) if plural else text, before.string if before else None)
    file = BytesIO()
    write_po(file, changed, width=WIDTH, sort_output=True)
    return DATED_HEADERS.sub(b"", file.getvalue())


def update() -> None:
    """Bring all catalogues up to date."""
    PAGE_CATALOGUE.write_text(page_catalogue(), "utf-8")
    for language in LANGUAGES:
        if language != DEFAULT_LANGUAGE:
            (FOLDER / f"{language}.po").write_bytes(updated(language))


if __name__ == "__main__":
    update()
