"""Importing and exporting contacts: valid and damaged files, killed imports."""

import csv
import io
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.kernel.due import Lane, claim
from postern.messaging.audiences import csv_blocks, csv_reader, import_store, work
from postern.messaging.audiences.csv_cells import KnownType
from postern.messaging.audiences.model import ImportFileInvalid
from postern.protocols.mail.address import AddressInvalid, address_key, parse_address
from tests.messaging.audiences.test_audiences import PRO, create_audience, member_names
from tests.messaging.audiences.test_contacts import create_contact


async def upload(project, body, mode="upsert", content_type="text/csv"):
    body = body.encode() if isinstance(body, str) else body
    path = f"/contacts/import?mode={mode}"
    return await project.client.post(path, content=body, headers={"content-type": content_type})


async def import_csv(project, run_due_work, body, mode="upsert"):
    """Upload a file, run the background work, and return the finished import."""
    uploaded = await upload(project, body, mode)
    assert uploaded.status_code == 201, uploaded.text
    assert uploaded.json()["status"] == "PENDING"
    await run_due_work()
    finished = (await project.client.get(f"/contacts/imports/{uploaded.json()['id']}")).json()
    assert finished["rows"] == finished["created"] + finished["updated"] + finished["skipped"] + finished["failed"]
    return finished


def counts(contact_import):
    """The counters of an import that are not 0."""
    return {name: contact_import[name] for name in ("created", "updated", "skipped", "failed") if contact_import[name]}


async def by_email(project):
    page = (await project.client.get("/contacts?limit=100")).json()
    return {contact["email"]: contact for contact in page["data"]}


async def test_a_file_is_imported_and_exported(project, run_due_work):
    body = (
        "email,name,seats,ratio,vip,since,zip,tags,unsubscribed\r\n"
        'ada@example.com,"Lovelace, Ada",4,0.5,TRUE,2026-01-31,01234,"[""a"",1]",\r\n'
        'Grace@Example.com,"Grace ""G""\nHopper",-1,12,,+49123,12345678901234567890,[],yes\r\n'
    )
    finished = await import_csv(project, run_due_work, body)
    assert (finished["status"], finished["mode"], counts(finished)) == ("COMPLETED", "upsert", {"created": 2})
    assert (finished["position"], finished["bytes"]) == (len(body), len(body))
    assert finished["finishedAt"] is not None
    contacts = await by_email(project)
    assert contacts["ada@example.com"]["attributes"] == {
        "name": "Lovelace, Ada",
        "seats": 4,
        "ratio": 0.5,
        "vip": True,
        "since": "2026-01-31",
        "zip": "01234",
        "tags": ["a", 1],
    }
    grace = contacts["Grace@example.com"]
    assert grace["unsubscribed"] is True
    assert grace["attributes"]["name"] == 'Grace "G"\nHopper'
    assert (grace["attributes"]["since"], grace["attributes"]["ratio"]) == ("+49123", 12)
    assert "vip" not in grace["attributes"]
    exported = await project.client.get("/contacts/export")
    assert exported.headers["content-type"].startswith("text/csv")
    assert exported.headers["content-disposition"] == 'attachment; filename="contacts.csv"'
    rows = list(csv.DictReader(io.StringIO(exported.text, newline="")))
    assert [row["email"] for row in rows] == ["ada@example.com", "Grace@example.com"]
    assert rows[1]["since"] == "'+49123"
    imported_again = await import_csv(project, run_due_work, exported.content)
    assert counts(imported_again) == {"updated": 2}
    assert await by_email(project) == contacts
    assert [contact_import["id"] for contact_import in (await project.client.get("/contacts/imports")).json()] == [
        imported_again["id"],
        finished["id"],
    ]


