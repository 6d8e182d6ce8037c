"""`postern demo`: fill a project with sample data over the HTTP API.

It sends 200 personalised messages, imports contacts from a CSV file, creates audiences with rules and an automation,
and sends a campaign with an A/B test, whose messages simulated readers then open and click over HTTP. `demo_data` adds
what the other screens of the dashboard show.
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
"""Default numbers of single messages and of contacts for the campaign."""
MIN_CONTACTS = 50
"""With fewer, the audience of the campaign can be too small for an A/B test."""
SEND_CONCURRENCY = 16
READER_CONCURRENCY = 24
READ_DELAY = timedelta(seconds=6)
"""Pause between delivery and the first opens: the server counts opens within five seconds of delivery as machine
opens."""
POLL_INTERVAL = timedelta(milliseconds=500)
IDLE_POLLS = 4
"""After this many polls without a change, the sample of the A/B test counts as sent."""
MAX_POLLS = 1_200
"""After this many polls of a campaign, the demo gives up."""

FIRST_NAMES = ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Katherine", "Linus", "Margaret", "Радия", "世界")
PLANS = ("free", "pro", "team")
COUNTRIES = ("DE", "FR", "IT", "JP", "US")
MESSAGE_HTML = """<h1>Hello {{ name }}</h1>
<p>You are on the {{ plan }} plan and have {{ credits }} credits left.</p>
<p><a href="https://example.org/account">Your account</a></p>"""
NEWS_HTML = """<html><body><h1>Spring is here, {{ name }}</h1>
<p>New features on the {{ plan }} plan:</p>
<p><a href="https://example.org/spring?from={{ country }}">Have a look</a></p>
<p><small><a href="{{ unsubscribe_url }}">Unsubscribe</a></small></p></body></html>"""
WELCOME_HTML = "<p>Welcome to the inner circle, {{ name }}.</p>"
SUBJECTS = {"Plain": "What is new this spring", "Personal": "{{ name }}, see what is new this spring"}
OPEN_RATES = {"Plain": 0.31, "Personal": 0.46}
"""Share of the recipients of each variant who open it."""
CLICK_RATE, UNSUBSCRIBE_RATE = 0.35, 0.02
"""Share of the openers who click the link, and who unsubscribe."""

READER_AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
)
GMAIL_PROXY_AGENT = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
SCANNER_AGENTS = ("Mozilla/5.0", "Barracuda Sentinel (EE)")

Count = Annotated[int, typer.Option(min=1, max=10_000, help="Number of single messages.")]
Contacts = Annotated[
    int, typer.Option(min=0, max=10_000, help="Number of contacts for the campaign; 0 sends no campaign.")
]
Url = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server.")]
Key = Annotated[str | None, typer.Option(envvar="POSTERN_KEY", help="A secret key. Default: that of a new project.")]
Project = Annotated[str | None, typer.Option(envvar="POSTERN_PROJECT", help="Id of the key's project.")]
Email = Annotated[
    str | None,
    typer.Option(envvar="POSTERN_EMAIL", help="With --key: address of the developer who adds keys and invites people."),
]
Password = Annotated[str | None, typer.Option(envvar="POSTERN_PASSWORD", help="Password of that developer.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(demo)


def demo(
    count: Count = MESSAGES,
    contacts: Contacts = CONTACTS,
    key: Key = None,
    project: Project = None,
    email: Email = None,
    password: Password = None,
    url: Url = None,
) -> None:
    """Fill every screen of the dashboard with sample data, over the HTTP API.

    Creates domains, templates with versions, contacts, audiences, an import with refused lines, e-mails with every
    outcome, suppressions, campaigns (one with an A/B test and simulated readers), automations with runs, customers,
    organizations, roles, features, plans, webhooks, keys and invitations to the team. No mail leaves the server unless
    the project has a relay. All time stamps are those of the run. Each further run adds more data to the project.

    Takes about a minute, then prints where to find everything. With `--contacts 0` only the messages are sent.
    """
    if 0 < contacts < MIN_CONTACTS:
        raise typer.BadParameter(f"Give 0, or at least {MIN_CONTACTS}.", param_hint="--contacts")
    asyncio.run(_demo(url, key, project, count, contacts, (email, password)))


async def _demo(
    url: str | None,
    key: str | None,
    project: str | None,
    count: int,
    contacts: int,
    developer: tuple[str | None, str | None],
) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from postern.cli.client import connect
    from postern.cli.demo_data import fill_screens

    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with connect(url, key, project) as client:
        if key is not None and all(developer):
            client.access.developer_token = await _sign_in(client, *developer)
        with Progress(*columns, console=Console(stderr=True)) as progress:
            domain = await client.request("POST", "/domains", {"domain": f"demo-{uuid4().hex[:8]}.example.org"})
            lines = [await _send_messages(client, progress, domain, count)]
            if contacts:
                lines += await fill_screens(client, progress, domain)
                lines += await _run_campaign(client, progress, domain, contacts)
        print("\n".join(lines))
        link = client.access.dashboard_url
        page = f"{client.url}/dashboard/projects/{client.project}"
        print(f"Dashboard: {f'{link} (signs in once, within 24 hours)' if link else page}")
        link_note = " (the link works once and expires in ten minutes)" if key is None else ""
        print(f"Read the messages: {client.access.inbox_url}{link_note}")
        print(f"Email log: GET {client.url}/projects/{client.project}/emails/logs?q=demo")


async def _sign_in(client: "ProjectClient", email: str | None, password: str | None) -> str:
    """Return an access token of the developer. Raises CannotRun if the sign-in fails or needs a second factor."""
    from postern.cli import CannotRun

    credentials = {"email": email, "password": password}
    response = await client.http.post("/auth/sign-in", json=credentials, headers={"authorization": ""})
    if not response.is_success:
        raise CannotRun(f"The developer {email} could not sign in: {response.json().get('detail')}")
    return response.json()["accessToken"]


async def _send_messages(client: "ProjectClient", progress: "Progress", domain: dict[str, Any], count: int) -> str:
    """Send personalised messages to invented recipients; returns the counts by status, as text."""
    content = {"name": "Demo", "subject": "{{ name }}, your {{ plan }} plan", "html": MESSAGE_HTML}
    template = await client.request("POST", "/templates", content)
    statuses: dict[str, int] = {}

    async def send_to(person: dict[str, str]) -> None:
        message = {
            "to": [person["email"]],
            "from": f"Demo <hello@{domain['domain']}>",
            "templateId": template["id"],
            "variables": person,
            "tags": ["demo"],
        }
        headers = {"Idempotency-Key": f"{template['id']}-{person['email']}"}
        status = (await client.request("POST", "/emails", message, **headers))["status"]
        statuses[status] = statuses.get(status, 0) + 1

    recipients = list(csv.DictReader(io.StringIO(recipients_csv(count))))
    await _run_all(progress, "Sending messages", recipients, send_to, SEND_CONCURRENCY)
    counts = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    return f"{counts}\nDomain {domain['domain']} and template “Demo” are in project {client.project}."


async def _run_campaign(
    client: "ProjectClient", progress: "Progress", domain: dict[str, Any], contacts: int
) -> list[str]:
    """Import contacts, send a campaign with an A/B test to the active ones, and simulate its readers.

    Returns the final lines of output.
    """
    sender = f"news@{domain['domain']}"
    automation = await _create_automation(client, sender)
    audience = await _create_audience(client, "Active customers", {"field": "credits", "operator": "gte", "value": 200})
    await _import_contacts(client, progress, contacts)
    campaign = await _start_campaign(client, domain["id"], sender, audience)
    await _wait_for_sample(client, progress, campaign)
    rng, read_ids = random.Random(contacts), set[str]()  # noqa: S311 - sample data, no secret
    await _simulate_readers(client, progress, "Readers of the A/B test", campaign, read_ids, rng)
    winner = max((await _get_campaign(client, campaign))["variants"], key=lambda variant: variant["stats"]["openRate"])
    await client.request("POST", f"/campaigns/{campaign}/ab-test/select-winner", {"variantId": winner["id"]})
    await _wait_until_sent(client, progress, campaign)
    await _simulate_readers(client, progress, "Readers of the winner", campaign, read_ids, rng)
    return await _closing_lines(client, campaign, audience, automation, winner["name"])


async def _create_automation(client: "ProjectClient", sender: str) -> str:
    """Create an automation that sends a message to contacts who join an audience; returns its id."""
    content = {"name": "Welcome", "subject": "Welcome, {{ name }}", "html": WELCOME_HTML}
    template = await client.request("POST", "/templates", content)
    audience = await _create_audience(client, "Best customers", {"field": "credits", "operator": "gte", "value": 950})
    steps = [
        {"type": "SEND_EMAIL", "templateId": template["id"], "fromEmail": sender},
        {"type": "UPDATE_CONTACT", "attributes": {"welcomed": True}},
    ]
    body = {"name": "Welcome", "trigger": {"type": "AUDIENCE_JOINED", "audienceId": audience}, "steps": steps}
    automation = await client.request("POST", "/automations", body)
    await client.request("PATCH", f"/automations/{automation['id']}/active", {"active": True})
    return automation["id"]


async def _create_audience(client: "ProjectClient", name: str, condition: dict[str, Any]) -> str:
    """Create a dynamic audience of the contacts who meet `condition` and whose country is one of COUNTRIES or whose
    plan is `team`; returns its id."""
    audience = (await client.request("POST", "/audiences", {"name": name}))["id"]
    country_or_plan = {
        "match": "any",
        "conditions": [
            {"field": "country", "operator": "in", "value": list(COUNTRIES)},
            {"field": "plan", "operator": "eq", "value": "team"},
        ],
    }
    rules = {"match": "all", "conditions": [condition, country_or_plan]}
    await client.request("PATCH", f"/audiences/{audience}/rules", rules)
    return audience


async def _import_contacts(client: "ProjectClient", progress: "Progress", contacts: int) -> None:
    from postern.cli import CannotRun
    from postern.cli.contacts import import_file

    task = progress.add_task("Importing contacts", total=contacts)
    with tempfile.TemporaryDirectory(prefix="postern-demo-") as folder:
        file = Path(folder, "contacts.csv")
        await asyncio.to_thread(file.write_text, contacts_csv(contacts))

        def show(phase: str, done: float, _remark: str) -> None:
            if phase == "import":
                progress.update(task, completed=round(done * contacts))

        state = await import_file(client.http, client.project, file, "upsert", show)
    progress.update(task, completed=contacts)
    if state["status"] != "COMPLETED" or state["failed"]:
        raise CannotRun(f"The import of the contacts ended as {state['status']}; {state['failed']} lines failed.")


async def _start_campaign(client: "ProjectClient", domain_id: str, sender: str, audience: str) -> str:
    """Create and send a campaign with an A/B test; returns its id."""
    content = {"name": "News", "subject": SUBJECTS["Plain"], "html": NEWS_HTML}
    template = await client.request("POST", "/templates", content)
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
    campaign = (await client.request("POST", "/campaigns", body))["id"]
    await client.request("POST", f"/campaigns/{campaign}/send")
    return campaign


async def _get_campaign(client: "ProjectClient", campaign: str) -> dict[str, Any]:
    return await client.request("GET", f"/campaigns/{campaign}")


async def _poll_campaign(client: "ProjectClient", campaign: str) -> AsyncIterator[dict[str, Any]]:
    from postern.cli import CannotRun

    for _ in range(MAX_POLLS):
        yield await _get_campaign(client, campaign)
        await asyncio.sleep(POLL_INTERVAL.total_seconds())
    raise CannotRun("The campaign makes no progress. Check that a worker runs; `postern serve` starts one.")


async def _wait_for_sample(client: "ProjectClient", progress: "Progress", campaign: str) -> None:
    """Wait until the messages of the A/B test's sample are handed over: until the campaign no longer changes."""
    task, previous_audience, idle_polls = progress.add_task("A/B test", total=None), 0, 0
    async for state in _poll_campaign(client, campaign):
        counts = state["progress"]
        progress.update(task, completed=counts["handedOver"], total=round(counts["expected"] * 0.4))
        is_idle = counts["handedOver"] and not counts["waiting"] and counts["audience"] == previous_audience
        idle_polls, previous_audience = idle_polls + 1 if is_idle else 0, counts["audience"]
        if idle_polls >= IDLE_POLLS:
            progress.update(task, total=counts["handedOver"])
            return


