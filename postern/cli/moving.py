"""`postern import auth0|clerk|firebase|keycloak|supabase`: import the users of another product's export."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from postern.cli.export_formats import (
    FORMATS,
    Conversion,
    ExportOptions,
    RowSkipped,
    RowUnusable,
    User,
    read_hash_config,
)
from postern.cli.export_organizations import (
    ExportedOrganization,
    lost_memberships_of,
    memberships_of,
    read_organizations,
    send_organization,
)
from postern.cli.exports import ExportRow, read_rows
from postern.cli.requests import refusal_of, send_again

if TYPE_CHECKING:
    import httpx

BATCH_ROWS = 100
BATCH_BYTES = 4_194_304
REQUEST_TIMEOUT_SECONDS = 120.0
FAULTS_SHOWN = 10

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The export.")]
Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with customers:write.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Report what would be imported, and store nothing.")]
Report = Annotated[
    Path | None, typer.Option(help="File for the report on each row, NDJSON. Default: the export's name + .report.")
]
Skip = Annotated[int, typer.Option(min=0, help="Number of rows at the beginning to leave out.")]
OptionalFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False)]


@dataclass(frozen=True)
class SkippedRow:
    """A row that is left out, which is no failure."""

    reason: str


ConvertedRow = tuple[ExportRow, Conversion | SkippedRow | str]
"""A row of a file, with what is sent, or why it is left out or cannot be converted."""


@dataclass
class ImportState:
    """How far an import is."""

    rows: int = 0
    """Rows of the file that were processed, with those that were left out."""
    outcomes: Counter[str] = field(default_factory=Counter[str])
    with_notes: int = 0
    organizations: Counter[str] = field(default_factory=Counter[str])
    """The numbers of organizations by outcome, for exports that have them as a list."""
    faults: list[str] = field(default_factory=list)
    """The first reasons of failed rows."""


def add_commands(group: typer.Typer) -> None:
    """Add the commands of this module to the group `import`."""
    for command in (auth0, clerk, firebase, keycloak, supabase):
        group.command()(command)


def auth0(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    dry_run: DryRun = False,
    report: Report = None,
    skip: Skip = 0,
    passwords: OptionalFile = None,
) -> None:
    """Import an export of users of Auth0 (NDJSON). --passwords is the export of password hashes from its support."""
    options = ExportOptions(passwords=read_auth0_passwords(passwords) if passwords else {})
    _run("auth0", file, options, (project, key, url), report, skip, dry_run=dry_run)


def clerk(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    dry_run: DryRun = False,
    report: Report = None,
    skip: Skip = 0,
) -> None:
    """Import the CSV of users from Clerk's dashboard."""
    _run("clerk", file, ExportOptions(), (project, key, url), report, skip, dry_run=dry_run)


def firebase(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    dry_run: DryRun = False,
    report: Report = None,
    skip: Skip = 0,
    hash_config: OptionalFile = None,
) -> None:
    """Import the JSON of `firebase auth:export`. --hash-config is a file with the hash parameters of the console."""
    from postern.cli import CannotRun

    try:
        config = read_hash_config(hash_config.read_text("utf-8")) if hash_config else {}
    except (RowUnusable, UnicodeDecodeError) as error:
        raise CannotRun(str(error)) from None
    _run("firebase", file, ExportOptions(hash_config=config), (project, key, url), report, skip, dry_run=dry_run)


def keycloak(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    dry_run: DryRun = False,
    report: Report = None,
    skip: Skip = 0,
    role: Annotated[list[str] | None, typer.Option(metavar="OLD=KEY", help="A realm role and its role here.")] = None,
    groups_are_organizations: Annotated[
        bool, typer.Option("--groups-are-organizations", help="Make top-level groups organizations.")
    ] = False,
    passkey_domain: Annotated[str | None, typer.Option(help="Relying party id of the realm's passkeys.")] = None,
    realm: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The file with the organizations, if FILE has users only."),
    ] = None,
) -> None:
    """Import the users and organizations of a realm that `kc.sh export` wrote, with credentials."""
    if not all("=" in pair for pair in role or ()):
        raise typer.BadParameter("Expected OLD=KEY, for example boss=ADMIN.", param_hint="--role")
    roles = dict(pair.split("=", 1) for pair in role or ())
    options = ExportOptions(
        roles=roles, groups_are_organizations=groups_are_organizations, passkey_domain=passkey_domain
    )
    _run("keycloak", file, options, (project, key, url), report, skip, dry_run=dry_run, realm=realm or file)