async def test_upsert_merges_and_skip_keeps_existing_contacts(project, run_due_work):
    await create_contact(project, "ada@example.com", attributes={"plan": "pro", "city": "Rome"})
    await create_contact(project, "out@example.com", unsubscribed=True)
    body = "Email;plan;unsubscribed\nADA@example.com;free;\nnew@example.com;free;\nout@example.com;;false\n"
    skip_import = await import_csv(project, run_due_work, body, "skip")
    assert counts(skip_import) == {"created": 1, "skipped": 2}
    assert (await by_email(project))["ada@example.com"]["attributes"]["plan"] == "pro"
    upsert_import = await import_csv(project, run_due_work, body)
    assert counts(upsert_import) == {"updated": 3}
    contacts = await by_email(project)
    assert contacts["ada@example.com"]["attributes"] == {"plan": "free", "city": "Rome"}
    assert contacts["out@example.com"]["unsubscribed"] is True
    await import_csv(project, run_due_work, "email,unsubscribed\nada@example.com,1\n")
    events = (await project.client.get("/events?type=contact.unsubscribed")).json()["data"]
    assert [event["subjectId"] for event in events] == [contacts["ada@example.com"]["id"]]
    types = [event["type"] for event in (await project.client.get("/events")).json()["data"]]
    assert types.count("contact.created") == 3
    assert types.count("contact.updated") == 2


async def test_any_text_is_imported_in_the_order_of_the_file(project, run_due_work):
    texts = ["a\tb", "a\\b", "\\.", "\\N", "\\t", 'a "b"', "a\r\nb", "ä € 😀", "\\u0000"]
    addresses = [f"{local}@example.com" for local in "hzaybxcwd"]
    buffer = io.StringIO()
    csv.writer(buffer).writerows([("email", "text"), *zip(addresses, texts, strict=True)])
    assert counts(await import_csv(project, run_due_work, buffer.getvalue())) == {"created": len(texts)}
    page = (await project.client.get("/contacts")).json()
    assert [contact["email"] for contact in reversed(page["data"])] == addresses
    assert [contact["attributes"]["text"] for contact in reversed(page["data"])] == texts
    created = (await project.client.get("/events?type=contact.created")).json()["data"]
    assert {event["subjectId"]: event["data"] for event in created} == {
        contact["id"]: {"email": contact["email"]} for contact in page["data"]
    }


@pytest.mark.parametrize(("mode", "expected"), [("upsert", {"updated": 1}), ("skip", {"skipped": 1})])
async def test_a_contact_that_is_created_during_an_import_is_not_created_again(
    project, run_due_work, monkeypatch, mode, expected
):
    copy_contacts = import_store.copy_contacts

    async def create_first(tx, **values):
        await create_contact(project, "b@example.com", attributes={"n": 0})
        await copy_contacts(tx, **values)

    monkeypatch.setattr(import_store, "copy_contacts", create_first)
    finished = await import_csv(project, run_due_work, "email,n\na@example.com,1\nb@example.com,2\n", mode)
    assert counts(finished) == {"created": 1, **expected}
    numbers = {email: contact["attributes"]["n"] for email, contact in (await by_email(project)).items()}
    assert numbers == {"a@example.com": 1, "b@example.com": 2 if mode == "upsert" else 0}
    types = [event["type"] for event in (await project.client.get("/events")).json()["data"]]
    assert (types.count("contact.created"), types.count("contact.updated")) == (2, 1 if mode == "upsert" else 0)


async def test_repeated_addresses_in_a_file_are_merged(project, run_due_work):
    body = "email,a,b\nx@example.com,1,\nX@example.com,,2\nx@EXAMPLE.com,3,\n"
    assert counts(await import_csv(project, run_due_work, body)) == {"created": 1, "updated": 2}
    assert (await by_email(project))["x@example.com"]["attributes"] == {"a": 3, "b": 2}
    body = "email,a\ny@example.com,1\ny@example.com,2\n"
    assert counts(await import_csv(project, run_due_work, body, "skip")) == {"created": 1, "skipped": 1}
    assert (await by_email(project))["y@example.com"]["attributes"] == {"a": 1}


async def test_an_import_updates_memberships(project, run_due_work):
    audience_id = await create_audience(project, rules=PRO)
    await import_csv(project, run_due_work, "email,plan\na@example.com,pro\nb@example.com,free\n")
    assert await member_names(project, audience_id) == {"a"}
    await import_csv(project, run_due_work, "email,plan\na@example.com,free\nb@example.com,pro\n")
    assert await member_names(project, audience_id) == {"b"}
    assert (await project.client.post(f"/audiences/{audience_id}/recompute")).json() == {"added": 0, "removed": 0}


