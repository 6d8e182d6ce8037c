"""How many bounces of a collection are recognized, and how fast: `python -m bench.bounces FOLDER [EXPECTED]`.

FOLDER has one message per file. EXPECTED has a line per message: its file name, the recipients separated by commas,
`failed` or `delayed`, and `hard` or `soft`, separated by tabs; each of the last three may be empty or missing if it is
not known. `soft` means any other kind, too. Collections are not part of this repository; bench/README.md says where
they are.

Rules are written with one half of a collection: the files whose name has a SHA-256 with an even last octet. The
differences of the other half are only counted, so that its figures say how well the rules do on other messages.
"""

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from postern.protocols.mail.dsn import DeliveryReport, ReportedRecipient
from postern.protocols.mail.reports import read_report
from postern.protocols.mail.smtp_replies import FailureKind, classify


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
        _kind(recipient).value
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
    """Print how many recipients, actions and kinds are those of the file EXPECTED, and which are not."""
    right: Counter[tuple[str, bool]] = Counter()
    known: Counter[tuple[str, bool]] = Counter()
    for line in expected.read_text().splitlines():
        name, recipients, action, kind = (line.split("\t") + [""] * 3)[:4]
        report = reports[name]
        reported = report.recipients if isinstance(report, DeliveryReport) else ()
        addresses = {recipient.address.lower() for recipient in reported}
        actions = {recipient.action for recipient in reported}
        kinds = {_kind(recipient) for recipient in reported}
        is_hard = FailureKind.HARD in kinds
        expected_addresses = {address.lower() for address in recipients.split(",") if address}
        results = {"recognized": bool(reported)}
        if expected_addresses:
            results["recipients"] = addresses == expected_addresses
        if action:
            results["failed or delayed"] = action in actions
        if kind:
            results["hard or soft"] = is_hard == (kind == "hard")
        if kind and reported:
            results["hard or soft, of those recognized"] = is_hard == (kind == "hard")
        held_out = is_held_out(name)
        for what, is_right in results.items():
            known[what, held_out] += 1
            right[what, held_out] += is_right
        if not held_out and not all(results.values()):
            print(f"  {name}: {sorted(addresses)} {sorted(actions)} {sorted(kinds)} instead of {line}")
    for what in dict.fromkeys(what for what, _ in known):
        counts = [(right[what, half], known[what, half]) for half in (False, True)]
        total = (sum(of[0] for of in counts), sum(of[1] for of in counts))
        shares = [f"{share} of {count} ({share / max(count, 1):.1%})" for share, count in (total, *counts)]
        print(f"{what}: {shares[0]}; half for writing rules {shares[1]}, other half {shares[2]}")


def _kind(recipient: ReportedRecipient) -> FailureKind:
    gave_up = recipient.action == "failed"
    return classify(recipient.code, recipient.enhanced, recipient.text, gave_up=gave_up).kind


def is_held_out(name: str) -> bool:
    """Whether a message belongs to the half whose differences are only counted."""
    return bool(hashlib.sha256(name.encode()).digest()[-1] & 1)


if __name__ == "__main__":
    main()
