"""`postern import`, against the real application."""

import asyncio
from pathlib import Path

import httpx
import pytest
import typer

from postern.cli import CannotRun
from postern.cli.contacts import (
    import_file,
    preview_file,
    preview_text,
    read_options,
    read_types,
    summary,
    with_options,
)


@pytest.fixture
def client(project, app):
    transport = httpx.ASGITransport(app=app)
    headers = {"Authorization": f"Bearer {project.secret_key}"}
    return httpx.AsyncClient(transport=transport, base_url="http://postern.test", headers=headers)


async def test_a_file_is_uploaded_and_its_progress_shown(project, client, run_due_work, tmp_path: Path):
    file = tmp_path / "contacts.csv"
    file.write_text("email,plan\n" + "".join(f"u{n}@example.com,pro\n" for n in range(40)) + "nonsense,\n" * 25)
    progress_calls = []
    running_import = asyncio.create_task(
        import_file(client, project.id, file, "upsert", lambda *progress: progress_calls.append(progress))
    )
    # The import is due when the upload has ended, which is after it is listed.
    while not running_import.done():
        await run_due_work()
        await asyncio.sleep(0.01)
    finished = await running_import
    assert progress_calls[0] == ("upload", 1.0, "0.0 MB")
    assert progress_calls[-1] == ("import", 1.0, "65 rows, 25 failed")
    lines = summary(finished).splitlines()
    assert lines[0] == "Completed: 40 created, 0 updated, 0 skipped, 25 failed."
    assert lines[1].startswith("  line 42: ")
    assert lines[-1] == "  and 5 more"


async def test_an_error_is_reported_in_one_sentence(project, client, tmp_path: Path):
    file = tmp_path / "contacts.csv"
    file.write_text("name\nAda\n")
    with pytest.raises(CannotRun, match="400: There is no column `email`"):
        await import_file(client, project.id, file, "upsert", lambda *_: None)


async def test_hints_name_the_options_of_the_command(project, client, tmp_path: Path):
    file = tmp_path / "contacts.csv"
    file.write_text("Main contact,plan\na@example.com,pro\n")
    with pytest.raises(CannotRun, match="--column 'Main contact=email'`") as raised:
        await import_file(client, project.id, file, "upsert", lambda *_: None)
    assert "columns=" not in str(raised.value)
    refused = preview_text(await preview_file(client, project.id, file))
    assert "for example `--column 'Main contact=email'`." in refused
    # The hint works, and so does that for a type whose name no column has.
    options = read_options(None, ["Main contact=email"])
    noted = preview_text(await preview_file(client, project.id, file, {"paln": "string"}, options))
    assert "Note: `--type` has names of attributes that no column of the file fills: `paln`." in noted
    file.write_text("email,a`b,a`b\n")
    refused = preview_text(await preview_file(client, project.id, file, options=read_options(None, ["email=email"])))
    assert "columns=" not in refused
    file.write_bytes("email,E-Mail,n\n".encode("utf-16-le"))
    with pytest.raises(CannotRun, match="declare `--charset utf-16le` or `--charset utf-16be`"):
        await preview_file(client, project.id, file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('add `columns={"E-Mail":"email"}`.', "add `--column E-Mail=email`."),
        ('exclude one: `columns={"a`b":null}`.', "exclude one: `--column 'a`b='`."),
        ("Columns 1 and 2 are both `columns={x}`.", "Columns 1 and 2 are both `columns={x}`."),
        ("Declare `charset=utf-8`, or omit `charset`.", "Declare `--charset utf-8`, or omit `--charset`."),
        ("declare `charset=` if they are wrong.", "declare `--charset` if they are wrong."),
    ],
)
def test_parameters_in_messages_become_options(text, expected):
    assert with_options(text) == expected


async def test_types_of_attributes_are_declared_with_the_file(project, client, run_due_work, tmp_path: Path):
    """Regression test of C3 (tests/defects.md)."""
    file = tmp_path / "contacts.csv"
    file.write_text("email,zip\na@example.com,12345\n")
    types = read_types(["zip=string", "a=b=list"])
    assert types == {"zip": "string", "a=b": "list"}
    running_import = asyncio.create_task(import_file(client, project.id, file, "upsert", lambda *_: None, types))
    # The import is due when the upload has ended, which is after it is listed.
    while not running_import.done():
        await run_due_work()
        await asyncio.sleep(0.01)
    assert (await running_import)["created"] == 1
    (contact,) = (await project.client.get("/contacts")).json()["data"]
    assert contact["attributes"] == {"zip": "12345"}
    with pytest.raises(typer.BadParameter, match="zip=string"):
        read_types(["zip"])
    with pytest.raises(CannotRun, match="400: Expected a JSON object of names and types"):
        await import_file(client, project.id, file, "upsert", lambda *_: None, {"zip": "text"})


async def test_a_preview_shows_how_a_file_would_be_read(project, client, run_due_work, tmp_path: Path):
    """Regression test of C10 (tests/defects.md)."""
    file = tmp_path / "contacts.csv"
    file.write_bytes("sep=;\r\nKunde;Straße;Notiz\r\na@example.com;Große Straße;x\r\n".encode("cp1252"))
    refused = preview_text(await preview_file(client, project.id, file))
    assert "Refused: There is no column `email`" in refused
    options = read_options("windows-1252", ["Kunde=email", "Notiz="])
    assert preview_text(await preview_file(client, project.id, file, options=options)).splitlines() == [
        "windows-1252 (declared), cells separated by semicolons.",
        "  Kunde -> email (declared): a@example.com",
        "  Straße -> attributes.Straße string (attribute): Große Straße",
        "  Notiz -> left out (declared): x",
        '  line 3: a@example.com {"Straße": "Große Straße"}',
    ]
    running_import = asyncio.create_task(
        import_file(client, project.id, file, "skip", lambda *_: None, options=options)
    )
    # The import is due when the upload has ended, which is after it is listed.
    while not running_import.done():
        await run_due_work()
        await asyncio.sleep(0.01)
    assert (await running_import)["created"] == 1
    (contact,) = (await project.client.get("/contacts")).json()["data"]
    assert contact["attributes"] == {"Straße": "Große Straße"}
    with pytest.raises(typer.BadParameter, match="Kunde=email"):
        read_options(None, ["Kunde"])