async def _wait_until_sent(client: "ProjectClient", progress: "Progress", campaign: str) -> None:
    from postern.cli.campaigns import ENDED, count_contacts

    task = progress.add_task("Winning variant", total=None)
    async for state in _poll_campaign(client, campaign):
        done, expected = count_contacts(state)
        progress.update(task, completed=done, total=expected)
        if state["status"] in ENDED:
            return


async def _simulate_readers(
    client: "ProjectClient", progress: "Progress", title: str, campaign: str, read_ids: set[str], rng: random.Random
) -> None:
    """Simulate security scanners, then readers, of the delivered messages whose ids are not in `read_ids`.

    Adds the ids of these messages to `read_ids`.
    """
    variants = {variant["id"]: variant["name"] for variant in (await _get_campaign(client, campaign))["variants"]}
    rows = await _get_sends(client, campaign)
    unread = [row for row in rows if row["status"] == "DELIVERED" and row["id"] not in read_ids]
    read_ids |= {row["id"] for row in unread}
    await _run_all(progress, "Security scanners", unread[::10], _scanner(client, rng), 8)
    await asyncio.sleep(READ_DELAY.total_seconds())
    to_open = [row for row in unread if rng.random() < OPEN_RATES[variants.get(row["variantId"], "Plain")]]
    await _run_all(progress, title, to_open, _reader(client, rng), READER_CONCURRENCY)


