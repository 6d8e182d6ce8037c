"""Defects that were found in use or in security tests, and their regression tests.

A regression test has a line such as `Regression test of M3, S3 (tests/defects.md).` in its docstring.
`python -m tests.defects` writes the index of these tests, tests/defects.md; tests/test_defects.py fails if a defect has
no test.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
INDEX = TESTS / "defects.md"
LINE = re.compile(r"^\s*Regression test of ([A-Z]\d+(?:, [A-Z]\d+)*) \(tests/defects\.md\)\.$", re.MULTILINE)

DEFECTS = {
    "M1": "A scheduled message left unsigned after its sending domain had been deleted",
    "M2": "A project's relay could be an address inside the operator's network",
    "M3": "Link rewriting changed URLs with character references and unquoted attributes",
    "M4": "The Date field of a scheduled message had the time of its creation",
    "M5": "A suppression was not upgraded by a bounce or a complaint",
    "M6": "A DKIM record that cannot verify our signature counted as verified",
    "M7": "A message with one suppressed recipient did not show which recipient was dropped",
    "M8": "Large HTML and many links were accepted and failed later",
    "M9": "Ordinary mail was rejected or failed because the template engine parsed it",
    "M10": "A template without content sent blank mail",
    "M11": "Very long links were rewritten to links with the response 404",
    "M12": "All recipients of one message shared the unsubscribe link of the first",
    "M13": "Rates and A/B scores changed their denominator with the first known delivery",
    "M14": "The stored message lacked the DKIM signatures",
    "M15": "Logs lacked filters, cursor paging, export, and retry of waiting messages",
    "M16": "No List-Unsubscribe by the caller, no opt-out per link, no inferred content type, no wrapped base64",
    "M17": "Smaller defects of mail: EHLO literal, encodings, error texts, TEST sends, inbox view, SPF advice",
    "C1": "Cancel and pause did not stop messages that workers had claimed",
    "C2": "Event payloads were unrendered, overwritten by the caller's data, or lacked the contact's address",
    "C3": "Export and import of contacts changed values",
    "C4": "Event data did not reach automation mail, trigger filters and conditions",
    "C5": "Templates, audiences and domains in use by an active automation could be deleted",
    "C6": "Two automations could start each other for a contact without end",
    "C7": "Run history was out of order, and runs of deleted contacts waited forever",
    "C8": "The start of a campaign did not recompute audiences that depend on time",
    "C9": "One deferred recipient kept a campaign sending; one without any success was SENT",
    "C10": "CSV files in other encodings, with a separator line or translated headers were refused",
    "C11": "A/B tests of small samples were allocated by chance, and a pause used up test time",
    "C12": "A contact that had unsubscribed was subscribed again by being re-created",
    "C13": "Smaller defects of campaigns: test copies, fromName, null schedule, counters, webhook test",
    "I1": "Read-only access showed one-time codes and links in subjects, titles, events and stored messages",
    "I2": "A merge of customers lost the second factor, identities and addresses",
    "I3": "An unauthenticated client could invalidate a customer's code and lock sign-in",
    "I4": "A second subject of a connection could claim a linked customer by address",
    "I5": "A lockout stayed in force after a password reset and an unban",
    "I6": "Inconsistent session expiry, events, ETags, problem codes and audit entries",
    "I7": "Deleting the last owner left an organization without members",
    "I8": "An invitation had no page and did not allow signing up",
    "I9": "Administrators could not change or read parts of customers and organizations",
    "I10": "Single sign-on and second factors could not be required",
    "I11": "Changes at the identity provider were ignored, and removed members joined again",
    "I12": "Smaller defects of hosted pages, names and security mails",
    "I13": "Parallel sign-in attempts of developers were checked against the same value of the counter",
    "N1": "Commands created an empty database in the current folder",
    "N2": "Metrics were public behind a local proxy, and the inbox form failed behind one",
    "N3": "Mail left the machine with links to a loopback address",
    "N4": "Invalid settings ended in a traceback, and the suite failed on the oldest Python",
    "N5": "Guides failed when followed in order after the quickstart",
    "N6": "There were no instructions for setting up a relay",
    "N7": "After the first start, the operator could not sign in again",
    "N8": "A mail without content was accepted",
    "N9": "Unknown parameters were ignored, and enumerations and paging were inconsistent",
    "N10": "Generators could not use the OpenAPI document",
    "N11": "Browsers got raw JSON, and smaller defects of pages, inbox and commands",
    "N12": "Backups did not restore on older PostgreSQL versions",
    "S1": "One request could end the API process",
    "S2": "Templates could reach methods of Python objects",
    "S3": "Patterns and filters took quadratic time in the event loop",
    "S4": "Project relays could be internal addresses, and their replies were shown",
    "S5": "Read-only credentials could take over customers",
    "S6": "An account could be created in advance with another person's address",
    "S7": "Unfinished requests held memory and connections",
    "S8": "Error oracle of AES-CBC, replayed logout requests, signatures verified in the event loop",
    "S9": "The lockout of developers allowed parallel attempts",
    "S10": "Response times and responses revealed which addresses have accounts",
    "S11": "Parallel requests could exceed limits",
    "S12": "Hostile identity providers and requests caused internal errors",
    "S13": "Redirect schemes, form checks, Host, security headers, cookies and rate keys",
}

OPEN: dict[str, str] = {}
"""The remaining part of defects that are not fixed completely yet."""


@cache
def index() -> dict[str, list[str]]:
    """The regression tests of each defect, as `file::name`; the list is empty for defects without one."""
    tests_by_defect: dict[str, list[str]] = {defect: [] for defect in DEFECTS}
    for file in sorted(TESTS.rglob("test_*.py")):
        for name, docstring in _tests_of(file):
            for line in LINE.findall(docstring):
                for defect in line.split(", "):
                    tests_by_defect.setdefault(defect, []).append(f"{file.relative_to(TESTS.parent)}::{name}")
    return tests_by_defect


def _tests_of(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name, ast.get_docstring(node) or ""


def text() -> str:
    """The index as tests/defects.md shows it."""
    lines = ["# Defects and their regression tests", "", "Written by `python -m tests.defects`; do not edit."]
    for defect, tests in index().items():
        open_part = [f"Open: {OPEN[defect]}.", ""] if defect in OPEN else []
        lines += ["", f"## {defect}: {DEFECTS[defect]}", "", *open_part, *(f"- `{test}`" for test in tests)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    INDEX.write_text(text())
