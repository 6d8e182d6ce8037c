"""`postern reports`: show bounces, complaints and other reports about mail that the server could not process."""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, NamedTuple
from uuid import UUID

import typer

from postern.kernel.terminal import printable

MAX_REPORTS = 500
"""Maximum number of reports that are shown, the newest ones."""


class ReportRow(NamedTuple):
    """A stored report that could not be processed."""

    id: UUID
    received_at: datetime
    kind: str
    project: str
    """The id of the project; empty if the report belongs to none."""
    size: int
    """In octets."""
    sender: str
    subject: str
    reason: str


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("reports")(show_reports)


def show_reports(
    id: Annotated[
        UUID | None,
        typer.Argument(
            help="Write the message of this report to standard output; on a terminal, without control characters."
        ),
    ] = None,
) -> None:
    """Show the reports about mail that could not be processed, newest first: bounces that were not understood,
    complaints and bounces that name no e-mail of this server, and DMARC reports and SES notifications that cannot be
    read. They are kept for 30 days."""
    import psycopg

    from postern.cli.data_folder import connect_database
    from postern.kernel.config import read_settings

    with connect_database(read_settings()) as (url, _), psycopg.connect(url, autocommit=True) as connection:
        if id is not None:
            row = connection.execute(
                """
                select message from unattributed_reports where id = %(id)s
                union all select message from unrecognized_reports where id = %(id)s
                """,
                {"id": id},
            ).fetchone()
            if row is None:
                raise SystemExit(f"There is no report {id}.")
            write_message(row[0])
            return
        rows = connection.execute(
            """
            select id, received_at, kind, '', size, sender, subject, reason from unattributed_reports
            union all
            select id, received_at, 'unrecognized', project_id::text, size, sender, subject, reason
            from unrecognized_reports
            order by received_at desc, id desc limit %(limit)s
            """,
            {"limit": MAX_REPORTS},
        ).fetchall()
    print("\n".join(report_lines(map(ReportRow._make, rows))) or "All reports were processed.")


def write_message(message: bytes) -> None:
    """Write a message to standard output: on a terminal without control characters, otherwise unchanged."""
    if sys.stdout.isatty():
        print("\n".join(map(printable, message.decode("utf-8", "replace").splitlines())))
        return
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()


def report_lines(rows: Iterable[ReportRow]) -> Iterator[str]:
    """Two lines for each report."""
    for row in rows:
        project = f"  project {row.project}" if row.project else ""
        yield f"{row.received_at:%Y-%m-%d %H:%M}  {row.kind}  {row.id}{project}  {row.size:,} octets"
        yield "    " + printable(f"{row.reason} From: {row.sender} Subject: {row.subject}")
