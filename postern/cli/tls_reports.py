"""`postern tls-reports`: show the recipients' domains with which TLS failed, and the status of the TLS reports that
Postern sends to them (RFC 8460)."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Annotated, Any, NamedTuple

import typer

from postern.kernel.terminal import printable

MAX_RESULTS = 10_000
"""Maximum number of rows of results that are read."""

Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day (UTC). Default: today and yesterday.")]
Domain = Annotated[str | None, typer.Option(help="Only this recipients' domain.")]
All = Annotated[bool, typer.Option("--all", help="Also domains with which TLS has not failed.")]


class ResultRow(NamedTuple):
    """The sessions of a day that had the same result, with the report to the domain."""

    day: date
    domain: str
    report: str
    """The status of the report to the domain; empty if there is no report yet."""
    note: str
    """A note on the report, such as why it was not sent; may be empty."""
    result: str
    """`success`, or the result type of RFC 8460 §4.3."""
    policy_type: str
    receiving_mx: str
    receiving_ip: str
    reason: str
    sessions: int


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("tls-reports")(show_tls_results)


def show_tls_results(day: Day = None, domain: Domain = None, show_all: All = False) -> None:
    """Show the failures of TLS with recipients' mail servers by day and domain, as in the reports to the domains.

    Only the transport `direct` counts them. Results of the last seconds may be missing.
    """
    import psycopg

    from postern.cli.data_folder import connect_database
    from postern.kernel.config import read_settings

    today = datetime.now(UTC).date()
    days = [day.date()] if day else [today, today - timedelta(days=1)]
    with connect_database(read_settings()) as (url, _), psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            """
            select result.day, result.domain, coalesce(report.status, ''), coalesce(report.note, ''), result.result,
                   result.policy_type, result.receiving_mx, result.receiving_ip, result.reason, result.sessions
            from tls_results as result
            left join tls_reports as report on (report.day, report.domain) = (result.day, result.domain)
            where result.day = any (%(days)s) and (%(domain)s::text is null or result.domain = %(domain)s)
            order by result.day desc, result.domain, result.result = 'success' desc, result.sessions desc
            limit %(limit)s
            """,
            {"days": days, "domain": domain and domain.lower(), "limit": MAX_RESULTS},
        ).fetchall()
    lines = list(result_lines(map(ResultRow._make, rows), show_all=show_all))
    print("\n".join(lines) or f"TLS has not failed on {' and '.join(map(str, days))} (UTC).")


def result_lines(rows: Iterable[ResultRow], *, show_all: bool = False) -> Iterator[str]:
    """A line for each day and domain, and below it one for each kind of failure."""
    for _, group in groupby(rows, key=lambda row: row[:2]):
        results = list(group)
        failures = [row for row in results if row.result != "success"]
        if failures or show_all:
            yield _domain_line(results, failures)
            yield from map(_failure_line, failures)


def _domain_line(results: Sequence[ResultRow], failures: Sequence[ResultRow]) -> str:
    first = results[0]
    failed = sum(row.sessions for row in failures)
    succeeded = sum(row.sessions for row in results) - failed
    note = f" ({printable(first.note)})" if first.note else ""
    return f"{first.day}  {first.domain}  {succeeded} ok, {failed} failed  report: {first.report}{note}"


def _failure_line(row: ResultRow) -> str:
    parts: list[Any] = [row.policy_type, row.receiving_mx, row.receiving_ip, row.reason]
    return f"    {row.sessions:>6}  {row.result}  {' '.join(part for part in parts if part)}"
