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
from postern.messaging.audiences.model import PREVIEWS_AT_ONCE, ImportFileInvalid
from tests.messaging.audiences.test_import import by_email, counts

TEXT = {"content-type": "text/csv"}


async def preview(project: Any, body: bytes, headers: dict[str, str] | None = None, **params: str) -> Any:
    answer = await project.client.post("/contacts/import/preview", content=body, params=params, headers=headers or TEXT)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def import_file(
    project: Any, work_off: Any, body: bytes, headers: dict[str, str] | None = None, **params: str
) -> Any:
    """Import a file, and check that the result equals its preview."""
    shown = await preview(project, body, headers, **params)
    assert shown["importable"], shown["problems"]
    up = await project.client.post("/contacts/import", content=body, params=params, headers=headers or TEXT)
    assert up.status_code == 201, up.text
    await work_off()
    done = (await project.client.get(f"/contacts/imports/{up.json()['id']}")).json()
    assert done["status"] == "COMPLETED", done
    assert done["position"] == done["bytes"] == len(body)
    for name in ("charset", "charsetFrom", "delimiter"):
        assert done[name] == shown[name]
    assert done["columns"] == [
        {name: value for name, value in column.items() if name not in ("samples", "type")}
        for column in shown["columns"]
    ]
    found = await by_email(project)
    for row in shown["rows"]:
        if row["error"] is None and done["rows"] <= 100:  # `by_email` reads one page.
            assert found[row["email"]]["attributes"].items() >= row["attributes"].items()
            assert found[row["email"]]["unsubscribed"] >= row["unsubscribed"]
    failed = [(row["line"], row["error"]) for row in shown["rows"] if row["error"]]
    listed = [(error["line"], error["message"]) for error in done["errors"]]
    assert listed[: len(failed)] == failed
    return done


GERMAN = "E-Mail;Straße;Ort\r\nä@example.com;Große Straße 1;Köln\r\nb@example.com;Äußere Gasse „7“;München €\r\n"
WANTED = {
    "ä@example.com": {"Straße": "Große Straße 1", "Ort": "Köln"},
    "b@example.com": {"Straße": "Äußere Gasse „7“", "Ort": "München €"},
}


def utf16(text: str, codec: str) -> bytes:
    return (codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE) + text.encode(codec)


@pytest.mark.parametrize(
    ("body", "declared", "charset", "found"),
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
    project: Any, work_off: Any, body: bytes, declared: str | None, charset: str, found: str
) -> None:
    """Defects: C10"""
    media_type = {"content-type": "text/csv" if declared is None else f'text/csv; charset="{declared}"'}
    done = await import_file(project, work_off, body, media_type)
    assert (done["charset"], done["charsetFrom"]) == (charset, found)
    assert counts(done) == {"created": 2}
    assert {email: each["attributes"] for email, each in (await by_email(project)).items()} == WANTED


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
async def test_an_encoding_in_the_query_is_used(project: Any, work_off: Any, charset: str, text: str) -> None:
    """Defects: C10"""
    name = charset_named(charset)
    assert name
    done = await import_file(project, work_off, text.encode(CODECS[name]), charset=charset)
    assert (done["charset"], done["charsetFrom"]) == (name, "DECLARED")
    wanted = text.splitlines()[1].partition(",")[2]
    assert (await by_email(project))["a@example.com"]["attributes"] == {"name": wanted}


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
    project: Any, work_off: Any, codec: str, charset: str, text: str
) -> None:
    """Defects: C10"""
    done = await import_file(project, work_off, text.encode(codec))
    assert (done["charset"], done["charsetFrom"], counts(done)) == (charset, "DETECTED", {"created": 1})
    (contact,) = (await by_email(project)).values()
    assert list(contact["attributes"].values()) == [text.splitlines()[1].replace(";", ",").partition(",")[2]]


