"""`postern upgrade`: check what an upgrade to this release would do, apply migrations, and execute the long ones."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from psycopg import Connection

    from postern.kernel.config import Settings
    from postern.kernel.database.long_migrations import LongMigration, Progress
    from postern.kernel.database.upgrade_check import PlannedEffect, PlannedMigration, SchemaCheck

EXIT_PROBLEM = 1
"""Exit code if something must be changed or decided before the upgrade."""
RECENT_BACKUP = timedelta(days=1)
FOLLOW_SECONDS = 1.0
"""How often the progress is read if another process executes a long migration."""


@dataclass(frozen=True)
class UpgradeCheck:
    """The result of `postern upgrade --check`."""

    release: str
    """The release of this command, to which the database would be upgraded."""
    database: "SchemaCheck"
    backed_up_at: datetime | None
    """When `postern backup` last wrote a backup of this database, if it ever did."""
    free_bytes: int | None
    """Free space on the disk of the data folder; None if the database is not in it."""
    problems: list[str]
    """What must be changed or decided before the upgrade."""
    next_steps: list[str]
    """What to do, in this order."""


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("upgrade")(upgrade)


def upgrade(
    check: Annotated[bool, typer.Option("--check", help="Only say what the upgrade would do.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --check, print one JSON object.")] = False,
) -> None:
    """Upgrade the database of DATABASE_URL or of the data folder to this release, while processes of the previous
    release go on: check it, apply the pending migrations, and execute long migrations with their progress. Restart the
    processes one by one afterwards.

    Exits with 1 and changes nothing if the check has a problem, for example a statement that processes of the previous
    release do not survive, or requests that would wait for long; `postern migrate` applies migrations without a check.
    Ctrl-C stops a long migration; the workers or the next `postern upgrade` go on with it.
    """
    import psycopg

    from postern.cli.data_folder import connect_database
    from postern.cli.placement import unfinished_distribution
    from postern.kernel.config import read_settings
    from postern.kernel.database.migrations import connect_with_retries, long_migrations_of, migrate

    if json and not check:
        raise typer.BadParameter("is for --check", param_hint="--json")
    settings = read_settings()
    with connect_database(settings) as (url, _):
        with connect_with_retries(url, settings.database_wait) as connection:
            checked = check_upgrade(connection, settings)
        if check or checked.problems:
            print(_as_json(checked) if json else describe(checked))
            raise typer.Exit(EXIT_PROBLEM if checked.problems else 0)
        try:
            if checked.database.unfinished:
                # A migration may need one of them.
                asyncio.run(_execute_long(url, long_migrations_of()))
            for name in migrate(url):
                print(f"applied {name}")
            asyncio.run(_execute_long(url, long_migrations_of()))
        except KeyboardInterrupt:
            print("Stopped. Workers of this release go on with it, and so does `postern upgrade`.")
            raise typer.Exit(EXIT_PROBLEM) from None
        except psycopg.DatabaseError as error:
            raise SystemExit(f"The long migration failed, and can be executed again: {error}") from None
        with connect_with_retries(url, settings.database_wait) as connection:
            problem = unfinished_distribution(connection)
    print(problem or "The database has the schema of this release. Restart processes of the previous one, one by one.")


def check_upgrade(connection: "Connection", settings: "Settings", *, folder: Path | None = None) -> UpgradeCheck:
    """Check the database of `connection`, which must be in autocommit mode. Only reads."""
    from importlib.metadata import version

    from postern.kernel.database.upgrade_check import check_schema

    checked = check_schema(connection, folder=folder)
    free = None
    if settings.database_url is None and settings.data.exists():
        free = shutil.disk_usage(settings.data).free
    problems = list(checked.problems)
    if free is not None and checked.pending and free < checked.needed_bytes + settings.free_space * 1_000_000:
        problems.append(
            f"The disk has {_size(free)} free; the migrations need about {_size(checked.needed_bytes)}, and "
            f"{settings.free_space:,} MB must remain (POSTERN_FREE_SPACE)."
        )
    result = UpgradeCheck(
        release=version("postern-server"),
        database=checked,
        backed_up_at=_backed_up_at(connection) if checked.schema else None,
        free_bytes=free,
        problems=problems,
        next_steps=[],
    )
    return replace(result, next_steps=_next_steps(result, is_embedded=settings.database_url is None))


def _backed_up_at(connection: "Connection") -> datetime | None:
    """When the database was last backed up. As JSON, because schemas of earlier releases lack the column."""
    row = connection.execute("select to_jsonb(instance) ->> 'backed_up_at' from instance").fetchone()
    return datetime.fromisoformat(row[0]) if row and row[0] else None


def _next_steps(checked: UpgradeCheck, *, is_embedded: bool) -> list[str]:
    database = checked.database
    if not database.schema and checked.problems:
        return ["Solve the problems above, and check again."]
    if not database.schema:
        return ["`postern migrate`, or `postern serve`: the database is empty."]
    if not database.pending:
        if database.unfinished:
            return ["`postern upgrade` shows the progress of the long migrations, which the workers execute."]
        return ["Nothing: the schema is that of this release."]
    steps: list[str] = []
    if _is_backup_old(checked.backed_up_at):
        steps.append("`postern backup before-upgrade.dump`, unless you have another backup.")
    if not database.can_go_on:
        steps.append("Stop the processes that are named above; requests fail until the new ones run.")
    steps.append(
        "`postern migrate` applies the migrations" + (" in spite of the problems." if checked.problems else ".")
    )
    if any(migration.is_long for migration in database.pending):
        steps.append("`postern upgrade` executes the long migrations; otherwise workers of the new release do.")
    if is_embedded:
        steps.append("Restart `postern serve`.")
    elif database.can_go_on and database.is_used:
        steps.append(
            "Restart the processes one by one: take an API process out of the load balancer or send it SIGTERM, start "
            "the new one, wait for its /readyz; then the workers and SMTP processes."
        )
    else:
        steps.append("Start the processes of this release.")
    return steps


def _is_backup_old(at: datetime | None) -> bool:
    return at is None or datetime.now(at.tzinfo) - at > RECENT_BACKUP


def _as_json(checked: UpgradeCheck) -> str:
    import json

    return json.dumps(asdict(checked), indent=2, default=str)


def describe(checked: UpgradeCheck) -> str:
    """The check as text for a terminal."""
    from postern.kernel.terminal import printable

    database = checked.database
    running = [f"{other.process} {other.release} ({other.connections} connections)" for other in database.processes]
    if database.unnamed_connections:
        running.append(f"{database.unnamed_connections} connections of other programs or earlier releases")
    backup = (
        "none that `postern backup` has written"
        if checked.backed_up_at is None
        else f"{checked.backed_up_at:%Y-%m-%d %H:%M %Z}"
    )
    free = (
        "not known, because the database may be on another machine"
        if checked.free_bytes is None
        else f"{_size(checked.free_bytes)} free"
    )
    lines = [
        f"Database: PostgreSQL {database.server_version}, {_size(database.database_bytes)}",
        f"Schema: {database.schema or ('unknown' if checked.problems else 'empty')}",
        f"Upgrade to: {checked.release}",
        f"Running: {', '.join(running) or 'nothing'}",
        f"Last backup: {backup}",
        f"Disk: {free}; the migrations need about {_size(database.needed_bytes)}",
    ]
    if database.unknown_migrations:
        lines.append(
            f"A later release has applied {database.unknown_migrations} migrations; this release works with them."
        )
    if database.pending and not database.schema:
        lines += ["", f"{len(database.pending)} migrations create the schema."]
    elif database.pending:
        lines += ["", f"Pending migrations: {len(database.pending)}"]
        lines += [line for migration in database.pending for line in _migration_lines(migration)]
    if database.unfinished:
        lines += ["", "Long migrations that have begun:"]
        lines += [f"  {progress.name}: {progress.fraction:.0%}" for progress in database.unfinished]
    if checked.problems:
        lines += ["", "Problems:", *(f"  - {problem}" for problem in checked.problems)]
    if database.pending and database.schema and database.is_used:
        may = "may" if database.can_go_on else "may NOT"
        lines += ["", f"The processes that run now {may} go on during the upgrade."]
    lines += ["", "Next:", *(f"  {number}. {step}" for number, step in enumerate(checked.next_steps, 1))]
    return "\n".join(map(printable, lines))


def _migration_lines(migration: "PlannedMigration") -> list[str]:
    note = " (long: executed while all processes serve)" if migration.is_long else ""
    lines = [f"  {migration.name}{note}"]
    lines += [f"    waits for the long migration {number:04}" for number in migration.needs]
    noticed = [effect for effect in migration.effects if effect.blocks != "nothing" or effect.work != "instant"]
    lines += [f"    {_effect_text(effect)}" for effect in noticed]
    if others := len(migration.effects) - len(noticed):
        lines.append(f"    {others} other statement{'s' if others > 1 else ''}, for which no request waits")
    return lines


def _effect_text(effect: "PlannedEffect") -> str:
    parts = [effect.description]
    if effect.bytes:
        duration = f"about {effect.seconds:,.0f} s" if effect.seconds >= 1 else "less than a second"
        parts.append(f"{effect.rows:,} rows, {_size(effect.bytes)}, {duration}")
    if effect.blocks != "nothing" and effect.table:
        how_long = "meanwhile" if effect.work != "instant" else "for a moment"
        parts.append(
            f"locks {effect.table} for {'reads and writes' if effect.blocks == 'everything' else 'writes'} {how_long}"
        )
    if effect.breaks:
        parts.append(effect.breaks if not effect.contract else f"nothing uses it since {effect.contract}")
    return "; ".join(parts)


def _size(octets: int) -> str:
    """A number of bytes as text, such as `2.1 GB`."""
    for factor, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if octets >= factor:
            return f"{octets / factor:,.1f} {unit}"
    return f"{octets / 1_000:,.0f} kB"


async def _execute_long(url: str, migrations: "Sequence[LongMigration]") -> None:
    """Execute the long migrations that are not finished, or follow them if another process does, with their bars."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from postern.kernel.database.long_migrations import execute_unfinished

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: "Progress") -> None:
            if progress.name not in tasks:
                tasks[progress.name] = bars.add_task(progress.name, total=1.0)
            bars.update(tasks[progress.name], completed=progress.fraction)

        while not await execute_unfinished(url, migrations, show):
            for progress in await asyncio.to_thread(_read_progress, url, migrations):
                show(progress)
            await asyncio.sleep(FOLLOW_SECONDS)


def _read_progress(url: str, migrations: "Sequence[LongMigration]") -> "list[Progress]":
    from postern.kernel.database.connections import connect
    from postern.kernel.database.long_migrations import progress_of

    with connect(url) as connection:
        return progress_of(connection, migrations)
