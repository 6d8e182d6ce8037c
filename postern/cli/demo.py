"""`postern demo`: a project with life in it, made over HTTP as any client would.

Two hundred personalised messages; then thousands of contacts from a CSV file, audiences with rules, an automation,
and a campaign with an A/B test, whose messages simulated readers open and follow over HTTP.
"""

import asyncio
import csv
import io
import random
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from uuid import uuid4

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

    from postern.cli.client import ProjectClient

MESSAGES, CONTACTS = 200, 5_000
AT_ONCE = 16
READERS_AT_ONCE = 24
SETTLE = timedelta(seconds=6)
"""Nobody reads a message within five seconds of its delivery; whoever touches it sooner counts as a machine."""
LOOK_EVERY = timedelta(milliseconds=500)
QUIET_LOOKS = 4
"""Looks without any change after which the sample of the A/B test is out."""
PATIENCE_LOOKS = 1_200

FIRST_NAMES = ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Katherine", "Linus", "Margaret", "Радия", "世界")
PLANS = ("free", "pro", "team")
COUNTRIES = ("DE", "FR", "IT", "JP", "US")
MESSAGE_HTML = """<h1>Hello {{ name }}</h1>
<p>You are on the {{ plan }} plan and have {{ credits }} credits left.</p>
<p><a href="https://example.org/account">Your account</a></p>"""
NEWS_HTML = """<html><body><h1>Spring is here, {{ name }}</h1>
<p>What is new for everybody on the {{ plan }} plan:</p>
<p><a href="https://example.org/spring?from={{ country }}">Have a look</a></p>
<p><small><a href="{{ unsubscribe_url }}">Unsubscribe</a></small></p></body></html>"""
WELCOME_HTML = "<p>Welcome to the inner circle, {{ name }}.</p>"
SUBJECTS = {"Plain": "What is new this spring", "Personal": "{{ name }}, see what is new this spring"}
OPENING = {"Plain": 0.31, "Personal": 0.46}
"""How many of a variant's readers open it."""
CLICKING, LEAVING = 0.35, 0.02
"""How many of those who opened follow the link, and how many unsubscribe."""

PEOPLE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
)
GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
MACHINES = ("Mozilla/5.0", "Barracuda Sentinel (EE)")