def supabase(
    file: File,
    project: Project,
    key: Key,
    url: Server = None,
    dry_run: DryRun = False,
    report: Report = None,
    skip: Skip = 0,
    factors: OptionalFile = None,
    identities: OptionalFile = None,
) -> None:
    """Import the table `auth.users` as CSV or JSON, with `auth.mfa_factors` and `auth.identities` if given."""
    options = ExportOptions(
        factors=read_supabase_factors(factors) if factors else {},
        identities=read_supabase_identities(identities) if identities else {},
    )
    _run("supabase", file, options, (project, key, url), report, skip, dry_run=dry_run)


def read_auth0_passwords(file: Path) -> dict[str, str]:
    """The password hashes of Auth0's export by the id of the user without `auth0|`. Rows without one are left out."""
    hashes: dict[str, str] = {}
    for row in read_rows(file, "users"):
        fields = row.fields or {}
        user_id = fields.get("_id")
        user_id = user_id.get("$oid") if isinstance(user_id, dict) else user_id
        password_hash = fields.get("passwordHash")
        if isinstance(user_id, str) and isinstance(password_hash, str):
            hashes[user_id.removeprefix("auth0|")] = password_hash
    return hashes


def read_supabase_factors(file: Path) -> dict[str, str]:
    """The verified TOTP secrets of `auth.mfa_factors` by the id of the user."""
    rows = [row.fields for row in read_rows(file, "mfa_factors") if row.fields]
    return {
        str(row.get("user_id")): str(row["secret"])
        for row in rows
        if (row.get("factor_type"), row.get("status")) == ("totp", "verified") and row.get("secret")
    }


def read_supabase_identities(file: Path) -> dict[str, list[tuple[str, str]]]:
    """The accounts at providers of `auth.identities` by the id of the user."""
    accounts: dict[str, list[tuple[str, str]]] = {}
    for row in read_rows(file, "identities"):
        fields = row.fields or {}
        provider, subject = fields.get("provider"), fields.get("provider_id") or fields.get("id")
        if isinstance(provider, str) and isinstance(subject, str) and provider not in ("email", "phone"):
            accounts.setdefault(str(fields.get("user_id")), []).append((provider, subject))
    return accounts