def _scanner(client: "ProjectClient", rng: random.Random) -> Callable[[dict[str, str]], Awaitable[None]]:
    """Return a function that fetches a message's tracking pixel as a security scanner does."""

    async def scan(row: dict[str, str]) -> None:
        await client.http.get(f"/t/o/{row['id']}", headers={"user-agent": rng.choice(SCANNER_AGENTS)})

    return scan


def _reader(client: "ProjectClient", rng: random.Random) -> Callable[[dict[str, str]], Awaitable[None]]:
    """Return a function that opens a message; by chance it also clicks a link or unsubscribes."""

    async def read(row: dict[str, str]) -> None:
        agent = GMAIL_PROXY_AGENT if rng.random() < 0.3 else rng.choice(READER_AGENTS)
        await client.http.get(f"/t/o/{row['id']}", headers={"user-agent": agent})
        clicks, unsubscribes = rng.random() < CLICK_RATE, rng.random() < UNSUBSCRIBE_RATE
        if not clicks and not unsubscribes:
            return
        message = (await client.http.get(f"/projects/{client.project}/emails/logs/{row['id']}/message")).text
        if clicks and (path := find_link(message, "/t/c/")):
            await client.http.get(path, headers={"user-agent": rng.choice(READER_AGENTS)}, follow_redirects=False)
        if unsubscribes and (path := find_link(message, "/t/u/")):
            await client.http.post(path, data={"List-Unsubscribe": "One-Click"})

    return read


