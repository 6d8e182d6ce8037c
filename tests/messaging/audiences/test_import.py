"""Importing and exporting contacts: valid and damaged files, killed imports."""

import csv
import io
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.kernel.due import Lane, claim
from postern.messaging.audiences import csv_reader, work
from postern.messaging.audiences.model import ImportFileInvalid
from postern.protocols.mail.address import AddressInvalid, normalise, parse_address
from tests.messaging.audiences.test_audiences import PRO, audience, members
from tests.messaging.audiences.test_contacts import create


async def upload(project, body, mode="upsert", content_type="text/csv"):
    body = body.encode() if isinstance(body, str) else body
    path = f"/contacts/import?mode={mode}"
    return await project.client.post(path, content=body, headers={"content-type": content_type})


async def take_in(project, work_off, body, mode="upsert"):
    """Upload a file, run the background work, and return the finished import."""
    up = await upload(project, body, mode)
    assert up.status_code == 201, up.text
    assert up.json()["status"] == "PENDING"
    await work_off()
    done = (await project.client.get(f"/contacts/imports/{up.json()['id']}")).json()
    assert done["rows"] == done["created"] + done["updated"] + done["skipped"] + done["failed"]
    return done


def counts(done):
    return {name: done[name] for name in ("created", "updated", "skipped", "failed") if done[name]}


async def by_email(project):
    page = (await project.client.get("/contacts?limit=100")).json()
    return {each["email"]: each for each in page["data"]}


async def test_a_file_is_imported_and_exported(project, work_off):
    body = (
        "email,name,seats,ratio,vip,since,zip,tags,unsubscribed\r\n"
        'ada@example.com,"Lovelace, Ada",4,0.5,TRUE,2026-01-31,01234,"[""a"",1]",\r\n'
        'Grace@Example.com,"Grace ""G""\nHopper",-1,12,,+49123,12345678901234567890,[],yes\r\n'
    )
    done = await take_in(project, work_off, body)
    assert (done["status"], done["mode"], counts(done)) == ("COMPLETED", "upsert", {"created": 2})
    assert (done["position"], done["bytes"]) == (len(body), len(body))
    assert done["finishedAt"] is not None
    found = await by_email(project)
    assert found["ada@example.com"]["attributes"] == {
        "name": "Lovelace, Ada",
        "seats": 4,
        "ratio": 0.5,
        "vip": True,
        "since": "2026-01-31",
        "zip": "01234",
        "tags": ["a", 1],
    }
    grace = found["Grace@example.com"]
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
    again = await take_in(project, work_off, exported.content)
    assert counts(again) == {"updated": 2}
    assert await by_email(project) == found
    assert [each["id"] for each in (await project.client.get("/contacts/imports")).json()] == [again["id"], done["id"]]


async def test_upsert_merges_and_skip_keeps_existing_contacts(project, work_off):
    await create(project, "ada@example.com", attributes={"plan": "pro", "city": "Rome"})
    await create(project, "out@example.com", unsubscribed=True)
    body = "Email;plan;unsubscribed\nADA@example.com;free;\nnew@example.com;free;\nout@example.com;;false\n"
    skipped = await take_in(project, work_off, body, "skip")
    assert counts(skipped) == {"created": 1, "skipped": 2}
    assert (await by_email(project))["ada@example.com"]["attributes"]["plan"] == "pro"
    merged = await take_in(project, work_off, body)
    assert counts(merged) == {"updated": 3}
    found = await by_email(project)
    assert found["ada@example.com"]["attributes"] == {"plan": "free", "city": "Rome"}
    assert found["out@example.com"]["unsubscribed"] is True
    await take_in(project, work_off, "email,unsubscribed\nada@example.com,1\n")
    told = (await project.client.get("/events?type=contact.unsubscribed")).json()["data"]
    assert [each["subjectId"] for each in told] == [found["ada@example.com"]["id"]]
    types = [each["type"] for each in (await project.client.get("/events")).json()["data"]]
    assert types.count("contact.created") == 3
    assert types.count("contact.updated") == 2