async def test_invalid_lines_fail_alone_with_a_reason(project, run_due_work):
    lines = [
        b"email,note,unsubscribed",
        "good1@example.com,für immer,".encode(),
        b"nonsense,x,",
        b",x,",
        b'bad@example.com,"closed" early,',
        b"good2@example.com,fine,",
        b"wide@example.com,x,,one,too,many",
        b"latin@example.com,caf\xe9,",
        b"flag@example.com,x,perhaps",
        b"long@example.com," + b"y" * 1_000_000 + b",",
        b"big@example.com," + b"y" * 20_000 + b",",
        b"nul@example.com,a\0b,",
        b"",
        b"good3@example.com",
        b'open@example.com,"never closed,',
        b"good4@example.com,after the open quote,",
        b"good5@example.com,last line has no end",
    ]
    finished = await import_csv(project, run_due_work, b"\n".join(lines))
    assert sorted(await by_email(project)) == [f"good{n}@example.com" for n in range(1, 6)]
    assert counts(finished) == {"created": 5, "failed": 10}
    expected_words = {
        3: "address",
        4: "empty",
        5: "closing quote",
        7: "cells",
        8: "not utf-8: byte 0xE9",
        9: "unsubscribed",
        10: "longer than",
        11: "16384 bytes",
        12: "NUL",
        15: "never closed",
    }
    assert [error["line"] for error in finished["errors"]] == list(expected_words)
    for error in finished["errors"]:
        assert expected_words[error["line"]] in error["message"], error


async def test_a_row_that_exceeds_the_attribute_limit_fails_alone(project, run_due_work):
    await create_contact(project, "full@example.com", attributes={"x": "y" * 15_000})
    await create_contact(project, "many@example.com", attributes={f"x{n}": n for n in range(100)})
    body = f"email,z\nfull@example.com,{'z' * 3_000}\nmany@example.com,1\nok@example.com,1\n"
    finished = await import_csv(project, run_due_work, body)
    assert counts(finished) == {"created": 1, "failed": 2}
    assert [error["line"] for error in finished["errors"]] == [2, 3]


async def test_errors_are_counted_but_not_all_listed(project, run_due_work):
    finished = await import_csv(project, run_due_work, "email\n" + "nonsense\n" * 300 + "ok@example.com\n")
    assert counts(finished) == {"created": 1, "failed": 300}
    assert [error["line"] for error in finished["errors"]] == list(range(2, 202))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"name,city\nAda,Rome\n", "no column `email`"),
        (b"a@example.com\nb@example.com\n", "no column `email`"),
        ("email\nä@example.com".encode("utf-16-le"), "NUL characters"),
        (b"PK\x03\x04rest of a workbook", "Excel"),
        (b"sep=;\n", "empty"),
        (b"sep=:\nemail:a\n", "not supported"),
        (b"email" + b",x" * 1_000 + b"\n", "more than 1000 columns"),
        (b"email," + b"x" * 200 + b"\n", "Column 2"),
        (b"email," + b"x" * 200_000, "not a CSV header"),
        (b"email,plan,city,plan\n", "Columns 2 and 4"),
        (b"email,plan,attributes.plan\n", "Columns 2 and 3"),
        (b"Email,plan,email\n", "Columns 1 and 3"),
        (b"email,unsubscribed,Unsubscribed\n", "Columns 2 and 3"),
        (("email," + ",".join(f"a{n}" for n in range(501)) + "\n").encode(), "more than 500"),
    ],
)
async def test_a_file_without_a_usable_header_is_refused_at_once(project, body, words):
    response = await upload(project, body)
    assert (response.status_code, response.json()["code"]) == (400, "import_file_invalid")
    assert words in response.json()["detail"]
    assert (await project.client.get("/contacts/imports")).json() == []


async def test_byte_order_marks_and_other_separators(project, run_due_work):
    for number, body in enumerate(("\ufeffemail,a\nx0@example.com,1", "E-Mail\ta\nx1@example.com\t1\n")):
        assert counts(await import_csv(project, run_due_work, body)) == {"created": 1}
        assert (await by_email(project))[f"x{number}@example.com"]["attributes"] == {"a": 1}