async def test_one_character_at_the_end_of_a_large_file_reveals_its_encoding(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    rows = [f"u{number}@example.com;{'x' * 1_000}" for number in range(1_200)]
    body = "\r\n".join(["email;note", *rows, "last@example.com;Zoé"]).encode("cp1252")
    assert len(body) > 1_048_576
    done = await import_file(project, work_off, body)
    assert (done["charset"], counts(done)) == ("windows-1252", {"created": 1_201})
    found = (await project.client.get("/contacts?q=last@example.com")).json()["data"]
    assert found[0]["attributes"] == {"note": "Zoé"}


async def test_a_damaged_line_of_a_utf8_file_fails_alone(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    body = "email,name\na@example.com,Zoé\nb@example.com,Renée\n".encode() + b"c@example.com,Zo\xe9\n"
    done = await import_file(project, work_off, body)
    assert (done["charset"], counts(done)) == ("utf-8", {"created": 2, "failed": 1})
    message = "The line is not utf-8: byte 0xE9 at offset 16 of the line."
    assert done["errors"] == [{"line": 4, "message": message}]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
async def test_a_separator_line_is_honoured(project: Any, work_off: Any, separator: str, codec: str) -> None:
    """Defects: C10"""
    lines = [f"sep={separator}", "email;note,x".replace(";", separator), f'a@example.com{separator}"one, two; three"']
    if separator == ",":
        lines[1] = "email,note"
    body = "\r\n".join([*lines, ""]).encode(codec)
    done = await import_file(project, work_off, body)
    assert (done["delimiter"], counts(done)) == (separator, {"created": 1})
    name = "note" if separator == "," else "note,x"
    assert (await by_email(project))["a@example.com"]["attributes"] == {name: "one, two; three"}
    shown = await preview(project, body)
    assert (shown["headerLine"], shown["delimiterFrom"], shown["rows"][0]["line"]) == (2, "DECLARED", 3)


async def test_line_numbers_include_the_separator_line(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    done = await import_file(project, work_off, b"SEP=;\nemail;a\nnonsense;1\nb@example.com;2\n")
    assert [error["line"] for error in done["errors"]] == [3]


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
async def test_headers_in_other_languages_are_mapped(project: Any, work_off: Any, language: str) -> None:
    """Defects: C10"""
    names = HEADERS[language].split(",")
    body = f"{HEADERS[language]}\nin@example.com,Ada,{NO[language]}\nout@example.com,Bo,{YES[language]}\n"
    done = await import_file(project, work_off, body.encode())
    assert [(each["target"], each["decidedBy"]) for each in done["columns"]] == [
        ("email", "SYNONYM"),
        (f"attributes.{names[1]}", "ATTRIBUTE"),
        ("unsubscribed", "SYNONYM"),
    ]
    assert counts(done) == {"created": 2}, done["errors"]
    found = await by_email(project)
    assert {email: each["unsubscribed"] for email, each in found.items()} == {
        "in@example.com": False,
        "out@example.com": True,
    }
    assert found["in@example.com"]["attributes"] == {names[1]: "Ada"}


@pytest.mark.parametrize(
    "name", ["EMAIL", "e_mail", " E.Mail ", "Ｅｍａｉｌ", "E-MAIL*", "Электронная  почта:", "courriel"]
)
async def test_column_names_ignore_case_width_and_punctuation(project: Any, name: str) -> None:
    """Defects: C10"""
    shown = await preview(project, f"{name},a\nx@example.com,1\n".encode())
    assert shown["columns"][0]["target"] == "email"
    assert shown["columns"][0]["name"] == name.strip()


def test_no_column_name_maps_to_two_fields() -> None:
    """Defects: C10"""
    lists = [csv_headers.EMAIL, csv_headers.UNSUBSCRIBED, csv_headers.SUBSCRIBED, csv_headers.COMMON]
    plain = [{csv_headers.plain_name(name) for name in names} for names in lists]
    for index, names in enumerate(plain):
        assert "" not in names
        assert all(len(name) <= csv_headers.NAME_LIMIT for name in lists[index])
        for others in plain[index + 1 :]:
            assert not names & others
    assert not {csv_headers.plain_name(word) for word in csv_headers.TRUE_WORDS} & {
        csv_headers.plain_name(word) for word in csv_headers.FALSE_WORDS
    }
    ours = {csv_headers.plain_name(name) for name in (*csv_reader.EXPORT_COLUMNS, "attributes")}
    assert not ours & set().union(*plain)


async def test_attributes_named_like_a_field_survive_export_and_import(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    attributes = {"Mail": "m", "-email": "x", "Abgemeldet": "gestern", "邮箱": "y", "subscribed": "2026-01-31"}
    made = await project.client.post("/contacts", {"email": "ada@example.com", "attributes": attributes})
    assert made.status_code == 201
    exported = await project.client.get("/contacts/export")
    deleted = await project.client.delete(f"/contacts/{made.json()['id']}")
    assert deleted.status_code == 200
    await import_file(project, work_off, exported.content)
    assert (await by_email(project))["ada@example.com"]["attributes"] == attributes


async def test_the_preview_shows_mapping_and_rows_and_stores_nothing(project: Any) -> None:
    """Defects: C10"""
    body = (
        "sep=;\r\nKunde;E-Mail;Abgemeldet;id;;Mail\r\n"
        '"Müller; Jürgen";j@example.com;ja;7;;\r\n'
        "Zoé;nonsense;nein;8;;z@example.com\r\n"
    ).encode("cp1252")
    shown = await preview(project, body)
    assert (shown["charset"], shown["charsetFrom"]) == ("windows-1252", "DETECTED")
    assert (shown["delimiter"], shown["delimiterFrom"], shown["headerLine"]) == (";", "DECLARED", 2)
    assert [each.pop("type") for each in shown["columns"]] == ["string", None, None, None, None, "string"]
    assert shown["columns"] == [
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
    first, second = shown["rows"]
    assert first == {
        "line": 3,
        "email": "j@example.com",
        "unsubscribed": True,
        "attributes": {"Kunde": "Müller; Jürgen"},
        "error": None,
    }
    assert (second["line"], second["email"], second["attributes"]) == (4, None, None)
    assert "address" in second["error"]
    problems = [(each["code"], each["column"], each["blocking"]) for each in shown["problems"]]
    assert problems == [("column_not_used", 6, False), ("charset_guessed", None, False)]
    assert (await project.client.get("/contacts")).json()["total"] == 0
    assert (await project.client.get("/contacts/imports")).json() == []


async def test_the_preview_shows_the_types_that_an_import_uses(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    declared = await project.client.post("/contact-attributes", {"name": "zip", "type": "string"})
    assert declared.status_code == 201
    rows = "".join(f"u{number}@example.com,0{number},{number},{number},true,\n" for number in range(30))
    body = f"email,zip,seats,code,vip,empty\n{rows}late@example.com,1,2,A-3,false,\n".encode()
    types = json.dumps({"vip": "string"})
    shown = await preview(project, body, attributeTypes=types)
    assert [each["type"] for each in shown["columns"]] == [None, "string", "number", "string", "string", None]
    assert shown["rows"][7]["attributes"] == {"zip": "07", "seats": 7, "code": "7", "vip": "true"}
    await import_file(project, work_off, body, attributeTypes=types)
    found = (await project.client.get("/contact-attributes")).json()
    assert {each["name"]: (each["type"], each["inferred"]) for each in found} == {
        "zip": ("string", False),
        "seats": ("number", True),
        "code": ("string", True),
        "vip": ("string", False),
    }
    refused = await project.client.post(
        "/contacts/import/preview", content=body, params={"attributeTypes": '{"zip": "number"}'}, headers=TEXT
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "contact_attribute_declared")


async def test_the_preview_shows_the_first_twenty_rows(project: Any) -> None:
    """Defects: C10"""
    body = "email\n" + "".join(f"u{number}@example.com\n" for number in range(50_000))
    shown = await preview(project, body.encode())
    assert [row["email"] for row in shown["rows"]] == [f"u{number}@example.com" for number in range(20)]


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
    """Defects: C10"""
    shown = await preview(project, body.encode())
    assert shown["importable"] is False
    assert shown["rows"] == []
    problem = next(each for each in shown["problems"] if each["blocking"])
    assert (problem["code"], problem["column"]) == (code, column)
    assert words in problem["next"] if words else problem["next"] is None
    refused = await project.client.post("/contacts/import", content=body.encode(), headers=TEXT)
    assert (refused.status_code, refused.json()["code"]) == (400, "import_file_invalid")
    assert refused.json()["detail"] == problem["message"]
    assert refused.json().get("next") == problem["next"]
    assert refused.json()["errors"][0]["code"] == code
    assert refused.json()["errors"][0]["path"] == (f"column/{column}" if column else "")
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize("rows", [2, 20_000], ids=["short", "long"])
async def test_files_with_only_carriage_returns_are_refused(project: Any, rows: int) -> None:
    """Defects: C10"""
    body = b"email,name\r" + b"ada@example.com,Ada\r" * rows
    for path in ("/contacts/import", "/contacts/import/preview"):
        refused = await project.client.post(path, content=body, headers=TEXT)
        assert (refused.status_code, refused.json()["code"]) == (400, "import_file_invalid")
        assert "carriage return" in refused.json()["detail"]
        assert "UTF-8" in refused.json()["next"]


async def test_invalid_addresses_are_reported_by_line(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    done = await import_file(project, work_off, b"email\nmailto:ada@example.com\n")
    (error,) = done["errors"]
    assert (error["line"], error["message"].partition(":")[0]) == (2, "This is not an e-mail address")
    assert "ada" not in error["message"], "what is kept of an import holds nobody's address"


async def test_the_caller_can_map_columns(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    body = 'Kontakt,email,Vorname,Notiz,Will Post,Mehr\na@example.com,alt,Ada,geheim,nein,"{""x"":1}"\n'
    mapping = {
        "Kontakt": "email",
        "vorname": "attributes.firstName",
        "Notiz": None,
        "Will Post": "subscribed",
        "Mehr": "attributes",
    }
    done = await import_file(project, work_off, body.encode(), columns=json.dumps(mapping))
    assert [(each["target"], each["decidedBy"]) for each in done["columns"]] == [
        ("email", "DECLARED"),
        ("attributes.email", "ATTRIBUTE"),
        ("attributes.firstName", "DECLARED"),
        (None, "DECLARED"),
        ("subscribed", "DECLARED"),
        ("attributes", "DECLARED"),
    ]
    found = (await by_email(project))["a@example.com"]
    assert found["attributes"] == {"email": "alt", "firstName": "Ada", "x": 1}
    assert found["unsubscribed"] is True


async def test_a_column_that_may_mean_subscribed_gives_a_notice(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    body = b"email,Subscribed\nin@example.com,yes\nout@example.com,no\nopen@example.com,\n"
    shown = await preview(project, body)
    assert [each["code"] for each in shown["problems"]] == ["subscribed_not_used"]
    assert shown["problems"][0]["next"].endswith('`columns={"Subscribed":"subscribed"}`.')
    await import_file(project, work_off, body, columns='{"Subscribed":"subscribed"}')
    assert {email: each["unsubscribed"] for email, each in (await by_email(project)).items()} == {
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
    """Defects: C10"""
    answer = await project.client.post(
        path, content=b"email,a\nx@example.com,1\n", params={"columns": columns}, headers=TEXT
    )
    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"][0]["path"] == "query/columns"
    assert words in answer.json()["detail"]
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize(
    "charset", ["utf-7", "zip", "idna", "unicode_escape", "rot13", "iso-2022-jp", "nonsense", "", "x" * 100]
)
async def test_an_unknown_encoding_is_refused(project: Any, charset: str) -> None:
    """Defects: C10"""
    body = b"email\nx@example.com\n"
    for path in ("/contacts/import", "/contacts/import/preview"):
        by_query = await project.client.post(path, content=body, params={"charset": charset}, headers=TEXT)
        by_header = await project.client.post(
            path, content=body, headers={"content-type": f'text/csv; charset="{charset}"'}
        )
        for answer, place in ((by_query, "query/charset"), (by_header, "header/Content-Type")):
            assert answer.status_code == 400, answer.text
            fault = answer.json()["errors"][0]
            assert (fault["path"], fault["code"]) == (place, "charset_unknown")
            assert "windows-1252" in fault["message"]
    assert (await project.client.get("/contacts/imports")).json() == []


@pytest.mark.parametrize(
    ("body", "charset", "place", "words"),
    [
        ("email,Straße\n".encode("cp1252"), "utf-8", "byte/10", "byte 0xDF at offset 10"),
        ("sep=;\nemail;Straße\n".encode("cp1252"), "utf-8", "byte/16", "byte 0xDF at offset 16"),
        ("email,メール\n".encode("cp932"), "euc-kr", "byte/8", "not euc-kr"),
        (b"email,\x81\n", "windows-1252", "byte/6", "byte 0x81"),
        ("email,\ud800\n".encode("utf-16-le", "surrogatepass"), "utf-16", "byte/12", "not utf-16le"),
    ],
)
async def test_a_header_that_is_not_in_the_declared_encoding_is_refused(
    project: Any, body: bytes, charset: str, place: str, words: str
) -> None:
    """Defects: C10"""
    for path in ("/contacts/import", "/contacts/import/preview"):
        answer = await project.client.post(path, content=body, params={"charset": charset}, headers=TEXT)
        assert (answer.status_code, answer.json()["code"]) == (400, "import_file_invalid"), answer.text
        assert answer.json()["errors"][0]["path"] == place
        assert words in answer.json()["detail"]
        assert "charset=" in answer.json()["next"]


async def test_rows_that_are_not_in_the_encoding_fail_alone(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    body = b"email,a\nx@example.com,\x81\ny@example.com,\xe9\nz@example.com,a\0b\n"
    done = await import_file(project, work_off, body, charset="windows-1252")
    assert counts(done) == {"created": 1, "failed": 2}
    assert "byte 0x81 at offset 14" in done["errors"][0]["message"]
    assert "NUL" in done["errors"][1]["message"]


async def test_damaged_lines_of_a_utf16_file_fail_alone(project: Any, work_off: Any) -> None:
    """Defects: C10"""
    text = "email\ta\na@example.com\t\u0a0d\u0d0a\nb@example.com\t\ud800\nc@example.com\t𠮷\nd@example.com\tx"
    body = codecs.BOM_UTF16_LE + text.encode("utf-16-le", "surrogatepass") + b"y"
    done = await import_file(project, work_off, body)
    assert counts(done) == {"created": 2, "failed": 2}
    assert [error["line"] for error in done["errors"]] == [3, 5]
    found = await by_email(project)
    assert found["a@example.com"]["attributes"] == {"a": "\u0a0d\u0d0a"}
    assert found["c@example.com"]["attributes"] == {"a": "𠮷"}


async def test_utf16_without_a_byte_order_mark_is_refused_with_the_next_step(project: Any) -> None:
    """Defects: C10"""
    for codec in ("utf-16-le", "utf-16-be"):
        answer = await project.client.post(
            "/contacts/import/preview", content="email,a\nx@example.com,1\n".encode(codec), headers=TEXT
        )
        assert (answer.status_code, answer.json()["code"]) == (400, "import_file_invalid")
        assert "charset=utf-16le" in answer.json()["next"]


async def test_a_doubtful_encoding_gives_a_notice(project: Any) -> None:
    """Defects: C10"""
    shown = await preview(project, GERMAN.encode(), charset="latin1")
    assert [each["code"] for each in shown["problems"]] == ["charset_doubtful"]
    assert "KÃ¶ln" in shown["rows"][0]["attributes"].values()


async def test_a_killed_import_of_utf16_continues_at_its_position(
    project: Any, work_off: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Defects: C10"""
    monkeypatch.setattr(work, "IMPORT_BATCH", 7)
    monkeypatch.setattr(work, "BATCHES_PER_CLAIM", 2)
    rows = "".join(f'u{number}@example.com\t"𠮷\r\n{number}"\r\n' for number in range(60))
    body = utf16("sep=\t\r\nメール\ttext\r\n" + rows + "nonsense\t\r\n", "utf-16-be")
    done = await import_file(project, work_off, body)
    assert counts(done) == {"created": 60, "failed": 1}
    assert [error["line"] for error in done["errors"]] == [123]


async def test_an_upload_of_the_previous_release_is_imported(project: Any, world: Any, work_off: Any) -> None:
    """Defects: C10"""
    up = await project.client.post("/contacts/import", content=b"email;a\nx@example.com;1\n", headers=TEXT)
    async with world.db.connection() as connection:
        text = (
            "update contact_imports set charset = null, charset_from = null, delimiter = null, columns = '[]', "
            "position = 0, line = 1 where project_id = %s"
        )
        await connection.execute(text, (UUID(project.id),))
    await work_off()
    done = (await project.client.get(f"/contacts/imports/{up.json()['id']}")).json()
    assert (done["status"], counts(done)) == ("COMPLETED", {"created": 1})


async def test_a_preview_needs_permission(project: Any, new_project: Any, stranger: Any) -> None:
    """Defects: C10"""
    body = b"email\nx@example.com\n"
    path = "/contacts/import/preview"
    reader = await project.key("contacts:read")
    refused = await reader.post(path, content=body, headers=TEXT)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")
    writer = await project.key("contacts:write")
    assert (await writer.post(path, content=body, headers=TEXT)).status_code == 200
    theirs = await new_project()
    foreign = await theirs.client.post(f"http://postern.test/projects/{project.id}{path}", content=body, headers=TEXT)
    assert foreign.status_code in (401, 403, 404), foreign.text
    nobody = await stranger.post(f"http://postern.test/projects/{project.id}{path}", content=body, headers=TEXT)
    assert nobody.status_code == 401
    wrong = await project.client.post(path, content=body, headers={"content-type": "multipart/form-data"})
    assert wrong.status_code == 415


async def test_concurrent_previews_are_limited_by_project(project: Any, new_project: Any) -> None:
    path, begun, go_on = "/contacts/import/preview", asyncio.Semaphore(0), asyncio.Event()

    async def slow_file() -> AsyncIterator[bytes]:
        yield b"email\n"
        begun.release()
        await go_on.wait()
        yield b"x@example.com\n"

    def held(client: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(client.post(path, content=slow_file(), headers=TEXT))

    under_way = [held(project.client) for _ in range(PREVIEWS_AT_ONCE)]
    for _ in under_way:
        await begun.acquire()
    refused = await project.client.post(path, content=b"email\n", headers=TEXT)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_previews")
    assert refused.headers["retry-after"] == "2"
    theirs = await new_project()
    assert (await theirs.client.post(path, content=b"email\n", headers=TEXT)).status_code == 200
    go_on.set()
    assert [answer.status_code for answer in await asyncio.gather(*under_way)] == [200] * PREVIEWS_AT_ONCE
    assert (await project.client.post(path, content=b"email\n", headers=TEXT)).status_code == 200


@pytest.mark.parametrize("body", [b"", b"\n", b"PK\x03\x04x", b"email," + b"x" * 200_000, b"sep=;", b"email,\0\n"])
async def test_a_preview_of_a_file_that_is_no_csv_is_refused(project: Any, body: bytes) -> None:
    """Defects: C10"""
    answer = await project.client.post("/contacts/import/preview", content=body, headers=TEXT)
    assert (answer.status_code, answer.json()["code"]) == (400, "import_file_invalid")


# Reading, without the server ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("charset", CODECS)
def test_a_line_feed_is_the_same_byte_in_every_encoding(charset: str) -> None:
    """Files are split into lines before decoding.

    Defects: C10
    """
    if charset.startswith("utf-16"):
        return
    codec = CODECS[charset]
    assert "\n".encode(codec) == b"\n"
    for first in range(0x80, 0x100):
        for more in (b"\n", b"0\n", b"\x81\n", b"\x81\x30\n"):
            try:
                text = (bytes([first]) + more).decode(codec)
            except UnicodeDecodeError:
                continue
            assert text.endswith("\n"), (charset, first, more)


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(texts, texts), max_size=8),
    st.sampled_from(["utf-16-le", "utf-16-be"]),
    st.integers(1, 9),
    st.booleans(),
)
def test_utf16_is_parsed_the_same_for_any_chunks(rows: list[Any], codec: str, size: int, sep: bool) -> None:
    """Defects: C10"""
    quoted = "".join("\t".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in rows)
    data = utf16(("sep=\t\r\n" if sep else "") + "email\ta\r\n" + quoted, codec)
    header = csv_reader.read_header(data)
    pieces = [data[at : at + size] for at in range(header.length, len(data), size)]
    lines = csv_reader.split_lines(pieces, header.charset)
    read = list(csv_reader.read_lines(header.layout, lines, number=header.line + 1, position=header.length))
    assert [tuple(line.cells or ()) for line in read] == rows
    assert not read or read[-1].next_position == len(data)
    for line in read[:-1]:
        rest = csv_reader.split_lines([data[line.next_position :]], header.charset)
        following = next(csv_reader.read_lines(header.layout, rest, number=line.next_line, position=line.next_position))
        assert following == read[read.index(line) + 1] or tuple(following.cells or ()) in rows


@settings(max_examples=300)
@given(st.binary(max_size=200), st.sampled_from([None, *CODECS]), st.booleans())
def test_no_bytes_crash_the_header_parser(data: bytes, declared: str | None, utf8: bool) -> None:
    """Defects: C10"""
    for start in (data, b"email," + data, b"sep=;\n" + data):
        try:
            header = csv_reader.read_header(start, declared=declared, is_utf8=utf8)
            header.check()
        except ImportFileInvalid:
            continue
        assert 0 < header.length <= len(start)
        layout = header.layout
        position = header.length
        lines = csv_reader.split_lines([start[position:]], layout.charset)
        for line in csv_reader.read_lines(layout, lines, number=header.line + 1, position=position):
            assert line.next_position > position
            position = line.next_position
        assert position <= len(start)


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_utf8_detection_is_the_same_for_any_chunks(data: bytes, size: int) -> None:
    """Defects: C10"""
    whole, parts = Utf8Detector(1_000), Utf8Detector(1_000)
    whole.feed(data)
    whole.end()
    for at in range(0, len(data), size):
        parts.feed(data[at : at + size])
    parts.end()
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    valid = sum(_is_utf8(line) for line in lines)
    if valid == len(lines):
        assert whole.is_utf8
        assert parts.is_utf8
    elif valid == 0:
        assert not whole.is_utf8
        assert not parts.is_utf8


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
