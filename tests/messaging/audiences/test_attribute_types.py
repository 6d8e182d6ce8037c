"""Attribute types, and round trips of values through export and import."""

import asyncio
import csv
import io
import json
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.kernel.http.pagination import csv_stream, escape_formula, unescape_formula
from postern.messaging.audiences import attributes, contacts, csv_reader
from postern.messaging.audiences.csv_cells import KnownType, columns_of
from postern.messaging.audiences.imports import header_of
from postern.messaging.audiences.model import attribute_error
from tests.messaging.audiences.test_audiences import create_audience
from tests.messaging.audiences.test_contacts import create_contact
from tests.messaging.audiences.test_import import counts, import_csv

UNUSUAL_TEXTS = (
    *("12345", "01234", "+4912345", "-1", "1.0", "1e5", "1e400", "12345678901234567890", "0x10", "1,5", "½", "NaN"),
    *("true", "FALSE", "yes", "null", "None", "undefined", "{}", "[]", '["a"]', '{"a": 1}', "[", "{"),
    *("'", "''", "'=x", "''=x", "=x", "'tis", "@x", "'@x", "-x", "+x", "\tx", "'\tx", "\rx", "'\rx", "=", "'="),
    *(" ", "  x  ", "a\nb", "a\r\nb", "\n", "\r\n", "a\rb", '"', '""', 'say "hi"', "a,b;c\td|e", ",", ";"),
    *(
        "2026-01-31",
        "2026-02-30",
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00",
        "31.01.2026",
        "👩‍👩‍👧",
        "é",
        "é",
        "\u2028",
    ),
    *("\ufeff", "\x85", "\x1f", "\\", "\\n", "sep=;", "email", "#N/A", "=1+1", "💥" * 50),
)
UNUSUAL_NUMBERS = (
    *(0, 1, -1, 2**53 + 1, 10**15, 10**16, 1234567890123456, -(10**19), 12345678901234567890123, 10**100),
    *(0.1, -0.5, 1e-7, 5e-324, 1.7976931348623157e308, 1e22, 100.0, 1.1e5, 0.30000000000000004),
)
OTHER_UNUSUAL_VALUES = (
    *(True, False, [], [""], ["a", 1, None, {"b": [True]}], [[1.5]], ["=x"], {}, {"a": {"b": None}}, {"=x": "'=x"}, ""),
    *(["a\nb", '"'], [12345678901234567890123], {"n": 1e-300}),
)
UNUSUAL_VALUES = (*UNUSUAL_TEXTS, *UNUSUAL_NUMBERS, *OTHER_UNUSUAL_VALUES)
UNUSUAL_NAMES = (
    *(
        "plan",
        "email",
        "Email",
        "id",
        "ID",
        "unsubscribed",
        "attributes",
        "attributes.x",
        "attributes.attributes.x",
        "x",
    ),
    *("e-mail", "mail", "=x", "'=x", "''=x", "+1", "a,b", "a;b", 'say "hi"', "createdAt", "true", "1", "é", "a b"),
)
TYPES = ("string", "number", "boolean", "date", "list")

