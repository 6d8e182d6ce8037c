"""Writes the lists of problems, events and findings in docs/guide, or checks that they are up to date."""

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from postern.kernel.http.problems import Problem
from postern.platform.events.model import CAMPAIGN_SEND_EVENTS
from postern.platform.events.payloads import PAYLOADS, CausedEventData, ContactEventData, EmailEventData
from postern.protocols.mail.domain_findings import DOMAIN_RULES
from postern.protocols.mail.findings import Rule
from postern.protocols.mail.message_findings import MESSAGE_RULES
from tests.contract import update_catalogue

GUIDE = Path(__file__).parent.parent / "docs" / "guide"
NOTE = "<!-- Written by script/schema from the code; do not edit. -->\n"

PROBLEMS = """
# Problems

This page lists every error code of the API. An error response is `application/problem+json` (RFC 9457) with `status`,
`code` for programs, `title` and `detail` for people, `requestId` to find the request in the log, and `errors`, each
with a `path`: a JSON pointer into the body, `query/name` or `header/Name`. If the request may be repeated later, the
`Retry-After` header says when.

A record of another project and a malformed id get the same response as a record that does not exist: 404.
"""

EVENTS = """
# Events

This page lists every event. Postern records an event in the same transaction as the change that it describes. Read
events with `GET /projects/{projectId}/events`, [as they happen](webhooks.md#read-events-as-they-happen) with
`GET /projects/{projectId}/events/stream` or `postern tail`, or receive them by [webhook](webhooks.md). To subscribe to
your own events (`POST /projects/{projectId}/events`), use `custom.<name>`; they are delivered under the name that you
gave them.

Events about e-mail, contacts, audiences and automations, and your own events, have `contact {id, email}`: the contact
that the event is about, or null. In a webhook this is `data.contact`. `data.id` and `data.projectId` are always set by
Postern; the data of your own events is in `data.data`.

A campaign sends one `campaign.started` instead of an `email.queued` for each contact. Each of its messages then has
the events of its delivery: {campaign_events}.
In these events, `subject` is the subject that the contact received, or null if the message was never composed.

Events about e-mail also have {email_fields}.
Events about customers, organizations, invitations and setup links have `test: true` if a
[TEST key or session](api.md#live-and-test-keys) caused them and their actor is not the key: it is the customer who uses
the key or session, or Postern (`SYSTEM`) if an e-mail to a customer could not be sent (`customer.mail_failed`). Fields
marked with `?` are left out when there is nothing to say. If an event would be larger than 20 kB, `data` has
`truncated: true` and only the ids. The OpenAPI document at `/openapi.json` has the type of every field under
`webhooks`.
"""

FINDINGS = """
# Findings

This page lists every finding: a rule that a message or a DNS record does not follow. A finding has a stable `code`, a
`severity`, the `path` that it concerns, a `message` that says what is wrong, a `fix` that says what to do, a `count`
and the first `snippets`. The severities are:

- `ERROR`: large providers reject such mail or put it into the spam folder, or sending it fails.
- `WARNING`: some receivers or mail programs have a problem with it.
- `ADVICE`: an improvement.

New codes can be added at any time, so a program must expect codes that it does not know.
"""
FINDING_TABLES: list[tuple[str, Mapping[str, Rule]]] = [
    ("Messages, [before they are sent](emails.md#check-a-message-before-you-send-it)", MESSAGE_RULES),
    ("DNS records of a [domain](domains.md#find-mistakes-in-the-dns-records)", DOMAIN_RULES),
]


def _subclasses(base: type[Problem]) -> Iterator[type[Problem]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _subclasses(kind)


def problem_catalogue() -> str:
    """The text of errors.md: every problem of our API, sorted by status. Those of the APIs of other companies are left
    out, because their responses have no codes of ours."""
    import_module("postern.app")
    modules = re.compile(r"postern\.(?!compat\.)")
    kinds = {kind for kind in _subclasses(Problem) if modules.match(kind.__module__)}
    rows = sorted({(kind.status, kind.code(), kind.message()) for kind in kinds})
    lines = ["| status | code | meaning |", "|---|---|---|"]
    lines += [f"| {status} | `{code}` | {message.replace('|', chr(92) + '|')} |" for status, code, message in rows]
    return NOTE + PROBLEMS + "\n" + "\n".join(lines) + "\n"


_TITLES = {"email": "E-mail", "sso": "Single sign-on", "setup_link": "Setup links"}


def event_catalogue() -> str:
    """The text of events.md: every event that Postern records itself, grouped by the first part of its name."""
    areas: dict[str, list[str]] = {}
    for payload in PAYLOADS:
        fields = [_field_text(field) for field in fields_of_data(payload.data)]
        row = f"| `{payload.name}` | {payload.description} | {', '.join(fields)} |"
        areas.setdefault(payload.name.partition(".")[0], []).append(row)
    names = ", ".join(f"`{name}`" for name in CAMPAIGN_SEND_EVENTS)
    email_fields = ", ".join(_field_text(field) for field in fields_of_data(EmailEventData, besides=()))
    text = EVENTS.replace("{campaign_events}", names).replace("{email_fields}", email_fields)
    tables = [
        "\n".join([f"## {_TITLES.get(area, area.capitalize())}", "", "| event | when | data |", "|---|---|---|", *rows])
        for area, rows in areas.items()
    ]
    return NOTE + text + "\n" + "\n\n".join(tables) + "\n"


def finding_catalogue() -> str:
    """The text of findings.md: every rule about DNS records and messages."""
    tables = [
        "\n".join(
            [f"## {title}", "", "| code | severity | meaning | what to do |", "|---|---|---|---|"]
            + [
                f"| `{code}` | {rule.severity} | {_without_values(rule.message)} | {_without_values(rule.fix)} |"
                for code, rule in rules.items()
            ]
        )
        for title, rules in FINDING_TABLES
    ]
    return NOTE + FINDINGS + "\n" + "\n\n".join(tables) + "\n"


def _without_values(text: str) -> str:
    return re.sub(r"\{\w+\}", "…", text).replace("|", "\\|")


def fields_of_data(data: Any, besides: tuple[Any, ...] = (EmailEventData, CausedEventData)) -> list[Any]:
    """The fields of an event's data without those that all events have, or all events of a type in `besides`."""
    known = {
        field.name
        for base in (ContactEventData, *(addition for addition in besides if issubclass(data, addition)))
        for field in msgspec.structs.fields(base)
    }
    return [field for field in msgspec.structs.fields(data) if field.name not in known]


def _field_text(field: Any) -> str:
    return f"`{field.encode_name}`" if field.required else f"`{field.encode_name}`?"


def catalogues() -> dict[Path, str]:
    """The text of each file."""
    return {
        GUIDE / "errors.md": problem_catalogue(),
        GUIDE / "events.md": event_catalogue(),
        GUIDE / "findings.md": finding_catalogue(),
    }


def main() -> None:
    """Write the files; with `--check` only compare them."""
    for file, text in catalogues().items():
        if file.exists() and file.read_text() == text:
            continue
        if "--check" in sys.argv:
            sys.exit(f"{file.name} does not match the code: run script/schema.")
        file.write_text(text)
        print(f"{file.name} written.")
    if "--check" not in sys.argv:
        update_catalogue()


if __name__ == "__main__":
    main()
