"""Contact files as spreadsheets save them: encodings, the line `sep=`, headers in other languages, previews."""

import asyncio
import codecs
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.messaging.audiences import csv_headers, csv_reader, work
from postern.messaging.audiences.charsets import CODECS, Utf8Detector, charset_named
from postern.messaging.audiences.model import MAX_CONCURRENT_PREVIEWS, ImportFileInvalid
from tests.messaging.audiences.test_import import by_email, counts

CONTENT_TYPE = {"content-type": "text/csv"}


async def preview(project: Any, body: bytes, headers: dict[str, str] | None = None, **params: str) -> Any:
    response = await project.client.post(
        "/contacts/import/preview", content=body, params=params, headers=headers or CONTENT_TYPE
    )
    assert response.status_code == 200, response.text
    return response.json()


async def import_file(
    project: Any, run_due_work: Any, body: bytes, headers: dict[str, str] | None = None, **params: str
) -> Any:
    """Import a file, and check that the result equals its preview."""
    previewed = await preview(project, body, headers, **params)
    assert previewed["importable"], previewed["problems"]
    uploaded = await project.client.post(
        "/contacts/import", content=body, params=params, headers=headers or CONTENT_TYPE
    )
    assert uploaded.status_code == 201, uploaded.text
    await run_due_work()
    finished = (await project.client.get(f"/contacts/imports/{uploaded.json()['id']}")).json()
    assert finished["status"] == "COMPLETED", finished
    assert finished["position"] == finished["bytes"] == len(body)
    for name in ("charset", "charsetFrom", "delimiter"):
        assert finished[name] == previewed[name]
    assert finished["columns"] == [
        {name: value for name, value in column.items() if name not in ("samples", "type")}
        for column in previewed["columns"]
    ]
    contacts = await by_email(project)
    for row in previewed["rows"]:
        if row["error"] is None and finished["rows"] <= 100:  # `by_email` reads one page.
            assert contacts[row["email"]]["attributes"].items() >= row["attributes"].items()
            assert contacts[row["email"]]["unsubscribed"] >= row["unsubscribed"]
    failed = [(row["line"], row["error"]) for row in previewed["rows"] if row["error"]]
    listed = [(error["line"], error["message"]) for error in finished["errors"]]
    assert listed[: len(failed)] == failed
    return finished


GERMAN = "E-Mail;Straße;Ort\r\nä@example.com;Große Straße 1;Köln\r\nb@example.com;Äußere Gasse „7“;München €\r\n"
GERMAN_ATTRIBUTES = {
    "ä@example.com": {"Straße": "Große Straße 1", "Ort": "Köln"},
    "b@example.com": {"Straße": "Äußere Gasse „7“", "Ort": "München €"},
}


def utf16(text: str, codec: str) -> bytes:
    return (codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE) + text.encode(codec)