texts = st.sampled_from(UNUSUAL_TEXTS) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20
)
numbers = (
    st.sampled_from(UNUSUAL_NUMBERS) | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
)
scalars = texts | numbers | st.booleans()
nested_values = st.recursive(
    scalars | st.none(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=6,
)
values = (
    scalars
    | st.sampled_from(OTHER_UNUSUAL_VALUES)
    | st.lists(nested_values, max_size=3)
    | st.dictionaries(texts, nested_values, max_size=3)
)
names = (st.sampled_from(UNUSUAL_NAMES) | st.text(max_size=12)).filter(
    lambda name: attribute_error(name, None) is None and name.isprintable()
)


def canonical_json(value):
    """A representation in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


async def attributes_by_email(project):
    page = (await project.client.get("/contacts?limit=100")).json()
    return {contact["email"]: contact["attributes"] for contact in page["data"]}


async def types_by_attribute(project):
    listed = (await project.client.get("/contact-attributes")).json()
    return {attribute["name"]: (attribute["type"], attribute["inferred"]) for attribute in listed}


async def declare_attribute(project, name, kind, **more):
    created = await project.client.post("/contact-attributes", {"name": name, "type": kind, **more})
    assert created.status_code == 201, created.text
    return created.json()


async def change_type(project, name, kind):
    listed = (await project.client.get("/contact-attributes")).json()
    (attribute_id,) = [attribute["id"] for attribute in listed if attribute["name"] == name]
    changed = await project.client.patch(f"/contact-attributes/{attribute_id}", {"type": kind})
    assert changed.status_code == 200, changed.text
    return changed.json()


async def export_row(header, row):
    async def rows():
        yield [row]

    return b"".join([chunk async for chunk in csv_stream(header, rows())])


@settings(max_examples=400)
@given(
    st.dictionaries(names, values, max_size=6), st.dictionaries(names, st.sampled_from(TYPES), max_size=4), st.data()
)
def test_exported_values_are_imported_unchanged(contact_attributes, other_types, data):
    """Regression test of C3 (tests/defects.md)."""
    declared = other_types | {
        name: data.draw(st.sampled_from(TYPES), label=name) for name in contact_attributes if data.draw(st.booleans())
    }
    inferred = data.draw(st.booleans())
    cells = [column[0] for column in columns_of(declared, [contact_attributes])]
    row = ["0", "a@example.com", False, "", "", "", "", *cells]
    exported_file = asyncio.run(export_row(header_of(declared), row))
    header = csv_reader.read_header(exported_file)
    header.check()
    layout = header.layout
    lines = csv_reader.split_lines([exported_file[header.length :]])
    (record,) = csv_reader.read_records(layout, lines, number=2, position=header.length)
    known = {name: KnownType(kind, inferred) for name, kind in declared.items()}
    imported_row = csv_reader.row_of(layout, record, csv_reader.readers_of(layout, known))
    assert canonical_json(imported_row.attributes) == canonical_json(contact_attributes)


@settings(max_examples=300)
@given(texts)
def test_the_formula_guard_is_removed_exactly(text):
    """Regression test of C3 (tests/defects.md)."""
    assert unescape_formula(escape_formula(text)) == text
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


async def create_unusual_contacts(project):
    """Contacts with unusual values, under attributes with a matching and with another type."""
    for number, value in enumerate(UNUSUAL_VALUES):
        name = UNUSUAL_NAMES[number % len(UNUSUAL_NAMES)]
        mixed = {"text": "a", "count": 1, "flag": True, "day": "2026-01-31", "tags": ["a"], name: value}
        mixed[("text", "count", "flag", "day", "tags")[number % 5]] = value
        await create_contact(
            project, f"u{number}@example.com", attributes={"any": value, **mixed}, unsubscribed=number % 7 == 0
        )
    await create_contact(project, "+plus@example.com", attributes={"text": "=1"})
    await create_contact(project, "'quote@example.com")
    await create_contact(project, "no-attributes@example.com")


async def all_contacts(project):
    contacts, cursor = {}, None
    while True:
        page = await project.client.get("/contacts", params={"limit": 100, **({"cursor": cursor} if cursor else {})})
        for contact in page.json()["data"]:
            contacts[contact["email"]] = (canonical_json(contact["attributes"]), contact["unsubscribed"])
        cursor = page.json()["nextCursor"]
        if cursor is None:
            return contacts


async def test_importing_an_export_changes_nothing(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    await create_unusual_contacts(project)
    before = await all_contacts(project)
    exported = (await project.client.get("/contacts/export")).content
    finished = await import_csv(project, run_due_work, exported)
    assert counts(finished) == {"updated": len(before)}, finished["errors"]
    assert await all_contacts(project) == before
    assert (await project.client.get("/events?type=contact.updated")).json()["data"] == []
    for contact in (await project.client.get("/contacts?limit=100")).json()["data"]:
        await project.client.delete(f"/contacts/{contact['id']}")
    assert counts(await import_csv(project, run_due_work, exported))["created"] == min(100, len(before))
    assert await all_contacts(project) == before


async def test_importing_an_export_changes_nothing_after_types_were_declared(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    await create_unusual_contacts(project)
    before = await all_contacts(project)
    for name, (kind, _) in (await types_by_attribute(project)).items():
        await change_type(project, name, TYPES[(TYPES.index(kind) + len(name)) % 5])
    exported = (await project.client.get("/contacts/export")).content
    finished = await import_csv(project, run_due_work, exported)
    assert counts(finished) == {"updated": len(before)}, finished["errors"]
    assert await all_contacts(project) == before


async def test_another_project_imports_the_same_values(project, new_project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    await create_unusual_contacts(project)
    exported = (await project.client.get("/contacts/export")).content
    other_project = await new_project()
    expected = {name: kind for name, (kind, _) in (await types_by_attribute(project)).items()}
    upload = await other_project.client.post(
        "/contacts/import",
        params={"attributeTypes": json.dumps(expected)},
        content=exported,
        headers={"content-type": "text/csv"},
    )
    assert upload.status_code == 201, upload.text
    await run_due_work()
    finished = (await other_project.client.get(f"/contacts/imports/{upload.json()['id']}")).json()
    assert finished["failed"] == 0, finished["errors"]
    assert await all_contacts(other_project) == await all_contacts(project)
    assert await types_by_attribute(other_project) == {name: (kind, False) for name, kind in expected.items()}


async def test_numbers_and_strings_that_look_alike_stay_different(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    await create_contact(
        project, "a@example.com", attributes={"zip": "12345", "vip": "true", "note": "'=x", "card": 10**16 - 1}
    )
    await create_contact(
        project, "b@example.com", attributes={"zip": 12345, "vip": True, "note": "=x", "card": str(10**16 - 1)}
    )
    before = await attributes_by_email(project)
    exported = (await project.client.get("/contacts/export")).text
    rows = {row["email"]: row for row in csv.DictReader(io.StringIO(exported, newline=""))}
    assert [rows["a@example.com"][name] for name in ("zip", "vip", "note", "card", "attributes")] == [
        *("12345", "true", "''=x", "9999999999999999", ""),
    ]
    assert [rows["b@example.com"][name] for name in ("zip", "vip", "note", "card")] == ["", "", "'=x", ""]
    rest = {"zip": 12345, "vip": True, "card": "9999999999999999"}
    assert json.loads(rows["b@example.com"]["attributes"]) == rest
    assert counts(await import_csv(project, run_due_work, exported)) == {"updated": 2}
    assert await attributes_by_email(project) == before


async def test_the_first_value_sets_the_type_and_later_values_keep_theirs(project):
    """Regression test of C3 (tests/defects.md)."""
    first = {"n": 1, "s": "x", "b": False, "d": "2026-01-31", "l": [], "o": {"a": 1}, "e": "", "none": None}
    contact = await create_contact(project, "a@example.com", attributes=first)
    expected = {"n": "number", "s": "string", "b": "boolean", "d": "date", "l": "list"}
    assert await types_by_attribute(project) == {name: (kind, True) for name, kind in expected.items()}
    other = {"n": "one", "s": 1, "b": "yes", "d": "soon", "l": {"a": 1}, "o": 5, "e": True}
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"attributes": other})
    assert changed.json()["attributes"] == other
    assert await types_by_attribute(project) == {name: (kind, True) for name, kind in expected.items()} | {
        "o": ("number", True),
        "e": ("boolean", True),
    }


async def test_bulk_additions_set_types_too(project):
    """Regression test of C3 (tests/defects.md)."""
    audience_id = await create_audience(project)
    body = {
        "contacts": [
            {"email": "a@example.com", "attributes": {"seats": 4}},
            {"email": "b@example.com", "attributes": {"seats": "many", "since": "2026-01-31"}},
        ]
    }
    assert (await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", body)).status_code == 200
    assert await types_by_attribute(project) == {"seats": ("number", True), "since": ("date", True)}


async def test_an_import_infers_a_type_from_the_whole_column(project, run_due_work, monkeypatch):
    """Regression test of C3 (tests/defects.md)."""
    body = (
        "email,zip,seats,vip,day,tags,card,mixed,empty,object\n"
        'a@example.com,10115,4,TRUE,2026-01-31,[],1234567890123456,5,,"{""a"":1}"\n'
        'b@example.com,01067,-0.5,false,2026-02-01T10:00:00Z,"[""x""]",5,n/a,,\n'
        "c@example.com,,,,,,,true,,\n"
    )
    assert counts(await import_csv(project, run_due_work, body)) == {"created": 3}
    assert await attributes_by_email(project) == {
        "a@example.com": {
            "zip": "10115",
            "seats": 4,
            "vip": True,
            "day": "2026-01-31",
            "tags": [],
            "card": "1234567890123456",
            "mixed": "5",
            "object": {"a": 1},
        },
        "b@example.com": {
            "zip": "01067",
            "seats": -0.5,
            "vip": False,
            "day": "2026-02-01T10:00:00Z",
            "tags": ["x"],
            "card": "5",
            "mixed": "n/a",
        },
        "c@example.com": {"mixed": "true"},
    }
    assert await types_by_attribute(project) == {
        name: (kind, True)
        for name, kind in {
            "zip": "string",
            "seats": "number",
            "vip": "boolean",
            "day": "date",
            "tags": "list",
            "card": "string",
            "mixed": "string",
        }.items()
    }


async def test_a_cell_that_does_not_match_an_inferred_type_is_kept_as_a_string(project, run_due_work, monkeypatch):
    """Regression test of C3 (tests/defects.md)."""
    monkeypatch.setattr("postern.messaging.audiences.work.IMPORT_BATCH", 2)
    body = "email,seats,late\n" + "".join(
        f"{name}@example.com,{cell},{late}\n"
        for name, cell, late in (
            ("a", "4", ""),
            ("b", "5", ""),
            ("c", "many", "7"),
            ("d", "007", "8"),
            ("e", "12345678901234567", "9"),
        )
    )
    assert counts(await import_csv(project, run_due_work, body)) == {"created": 5}
    attributes_by_name = {email[0]: attributes for email, attributes in (await attributes_by_email(project)).items()}
    assert [attributes_by_name[name]["seats"] for name in "abcde"] == [4, 5, "many", "007", 12345678901234567]
    assert [attributes_by_name[name]["late"] for name in "cde"] == [7, 8, 9]
    assert await types_by_attribute(project) == {"seats": ("number", True), "late": ("number", True)}


async def test_a_cell_that_does_not_match_a_declared_type_fails_its_row(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    for name, kind in {"seats": "number", "vip": "boolean", "day": "date", "tags": "list", "zip": "string"}.items():
        await declare_attribute(project, name, kind)
    body = (
        "email,seats,vip,day,tags,zip\n"
        'a@example.com, +007 ,Yes, 2026-01-31 ,"[""x""]",007\n'
        "b@example.com,many,,,,\n"
        "c@example.com,,perhaps,,,\n"
        "d@example.com,,,31.01.2026,,\n"
        "e@example.com,,,,a b,\n"
        "f@example.com,1e400,,,,\n"
        "g@example.com, , , , ,true\n"
    )
    finished = await import_csv(project, run_due_work, body)
    assert counts(finished) == {"created": 2, "failed": 5}
    assert await attributes_by_email(project) == {
        "a@example.com": {"seats": 7, "vip": True, "day": "2026-01-31", "tags": ["x"], "zip": "007"},
        "g@example.com": {"zip": "true"},
    }
    assert [error["line"] for error in finished["errors"]] == [3, 4, 5, 6, 7]
    for error, name, kind in zip(
        finished["errors"],
        ("seats", "vip", "day", "tags", "seats"),
        ("number", "boolean", "date", "list", "number"),
        strict=True,
    ):
        assert f"The cell of `{name}` " in error["message"]
        assert error["message"].endswith(f"the attribute is declared as {kind}.")
        assert "many" not in error["message"]


async def test_create_get_change_and_delete_a_type(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    created = await declare_attribute(project, "zip", "string", description="Postal code")
    assert created["appId"] == project.id
    assert (created["name"], created["type"], created["inferred"]) == ("zip", "string", False)
    path = f"/contact-attributes/{created['id']}"
    assert (await project.client.get(path)).json() == created
    again = await project.client.post("/contact-attributes", {"name": "zip", "type": "number"})
    assert (again.status_code, again.json()["code"]) == (409, "contact_attribute_exists")
    contact = await create_contact(project, "a@example.com", attributes={"zip": "01067", "seats": 4})
    stale = await project.client.patch(path, {"type": "number"}, headers={"if-match": '"0"'})
    assert stale.status_code == 412
    changed = (await project.client.patch(path, {"type": "number", "description": ""})).json()
    assert (changed["type"], changed["description"], changed["name"]) == ("number", "", "zip")
    assert (await project.client.get(f"/contacts/{contact['id']}")).json()["attributes"]["zip"] == "01067"
    await import_csv(project, run_due_work, "email,zip\nb@example.com,10115\n")
    assert (await attributes_by_email(project))["b@example.com"] == {"zip": 10115}
    assert await types_by_attribute(project) == {"seats": ("number", True), "zip": ("number", False)}
    assert (await change_type(project, "seats", "number"))["inferred"] is False
    assert (await project.client.delete(path)).json() == {"deleted": True}
    assert (await project.client.get(path)).json()["code"] == "contact_attribute_missing"
    assert (await project.client.patch(path, {"type": "list"})).status_code == 404
    assert (await project.client.delete(path)).status_code == 404
    await create_contact(project, "c@example.com", attributes={"zip": "2026-01-31"})
    assert (await types_by_attribute(project))["zip"] == ("date", True)
    audit_entries = (await project.developer.get("/account/audit-log?limit=100")).json()["data"]
    assert [entry["action"] for entry in audit_entries if entry["targetType"] == "ContactAttribute"] == [
        "contact_attribute.deleted",
        "contact_attribute.updated",
        "contact_attribute.updated",
        "contact_attribute.created",
    ]


async def test_attributes_are_listed_newest_first_in_pages(project):
    """Regression test of C3 (tests/defects.md)."""
    for number in range(5):
        await declare_attribute(project, f"a{number}", "number")
    first = await project.client.get("/contact-attributes?limit=3")
    assert [attribute["name"] for attribute in first.json()] == ["a4", "a3", "a2"]
    second = await project.client.get(first.links["next"]["url"])
    assert [attribute["name"] for attribute in second.json()] == ["a1", "a0"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"type": "string"}, "/name"),
        ({"name": "a"}, "/type"),
        ({"name": "a", "type": "text"}, "/type"),
        ({"name": "", "type": "string"}, "/name"),
        ({"name": " a", "type": "string"}, "/name"),
        ({"name": "a\nb", "type": "string"}, "/name"),
        ({"name": "a" * 101, "type": "string"}, "/name"),
        ({"name": "a", "type": "string", "description": "x" * 501}, "/description"),
        ({"name": "a", "type": "string", "inferred": True}, "/inferred"),
    ],
)
async def test_an_invalid_declaration_is_refused_with_the_path(project, body, path):
    """Regression test of C3 (tests/defects.md)."""
    response = await project.client.post("/contact-attributes", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == path


async def test_types_belong_to_the_project_and_need_write_permission(project, new_project, stranger):
    """Regression test of C3 (tests/defects.md)."""
    attribute = await declare_attribute(project, "zip", "string")
    path = f"/contact-attributes/{attribute['id']}"
    other_project = await new_project()
    for method, body in (("GET", None), ("PATCH", {"type": "list"}), ("DELETE", None)):
        response = await other_project.client.request(method, path, json=body)
        assert (response.status_code, response.json()["code"]) == (404, "contact_attribute_missing")
    assert (await other_project.client.get("/contact-attributes")).json() == []
    await create_contact(other_project, "a@example.com", attributes={"zip": 1})
    assert await types_by_attribute(other_project) == {"zip": ("number", True)}
    reader = await project.key("contacts:read")
    assert (await reader.get(path)).json() == attribute
    assert (await reader.get("/contact-attributes")).json() == [attribute]
    for method, target in (("POST", "/contact-attributes"), ("PATCH", path), ("DELETE", path)):
        refused = await reader.request(method, target, json={"name": "x", "type": "list"} if method == "POST" else None)
        assert refused.status_code == 403, method
    assert (await stranger.get(f"/projects/{project.id}/contact-attributes")).status_code == 401
    assert await types_by_attribute(project) == {"zip": ("string", False)}


async def test_an_import_refuses_invalid_types(project, monkeypatch):
    """Regression test of C3 (tests/defects.md)."""
    await declare_attribute(project, "zip", "string")
    await create_contact(project, "a@example.com", attributes={"seats": "four"})

    async def upload(attribute_types):
        return await project.client.post(
            "/contacts/import",
            params={"attributeTypes": attribute_types},
            content="email,zip,seats\nb@example.com,1,1\n",
            headers={"content-type": "text/csv"},
        )

    for invalid in (
        "",
        "zip",
        "[]",
        '{"zip": "text"}',
        '{"zip": null}',
        '{" zip": "string"}',
        "[" * 5_000,
        "x" * 20_000,
    ):
        response = await upload(invalid)
        assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "query/attributeTypes"), invalid
    refused = await upload('{"zip": "number", "new": "list"}')
    assert (refused.status_code, refused.json()["code"]) == (409, "contact_attribute_declared")
    assert "`zip`" in refused.json()["detail"]
    with monkeypatch.context() as context:
        context.setattr(attributes, "ATTRIBUTES_PER_PROJECT", 2)
        assert (await upload('{"new": "list"}')).json()["code"] == "too_many_contact_attributes"
    assert (await project.client.get("/contacts/imports")).json() == []
    assert await types_by_attribute(project) == {"zip": ("string", False), "seats": ("string", True)}
    assert (await upload('{"zip": "string", "seats": "number"}')).status_code == 201
    assert await types_by_attribute(project) == {"zip": ("string", False), "seats": ("number", False)}


async def test_attributes_above_the_type_limit_are_kept_and_exported(project, run_due_work, monkeypatch):
    """Regression test of C3 (tests/defects.md)."""
    monkeypatch.setattr(attributes, "ATTRIBUTES_PER_PROJECT", 3)
    await create_contact(project, "a@example.com", attributes={"a": "1", "b": "2"})
    await create_contact(project, "b@example.com", attributes={"c": "3", "d": "4", "e": 5})
    assert set(await types_by_attribute(project)) == {"a", "b", "c"}
    refused = await project.client.post("/contact-attributes", {"name": "f", "type": "string"})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_contact_attributes")
    before = await all_contacts(project)
    exported = (await project.client.get("/contacts/export")).text
    assert counts(await import_csv(project, run_due_work, exported)) == {"updated": 2}
    assert await all_contacts(project) == before


async def test_an_export_can_have_more_columns_than_a_contact_has_attributes(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    for part in range(3):
        await create_contact(project, f"{part}@example.com", attributes={f"a{part}_{n}": str(n) for n in range(100)})
    before = await all_contacts(project)
    exported = (await project.client.get("/contacts/export")).content
    assert counts(await import_csv(project, run_due_work, exported)) == {"updated": 3}
    assert await all_contacts(project) == before


async def test_a_contact_with_the_largest_attributes_is_imported_unchanged(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    await create_contact(
        project, "a@example.com", attributes={f"a{n}": list(range(50)) for n in range(90)} | {"x": "y" * 2_500}
    )
    before = await all_contacts(project)
    exported = (await project.client.get("/contacts/export")).content
    finished = await import_csv(project, run_due_work, exported)
    assert counts(finished) == {"updated": 1}, finished["errors"]
    assert await all_contacts(project) == before


async def test_attributes_next_to_the_largest_numbers_can_be_changed(project):
    """Regression test of C3 (tests/defects.md)."""
    contact = await create_contact(project, "a@example.com", attributes={"n": 1.7e308})
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"attributes": {"m": 1}})
    assert changed.status_code == 200
    assert changed.json()["attributes"] == {"n": contact["attributes"]["n"], "m": 1}
    for number in ("1e400", "1" + "0" * 310):
        content = f'{{"email": "b@example.com", "attributes": {{"n": {number}}}}}'
        headers = {"content-type": "application/json"}
        assert (await project.client.request("POST", "/contacts", content=content, headers=headers)).status_code == 400


async def test_of_concurrent_first_values_one_sets_the_type(project):
    """Regression test of C3 (tests/defects.md)."""
    values = [1, "x", True, [1], "2026-01-31"] * 3
    responses = await asyncio.gather(
        *(
            project.client.post("/contacts", {"email": f"{n}@example.com", "attributes": {"a": value, f"b{n}": n}})
            for n, value in enumerate(values)
        )
    )
    assert {response.status_code for response in responses} == {201}
    inferred_types = await types_by_attribute(project)
    assert inferred_types["a"][0] in TYPES
    assert {name: inferred_types[name] for name in inferred_types if name != "a"} == {
        f"b{n}": ("number", True) for n in range(15)
    }


async def test_inferring_a_type_never_waits(project, world):
    """Regression test of C3 (tests/defects.md)."""
    await create_contact(project, "known@example.com", attributes={"known": 1})
    async with world.db.transaction() as tx:
        uncommitted = {"plan": "pro", "known": 2}
        # On another day: of the rows that count the contacts of a day, two connections may share one.
        yesterday = world.clock() - timedelta(days=1)
        await contacts.find_or_create(tx, UUID(project.id), "a@example.com", yesterday, attributes=uncommitted)
        async with asyncio.timeout(20):
            contact = await create_contact(project, "b@example.com", attributes={"plan": 5, "known": 3})
    assert contact["attributes"] == {"plan": 5, "known": 3}
    assert await types_by_attribute(project) == {"known": ("number", True), "plan": ("string", True)}


async def test_a_list_with_a_character_that_cannot_be_stored_fails_its_row(project, run_due_work):
    """Regression test of C3 (tests/defects.md)."""
    finished = await import_csv(project, run_due_work, 'email,tags\na@example.com,"[""\\u0000""]"\nb@example.com,[]\n')
    assert counts(finished) == {"created": 1, "failed": 1}
    assert "NUL" in finished["errors"][0]["message"]
