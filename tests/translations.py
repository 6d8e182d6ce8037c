"""The catalogues of `postern/web/translations`: which texts they must have, and how they are brought up to date.

`script/translations` adds new texts without a translation, and removes those that the program no longer has.
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
from postern.web.pages import FOLDER as TEMPLATES

ROOT = Path(__file__).parent.parent
IMPORT = "from postern.web.languages import"
KEYWORDS = ("text", "counted_text")
LITERAL = re.compile(r"""\b_\("((?:[^"\\]|\\.)*)\"""")
CUSTOMER_TEMPLATES = ("hosted/*.html", "error.html")
"""The templates of pages that customers see."""
CUSTOMER_MAILS = "customers/"
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
            texts |= dict.fromkeys([subject, *(part.label or part.text for part in parts), origin], "")
    return texts | plurals


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
    for language in LANGUAGES:
        if language != DEFAULT_LANGUAGE:
            (FOLDER / f"{language}.po").write_bytes(updated(language))


if __name__ == "__main__":
    update()