async def test_media_type_and_parameters_are_checked(project, new_project):
    assert (await upload(project, "email\n", content_type="application/json")).status_code == 415
    assert (await upload(project, "email\n", mode="replace")).status_code == 400
    uploaded = (await upload(project, "email\na@example.com\n")).json()
    other_project = await new_project()
    assert (await other_project.client.get(f"/contacts/imports/{uploaded['id']}")).status_code == 404
    assert (await other_project.client.get("/contacts/imports")).json() == []
    for _ in range(4):
        await upload(project, "email\na@example.com\n")
    refused = await upload(project, "email\na@example.com\n")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_imports")


async def test_an_import_takes_several_batches_and_claims(project, run_due_work, monkeypatch):
    monkeypatch.setattr(work, "IMPORT_BATCH", 7)
    monkeypatch.setattr(work, "BATCHES_PER_CLAIM", 2)
    rows = "".join(f'u{n}@example.com,"line\nbreak {n}"\n' for n in range(60))
    finished = await import_csv(project, run_due_work, "email,text\n" + rows + "nonsense,\n")
    assert counts(finished) == {"created": 60, "failed": 1}
    assert [error["line"] for error in finished["errors"]] == [122]


OPEN_QUOTE = b'a","""\n'
"""A line that ends within quotes, whether it begins within quotes or not."""


async def test_unclosed_quotes_are_parsed_in_linear_time(project, run_due_work, monkeypatch):
    reads: list[int] = []
    original_next = csv_reader._LineSource.__next__
    monkeypatch.setattr(csv_reader._LineSource, "__next__", lambda source: (reads.append(1), original_next(source))[1])
    good_row = b'good%d@example.com,"two\nlines"\n'
    body = b"email,b\n" + good_row % 1 + OPEN_QUOTE * 16_000 + b"x,\n" * 40_000 + good_row % 2
    finished = await import_csv(project, run_due_work, body)
    assert sorted(await by_email(project)) == ["good1@example.com", "good2@example.com"]
    assert counts(finished) == {"created": 2, "failed": 56_000}
    assert len(reads) < 20 * 56_000, "lines read, including repeated reads"
    reads.clear()
    headers = {"content-type": "text/csv"}
    preview = await project.client.post("/contacts/import/preview", content=body, headers=headers)
    assert preview.json()["importable"] is True
    assert len(reads) < 40 * csv_reader.IMPORT_BATCH


async def test_a_killed_import_continues_at_its_position(project, world, clock, run_due_work, monkeypatch):
    monkeypatch.setattr(work, "IMPORT_BATCH", 10)
    rows = "".join(f"u{n}@example.com\n" for n in range(45))
    uploaded = (await upload(project, "email\n" + rows)).json()
    advance_calls = 0

    class Killed(BaseException):
        pass

    original_advance = work.import_store.advance

    async def advance(*args, **kwargs):
        nonlocal advance_calls
        advance_calls += 1
        if advance_calls == 3:
            raise Killed
        return await original_advance(*args, **kwargs)

    monkeypatch.setattr(work.import_store, "advance", advance)
    import_work = work.WORK[0]
    (job,) = await claim(world.db, import_work, Lane(UUID(project.id), None), clock(), 1)
    with pytest.raises(Killed):
        await work.run_import(world, job)
    partial_import = (await project.client.get(f"/contacts/imports/{uploaded['id']}")).json()
    assert (partial_import["status"], partial_import["rows"]) == ("RUNNING", 20)
    assert (await project.client.get("/contacts")).json()["total"] == 20
    clock.move(timedelta(minutes=3))
    await run_due_work()
    finished = (await project.client.get(f"/contacts/imports/{uploaded['id']}")).json()
    assert (finished["status"], counts(finished)) == ("COMPLETED", {"created": 45})
    events = (await project.client.get("/events?type=contact.created")).json()["data"]
    assert len(events) == 45


async def test_a_superseded_attempt_changes_nothing(project, world, clock, run_due_work):
    uploaded = (await upload(project, "email\na@example.com\n")).json()
    (first_claim,) = await claim(world.db, work.WORK[0], Lane(UUID(project.id), None), clock(), 1)
    clock.move(timedelta(minutes=3))
    (second_claim,) = await claim(world.db, work.WORK[0], Lane(UUID(project.id), None), clock(), 1)
    await work.run_import(world, first_claim)
    assert (await project.client.get("/contacts")).json()["total"] == 0
    await work.run_import(world, second_claim)
    await work.run_import(world, first_claim)
    finished = (await project.client.get(f"/contacts/imports/{uploaded['id']}")).json()
    assert (finished["status"], counts(finished)) == ("COMPLETED", {"created": 1})


