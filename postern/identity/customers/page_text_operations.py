"""HTTP operations with which a project replaces texts of its hosted pages."""

from typing import Annotated

import msgspec

from postern.identity.customers import page_text_store as store
from postern.identity.customers.page_text_model import PageText, PageTextChange, PageTextMissing, PageTextRow
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, put
from postern.kernel.http.problems import Invalid
from postern.platform.audit import operations as audit
from postern.platform.projects.model import PageLanguage
from postern.web.languages import built_in_texts, placeholders_of
from postern.web.page_catalogue import message_id, page_messages

SearchWords = Annotated[str, msgspec.Meta(max_length=320)]


@get("/projects/{project_id}/page-texts/{language}", needs="projects:read", problems=[PageTextMissing])
async def list_page_texts(call: Call, language: str, changed: bool = False, q: SearchWords = "") -> list[PageText]:
    """All texts of the hosted pages in a language, in the order of the English texts.

    `changed=true` has only those that the project has replaced, and `q` only those in which all of these words are: in
    the text, the built-in text or the English one. A text that an update of Postern has removed or written anew is
    listed last, without `pages`: it has no effect any more.
    """
    language = _language(language)
    rows = {row.id: row for row in await store.rows_of_language(call.db, project_id=call.project_id, language=language)}
    texts = [msgspec.structs.replace(text, text=_own(rows.pop(text.id, None))) for text in _built_in(language)]
    texts += [_removed(row) for row in rows.values()]
    words = set(q.casefold().split())
    return [text for text in texts if (text.text is not None or not changed) and _has_words(text, words)]


@put(
    "/projects/{project_id}/page-texts/{language}/{text_id}",
    needs="projects:write",
    problems=[PageTextMissing],
    example={"text": "Log in"},
)
async def set_page_text(call: Call, language: str, text_id: str, data: PageTextChange) -> PageText:
    """Replace a text of the hosted pages in a language, wherever the pages show it.

    It is plain text, and can have the values of the built-in text, such as `{app}`; one with another value is a 400.
    """
    language = _language(language)
    built_in = _require(language, text_id)
    unknown = [name for name in placeholders_of(data.text) if name not in built_in.placeholders]
    if unknown:
        possible = ", ".join(f"`{{{name}}}`" for name in built_in.placeholders) or "none"
        message = f"This text has no value `{{{unknown[0]}}}`. Possible values: {possible}."
        raise Invalid.at("/text", message, "unknown_placeholder")
    row = PageTextRow(
        project_id=call.project_id,
        language=language,
        id=text_id,
        english=built_in.english,
        text=data.text.strip(),
        updated_at=call.now,
    )
    async with call.db.transaction() as tx:
        before = await store.lock_text(tx, project_id=call.project_id, language=language, id=text_id)
        if _own(before) != row.text:
            await store.set_text(tx, row)
            await audit.record(
                tx, call, "page_text.updated", "PageText", f"{language}/{text_id}", english=row.english, text=row.text
            )
    return msgspec.structs.replace(built_in, text=row.text)


@delete("/projects/{project_id}/page-texts/{language}/{text_id}", needs="projects:write", problems=[PageTextMissing])
async def reset_page_text(call: Call, language: str, text_id: str) -> None:
    """Show the built-in text again. A text that is not replaced stays as it is."""
    language = _language(language)
    async with call.db.transaction() as tx:
        row = await store.lock_text(tx, project_id=call.project_id, language=language, id=text_id)
        if row is None:
            _require(language, text_id)
            return
        await store.delete_text(tx, project_id=call.project_id, language=language, id=text_id)
        await audit.record(tx, call, "page_text.reset", "PageText", f"{language}/{text_id}", english=row.english)


def _has_words(text: PageText, words: set[str]) -> bool:
    shown = f"{text.english}\n{text.built_in}\n{text.text or ''}".casefold()
    return all(word in shown for word in words)


def _language(language: str) -> PageLanguage:
    """The language in the path. Raises PageTextMissing."""
    try:
        return msgspec.convert(language, PageLanguage)
    except msgspec.ValidationError:
        raise PageTextMissing from None


def _require(language: PageLanguage, text_id: str) -> PageText:
    """A text as every project has it. Raises PageTextMissing."""
    text = next((text for text in _built_in(language) if text.id == text_id), None)
    if text is None:
        raise PageTextMissing
    return text


def _built_in(language: PageLanguage) -> list[PageText]:
    """All texts as every project has them. The forms of a text for one and for more are two texts."""
    return [
        PageText(
            id=message_id(english),
            pages=message.pages,
            english=english,
            built_in=built_in,
            text=None,
            # The form for one need not show the number, but can.
            placeholders=placeholders_of(message.plural or english),
        )
        for message in page_messages()
        for english, built_in in built_in_texts(language, message.english, message.plural).items()
    ]


def _removed(row: PageTextRow) -> PageText:
    return PageText(id=row.id, pages=[], english=row.english, built_in="", text=row.text, placeholders=[])


def _own(row: PageTextRow | None) -> str | None:
    return None if row is None else row.text
