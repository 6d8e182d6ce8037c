"""`postern import`: upload a CSV file of contacts and show the progress of the import."""

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    import httpx

POLL_INTERVAL = timedelta(milliseconds=250)
CSV_HEADERS = {"content-type": "text/csv"}
CHUNK_BYTES = 262_144
"""Bytes per chunk of the upload."""
MAX_ERRORS_SHOWN = 20
MAX_ROWS_SHOWN = 5
"""Rows of a preview that are printed."""

OPTIONS = {"attributeTypes": "--type", "charset": "--charset"}
"""Options of this command, keyed by the API's parameters, which messages of the server mention."""
_COLUMNS = re.compile(r"`columns=(\{.*?\})`")
_PARAMETER = re.compile(rf"`({'|'.join(OPTIONS)})(?:=([^`]*))?`")

Progress = Callable[[str, float, str], None]
"""Displays a phase (`upload` or `import`), the fraction that is done (0 to 1), and a remark."""

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="CSV file with a header row.")]
Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with contacts:write and contacts:read.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server.")]
Mode = Annotated[Literal["upsert", "skip"], typer.Option(help="Update contacts that exist, or skip them.")]

Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="NAME=TYPE", help="Type of an attribute, for example zip=string; may be repeated."),
]
Charset = Annotated[str | None, typer.Option(help="Encoding of the file. Default: detected.")]
Column = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TARGET",
        help="Field that a column fills: email, unsubscribed, subscribed, attributes, attributes.NAME. An empty "
        "target (NAME=) leaves the column out. May be repeated.",
    ),
]
Preview = Annotated[bool, typer.Option("--preview", help="Show how the file would be read, and import nothing.")]


def register(app: typer.Typer) -> None:
    """Add the group `import`, with the commands of this module and of `moving`."""
    from postern.cli import moving

    group = typer.Typer(
        cls=_ContactsByDefault, no_args_is_help=True, help="Import contacts from CSV, or users of another product."
    )
    group.command("contacts")(import_contacts)
    moving.add_commands(group)
    app.add_typer(group, name="import")


class _ContactsByDefault(TyperGroup):
    """`postern import FILE` means `postern import contacts FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["contacts", *args]
        return super().parse_args(ctx, args)


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
    """Import contacts from a CSV file. After the upload, Ctrl-C does not stop the import on the server.

    Exits with 1 if a row failed or the import was not completed; with --preview, if the file cannot be imported.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from postern.cli.client import resolve_server
    from postern.kernel.config import read_settings

    base_url, _ = resolve_server(url, read_settings())
    options, attribute_types = read_options(charset, column or []), read_types(types or [])
    if preview:
        report = asyncio.run(
            _with_client(base_url, key, lambda client: preview_file(client, project, file, attribute_types, options))
        )
        print(preview_text(report))
        if not report["importable"]:
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
            _with_client(
                base_url,
                key,
                lambda client: import_file(client, project, file, mode, show, attribute_types, options),
            )
        )
    print(summary(state))
    if state["status"] != "COMPLETED" or state["failed"]:
        raise typer.Exit(1)


def read_types(arguments: list[str]) -> dict[str, str]:
    """Parse `name=type` arguments into the types of attributes by name. Raises typer.BadParameter."""
    types: dict[str, str] = {}
    for argument in arguments:
        name, separator, kind = argument.rpartition("=")
        if not separator:
            raise typer.BadParameter(f"{argument!r} is not NAME=TYPE, for example zip=string.", param_hint="--type")
        types[name] = kind
    return types


def read_options(charset: str | None, columns: Sequence[str]) -> dict[str, str]:
    """Return the query parameters `charset` and `columns` of an import, as far as they are given.

    Raises typer.BadParameter for a column without `=`.
    """
    mapping: dict[str, str | None] = {}
    for column in columns:
        name, separator, target = column.rpartition("=")
        if not separator:
            raise typer.BadParameter(f"{column!r} is not NAME=TARGET, for example Kunde=email.", param_hint="--column")
        mapping[name] = target.strip() or None
    return {**({"charset": charset} if charset else {}), **({"columns": json.dumps(mapping)} if mapping else {})}