async def test_an_interrupted_upload_stores_nothing(project, world, app):
    received = iter(
        [
            {"type": "http.request", "body": b"email\na@example.com\n" * 100_000, "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent = []

    async def receive():
        return next(received)

    async def send(message):
        sent.append(message)

    path = f"/projects/{project.id}/contacts/import"
    headers = [(b"authorization", f"Bearer {project.secret_key}".encode()), (b"content-type", b"text/csv")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 1), "server": ("x", 80), "scheme": "http"}
    await app({**scope, "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"}}, receive, send)
    assert sent[0]["status"] == 400
    assert (await project.client.get("/contacts/imports")).json() == []
    async with world.db.connection() as connection:
        query = "select count(*) from contact_import_pieces where project_id = %s"
        assert await (await connection.execute(query, (project.id,))).fetchall() == [(0,)]


async def test_an_endless_upload_is_cancelled(project, world, clock, run_due_work):
    uploaded = (await upload(project, "email\na@example.com\n")).json()
    async with world.db.connection() as connection:
        query = "update contact_imports set status = 'UPLOADING', due_at = %s where project_id = %s"
        await connection.execute(query, (clock(), project.id))
    await run_due_work()
    finished = (await project.client.get(f"/contacts/imports/{uploaded['id']}")).json()
    assert (finished["status"], finished["errors"][0]["message"]) == (
        "FAILED",
        "The upload took longer than 2 hours and was cancelled; upload the file again.",
    )


async def test_formulas_are_guarded_in_exports_and_unchanged_in_the_database(project, run_due_work):
    for number, text in enumerate(("=1+1", "@x", "+1", "-x", "\tx")):
        attributes = {"f": text, "id": "own", "email": "e", "=1+1": text, "attributes.x": "y"}
        await create_contact(project, f"u{number}@example.com", attributes=attributes)
    response = await project.client.get("/contacts/export")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    exported = response.text
    rows = list(csv.DictReader(io.StringIO(exported, newline="")))
    assert [row["f"] for row in rows] == ["'=1+1", "'@x", "'+1", "'-x", "'\tx"]
    assert [row["'=1+1"] for row in rows] == ["'=1+1", "'@x", "'+1", "'-x", "'\tx"]
    assert {row["attributes.id"] for row in rows} == {"own"}
    before = await by_email(project)
    assert counts(await import_csv(project, run_due_work, exported)) == {"updated": 5}
    assert await by_email(project) == before


cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=150)
@given(st.lists(st.lists(cells, min_size=2, max_size=3), max_size=12), st.integers(1, 40))
def test_csv_files_are_parsed_the_same_for_any_chunks(rows, size):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["email", "a", "b"], *rows])
    data = buffer.getvalue().encode()
    header = csv_reader.read_header(data)
    layout = header.layout
    chunks = [data[start : start + size] for start in range(header.length, len(data), size)]
    records = list(csv_reader.read_records(layout, csv_reader.split_lines(chunks), number=2, position=header.length))
    assert [record.cells for record in records] == rows
    if records:
        assert records[-1].next_position == len(data)
        for record in records[:-1]:  # Parsing can begin at the end of any record.
            rest = csv_reader.split_lines([data[record.next_position :]])
            next_record = next(
                csv_reader.read_records(layout, rest, number=record.next_line, position=record.next_position)
            )
            assert (
                next_record == records[records.index(record) + 1]
                or next_record.cells == rows[records.index(record) + 1]
            )


@settings(max_examples=300)
@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_crash_the_reader(data, size):
    data = b"email,a\n" + data
    header = csv_reader.read_header(data)
    layout, position = header.layout, header.length
    chunks = [data[start : start + size] for start in range(position, len(data), size)]
    for record in csv_reader.read_records(layout, csv_reader.split_lines(chunks), number=2, position=position):
        assert record.next_position > position
        position = record.next_position
        try:
            row = csv_reader.row_of(layout, record, csv_reader.readers_of(layout, {}))
        except csv_reader.RowInvalid:
            continue
        assert row.email_key == address_key(row.email)
    assert position <= len(data)