@pytest.mark.parametrize(
    ("body", "declared", "charset", "charset_from"),
    [
        (GERMAN.encode(), None, "utf-8", "DETECTED"),
        (GERMAN.encode("utf-8-sig"), None, "utf-8", "BOM"),
        (GERMAN.encode("utf-8-sig"), "windows-1252", "utf-8", "BOM"),
        (utf16(GERMAN, "utf-16-le"), None, "utf-16le", "BOM"),
        (utf16(GERMAN.replace(";", "\t"), "utf-16-be"), None, "utf-16be", "BOM"),
        (utf16(GERMAN, "utf-16-le"), "utf-8", "utf-16le", "BOM"),
        (GERMAN.encode("utf-16-le"), "UTF-16", "utf-16le", "DECLARED"),
        (GERMAN.encode("utf-16-be"), "utf-16be", "utf-16be", "DECLARED"),
        (GERMAN.encode("cp1252"), None, "windows-1252", "DETECTED"),
        (GERMAN.encode("cp1252"), "Windows-1252", "windows-1252", "DECLARED"),
        (GERMAN.encode("cp1252"), "ISO-8859-1", "windows-1252", "DECLARED"),
    ],
)
async def test_a_file_is_read_in_its_encoding(
    project: Any, run_due_work: Any, body: bytes, declared: str | None, charset: str, charset_from: str
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    media_type = {"content-type": "text/csv" if declared is None else f'text/csv; charset="{declared}"'}
    finished = await import_file(project, run_due_work, body, media_type)
    assert (finished["charset"], finished["charsetFrom"]) == (charset, charset_from)
    assert counts(finished) == {"created": 2}
    assert {email: contact["attributes"] for email, contact in (await by_email(project)).items()} == GERMAN_ATTRIBUTES


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("windows-1251", "email,name\na@example.com,Иван Щукин\n"),
        ("koi8-r", "email,name\na@example.com,Иван Щукин\n"),
        ("shift_jis", "email,name\na@example.com,表計算ソフト\n"),
        ("gbk", "email,name\na@example.com,赵朋\n"),
        ("gb18030", "email,name\na@example.com,𠮷野\n"),
        ("big5", "email,name\na@example.com,許功蓋\n"),
        ("euc-kr", "email,name\na@example.com,홍길동\n"),
        ("iso-8859-15", "email,name\na@example.com,Œuvre à 5 €\n"),
        ("windows-1250", "email,name\na@example.com,Łódź\n"),
        ("windows-1256", "email,name\na@example.com,محمد\n"),
    ],
)
async def test_an_encoding_in_the_query_is_used(project: Any, run_due_work: Any, charset: str, text: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    name = charset_named(charset)
    assert name
    finished = await import_file(project, run_due_work, text.encode(CODECS[name]), charset=charset)
    assert (finished["charset"], finished["charsetFrom"]) == (name, "DECLARED")
    expected = text.splitlines()[1].partition(",")[2]
    assert (await by_email(project))["a@example.com"]["attributes"] == {"name": expected}


@pytest.mark.parametrize(
    ("codec", "charset", "text"),
    [
        ("cp1251", "windows-1251", "Почта;Имя\nа@example.com;Юлия\n"),
        ("koi8-r", "koi8-r", "Почта;Имя\nа@example.com;Юлия\n"),
        ("gbk", "gb18030", "邮箱,姓名\na@example.com,赵朋\n"),
        ("cp932", "shift_jis", "メールアドレス,名前\na@example.com,表計算\n"),
        ("cp949", "euc-kr", "email,이름\na@example.com,홍길동\n"),
        ("cp1252", "windows-1252", "Adresse électronique;Prénom\na@example.com;Zoé\n"),
    ],
)
async def test_column_names_reveal_the_encoding(
    project: Any, run_due_work: Any, codec: str, charset: str, text: str
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    finished = await import_file(project, run_due_work, text.encode(codec))
    assert (finished["charset"], finished["charsetFrom"], counts(finished)) == (charset, "DETECTED", {"created": 1})
    (contact,) = (await by_email(project)).values()
    assert list(contact["attributes"].values()) == [text.splitlines()[1].replace(";", ",").partition(",")[2]]


async def test_one_character_at_the_end_of_a_large_file_reveals_its_encoding(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    rows = [f"u{number}@example.com;{'x' * 1_000}" for number in range(1_200)]
    body = "\r\n".join(["email;note", *rows, "last@example.com;Zoé"]).encode("cp1252")
    assert len(body) > 1_048_576
    finished = await import_file(project, run_due_work, body)
    assert (finished["charset"], counts(finished)) == ("windows-1252", {"created": 1_201})
    contacts = (await project.client.get("/contacts?q=last@example.com")).json()["data"]
    assert contacts[0]["attributes"] == {"note": "Zoé"}


async def test_a_damaged_line_of_a_utf8_file_fails_alone(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = "email,name\na@example.com,Zoé\nb@example.com,Renée\n".encode() + b"c@example.com,Zo\xe9\n"
    finished = await import_file(project, run_due_work, body)
    assert (finished["charset"], counts(finished)) == ("utf-8", {"created": 2, "failed": 1})
    message = "The line is not utf-8: byte 0xE9 at offset 16 of the line."
    assert finished["errors"] == [{"line": 4, "message": message}]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
async def test_a_separator_line_is_honoured(project: Any, run_due_work: Any, separator: str, codec: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    lines = [f"sep={separator}", "email;note,x".replace(";", separator), f'a@example.com{separator}"one, two; three"']
    if separator == ",":
        lines[1] = "email,note"
    body = "\r\n".join([*lines, ""]).encode(codec)
    finished = await import_file(project, run_due_work, body)
    assert (finished["delimiter"], counts(finished)) == (separator, {"created": 1})
    name = "note" if separator == "," else "note,x"
    assert (await by_email(project))["a@example.com"]["attributes"] == {name: "one, two; three"}
    previewed = await preview(project, body)
    assert (previewed["headerLine"], previewed["delimiterFrom"], previewed["rows"][0]["line"]) == (2, "DECLARED", 3)


async def test_line_numbers_include_the_separator_line(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    finished = await import_file(project, run_due_work, b"SEP=;\nemail;a\nnonsense;1\nb@example.com;2\n")
    assert [error["line"] for error in finished["errors"]] == [3]


HEADERS = {
    "English": "E-mail Address,First Name,Opted Out",
    "Chinese": "电子邮箱,姓名,已退订",
    "Hindi": "ईमेल पता,नाम,सदस्यता समाप्त",
    "Spanish": "Correo electrónico,Nombre,Dado de baja",
    "Arabic": "البريد الإلكتروني,الاسم,إلغاء الاشتراك",
    "French": "Adresse e-mail,Prénom,Désabonné",
    "Bengali": "ইমেইল ঠিকানা,নাম,সদস্যতা বাতিল",
    "Portuguese": "Endereço de e-mail,Nome,Descadastrado",
    "Russian": "Электронная почта,Имя,Отписан",
    "Urdu": "ای میل,نام,رکنیت منسوخ",
    "Indonesian": "Alamat surel,Nama,Berhenti berlangganan",
    "German": "E-Mail-Adresse,Vorname,Abgemeldet",
    "Japanese": "メールアドレス,名前,配信停止",
    "Italian": "Indirizzo e-mail,Nome,Disiscritto",
}
YES = {"Chinese": "是", "Hindi": "हाँ", "Spanish": "sí", "Arabic": "نعم", "French": "oui", "Bengali": "হ্যাঁ"}
YES |= {"Portuguese": "VERDADEIRO", "Russian": "да", "Urdu": "ہاں", "Indonesian": "ya", "German": "WAHR"}
YES |= {"Japanese": "はい", "Italian": "vero", "English": "Yes"}
NO = {"Chinese": "否", "Hindi": "नहीं", "Spanish": "no", "Arabic": "لا", "French": "FAUX", "Bengali": "না"}
NO |= {"Portuguese": "não", "Russian": "ЛОЖЬ", "Urdu": "نہیں", "Indonesian": "tidak", "German": "nein"}
NO |= {"Japanese": "いいえ", "Italian": "no", "English": "FALSE"}


@pytest.mark.parametrize("language", HEADERS)
async def test_headers_in_other_languages_are_mapped(project: Any, run_due_work: Any, language: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    names = HEADERS[language].split(",")
    body = f"{HEADERS[language]}\nin@example.com,Ada,{NO[language]}\nout@example.com,Bo,{YES[language]}\n"
    finished = await import_file(project, run_due_work, body.encode())
    assert [(column["target"], column["decidedBy"]) for column in finished["columns"]] == [
        ("email", "SYNONYM"),
        (f"attributes.{names[1]}", "ATTRIBUTE"),
        ("unsubscribed", "SYNONYM"),
    ]
    assert counts(finished) == {"created": 2}, finished["errors"]
    contacts = await by_email(project)
    assert {email: contact["unsubscribed"] for email, contact in contacts.items()} == {
        "in@example.com": False,
        "out@example.com": True,
    }
    assert contacts["in@example.com"]["attributes"] == {names[1]: "Ada"}


@pytest.mark.parametrize(
    "name", ["EMAIL", "e_mail", " E.Mail ", "Ｅｍａｉｌ", "E-MAIL*", "Электронная  почта:", "courriel"]
)
async def test_column_names_ignore_case_width_and_punctuation(project: Any, name: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    previewed = await preview(project, f"{name},a\nx@example.com,1\n".encode())
    assert previewed["columns"][0]["target"] == "email"
    assert previewed["columns"][0]["name"] == name.strip()


def test_no_column_name_maps_to_two_fields() -> None:
    """Regression test of C10 (tests/defects.md)."""
    lists = [csv_headers.EMAIL, csv_headers.UNSUBSCRIBED, csv_headers.SUBSCRIBED, csv_headers.COMMON]
    plain_names = [{csv_headers.plain_name(name) for name in names} for names in lists]
    for index, names in enumerate(plain_names):
        assert "" not in names
        assert all(len(name) <= csv_headers.NAME_LIMIT for name in lists[index])
        for other_names in plain_names[index + 1 :]:
            assert not names & other_names
    assert not {csv_headers.plain_name(word) for word in csv_headers.TRUE_WORDS} & {
        csv_headers.plain_name(word) for word in csv_headers.FALSE_WORDS
    }
    export_names = {csv_headers.plain_name(name) for name in (*csv_reader.EXPORT_COLUMNS, "attributes")}
    assert not export_names & set().union(*plain_names)


async def test_attributes_named_like_a_field_survive_export_and_import(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    attributes = {"Mail": "m", "-email": "x", "Abgemeldet": "gestern", "邮箱": "y", "subscribed": "2026-01-31"}
    created = await project.client.post("/contacts", {"email": "ada@example.com", "attributes": attributes})
    assert created.status_code == 201
    exported = await project.client.get("/contacts/export")
    deleted = await project.client.delete(f"/contacts/{created.json()['id']}")
    assert deleted.status_code == 200
    await import_file(project, run_due_work, exported.content)
    assert (await by_email(project))["ada@example.com"]["attributes"] == attributes


async def test_the_preview_shows_mapping_and_rows_and_stores_nothing(project: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = (
        "sep=;\r\nKunde;E-Mail;Abgemeldet;id;;Mail\r\n"
        '"Müller; Jürgen";j@example.com;ja;7;;\r\n'
        "Zoé;nonsense;nein;8;;z@example.com\r\n"
    ).encode("cp1252")
    previewed = await preview(project, body)
    assert (previewed["charset"], previewed["charsetFrom"]) == ("windows-1252", "DETECTED")
    assert (previewed["delimiter"], previewed["delimiterFrom"], previewed["headerLine"]) == (";", "DECLARED", 2)
    assert [column.pop("type") for column in previewed["columns"]] == ["string", None, None, None, None, "string"]
    assert previewed["columns"] == [
        {
            "number": 1,
            "name": "Kunde",
            "target": "attributes.Kunde",
            "decidedBy": "ATTRIBUTE",
            "samples": ["Müller; Jürgen", "Zoé"],
        },
        {
            "number": 2,
            "name": "E-Mail",
            "target": "email",
            "decidedBy": "SYNONYM",
            "samples": ["j@example.com", "nonsense"],
        },
        {
            "number": 3,
            "name": "Abgemeldet",
            "target": "unsubscribed",
            "decidedBy": "SYNONYM",
            "samples": ["ja", "nein"],
        },
        {"number": 4, "name": "id", "target": None, "decidedBy": "IGNORED", "samples": ["7", "8"]},
        {"number": 5, "name": "", "target": None, "decidedBy": "IGNORED", "samples": []},
        {
            "number": 6,
            "name": "Mail",
            "target": "attributes.Mail",
            "decidedBy": "ATTRIBUTE",
            "samples": ["z@example.com"],
        },
    ]
    first, second = previewed["rows"]
    assert first == {
        "line": 3,
        "email": "j@example.com",
        "unsubscribed": True,
        "attributes": {"Kunde": "Müller; Jürgen"},
        "error": None,
    }
    assert (second["line"], second["email"], second["attributes"]) == (4, None, None)
    assert "address" in second["error"]
    problems = [(notice["code"], notice["column"], notice["blocking"]) for notice in previewed["problems"]]
    assert problems == [("column_not_used", 6, False), ("charset_guessed", None, False)]
    assert (await project.client.get("/contacts")).json()["total"] == 0
    assert (await project.client.get("/contacts/imports")).json() == []


async def test_the_preview_lists_declared_types_that_no_column_has(project: Any) -> None:
    body = b"email,zip,Stadt\nada@example.com,01234,Berlin\n"

    async def notices(body: bytes, types: dict[str, str], **params: str) -> list[dict[str, Any]]:
        previewed = await preview(project, body, attributeTypes=json.dumps(types), **params)
        assert previewed["importable"]
        return previewed["problems"]

    (notice,) = await notices(body, {"zpi": "string", "zip": "string"})
    assert (notice["code"], notice["column"], notice["blocking"]) == ("type_not_used", None, False)
    assert "`zpi`" in notice["message"]
    assert "`zip`, `Stadt`" in notice["next"]
    (notice,) = await notices(body, {"zip": "string"}, columns='{"zip": "attributes.postcode"}')
    assert "`zip`" in notice["message"], "the column fills another attribute"
    assert await notices(body, {"postcode": "string"}, columns='{"zip": "attributes.postcode"}') == []
    with_json = b'email,attributes\nada@example.com,"{""zpi"": 1}"\n'
    assert await notices(with_json, {"zpi": "number"}) == []


async def test_the_preview_shows_the_types_that_an_import_uses(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    declared = await project.client.post("/contact-attributes", {"name": "zip", "type": "string"})
    assert declared.status_code == 201
    rows = "".join(f"u{number}@example.com,0{number},{number},{number},true,\n" for number in range(30))
    body = f"email,zip,seats,code,vip,empty\n{rows}late@example.com,1,2,A-3,false,\n".encode()
    types = json.dumps({"vip": "string"})
    previewed = await preview(project, body, attributeTypes=types)
    assert [column["type"] for column in previewed["columns"]] == [None, "string", "number", "string", "string", None]
    assert previewed["rows"][7]["attributes"] == {"zip": "07", "seats": 7, "code": "7", "vip": "true"}
    await import_file(project, run_due_work, body, attributeTypes=types)
    attributes = (await project.client.get("/contact-attributes")).json()
    assert {attribute["name"]: (attribute["type"], attribute["inferred"]) for attribute in attributes} == {
        "zip": ("string", False),
        "seats": ("number", True),
        "code": ("string", True),
        "vip": ("string", False),
    }
    refused = await project.client.post(
        "/contacts/import/preview", content=body, params={"attributeTypes": '{"zip": "number"}'}, headers=CONTENT_TYPE
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "contact_attribute_declared")


async def test_the_preview_shows_the_first_twenty_rows(project: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = "email\n" + "".join(f"u{number}@example.com\n" for number in range(50_000))
    previewed = await preview(project, body.encode())
    assert [row["email"] for row in previewed["rows"]] == [f"u{number}@example.com" for number in range(20)]


@pytest.mark.parametrize(
    ("body", "code", "column", "words"),
    [
        ("Kontakt;Ort\nx@example.com;Rom\n", "email_column_missing", None, '`columns={"Kontakt":"email"}`'),
        ("a@example.com,b@example.com\n", "email_column_missing", None, "Add a header line"),
        ("email,plan,plan\n", "column_repeated", 3, "Rename"),
        ("email,plan,attributes.plan\n", "column_repeated", 3, "exclude one"),
        ("E-Mail,email,EMAIL\n", "column_repeated", 3, "exclude one"),
        (f"email,{'x' * 101}\n", "column_invalid", 2, None),
        (
            "email," + ",".join(f"a{number}" for number in range(501)) + "\n",
            "too_many_columns",
            None,
            "Exclude columns",
        ),
    ],
)
async def test_blocking_problems_are_shown_with_the_next_step(
    project: Any, body: str, code: str, column: int | None, words: str | None
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    previewed = await preview(project, body.encode())
    assert previewed["importable"] is False
    assert previewed["rows"] == []
    problem = next(notice for notice in previewed["problems"] if notice["blocking"])
    assert (problem["code"], problem["column"]) == (code, column)
    assert words in problem["next"] if words else problem["next"] is None
    refused = await project.client.post("/contacts/import", content=body.encode(), headers=CONTENT_TYPE)
    assert (refused.status_code, refused.json()["code"]) == (400, "import_file_invalid")
    assert refused.json()["detail"] == problem["message"]
    assert refused.json().get("next") == problem["next"]
    assert refused.json()["errors"][0]["code"] == code
    assert refused.json()["errors"][0]["path"] == (f"column/{column}" if column else "")
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize("rows", [2, 20_000], ids=["short", "long"])
async def test_files_with_only_carriage_returns_are_refused(project: Any, rows: int) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = b"email,name\r" + b"ada@example.com,Ada\r" * rows
    for path in ("/contacts/import", "/contacts/import/preview"):
        refused = await project.client.post(path, content=body, headers=CONTENT_TYPE)
        assert (refused.status_code, refused.json()["code"]) == (400, "import_file_invalid")
        assert "carriage return" in refused.json()["detail"]
        assert "UTF-8" in refused.json()["next"]


async def test_invalid_addresses_are_reported_by_line(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    finished = await import_file(project, run_due_work, b"email\nmailto:ada@example.com\n")
    (error,) = finished["errors"]
    assert (error["line"], error["message"].partition(":")[0]) == (2, "This is not an e-mail address")
    assert "ada" not in error["message"], "stored errors must not contain the address"


async def test_the_caller_can_map_columns(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = 'Kontakt,email,Vorname,Notiz,Will Post,Mehr\na@example.com,alt,Ada,geheim,nein,"{""x"":1}"\n'
    mapping = {
        "Kontakt": "email",
        "vorname": "attributes.firstName",
        "Notiz": None,
        "Will Post": "subscribed",
        "Mehr": "attributes",
    }
    finished = await import_file(project, run_due_work, body.encode(), columns=json.dumps(mapping))
    assert [(column["target"], column["decidedBy"]) for column in finished["columns"]] == [
        ("email", "DECLARED"),
        ("attributes.email", "ATTRIBUTE"),
        ("attributes.firstName", "DECLARED"),
        (None, "DECLARED"),
        ("subscribed", "DECLARED"),
        ("attributes", "DECLARED"),
    ]
    contact = (await by_email(project))["a@example.com"]
    assert contact["attributes"] == {"email": "alt", "firstName": "Ada", "x": 1}
    assert contact["unsubscribed"] is True


async def test_a_column_that_may_mean_subscribed_gives_a_notice(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = b"email,Subscribed\nin@example.com,yes\nout@example.com,no\nopen@example.com,\n"
    previewed = await preview(project, body)
    assert [notice["code"] for notice in previewed["problems"]] == ["subscribed_not_used"]
    assert previewed["problems"][0]["next"].endswith('`columns={"Subscribed":"subscribed"}`.')
    await import_file(project, run_due_work, body, columns='{"Subscribed":"subscribed"}')
    assert {email: contact["unsubscribed"] for email, contact in (await by_email(project)).items()} == {
        "in@example.com": False,
        "out@example.com": True,
        "open@example.com": False,
    }


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("email", "JSON object"),
        ('["email"]', "JSON object"),
        ('{"a": 1}', "JSON object"),
        ('{"a": "plan"}', "`attributes.name`"),
        ('{"a": "attributes."}', "1 to 100 characters"),
        ('{"a": "attributes.x\\u0000"}', "1 to 100 characters"),
        ('{"a": "\\ud800"}', "JSON object"),
        ('{"none": "email"}', "no column `none`; it has `email`, `a`"),
        ("[" * 2_500, "JSON object"),
    ],
)
@pytest.mark.parametrize("path", ["/contacts/import", "/contacts/import/preview"])
async def test_an_invalid_mapping_is_refused(project: Any, path: str, columns: str, words: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    response = await project.client.post(
        path, content=b"email,a\nx@example.com,1\n", params={"columns": columns}, headers=CONTENT_TYPE
    )
    assert response.status_code == 400, response.text
    assert response.json()["errors"][0]["path"] == "query/columns"
    assert words in response.json()["detail"]
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize(
    "charset", ["utf-7", "zip", "idna", "unicode_escape", "rot13", "iso-2022-jp", "nonsense", "", "x" * 100]
)
async def test_an_unknown_encoding_is_refused(project: Any, charset: str) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = b"email\nx@example.com\n"
    for path in ("/contacts/import", "/contacts/import/preview"):
        by_query = await project.client.post(path, content=body, params={"charset": charset}, headers=CONTENT_TYPE)
        by_header = await project.client.post(
            path, content=body, headers={"content-type": f'text/csv; charset="{charset}"'}
        )
        for response, path_of_fault in ((by_query, "query/charset"), (by_header, "header/Content-Type")):
            assert response.status_code == 400, response.text
            fault = response.json()["errors"][0]
            assert (fault["path"], fault["code"]) == (path_of_fault, "charset_unknown")
            assert "windows-1252" in fault["message"]
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize(
    ("body", "charset", "path_of_fault", "words"),
    [
        ("email,Straße\n".encode("cp1252"), "utf-8", "byte/10", "byte 0xDF at offset 10"),
        ("sep=;\nemail;Straße\n".encode("cp1252"), "utf-8", "byte/16", "byte 0xDF at offset 16"),
        ("email,メール\n".encode("cp932"), "euc-kr", "byte/8", "not euc-kr"),
        (b"email,\x81\n", "windows-1252", "byte/6", "byte 0x81"),
        ("email,\ud800\n".encode("utf-16-le", "surrogatepass"), "utf-16", "byte/12", "not utf-16le"),
    ],
)
async def test_a_header_that_is_not_in_the_declared_encoding_is_refused(
    project: Any, body: bytes, charset: str, path_of_fault: str, words: str
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    for path in ("/contacts/import", "/contacts/import/preview"):
        response = await project.client.post(path, content=body, params={"charset": charset}, headers=CONTENT_TYPE)
        assert (response.status_code, response.json()["code"]) == (400, "import_file_invalid"), response.text
        assert response.json()["errors"][0]["path"] == path_of_fault
        assert words in response.json()["detail"]
        assert "charset=" in response.json()["next"]


async def test_rows_that_are_not_in_the_encoding_fail_alone(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = b"email,a\nx@example.com,\x81\ny@example.com,\xe9\nz@example.com,a\0b\n"
    finished = await import_file(project, run_due_work, body, charset="windows-1252")
    assert counts(finished) == {"created": 1, "failed": 2}
    assert "byte 0x81 at offset 14" in finished["errors"][0]["message"]
    assert "NUL" in finished["errors"][1]["message"]


async def test_damaged_lines_of_a_utf16_file_fail_alone(project: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    text = "email\ta\na@example.com\t\u0a0d\u0d0a\nb@example.com\t\ud800\nc@example.com\t𠮷\nd@example.com\tx"
    body = codecs.BOM_UTF16_LE + text.encode("utf-16-le", "surrogatepass") + b"y"
    finished = await import_file(project, run_due_work, body)
    assert counts(finished) == {"created": 2, "failed": 2}
    assert [error["line"] for error in finished["errors"]] == [3, 5]
    contacts = await by_email(project)
    assert contacts["a@example.com"]["attributes"] == {"a": "\u0a0d\u0d0a"}
    assert contacts["c@example.com"]["attributes"] == {"a": "𠮷"}


async def test_utf16_without_a_byte_order_mark_is_refused_with_the_next_step(project: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    for codec in ("utf-16-le", "utf-16-be"):
        response = await project.client.post(
            "/contacts/import/preview", content="email,a\nx@example.com,1\n".encode(codec), headers=CONTENT_TYPE
        )
        assert (response.status_code, response.json()["code"]) == (400, "import_file_invalid")
        assert "charset=utf-16le" in response.json()["next"]


async def test_a_doubtful_encoding_gives_a_notice(project: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    previewed = await preview(project, GERMAN.encode(), charset="latin1")
    assert [notice["code"] for notice in previewed["problems"]] == ["charset_doubtful"]
    assert "KÃ¶ln" in previewed["rows"][0]["attributes"].values()


async def test_an_import_of_utf16_takes_several_batches_and_claims(
    project: Any, run_due_work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    monkeypatch.setattr(work, "IMPORT_BATCH", 7)
    monkeypatch.setattr(work, "BATCHES_PER_CLAIM", 2)
    rows = "".join(f'u{number}@example.com\t"𠮷\r\n{number}"\r\n' for number in range(60))
    body = utf16("sep=\t\r\nメール\ttext\r\n" + rows + "nonsense\t\r\n", "utf-16-be")
    finished = await import_file(project, run_due_work, body)
    assert counts(finished) == {"created": 60, "failed": 1}
    assert [error["line"] for error in finished["errors"]] == [123]


async def test_an_upload_of_the_previous_release_is_imported(project: Any, world: Any, run_due_work: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    uploaded = await project.client.post(
        "/contacts/import", content=b"email;a\nx@example.com;1\n", headers=CONTENT_TYPE
    )
    async with world.db.connection() as connection:
        query = (
            "update contact_imports set charset = null, charset_from = null, delimiter = null, columns = '[]', "
            "position = 0, line = 1 where project_id = %s"
        )
        await connection.execute(query, (UUID(project.id),))
    await run_due_work()
    finished = (await project.client.get(f"/contacts/imports/{uploaded.json()['id']}")).json()
    assert (finished["status"], counts(finished)) == ("COMPLETED", {"created": 1})


async def test_a_preview_needs_permission(project: Any, new_project: Any, stranger: Any) -> None:
    """Regression test of C10 (tests/defects.md)."""
    body = b"email\nx@example.com\n"
    path = "/contacts/import/preview"
    reader = await project.key("contacts:read")
    refused = await reader.post(path, content=body, headers=CONTENT_TYPE)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")
    writer = await project.key("contacts:write")
    assert (await writer.post(path, content=body, headers=CONTENT_TYPE)).status_code == 200
    other_project = await new_project()
    from_other_project = await other_project.client.post(
        f"http://postern.test/projects/{project.id}{path}", content=body, headers=CONTENT_TYPE
    )
    assert from_other_project.status_code in (401, 403, 404), from_other_project.text
    anonymous = await stranger.post(
        f"http://postern.test/projects/{project.id}{path}", content=body, headers=CONTENT_TYPE
    )
    assert anonymous.status_code == 401
    multipart = await project.client.post(path, content=body, headers={"content-type": "multipart/form-data"})
    assert multipart.status_code == 415


async def test_concurrent_previews_are_limited_by_project(project: Any, new_project: Any) -> None:
    path, started, may_finish = "/contacts/import/preview", asyncio.Semaphore(0), asyncio.Event()

    async def slow_file() -> AsyncIterator[bytes]:
        yield b"email\n"
        started.release()
        await may_finish.wait()
        yield b"x@example.com\n"

    def start_preview(client: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(client.post(path, content=slow_file(), headers=CONTENT_TYPE))

    running_previews = [start_preview(project.client) for _ in range(MAX_CONCURRENT_PREVIEWS)]
    for _ in running_previews:
        await started.acquire()
    refused = await project.client.post(path, content=b"email\n", headers=CONTENT_TYPE)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_previews")
    assert refused.headers["retry-after"] == "2"
    other_project = await new_project()
    assert (await other_project.client.post(path, content=b"email\n", headers=CONTENT_TYPE)).status_code == 200
    may_finish.set()
    assert [response.status_code for response in await asyncio.gather(*running_previews)] == [
        200
    ] * MAX_CONCURRENT_PREVIEWS
    assert (await project.client.post(path, content=b"email\n", headers=CONTENT_TYPE)).status_code == 200


@pytest.mark.parametrize("body", [b"", b"\n", b"PK\x03\x04x", b"email," + b"x" * 200_000, b"sep=;", b"email,\0\n"])
async def test_a_preview_of_a_file_that_is_no_csv_is_refused(project: Any, body: bytes) -> None:
    """Regression test of C10 (tests/defects.md)."""
    response = await project.client.post("/contacts/import/preview", content=body, headers=CONTENT_TYPE)
    assert (response.status_code, response.json()["code"]) == (400, "import_file_invalid")


# Parsing, without the server ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("charset", CODECS)
def test_a_line_feed_is_the_same_byte_in_every_encoding(charset: str) -> None:
    """Files are split into lines before they are decoded.

    Regression test of C10 (tests/defects.md).
    """
    if charset.startswith("utf-16"):
        return
    codec = CODECS[charset]
    assert "\n".encode(codec) == b"\n"
    for first_byte in range(0x80, 0x100):
        for following_bytes in (b"\n", b"0\n", b"\x81\n", b"\x81\x30\n"):
            try:
                text = (bytes([first_byte]) + following_bytes).decode(codec)
            except UnicodeDecodeError:
                continue
            assert text.endswith("\n"), (charset, first_byte, following_bytes)


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(texts, texts), max_size=8),
    st.sampled_from(["utf-16-le", "utf-16-be"]),
    st.integers(1, 9),
    st.booleans(),
)
def test_utf16_is_parsed_the_same_for_any_chunks(
    rows: list[Any], codec: str, size: int, has_separator_line: bool
) -> None:
    """Regression test of C10 (tests/defects.md)."""
    quoted = "".join("\t".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in rows)
    data = utf16(("sep=\t\r\n" if has_separator_line else "") + "email\ta\r\n" + quoted, codec)
    header = csv_reader.read_header(data)
    chunks = [data[start : start + size] for start in range(header.length, len(data), size)]
    lines = csv_reader.split_lines(chunks, header.charset)
    records = list(csv_reader.read_records(header.layout, lines, number=header.line + 1, position=header.length))
    assert [tuple(record.cells or ()) for record in records] == rows
    assert not records or records[-1].next_position == len(data)
    for record in records[:-1]:  # Parsing can begin at the end of any record.
        rest = csv_reader.split_lines([data[record.next_position :]], header.charset)
        next_record = next(
            csv_reader.read_records(header.layout, rest, number=record.next_line, position=record.next_position)
        )
        assert next_record == records[records.index(record) + 1] or tuple(next_record.cells or ()) in rows


@settings(max_examples=300)
@given(st.binary(max_size=200), st.sampled_from([None, *CODECS]), st.booleans())
def test_no_bytes_crash_the_header_parser(data: bytes, declared: str | None, is_utf8: bool) -> None:
    """Regression test of C10 (tests/defects.md)."""
    for start in (data, b"email," + data, b"sep=;\n" + data):
        try:
            header = csv_reader.read_header(start, declared=declared, is_utf8=is_utf8)
            header.check()
        except ImportFileInvalid:
            continue
        assert 0 < header.length <= len(start)
        layout = header.layout
        position = header.length
        lines = csv_reader.split_lines([start[position:]], layout.charset)
        for record in csv_reader.read_records(layout, lines, number=header.line + 1, position=position):
            assert record.next_position > position
            position = record.next_position
        assert position <= len(start)


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_utf8_detection_is_the_same_for_any_chunks(data: bytes, size: int) -> None:
    """Regression test of C10 (tests/defects.md)."""
    detector_of_file, detector_of_chunks = Utf8Detector(1_000), Utf8Detector(1_000)
    detector_of_file.feed(data)
    detector_of_file.end()
    for start in range(0, len(data), size):
        detector_of_chunks.feed(data[start : start + size])
    detector_of_chunks.end()
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    valid = sum(_is_utf8(line) for line in lines)
    if valid == len(lines):
        assert detector_of_file.is_utf8
        assert detector_of_chunks.is_utf8
    elif valid == 0:
        assert not detector_of_file.is_utf8
        assert not detector_of_chunks.is_utf8


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