def find_link(message: str, prefix: str) -> str | None:
    """Return path and query of the first link in a raw message whose path starts with `prefix`.

    The host is left out: the server's base URL may differ from the URL that this client uses.
    """
    import email
    import email.policy

    html = email.message_from_string(message, policy=email.policy.default).get_body(("html",))
    for href in re.findall(r'href="([^"]+)"', html.get_content() if html else ""):
        parts = urlsplit(unescape(href))
        if parts.path.startswith(prefix):
            return f"{parts.path}?{parts.query}"
    return None


async def _get_sends(client: "ProjectClient", campaign: str) -> list[dict[str, str]]:
    response = await client.http.get(f"/projects/{client.project}/campaigns/{campaign}/sends/export")
    return list(csv.DictReader(io.StringIO(response.raise_for_status().text)))


async def _run_all(
    progress: "Progress",
    title: str,
    items: Sequence[dict[str, str]],
    process: Callable[[dict[str, str]], Awaitable[None]],
    concurrency: int,
) -> None:
    """Run `process` on each item, at most `concurrency` at a time, and show a progress bar."""
    task, semaphore = progress.add_task(title, total=len(items)), asyncio.Semaphore(concurrency)

    async def process_item(item: dict[str, str]) -> None:
        async with semaphore:
            await process(item)
        progress.advance(task)

    async with asyncio.TaskGroup() as group:
        for item in items:
            group.create_task(process_item(item))