async def _with_client(
    url: str, key: str, call: Callable[["httpx.AsyncClient"], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    import httpx

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
        return await call(client)


async def import_file(
    client: "httpx.AsyncClient",
    project: str,
    file: Path,
    mode: str,
    show: Progress,
    types: dict[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Upload a file, wait until the server has imported it, and return the finished import, which may have failed.

    `types` maps names of attributes to their types; `options` is the result of `read_options`. `show` is called during
    the upload and the import. Raises CannotRun for an error response, and httpx.TransportError if a request fails.
    """
    path = f"/projects/{project}/contacts/import"
    size = max(1, (await asyncio.to_thread(file.stat)).st_size)
    params = {"mode": mode, **_query(types, options)}
    state = _read_response(
        await client.post(path, params=params, content=_chunks(file, size, show), headers=CSV_HEADERS)
    )
    while state["status"] in ("PENDING", "RUNNING"):
        await asyncio.sleep(POLL_INTERVAL.total_seconds())
        state = _read_response(await client.get(f"{path}s/{state['id']}"))
        show(
            "import", state["position"] / max(1, state["bytes"]), f"{state['rows']:,} rows, {state['failed']:,} failed"
        )
    return state


async def preview_file(
    client: "httpx.AsyncClient",
    project: str,
    file: Path,
    types: dict[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Upload a file, and return how the server would import it, without importing it.

    The parameters are those of `import_file`. Raises CannotRun for an error response, and httpx.TransportError if the
    request fails.
    """
    path = f"/projects/{project}/contacts/import/preview"
    content = _chunks(file, 1, lambda *_: None)  # Without a progress bar, the size does not matter.
    return _read_response(await client.post(path, params=_query(types, options), content=content, headers=CSV_HEADERS))


def _query(types: dict[str, str] | None, options: Mapping[str, str] | None) -> dict[str, str]:
    return {**({"attributeTypes": json.dumps(types)} if types else {}), **(options or {})}


async def _chunks(file: Path, size: int, show: Progress) -> AsyncIterator[bytes]:
    sent = 0
    with await asyncio.to_thread(file.open, "rb") as data:
        while chunk := await asyncio.to_thread(data.read, CHUNK_BYTES):
            yield chunk
            sent += len(chunk)
            show("upload", sent / size, f"{sent / 1e6:,.1f} MB")


def _read_response(response: "httpx.Response") -> dict[str, Any]:
    """Return the JSON of a successful response. Raises CannotRun with the problem's detail otherwise."""
    from postern.cli import CannotRun

    if response.is_success:
        return response.json()
    try:
        problem = response.json()
        detail = with_options(f"{problem['detail']} {problem.get('next') or ''}".strip())
    except (ValueError, KeyError):
        detail = response.text[:200]
    raise CannotRun(f"The server responded with {response.status_code}: {detail}")


def summary(state: dict[str, Any]) -> str:
    """The final status, counts and first errors of an import, as text."""
    counts = ", ".join(f"{state[name]:,} {name}" for name in ("created", "updated", "skipped", "failed"))
    lines = [f"{state['status'].capitalize()}: {counts}."]
    lines += [f"  line {error['line']}: {error['message']}" for error in state["errors"][:MAX_ERRORS_SHOWN]]
    more = max(0, state["failed"] - MAX_ERRORS_SHOWN)
    return "\n".join([*lines, *([f"  and {more:,} more"] if more else [])])


DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def preview_text(preview: dict[str, Any]) -> str:
    """A preview of an import, as text."""
    lines = [f"{preview['charset']} ({preview['charsetFrom'].lower()}), cells separated by {_separator_name(preview)}."]
    for column in preview["columns"]:
        target = " ".join(filter(None, [column["target"] or "left out", column["type"]]))
        samples = f": {' | '.join(column['samples'])}" if column["samples"] else ""
        lines.append(f"  {column['name'] or '(no name)'} -> {target} ({column['decidedBy'].lower()}){samples}")
    for row in preview["rows"][:MAX_ROWS_SHOWN]:
        text = row["error"] or f"{row['email']} {json.dumps(row['attributes'], ensure_ascii=False)}"
        lines.append(f"  line {row['line']}: {text}{' (unsubscribed)' if row['unsubscribed'] else ''}")
    for problem in preview["problems"]:
        kind = "Refused" if problem["blocking"] else "Note"
        lines.append(with_options(f"{kind}: {problem['message']} {problem['next'] or ''}".rstrip()))
    return "\n".join(lines)


def with_options(text: str) -> str:
    """Replace the API's parameters in a message of the server with the options of this command: for example
    `columns={"Kunde":"email"}` with `--column Kunde=email`."""
    return _PARAMETER.sub(_option, _COLUMNS.sub(_column_options, text))


def _column_options(match: re.Match[str]) -> str:
    try:
        columns: dict[str, str | None] = json.loads(match[1])
    except ValueError:
        return match[0]  # A name in the file that only looks like the parameter.
    arguments = (shlex.quote(f"{name}={target or ''}") for name, target in columns.items())
    return f"`{' '.join(f'--column {argument}' for argument in arguments)}`"


def _option(match: re.Match[str]) -> str:
    return f"`{OPTIONS[match[1]]} {match[2] or ''}".rstrip() + "`"


def _separator_name(preview: dict[str, Any]) -> str:
    delimiter: str = preview["delimiter"]
    return DELIMITER_NAMES.get(delimiter, delimiter)