def _run(
    source: str,
    file: Path,
    options: ExportOptions,
    access: tuple[str, str, str | None],
    report: Path | None,
    skip: int,
    *,
    dry_run: bool,
    realm: Path | None = None,
) -> None:
    """Import a file, and show the progress and the numbers. `realm` is the file with organizations, if there can be
    some. Exits with 1 if something has failed; raises CannotRun."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from postern.cli import CannotRun
    from postern.cli.client import resolve_server
    from postern.kernel.config import read_settings

    project, key, url = access
    base_url, _ = resolve_server(url, read_settings())
    state = ImportState(rows=skip)
    columns = (TextColumn("{task.description:<8}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    try:
        with (
            open_report(file, report, append=skip > 0) as output,
            Progress(*columns, TextColumn("{task.fields[remark]}"), console=Console(stderr=True)) as bars,
        ):
            task = bars.add_task(source, total=file.stat().st_size, remark="")

            def show() -> None:
                bars.update(task, remark=f"{state.rows:,} rows, {state.outcomes['FAILED']:,} failed")

            def rows(options: ExportOptions) -> Iterator[ConvertedRow]:
                return convert_rows(source, file, options, skip, lambda position: bars.update(task, completed=position))

            organizations = list(read_organizations(realm)) if realm else []
            sending = _send_all(
                base_url, key, project, organizations, options, rows, state, output, show, dry_run=dry_run
            )
            asyncio.run(sending)
    except (CannotRun, KeyboardInterrupt, OSError) as error:
        print(summary(state, dry_run=dry_run))
        reason = str(error) or "Interrupted."
        raise CannotRun(f"{reason} To continue, repeat the command with --skip {state.rows}.") from None
    print(summary(state, dry_run=dry_run))
    print(f"Report: {report or report_beside(file)}")
    if state.outcomes["FAILED"] or state.organizations["FAILED"]:
        raise typer.Exit(1)


def report_beside(file: Path) -> Path:
    """Where the report on an export is, if no other file is named."""
    return file.with_name(f"{file.name}.report")


def open_report(file: Path, report: Path | None, *, append: bool) -> TextIO:
    """Open the file for the report, which only its owner can read: it has the ids of all users.

    Raises CannotRun if it is the export, and OSError, also if the default name is a symbolic link: in a folder that
    others can write to, it could lead to any file of the user.
    """
    from postern.cli import CannotRun

    target = report or report_beside(file)
    if target.exists() and target.samefile(file):
        raise CannotRun(f"{target} is the export; name another file for the report.")
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC) | (0 if report else os.O_NOFOLLOW)
    return os.fdopen(os.open(target, flags, 0o600), "a" if append else "w", encoding="utf-8")


def convert_rows(
    source: str, file: Path, options: ExportOptions, skip: int = 0, show: Callable[[int], None] = lambda _: None
) -> Iterator[ConvertedRow]:
    """The rows of a file after the first `skip`. `show` is called with the number of bytes that were read."""
    for index, row in enumerate(read_rows(file, "users", show)):
        if index < skip:
            continue
        if row.fields is None:
            yield row, row.fault or "The row cannot be read."
            continue
        try:
            conversion = FORMATS[source](User(row.fields), options)
            json.dumps(conversion.body, ensure_ascii=False, allow_nan=False).encode()
        except RowSkipped as error:
            yield row, SkippedRow(str(error))
        except RowUnusable as error:
            yield row, str(error)
        except (ValueError, RecursionError):
            yield row, "The row has a text or a number that JSON cannot express, or is nested too deeply."
        else:
            yield row, conversion


async def _send_all(
    url: str,
    key: str,
    project: str,
    organizations: list[tuple[ExportRow, ExportedOrganization | str]],
    options: ExportOptions,
    rows: Callable[[ExportOptions], Iterator[ConvertedRow]],
    state: ImportState,
    output: TextIO,
    show: Callable[[], None],
    *,
    dry_run: bool,
) -> None:
    import httpx

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=REQUEST_TIMEOUT_SECONDS, trust_env=False
    ) as client:
        if organizations:
            options = await send_organizations(
                client, f"/projects/{project}", organizations, options, state, output, dry_run=dry_run
            )
        path = f"/projects/{project}/customers/import/rows"
        await send_rows(client, path, rows(options), state, output, show, dry_run=dry_run)


async def send_organizations(
    client: "httpx.AsyncClient",
    project: str,
    organizations: list[tuple[ExportRow, ExportedOrganization | str]],
    options: ExportOptions,
    state: ImportState,
    output: TextIO,
    *,
    dry_run: bool = False,
) -> ExportOptions:
    """Create organizations, and write the report on each. `project` is the path of the project. Returns the options
    with the memberships of users; those of an organization that could not be converted or created fail with the users'
    rows. Raises CannotRun."""
    for row, organization in organizations:
        path = f"{project}/b2b/organizations"
        report = await send_organization(client, path, row, organization, dry_run=dry_run)
        state.organizations[report.outcome] += 1
        state.with_notes += bool(report.notes)
        _note_fault(state, f"organization {row.number}", report.faults)
        output.write(json.dumps(report.line()) + "\n")
    output.flush()
    usable = [organization for _, organization in organizations if not isinstance(organization, str)]
    return replace(options, memberships=memberships_of(usable), lost_memberships=lost_memberships_of(organizations))


async def send_rows(
    client: "httpx.AsyncClient",
    path: str,
    rows: Iterator[ConvertedRow],
    state: ImportState,
    output: TextIO,
    show: Callable[[], None] = lambda: None,
    *,
    dry_run: bool = False,
) -> None:
    """Send the rows in batches, and write the report on each as a line of JSON. Raises CannotRun."""
    batch: list[tuple[ExportRow, Conversion]] = []
    size = 0
    for row, conversion in rows:
        if isinstance(conversion, str | SkippedRow):
            # In the order of the file, so that `state.rows` says where to continue.
            await _send_batch(client, path, batch, state, output, dry_run=dry_run)
            batch, size = [], 0
            if isinstance(conversion, SkippedRow):
                _report(state, output, row, None, "SKIPPED", [], reason=conversion.reason)
            else:
                _report(state, output, row, None, "FAILED", [{"path": "", "code": "unusable", "message": conversion}])
        else:
            length = len(json.dumps(conversion.body))
            if batch and (len(batch) >= BATCH_ROWS or size + length > BATCH_BYTES):
                await _send_batch(client, path, batch, state, output, dry_run=dry_run)
                batch, size = [], 0
            batch.append((row, conversion))
            size += length
        show()
    await _send_batch(client, path, batch, state, output, dry_run=dry_run)
    show()


async def _send_batch(
    client: "httpx.AsyncClient",
    path: str,
    batch: list[tuple[ExportRow, Conversion]],
    state: ImportState,
    output: TextIO,
    *,
    dry_run: bool,
) -> None:
    if not batch:
        return
    reports = await _post(client, path, [conversion.body for _, conversion in batch], dry_run=dry_run)
    # A hash that the server refuses must not keep the person out: without it, a mailed link sets a new password.
    refused = [index for index, report in enumerate(reports) if _is_only_hash(report)]
    if refused:
        bodies = [
            {name: value for name, value in batch[index][1].body.items() if name != "passwordHash"} for index in refused
        ]
        for index, again in zip(refused, await _post(client, path, bodies, dry_run=dry_run), strict=True):
            batch[index][1].notes.append(f"The password: {reports[index]['faults'][0]['message']}")
            reports[index] = again
    for (row, conversion), report in zip(batch, reports, strict=True):
        _report(state, output, row, conversion, report["outcome"], report["faults"], report["customerId"])
    output.flush()


def _is_only_hash(report: dict[str, Any]) -> bool:
    return report["outcome"] == "FAILED" and [fault["path"] for fault in report["faults"]] == ["/passwordHash"]


async def _post(
    client: "httpx.AsyncClient", path: str, bodies: list[dict[str, Any]], *, dry_run: bool
) -> list[dict[str, Any]]:
    """Send a batch. Rows that were imported by an attempt that failed are `UNCHANGED` at the next one."""
    response = await send_again(client, "POST", path, accepted=(400, 413), json={"rows": bodies, "dryRun": dry_run})
    if response.is_success:
        return response.json()["rows"]
    reason = f"The server refused the request: {refusal_of(response)['message']}"
    return await _post_parts(client, path, bodies, reason, dry_run=dry_run)


async def _post_parts(
    client: "httpx.AsyncClient", path: str, bodies: list[dict[str, Any]], reason: str, *, dry_run: bool
) -> list[dict[str, Any]]:
    """Send the halves of a batch that the server refuses as a whole, so that only the row that causes it fails."""
    if len(bodies) == 1:
        fault = {"path": "", "code": "refused", "message": reason}
        return [{"outcome": "FAILED", "faults": [fault], "customerId": None}]
    middle = len(bodies) // 2
    first = await _post(client, path, bodies[:middle], dry_run=dry_run)
    return first + await _post(client, path, bodies[middle:], dry_run=dry_run)


def _report(
    state: ImportState,
    output: TextIO,
    row: ExportRow,
    conversion: Conversion | None,
    outcome: str,
    faults: list[dict[str, Any]],
    customer_id: str | None = None,
    *,
    reason: str | None = None,
) -> None:
    """Count a row, and write its line of the report. The report has no hashes and secrets. `reason` says why a row was
    left out."""
    state.rows += 1
    state.outcomes[outcome] += 1
    notes = conversion.notes if conversion else []
    state.with_notes += bool(notes)
    external_user_id = conversion.body.get("externalUserId") if conversion else None
    _note_fault(state, f"row {row.number}", faults)
    line = {
        "row": row.number,
        "externalUserId": external_user_id,
        "outcome": outcome,
        "customerId": customer_id,
        "faults": faults,
        "notCarriedOver": notes if reason is None else [reason],
    }
    output.write(json.dumps(line) + "\n")


def _note_fault(state: ImportState, place: str, faults: list[dict[str, Any]]) -> None:
    """Keep the first of some faults, if it is one of the first of the file."""
    if faults and len(state.faults) < FAULTS_SHOWN:
        text = f"{place}: {faults[0]['path']} {faults[0]['message']}"
        # The text may quote the file: control characters could send commands to the terminal.
        state.faults.append("".join(character for character in text if character.isprintable())[:300])


def summary(state: ImportState, *, dry_run: bool) -> str:
    """The numbers of rows and organizations, and the first faults, as text."""
    prefix = "Dry run: " if dry_run else ""
    lines = [f"{prefix}{_numbers(state.outcomes)}; something was not carried over from {state.with_notes:,}."]
    if state.organizations:
        lines.append(f"{prefix}Organizations: {_numbers(state.organizations)}.")
    return "\n".join([*lines, *(f"  {fault}" for fault in state.faults)])


def _numbers(outcomes: Counter[str]) -> str:
    names = ["CREATED", "UNCHANGED", "FAILED", *(["SKIPPED"] if outcomes["SKIPPED"] else [])]
    return ", ".join(f"{outcomes[name]:,} {name.lower()}" for name in names)