async def _closing_lines(
    client: "ProjectClient", campaign: str, audience: str, automation: str, winner: str
) -> list[str]:
    """Return the final lines of output: what was created, and the API paths that show it."""
    state, base = await _get_campaign(client, campaign), f"{client.url}/projects/{client.project}"
    totals = await client.request("GET", "/analytics")
    sends, stats, runs, contacts = totals["sends"], state["stats"], totals["automations"], totals["contacts"]
    names = ("delivered", "opened", "clicked", "bounced", "complained")
    campaign_counts = ", ".join(f"{stats[name]:,} {name}" for name in names)
    contact_counts = f"{contacts['total']:,} contacts, {contacts['unsubscribed']:,} unsubscribed"
    run_counts = f"{runs['completed']:,} of {runs['totalRuns']:,} automation runs completed"
    send_counts = f"{sends['total']:,} sends, {sends['machineOpened']:,} opened by machines only"
    return [
        f"Campaign “{state['name']}” is {state['status']}: {campaign_counts}; variant “{winner}” won.",
        f"Project: {contact_counts}; {send_counts}; {run_counts}.",
        f"Campaign: GET {base}/campaigns/{campaign} (and …/sends, …/sends/export)",
        f"Audience: GET {base}/audiences/{audience}/contacts",
        f"Automation: GET {base}/automations/{automation}/runs",
        f"Statistics: GET {base}/analytics (and …/time-series, …/by-domain, …/export)",
    ]


def recipients_csv(count: int) -> str:
    """Return `count` invented recipients as CSV. The same `count` gives the same recipients."""
    rng = random.Random(count)  # noqa: S311 - sample data, no secret
    rows = (
        [f"person-{number}@example.com", rng.choice(FIRST_NAMES), rng.choice(PLANS), rng.randrange(1_000)]
        for number in range(1, count + 1)
    )
    return _csv(["email", "name", "plan", "credits"], rows)


def contacts_csv(count: int) -> str:
    """Return `count` invented contacts with attributes as CSV. Some are unsubscribed; a few will bounce or complain.

    The same `count` gives the same contacts.
    """
    rng = random.Random(count)  # noqa: S311 - sample data, no secret
    rows = (
        [
            _address(number, rng),
            rng.choice(FIRST_NAMES),
            rng.choice(PLANS),
            rng.randrange(1_000),
            rng.choice(COUNTRIES),
            (date(2026, 1, 1) - timedelta(days=rng.randrange(1_500))).isoformat(),
            "true" if rng.random() < 0.03 else "false",
        ]
        for number in range(1, count + 1)
    )
    return _csv(["email", "name", "plan", "credits", "country", "since", "unsubscribed"], rows)


def _address(number: int, rng: random.Random) -> str:
    """The address of a contact; the server simulates a bounce or complaint for a few of them."""
    outcome = rng.random()
    if outcome < 0.012:
        return f"bounced+{number}@postern.test"
    return f"complained+{number}@postern.test" if outcome < 0.014 else f"reader-{number}@example.com"


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
