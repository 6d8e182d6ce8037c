"""How many bounces of a collection are recognized, and how fast: `python -m bench.bounces FOLDER [EXPECTED]`.

FOLDER has one message per file. EXPECTED has a line per message: its file name, the recipients separated by commas, and
`failed` or `delayed`, separated by tabs; recipients may be missing if the message names none. Collections are not part
of this repository: the source archive of flufl.bounce has one in `tests/data`, with the expected recipients in
`tests/test_detectors.py`.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.reports import read_report
from postern.protocols.mail.smtp_replies import classify


def main() -> None:
    """Print what was recognized, and the differences from what was expected."""
    if len(sys.argv) == 1:
        print("bench.bounces needs a folder with messages: python -m bench.bounces FOLDER [EXPECTED]")
        return
    folder, *rest = map(Path, sys.argv[1:])
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    began = time.perf_counter()
    reports = {name: read_report(content) for name, content in contents.items()}
    seconds = time.perf_counter() - began
    types = Counter(type(report).__name__ for report in reports.values())
    kinds = Counter(
        classify(recipient.code, recipient.enhanced, recipient.text).kind.value
        for report in reports.values()
        if isinstance(report, DeliveryReport)
        for recipient in report.recipients
    )
    size = sum(map(len, contents.values())) / len(contents)
    print(f"{len(contents)} messages of {size:,.0f} octets on average: {len(contents) / seconds:,.0f}/s on one core")
    print(dict(types), dict(kinds))
    for expected in rest:
        compare(reports, expected)


def compare(reports: Mapping[str, object], expected: Path) -> None:
    """Print how many recipients and actions are those of the file EXPECTED, and which are not."""
    rows = [line.split("\t") for line in expected.read_text().splitlines()]
    right_recipients = right_actions = with_recipients = 0
    for name, recipients, action in rows:
        report = reports[name]
        found = report.recipients if isinstance(report, DeliveryReport) else ()
        addresses = {recipient.address.lower() for recipient in found}
        actions = {recipient.action for recipient in found}
        wanted = {address.lower() for address in recipients.split(",") if address}
        with_recipients += bool(wanted)
        right_recipients += bool(wanted) and addresses == wanted
        right_actions += action in actions
        if (wanted and addresses != wanted) or action not in actions:
            print(f"  {name}: {sorted(addresses)} {sorted(actions)} instead of {sorted(wanted)} {action}")
    print(f"recipients right: {right_recipients} of {with_recipients}")
    print(f"failed or delayed right: {right_actions} of {len(rows)}")


if __name__ == "__main__":
    main()