Count = Annotated[int, typer.Option(min=1, max=10_000, help="How many messages.")]
Contacts = Annotated[int, typer.Option(min=0, max=10_000, help="How many contacts the campaign's project has.")]
Url = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Where the server is.")]
Key = Annotated[str | None, typer.Option(envvar="POSTERN_KEY", help="A secret key; left out, a project is made.")]
Project = Annotated[str | None, typer.Option(envvar="POSTERN_PROJECT", help="The key's project.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(demo)


def demo(
    count: Count = MESSAGES, contacts: Contacts = CONTACTS, key: Key = None, project: Project = None, url: Url = None
) -> None:
    """Fill a project with messages, contacts, audiences, an automation and a campaign that people read.

    It takes about a minute; `--contacts 0` sends the messages only. Then it says where to look.
    """
    asyncio.run(_demo(url, key, project, count, contacts))


async def _demo(url: str | None, key: str | None, project: str | None, count: int, contacts: int) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from postern.cli.client import connect

    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with connect(url, key, project) as there:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            domain = await there.ask("POST", "/domains", {"domain": f"demo-{uuid4().hex[:8]}.example.org"})
            lines = [await _send_messages(there, bars, domain, count)]
            if contacts:
                lines += await _run_campaign(there, bars, domain, contacts)
        print("\n".join(lines))
        once = " (works once, within ten minutes)" if key is None else ""
        print(f"Look at the messages: {there.inbox_url}{once}")
        print(f"The log: GET {there.url}/projects/{there.project}/emails/logs?q=demo")


async def _send_messages(there: "ProjectClient", bars: "Progress", domain: dict[str, Any], count: int) -> str:
    """Send personalised messages to made-up people; says what became of them."""
    words = {"name": "Demo", "subject": "{{ name }}, your {{ plan }} plan", "html": MESSAGE_HTML}
    template = await there.ask("POST", "/templates", words)
    statuses: dict[str, int] = {}

    async def send_to(person: dict[str, str]) -> None:
        message = {
            "to": [person["email"]],
            "from": f"Demo <hello@{domain['domain']}>",
            "templateId": template["id"],
            "variables": person,
            "tags": ["demo"],
        }
        again = {"Idempotency-Key": f"{template['id']}-{person['email']}"}
        status = (await there.ask("POST", "/emails", message, **again))["status"]
        statuses[status] = statuses.get(status, 0) + 1

    await _all(bars, "Sending messages", list(csv.DictReader(io.StringIO(people(count)))), send_to, AT_ONCE)
    said = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    return f"{said}\nDomain {domain['domain']} and template “Demo” are in project {there.project}."


async def _run_campaign(there: "ProjectClient", bars: "Progress", domain: dict[str, Any], contacts: int) -> list[str]:
    """Import contacts, write to the active ones, let the winner of the A/B test go to the rest, and let all read."""
    sender = f"news@{domain['domain']}"
    automation = await _welcome(there, sender)
    audience = await _audience(there, "Active customers", {"field": "credits", "operator": "gte", "value": 200})
    await _import(there, bars, contacts)
    campaign = await _begin(there, domain["id"], sender, audience)
    await _until_sample_is_out(there, bars, campaign)
    chance, read = random.Random(contacts), set[str]()  # noqa: S311 - made-up readers need no secret chance
    await _simulate_readers(there, bars, "Readers of the A/B test", campaign, read, chance)
    winner = max((await _campaign(there, campaign))["variants"], key=lambda variant: variant["stats"]["openRate"])
    await there.ask("POST", f"/campaigns/{campaign}/ab-test/select-winner", {"variantId": winner["id"]})
    await _until_sent(there, bars, campaign)
    await _simulate_readers(there, bars, "Readers of the winner", campaign, read, chance)
    return await _print_step(there, campaign, audience, automation, winner["name"])


async def _welcome(there: "ProjectClient", sender: str) -> str:
    """An automation that greets whoever joins the audience of the best customers."""
    words = {"name": "Welcome", "subject": "Welcome, {{ name }}", "html": WELCOME_HTML}
    template = await there.ask("POST", "/templates", words)
    best = await _audience(there, "Best customers", {"field": "credits", "operator": "gte", "value": 950})
    steps = [
        {"type": "SEND_EMAIL", "templateId": template["id"], "fromEmail": sender},
        {"type": "UPDATE_CONTACT", "attributes": {"welcomed": True}},
    ]
    body = {"name": "Welcome", "trigger": {"type": "AUDIENCE_JOINED", "audienceId": best}, "steps": steps}
    automation = await there.ask("POST", "/automations", body)
    await there.ask("PATCH", f"/automations/{automation['id']}/active", {"active": True})
    return automation["id"]


async def _audience(there: "ProjectClient", name: str, condition: dict[str, Any]) -> str:
    """A dynamic audience of those who fit a condition and do not live at the end of the world."""
    audience = (await there.ask("POST", "/audiences", {"name": name}))["id"]
    somewhere = {
        "match": "any",
        "conditions": [
            {"field": "country", "operator": "in", "value": list(COUNTRIES)},
            {"field": "plan", "operator": "eq", "value": "team"},
        ],
    }
    await there.ask("PATCH", f"/audiences/{audience}/rules", {"match": "all", "conditions": [condition, somewhere]})
    return audience


async def _import(there: "ProjectClient", bars: "Progress", contacts: int) -> None:
    from postern.cli import CannotRun
    from postern.cli.contacts import import_file

    task = bars.add_task("Importing contacts", total=contacts)
    with tempfile.TemporaryDirectory(prefix="postern-demo-") as folder:
        file = Path(folder, "contacts.csv")
        await asyncio.to_thread(file.write_text, readers(contacts))

        def show(phase: str, done: float, _remark: str) -> None:
            if phase == "import":
                bars.update(task, completed=round(done * contacts))

        state = await import_file(there.http, there.project, file, "upsert", show)
    bars.update(task, completed=contacts)
    if state["status"] != "COMPLETED" or state["failed"]:
        raise CannotRun(f"The import of the contacts is {state['status']} with {state['failed']} lines failed.")


async def _begin(there: "ProjectClient", domain_id: str, sender: str, audience: str) -> str:
    """Send a campaign with an A/B test; its identifier."""
    words = {"name": "News", "subject": SUBJECTS["Plain"], "html": NEWS_HTML}
    template = await there.ask("POST", "/templates", words)
    body = {
        "name": "Spring news",
        "fromName": "Demo News",
        "fromEmail": sender,
        "previewText": "Fresh from the garden",
        "templateId": template["id"],
        "domainId": domain_id,
        "audienceId": audience,
        "abTestEnabled": True,
        "abTestSamplePercent": 40,
        "abTestMetric": "OPEN_RATE",
        "abTestDurationMinutes": 60,
        "variants": [{"name": name, "subject": subject, "weight": 50} for name, subject in SUBJECTS.items()],
    }
    campaign = (await there.ask("POST", "/campaigns", body))["id"]
    await there.ask("POST", f"/campaigns/{campaign}/send")
    return campaign


async def _campaign(there: "ProjectClient", campaign: str) -> dict[str, Any]:
    return await there.ask("GET", f"/campaigns/{campaign}")


async def _sample_progress(there: "ProjectClient", campaign: str) -> AsyncIterator[dict[str, Any]]:
    from postern.cli import CannotRun

    for _ in range(PATIENCE_LOOKS):
        yield await _campaign(there, campaign)
        await asyncio.sleep(LOOK_EVERY.total_seconds())
    raise CannotRun("The campaign does not get on. Does a worker run? (`postern serve` brings one.)")


async def _until_sample_is_out(there: "ProjectClient", bars: "Progress", campaign: str) -> None:
    task, before, quiet = bars.add_task("A/B test", total=None), 0, 0
    async for state in _sample_progress(there, campaign):
        progress = state["progress"]
        bars.update(task, completed=progress["handedOver"], total=round(progress["expected"] * 0.4))
        is_quiet = progress["handedOver"] and not progress["waiting"] and progress["audience"] == before
        quiet, before = quiet + 1 if is_quiet else 0, progress["audience"]
        if quiet >= QUIET_LOOKS:
            bars.update(task, total=progress["handedOver"])
            return


async def _until_sent(there: "ProjectClient", bars: "Progress", campaign: str) -> None:
    from postern.cli.campaigns import ENDED, amount

    task = bars.add_task("The winner, to the rest", total=None)
    async for state in _sample_progress(there, campaign):
        done, expected = amount(state)
        bars.update(task, completed=done, total=expected)
        if state["status"] in ENDED:
            return


async def _simulate_readers(
    there: "ProjectClient", bars: "Progress", what: str, campaign: str, read: set[str], chance: random.Random
) -> None:
    """Let people open what has been delivered and nobody has had before their eyes yet, and machines look first."""
    variants = {each["id"]: each["name"] for each in (await _campaign(there, campaign))["variants"]}
    rows = await _sends(there, campaign)
    new = [row for row in rows if row["status"] == "DELIVERED" and row["id"] not in read]
    read |= {row["id"] for row in new}
    await _all(bars, "Machines look first", new[::10], _scan(there, chance), 8)
    await asyncio.sleep(SETTLE.total_seconds())
    opening = [row for row in new if chance.random() < OPENING[variants.get(row["variantId"], "Plain")]]
    await _all(bars, what, opening, _read(there, chance), READERS_AT_ONCE)


def _scan(there: "ProjectClient", chance: random.Random) -> Callable[[dict[str, str]], Awaitable[None]]:
    async def scan(row: dict[str, str]) -> None:
        await there.http.get(f"/t/o/{row['id']}", headers={"user-agent": chance.choice(MACHINES)})

    return scan


def _read(there: "ProjectClient", chance: random.Random) -> Callable[[dict[str, str]], Awaitable[None]]:
    """A reader: opens; some of them follow the link, and a few have enough."""

    async def read(row: dict[str, str]) -> None:
        agent = GMAIL if chance.random() < 0.3 else chance.choice(PEOPLE)
        await there.http.get(f"/t/o/{row['id']}", headers={"user-agent": agent})
        clicks, leaves = chance.random() < CLICKING, chance.random() < LEAVING
        if not clicks and not leaves:
            return
        message = (await there.http.get(f"/projects/{there.project}/emails/logs/{row['id']}/message")).text
        if clicks and (path := link_in(message, "/t/c/")):
            await there.http.get(path, headers={"user-agent": chance.choice(PEOPLE)}, follow_redirects=False)
        if leaves and (path := link_in(message, "/t/u/")):
            await there.http.post(path, data={"List-Unsubscribe": "One-Click"})

    return read


def link_in(message: str, kind: str) -> str | None:
    """Path and query of the first link of a kind in a message as it was sent, wherever its server thinks it is."""
    import email
    import email.policy

    html = email.message_from_string(message, policy=email.policy.default).get_body(("html",))
    for found in re.findall(r'href="([^"]+)"', html.get_content() if html else ""):
        parts = urlsplit(unescape(found))
        if parts.path.startswith(kind):
            return f"{parts.path}?{parts.query}"
    return None


async def _sends(there: "ProjectClient", campaign: str) -> list[dict[str, str]]:
    answer = await there.http.get(f"/projects/{there.project}/campaigns/{campaign}/sends/export")
    return list(csv.DictReader(io.StringIO(answer.raise_for_status().text)))


async def _all(
    bars: "Progress",
    what: str,
    items: Sequence[dict[str, str]],
    do: Callable[[dict[str, str]], Awaitable[None]],
    at_once: int,
) -> None:
    """Do something with each of many, some side by side, and move a bar."""
    task, gate = bars.add_task(what, total=len(items)), asyncio.Semaphore(at_once)

    async def one(item: dict[str, str]) -> None:
        async with gate:
            await do(item)
        bars.advance(task)

    async with asyncio.TaskGroup() as group:
        for item in items:
            group.create_task(one(item))


async def _print_step(there: "ProjectClient", campaign: str, audience: str, automation: str, winner: str) -> list[str]:
    """What there is to see now, and where."""
    state, base = await _campaign(there, campaign), f"{there.url}/projects/{there.project}"
    totals = await there.ask("GET", "/analytics")
    sends, stats, runs, contacts = totals["sends"], state["stats"], totals["automations"], totals["contacts"]
    went = ", ".join(f"{stats[name]:,} {name}" for name in ("delivered", "opened", "clicked", "bounced", "complained"))
    people = f"{contacts['total']:,} contacts, {contacts['unsubscribed']:,} unsubscribed"
    mail = f"{sends['total']:,} sends, {sends['machineOpened']:,} looked at by machines only"
    return [
        f"Campaign “{state['name']}” is {state['status']}: {went}; variant “{winner}” won.",
        f"The project: {people}; {mail}; {runs['completed']:,} of {runs['totalRuns']:,} automation runs completed.",
        f"Campaign: GET {base}/campaigns/{campaign} (and …/sends, …/sends/export)",
        f"Audience: GET {base}/audiences/{audience}/contacts",
        f"Automation: GET {base}/automations/{automation}/runs",
        f"Statistics: GET {base}/analytics (and …/time-series, …/by-domain, …/export)",
    ]


def people(count: int) -> str:
    """A list of made-up people as CSV."""
    chance = random.Random(count)  # noqa: S311 - made-up people need no secret chance
    rows = (
        [f"person-{number}@example.com", chance.choice(FIRST_NAMES), chance.choice(PLANS), chance.randrange(1_000)]
        for number in range(1, count + 1)
    )
    return _csv(["email", "name", "plan", "credits"], rows)


def readers(count: int) -> str:
    """The contacts as CSV, with attributes; a few of them will bounce or complain, and some have unsubscribed."""
    chance = random.Random(count)  # noqa: S311 - made-up people need no secret chance
    rows = (
        [
            _address(number, chance),
            chance.choice(FIRST_NAMES),
            chance.choice(PLANS),
            chance.randrange(1_000),
            chance.choice(COUNTRIES),
            (date(2026, 1, 1) - timedelta(days=chance.randrange(1_500))).isoformat(),
            "true" if chance.random() < 0.03 else "false",
        ]
        for number in range(1, count + 1)
    )
    return _csv(["email", "name", "plan", "credits", "country", "since", "unsubscribed"], rows)


def _address(number: int, chance: random.Random) -> str:
    fate = chance.random()
    if fate < 0.012:
        return f"bounced+{number}@postern.test"
    return f"complained+{number}@postern.test" if fate < 0.014 else f"reader-{number}@example.com"


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
