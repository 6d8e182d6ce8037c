"""Reports that could not be processed, as the metrics and `postern reports` show them."""

import re
from collections import Counter

import psycopg

from postern.cli.reports import ReportRow, report_lines


async def unprocessed(client):
    """How many reports could not be processed so far, by kind."""
    page = (await client.get("http://postern.test/metrics")).text
    samples = re.findall(r'^postern_reports_unprocessed_total{kind="(\w+)"} (\d+)$', page, re.MULTILINE)
    return Counter({kind: int(number) for kind, number in samples})


def kept_reports(database_url):
    """The lines of `postern reports` about those that belong to no project, newest first."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "select id, received_at, kind, '', size, sender, subject, reason from unattributed_reports order by id desc"
        )
        return list(report_lines(map(ReportRow._make, rows)))