@settings(max_examples=300)
@given(st.text(max_size=60) | st.emails() | st.from_regex(r"[a-zA-Z0-9.+'_-]{1,66}@[a-z0-9.-]{1,20}", fullmatch=True))
def test_the_fast_address_parser_agrees_with_the_full_one(text):
    text = text.strip()
    try:
        expected = parse_address(text).spec
    except AddressInvalid:
        with pytest.raises(csv_reader.RowInvalid):
            csv_reader.read_email(text)
        return
    assert csv_reader.read_email(text) == (expected, address_key(expected))


_CELLS = st.sampled_from(
    [
        *("", " ", "1", "-0", "007", "1.50", "1e3", "9" * 20, "true", "No", "maybe", "2026-01-31", "2026-01-31 "),
        *("x", "'=x", "'x", "O'Neil", "{}", '["a"]', '{"a": "\\u0000"}', "a\0b", "a\nb", "\u00e4", "y" * 3_000),
    ]
)
_ADDRESSES = st.sampled_from(
    [
        *("a@example.com", "B.c@Example.COM ", "'+d@example.com", "d'e@example.com", "f@b\u00fccher.example", "n@x.y"),
        *("", "no address", "g@" + "h" * 250, "i" * 65 + "@example.com", "j@example.com.", "k@l@example.com"),
        " m@exam ple.com",
    ]
)


@settings(max_examples=400)
@given(
    st.lists(st.tuples(_ADDRESSES, st.lists(_CELLS, max_size=8)) | st.sampled_from(['"', 'a"b,c', '"a"b', "\xff", ""])),
    st.sampled_from(["string", "number", "boolean", "date", "list", None]),
    st.booleans(),
    st.integers(1, 400),
    st.integers(1, 20),
)
def test_blocks_have_the_contacts_and_errors_of_single_rows(lines, kind, inferred, size, batch_rows):
    header = csv_reader.read_header(b"email,a,unsubscribed,b,subscribed,attributes\n")
    buffer = io.StringIO(newline="")
    for line in lines:
        if isinstance(line, str):
            buffer.write(line + "\n")
        else:
            csv.writer(buffer, lineterminator="\n").writerow([line[0], *line[1]])
    data = buffer.getvalue().encode("latin-1" if "\xff" in buffer.getvalue() else "utf-8")
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    types = {name: KnownType(kind, inferred=inferred) for name in ("a", "b") if kind}
    expected, expected_errors = [], []
    end = (2, header.length)
    for record in csv_reader.read_batch(header.layout, chunks, number=2, position=header.length, rows=batch_rows):
        end = (record.next_line, record.next_position)
        try:
            expected.append(csv_reader.row_of(header.layout, record, csv_reader.readers_of(header.layout, types)))
        except csv_reader.RowInvalid as error:
            expected_errors.append((record.number, str(error)))
    contacts, errors, count = [], [], 0
    columns = csv_blocks.attribute_columns(header.layout, types)
    last = (2, header.length)
    for block in csv_blocks.read_blocks(header.layout, chunks, number=2, position=header.length, rows=batch_rows):
        rows, block_errors = csv_blocks.contacts_of(header.layout, block, columns)
        contacts += rows
        errors += [(error.line, error.message) for error in block_errors]
        count += len(block.rows) + len(block.invalid)
        last = (block.next_line, block.next_position)
    assert contacts == expected
    assert sorted(errors) == sorted(expected_errors)
    assert count == len(expected) + len(expected_errors) <= batch_rows
    assert last[0] <= len(data.split(b"\n")) + 1
    assert last[1] >= end[1]
    assert not data[end[1] - header.length : last[1] - header.length].strip(b"\r\n")


def test_an_endless_line_takes_bounded_memory():
    def chunks():
        yield b"x@example.com,"
        for _ in range(200):
            yield b"y" * 1_000_000
        yield b"\nlast@example.com,1\n"

    layout = csv_reader.read_header(b"email,a\n").layout
    records = list(csv_reader.read_records(layout, csv_reader.split_lines(chunks()), number=2, position=8))
    assert [record.cells for record in records] == [None, ["last@example.com", "1"]]
    assert records[0].next_position == 8 + 14 + 200_000_000 + 1


def test_a_header_with_an_unclosed_quote_is_refused():
    with pytest.raises(ImportFileInvalid):
        csv_reader.read_header(b'"email\n')