async def test_repeated_addresses_in_a_file_are_merged(project, work_off):
    body = "email,a,b\nx@example.com,1,\nX@example.com,,2\nx@EXAMPLE.com,3,\n"
    assert counts(await take_in(project, work_off, body)) == {"created": 1, "updated": 2}
    assert (await by_email(project))["x@example.com"]["attributes"] == {"a": 3, "b": 2}
    body = "email,a\ny@example.com,1\ny@example.com,2\n"
    assert counts(await take_in(project, work_off, body, "skip")) == {"created": 1, "skipped": 1}
    assert (await by_email(project))["y@example.com"]["attributes"] == {"a": 1}


async def test_an_import_updates_memberships(project, work_off):
    list_id = await audience(project, rules=PRO)
    await take_in(project, work_off, "email,plan\na@example.com,pro\nb@example.com,free\n")
    assert await members(project, list_id) == {"a"}
    await take_in(project, work_off, "email,plan\na@example.com,free\nb@example.com,pro\n")
    assert await members(project, list_id) == {"b"}
    assert (await project.client.post(f"/audiences/{list_id}/recompute")).json() == {"added": 0, "removed": 0}


async def test_invalid_lines_fail_alone_with_a_reason(project, work_off):
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
    done = await take_in(project, work_off, b"\n".join(lines))
    assert sorted(await by_email(project)) == [f"good{n}@example.com" for n in range(1, 6)]
    assert counts(done) == {"created": 5, "failed": 10}
    wanted = {
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
    assert [error["line"] for error in done["errors"]] == list(wanted)
    for error in done["errors"]:
        assert wanted[error["line"]] in error["message"], error


async def test_a_row_that_exceeds_the_attribute_limit_fails_alone(project, work_off):
    await create(project, "full@example.com", attributes={"x": "y" * 15_000})
    await create(project, "many@example.com", attributes={f"x{n}": n for n in range(100)})
    body = f"email,z\nfull@example.com,{'z' * 3_000}\nmany@example.com,1\nok@example.com,1\n"
    done = await take_in(project, work_off, body)
    assert counts(done) == {"created": 1, "failed": 2}
    assert [error["line"] for error in done["errors"]] == [2, 3]


async def test_errors_are_counted_but_not_all_listed(project, work_off):
    done = await take_in(project, work_off, "email\n" + "nonsense\n" * 300 + "ok@example.com\n")
    assert counts(done) == {"created": 1, "failed": 300}
    assert [error["line"] for error in done["errors"]] == list(range(2, 202))


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
    answer = await upload(project, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "import_file_invalid")
    assert words in answer.json()["detail"]
    assert (await project.client.get("/contacts/imports")).json() == []


async def test_byte_order_marks_and_other_separators(project, work_off):
    for number, body in enumerate(("\ufeffemail,a\nx0@example.com,1", "E-Mail\ta\nx1@example.com\t1\n")):
        assert counts(await take_in(project, work_off, body)) == {"created": 1}
        assert (await by_email(project))[f"x{number}@example.com"]["attributes"] == {"a": 1}


async def test_media_type_and_parameters_are_checked(project, new_project):
    assert (await upload(project, "email\n", content_type="application/json")).status_code == 415
    assert (await upload(project, "email\n", mode="replace")).status_code == 400
    up = (await upload(project, "email\na@example.com\n")).json()
    theirs = await new_project()
    assert (await theirs.client.get(f"/contacts/imports/{up['id']}")).status_code == 404
    assert (await theirs.client.get("/contacts/imports")).json() == []
    for _ in range(4):
        await upload(project, "email\na@example.com\n")
    full = await upload(project, "email\na@example.com\n")
    assert (full.status_code, full.json()["code"]) == (409, "too_many_imports")


async def test_an_import_takes_several_batches_and_claims(project, work_off, monkeypatch):
    monkeypatch.setattr(work, "IMPORT_BATCH", 7)
    monkeypatch.setattr(work, "BATCHES_PER_CLAIM", 2)
    rows = "".join(f'u{n}@example.com,"line\nbreak {n}"\n' for n in range(60))
    done = await take_in(project, work_off, "email,text\n" + rows + "nonsense,\n")
    assert counts(done) == {"created": 60, "failed": 1}
    assert [error["line"] for error in done["errors"]] == [122]


OPEN_QUOTE = b'a","""\n'
"""A line that ends within quotes, whether it begins within quotes or not."""


async def test_unclosed_quotes_are_parsed_in_linear_time(project, work_off, monkeypatch):
    read: list[int] = []
    plain = csv_reader._LineSource.__next__
    monkeypatch.setattr(csv_reader._LineSource, "__next__", lambda source: (read.append(1), plain(source))[1])
    good = b'good%d@example.com,"two\nlines"\n'
    body = b"email,b\n" + good % 1 + OPEN_QUOTE * 16_000 + b"x,\n" * 40_000 + good % 2
    done = await take_in(project, work_off, body)
    assert sorted(await by_email(project)) == ["good1@example.com", "good2@example.com"]
    assert counts(done) == {"created": 2, "failed": 56_000}
    assert len(read) < 20 * 56_000, "lines that were read, again ones included"
    read.clear()
    headers = {"content-type": "text/csv"}
    shown = await project.client.post("/contacts/import/preview", content=body, headers=headers)
    assert shown.json()["importable"] is True
    assert len(read) < 40 * csv_reader.IMPORT_BATCH


async def test_a_killed_import_continues_at_its_position(project, world, clock, work_off, monkeypatch):
    monkeypatch.setattr(work, "IMPORT_BATCH", 10)
    rows = "".join(f"u{n}@example.com\n" for n in range(45))
    up = (await upload(project, "email\n" + rows)).json()
    settled = 0

    class Killed(BaseException):
        pass

    real = work.import_store.advance

    async def advance(*args, **kwargs):
        nonlocal settled
        settled += 1
        if settled == 3:
            raise Killed
        return await real(*args, **kwargs)

    monkeypatch.setattr(work.import_store, "advance", advance)
    imports = work.WORK[0]
    (job,) = await claim(world.db, imports, Lane(UUID(project.id), None), clock(), 1)
    with pytest.raises(Killed):
        await work.run_import(world, job)
    half = (await project.client.get(f"/contacts/imports/{up['id']}")).json()
    assert (half["status"], half["rows"]) == ("RUNNING", 20)
    assert (await project.client.get("/contacts")).json()["total"] == 20
    clock.move(timedelta(minutes=3))
    await work_off()
    done = (await project.client.get(f"/contacts/imports/{up['id']}")).json()
    assert (done["status"], counts(done)) == ("COMPLETED", {"created": 45})
    told = (await project.client.get("/events?type=contact.created")).json()["data"]
    assert len(told) == 45


async def test_a_superseded_attempt_changes_nothing(project, world, clock, work_off):
    up = (await upload(project, "email\na@example.com\n")).json()
    (old,) = await claim(world.db, work.WORK[0], Lane(UUID(project.id), None), clock(), 1)
    clock.move(timedelta(minutes=3))
    (new,) = await claim(world.db, work.WORK[0], Lane(UUID(project.id), None), clock(), 1)
    await work.run_import(world, old)
    assert (await project.client.get("/contacts")).json()["total"] == 0
    await work.run_import(world, new)
    await work.run_import(world, old)
    done = (await project.client.get(f"/contacts/imports/{up['id']}")).json()
    assert (done["status"], counts(done)) == ("COMPLETED", {"created": 1})


async def test_an_interrupted_upload_stores_nothing(project, world, app):
    events = iter(
        [
            {"type": "http.request", "body": b"email\na@example.com\n" * 100_000, "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent = []

    async def receive():
        return next(events)

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
        text = "select count(*) from contact_import_pieces where project_id = %s"
        assert await (await connection.execute(text, (project.id,))).fetchall() == [(0,)]


async def test_an_endless_upload_is_cancelled(project, world, clock, work_off):
    up = (await upload(project, "email\na@example.com\n")).json()
    async with world.db.connection() as connection:
        text = "update contact_imports set status = 'UPLOADING', due_at = %s where project_id = %s"
        await connection.execute(text, (clock(), project.id))
    await work_off()
    done = (await project.client.get(f"/contacts/imports/{up['id']}")).json()
    assert (done["status"], done["errors"][0]["message"]) == (
        "FAILED",
        "The upload took longer than 2 hours and was cancelled; upload the file again.",
    )


async def test_formulas_are_guarded_in_exports_and_unchanged_in_the_database(project, work_off):
    for number, text in enumerate(("=1+1", "@x", "+1", "-x", "\tx")):
        attributes = {"f": text, "id": "own", "email": "e", "=1+1": text, "attributes.x": "y"}
        await create(project, f"u{number}@example.com", attributes=attributes)
    answer = await project.client.get("/contacts/export")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    exported = answer.text
    rows = list(csv.DictReader(io.StringIO(exported, newline="")))
    assert [row["f"] for row in rows] == ["'=1+1", "'@x", "'+1", "'-x", "'\tx"]
    assert [row["'=1+1"] for row in rows] == ["'=1+1", "'@x", "'+1", "'-x", "'\tx"]
    assert {row["attributes.id"] for row in rows} == {"own"}
    before = await by_email(project)
    assert counts(await take_in(project, work_off, exported)) == {"updated": 5}
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
    pieces = [data[at : at + size] for at in range(header.length, len(data), size)]
    lines = list(csv_reader.read_lines(layout, csv_reader.split_lines(pieces), number=2, position=header.length))
    assert [line.cells for line in lines] == rows
    if lines:
        assert lines[-1].next_position == len(data)
        for line in lines[:-1]:
            rest = csv_reader.split_lines([data[line.next_position :]])
            following = next(csv_reader.read_lines(layout, rest, number=line.next_line, position=line.next_position))
            assert following == lines[lines.index(line) + 1] or following.cells == rows[lines.index(line) + 1]


@settings(max_examples=300)
@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_crash_the_reader(data, size):
    data = b"email,a\n" + data
    header = csv_reader.read_header(data)
    layout, position = header.layout, header.length
    pieces = [data[at : at + size] for at in range(position, len(data), size)]
    for line in csv_reader.read_lines(layout, csv_reader.split_lines(pieces), number=2, position=position):
        assert line.next_position > position
        position = line.next_position
        try:
            row = csv_reader.row_of(layout, line, csv_reader.readers_of(layout, {}))
        except csv_reader.RowFault:
            continue
        assert row.email_key == normalise(row.email)
    assert position <= len(data)


@settings(max_examples=300)
@given(st.text(max_size=60) | st.emails() | st.from_regex(r"[a-zA-Z0-9.+'_-]{1,66}@[a-z0-9.-]{1,20}", fullmatch=True))
def test_the_fast_address_parser_agrees_with_the_full_one(text):
    text = text.strip()
    try:
        wanted = parse_address(text).spec
    except AddressInvalid:
        with pytest.raises(csv_reader.RowFault):
            csv_reader.read_email(text)
        return
    assert csv_reader.read_email(text) == (wanted, normalise(wanted))


def test_an_endless_line_takes_bounded_memory():
    def pieces():
        yield b"x@example.com,"
        for _ in range(200):
            yield b"y" * 1_000_000
        yield b"\nlast@example.com,1\n"

    layout = csv_reader.read_header(b"email,a\n").layout
    lines = list(csv_reader.read_lines(layout, csv_reader.split_lines(pieces()), number=2, position=8))
    assert [line.cells for line in lines] == [None, ["last@example.com", "1"]]
    assert lines[0].next_position == 8 + 14 + 200_000_000 + 1


def test_a_header_is_parsed_or_refused():
    with pytest.raises(ImportFileInvalid):
        csv_reader.read_header(b'"email\n')
