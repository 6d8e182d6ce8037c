"""`postern import`: a CSV file of contacts, uploaded and taken in, with a bar."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    import httpx

LOOK_EVERY = timedelta(milliseconds=250)
CSV = {"content-type": "text/csv"}
PIECE = 262_144
"""Bytes that are read and sent at a time."""
ERRORS_SHOWN = 20
ROWS_SHOWN = 5
"""Rows of a preview that are printed."""

Progress = Callable[[str, float, str], None]
"""Shows a phase, how much of it is done (0 to 1), and a remark."""

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A CSV file with a header.")]
Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with contacts:write and contacts:read.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Where the server is.")]
Mode = Annotated[Literal["upsert", "skip"], typer.Option(help="What becomes of contacts that exist.")]

Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="NAME=TYPE", help="Type of an attribute, such as zip=string; may be repeated."),
]
Charset = Annotated[str | None, typer.Option(help="The file's encoding, if it is not found by itself.")]
Column = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TARGET",
        help="What a column fills: email, unsubscribed, subscribed, attributes, attributes.<name>, or nothing.",
    ),
]
Preview = Annotated[bool, typer.Option("--preview", help="Show how the file would be read, and import nothing.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("import")(import_contacts)


def import_contacts(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    mode: Mode = "upsert",
    types: Types = None,
    charset: Charset = None,
    column: Column = None,
    preview: Preview = False,
) -> None:
    """Import contacts from a CSV file. Ctrl-C after the upload leaves the import running on the server."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from postern.cli.client import server_at
    from postern.kernel.config import read_settings

    base_url, _ = server_at(url, read_settings())
    reading, declared = read_options(charset, column or []), read_types(types or [])
    if preview:
        shown = asyncio.run(
            _at_server(base_url, key, lambda client: preview_file(client, project, file, declared, reading))
        )
        print(preview_text(shown))
        if not shown["importable"]:
            raise typer.Exit(1)
        return
    columns = (TextColumn("{task.description:<8}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(*columns, TextColumn("{task.fields[remark]}"), console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def show(phase: str, done: float, remark: str) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=1.0, remark="")
            bars.update(tasks[phase], completed=done, remark=remark)

        state = asyncio.run(
            _at_server(base_url, key, lambda client: import_file(client, project, file, mode, show, declared, reading))
        )
    print(summary(state))
    if state["status"] != "COMPLETED" or state["failed"]:
        raise typer.Exit(1)


def read_types(given: list[str]) -> dict[str, str]:
    """Types of attributes by name, from `name=type`. Raises typer.BadParameter."""
    types: dict[str, str] = {}
    for each in given:
        name, separator, kind = each.rpartition("=")
        if not separator:
            raise typer.BadParameter(f"{each!r} is not written like zip=string.", param_hint="--type")
        types[name] = kind
    return types


def read_options(charset: str | None, columns: Sequence[str]) -> dict[str, str]:
    """The query parameters that say how the file is written. Raises typer.BadParameter for a column without `=`."""
    mapping: dict[str, str | None] = {}
    for each in columns:
        name, equals, target = each.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"{each!r} is not written like Kunde=email.", param_hint="--column")
        mapping[name] = target.strip() or None
    return {**({"charset": charset} if charset else {}), **({"columns": json.dumps(mapping)} if mapping else {})}


async def _at_server(
    url: str, key: str, do: Callable[["httpx.AsyncClient"], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    import httpx

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
        return await do(client)


async def import_file(
    client: "httpx.AsyncClient",
    project: str,
    file: Path,
    mode: str,
    show: Progress,
    types: dict[str, str] | None = None,
    reading: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Upload a file, watch until it is taken in, and return the finished import. Raises CannotRun.

    `types` are those of attributes by name, `reading` the query parameters that say how the file is written
    (`read_options`).
    """
    path = f"/projects/{project}/contacts/import"
    size = max(1, (await asyncio.to_thread(file.stat)).st_size)
    params = {"mode": mode, **_parameters(types, reading)}
    state = _read(await client.post(path, params=params, content=_pieces(file, size, show), headers=CSV))
    while state["status"] in ("PENDING", "RUNNING"):
        await asyncio.sleep(LOOK_EVERY.total_seconds())
        state = _read(await client.get(f"{path}s/{state['id']}"))
        show(
            "import", state["position"] / max(1, state["bytes"]), f"{state['rows']:,} rows, {state['failed']:,} failed"
        )
    return state


async def preview_file(
    client: "httpx.AsyncClient",
    project: str,
    file: Path,
    types: dict[str, str] | None = None,
    reading: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """How the server would read a file. Raises CannotRun."""
    path = f"/projects/{project}/contacts/import/preview"
    content = _pieces(file, 1, lambda *_: None)
    return _read(await client.post(path, params=_parameters(types, reading), content=content, headers=CSV))


def _parameters(types: dict[str, str] | None, reading: Mapping[str, str] | None) -> dict[str, str]:
    return {**({"attributeTypes": json.dumps(types)} if types else {}), **(reading or {})}


async def _pieces(file: Path, size: int, show: Progress) -> AsyncIterator[bytes]:
    sent = 0
    with await asyncio.to_thread(file.open, "rb") as data:
        while piece := await asyncio.to_thread(data.read, PIECE):
            yield piece
            sent += len(piece)
            show("upload", sent / size, f"{sent / 1e6:,.1f} MB")


def _read(answer: "httpx.Response") -> dict[str, Any]:
    from postern.cli import CannotRun

    if answer.is_success:
        return answer.json()
    try:
        problem = answer.json()
        detail = f"{problem['detail']} {problem.get('next') or ''}".strip()
    except (ValueError, KeyError):
        detail = answer.text[:200]
    raise CannotRun(f"The server answers {answer.status_code}: {detail}")


def summary(state: dict[str, Any]) -> str:
    """What became of an import, for people."""
    counts = ", ".join(f"{state[name]:,} {name}" for name in ("created", "updated", "skipped", "failed"))
    lines = [f"{state['status'].capitalize()}: {counts}."]
    lines += [f"  line {error['line']}: {error['message']}" for error in state["errors"][:ERRORS_SHOWN]]
    more = max(0, state["failed"] - ERRORS_SHOWN)
    return "\n".join([*lines, *([f"  and {more:,} more"] if more else [])])


DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def preview_text(shown: dict[str, Any]) -> str:
    """A preview of an import, for people."""
    lines = [f"{shown['charset']} ({shown['charsetFrom'].lower()}), cells separated by {_separated(shown)}."]
    for column in shown["columns"]:
        target = " ".join(filter(None, [column["target"] or "left out", column["type"]]))
        samples = f": {' | '.join(column['samples'])}" if column["samples"] else ""
        lines.append(f"  {column['name'] or '(no name)'} -> {target} ({column['decidedBy'].lower()}){samples}")
    for row in shown["rows"][:ROWS_SHOWN]:
        said = row["error"] or f"{row['email']} {json.dumps(row['attributes'], ensure_ascii=False)}"
        lines.append(f"  line {row['line']}: {said}{' (unsubscribed)' if row['unsubscribed'] else ''}")
    for problem in shown["problems"]:
        kind = "Refused" if problem["blocking"] else "Note"
        lines.append(f"{kind}: {problem['message']} {problem['next'] or ''}".rstrip())
    return "\n".join(lines)


def _separated(shown: dict[str, Any]) -> str:
    delimiter: str = shown["delimiter"]
    return DELIMITER_NAMES.get(delimiter, delimiter)
