"""The lists of the dashboard with a large project: time of each request, of each page, and of scrolling.

Run: python -m bench.dashboard [CONTACTS] [SENDS]

api     every list operation with the query strings of the screens, REQUESTS times each, compared with
        GET /readyz, which also reads from the database
pages   every page with a list in Chromium, OPENINGS times each: from navigation until its rows are visible
scroll  the log of e-mails down to SCROLL_ROWS rows: intervals between frames, and long animation frames

`POSTERN_BENCH_FOLDER` keeps the database in a folder; a later run uses what is there. `POSTERN_BENCH_PARTS` limits the
parts (`api,pages,scroll`), `POSTERN_BENCH_ONLY` the requests and pages to those that contain a text, and
`POSTERN_BENCH_TIMES` sets REQUESTS.
PostgreSQL (durable), the API, the browser and this program share the machine.
"""

import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg

from bench.dashboard_data import Filling
from bench.emails import Server, verified_domain
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.chromium import Browser

REQUESTS = int(os.environ.get("POSTERN_BENCH_TIMES", "30"))
OPENINGS, SCROLL_ROWS = min(30, REQUESTS), 10_000
LIMIT_MS, PAGE_LIMIT_MS = 300, 1_000
SLOW_MS, REQUESTS_OF_SLOW = 3_000, 3
"""A request that takes longer than SLOW_MS is sent only REQUESTS_OF_SLOW times."""
ROWS = 100
"""`limit` of the dashboard's lists."""
NEXT_PAGES = 3
COUNTED = {"q", "from_", "to", "tag", "domainId", "recipient"}
"""Filters with which the dashboard sends `countLimit`, because an exact total would take long."""
DYNAMIC_RULES = {"conditions": [{"field": "seats", "operator": "eq", "value": 7}]}
PARTS = ("api", "pages", "scroll")
DOMAINS = ("acme.example", "mail.acme.example", "shop.acme.example")
Account = dict[str, Any]


def main() -> None:
    """Fill a project with the numbers on the command line, measure, and print."""
    contacts, sends = ([int(text) for text in sys.argv[1:3]] + [1_000_000, 10_000_000][len(sys.argv[1:3]) :])[:2]
    parts = os.environ.get("POSTERN_BENCH_PARTS", ",".join(PARTS)).split(",")
    with running() as (server, url, folder):
        account = filled(server, url, folder / "account.json", contacts, sends)
        print(f"{contacts:,} contacts, {sends:,} sends", flush=True)
        if "api" in parts:
            show_requests(server, account)
        if "pages" in parts or "scroll" in parts:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                browser = Browser(Path(profile))
                try:
                    sign_in(browser, server, account)
                    if "pages" in parts:
                        show_pages(browser, server, account)
                    if "scroll" in parts:
                        show_scrolling(browser, server, account)
                finally:
                    browser.close()


@contextmanager
def running() -> Iterator[tuple[Server, str, Path]]:
    """Run a database and an API; yields the server, the URL of the database, and the folder. No worker runs, because it
    would send the queued messages."""
    with tempfile.TemporaryDirectory(prefix="postern-bench-", ignore_cleanup_errors=True) as temporary:
        folder = Path(os.environ.get("POSTERN_BENCH_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        with run_embedded(folder / "data") as postgres:
            migrate(postgres.url())
            with psycopg.connect(postgres.url()) as connection:
                # For /readyz, a worker that has just reported.
                connection.execute("insert into workers values (gen_random_uuid(), now(), now() + interval '1 day')")
            server = Server(folder, postgres.url())
            try:
                server.start("api")
                yield server, postgres.url(), folder
            finally:
                server.stop()


def filled(server: Server, url: str, file: Path, contacts: int, sends: int) -> Account:
    """Return the credentials of the project in `file`; if there is no file, create and fill a project first."""
    if file.exists():
        account = json.loads(file.read_text())
        credentials = {"email": account["developerEmail"], "password": account["developerPassword"]}
        # The token of an earlier run has expired.
        account["developerToken"] = server.call("POST", "/auth/sign-in", credentials)["accessToken"]
        return account
    account = server.account()
    project, token = account["projectId"], account["developerToken"]
    for name in DOMAINS:
        verified_domain(url, server, project, token, name)
    with psycopg.connect(url) as connection:
        rows = connection.execute("select id from domains where project_id = %s order by id", [project])
        domains = [str(domain) for (domain,) in rows]
    filling = Filling(url, project, domains, contacts, sends)
    filling.fill()
    file.write_text(json.dumps(account))
    for number in range(4):
        path = f"/projects/{project}/audiences"
        audience = server.call("POST", path, {"name": f"Seven seats {number}"}, token)["id"]
        server.call("PATCH", f"{path}/{audience}/rules", DYNAMIC_RULES, token)
    filling.copy_dynamic_audiences()
    return account


def percentile(times: list[float], share: float) -> float:
    """A percentile, in the unit of `times`. `share` is 0.95 for the 95th."""
    return sorted(times)[int(len(times) * share)]


class Client:
    """Requests on one kept connection, with their durations."""

    def __init__(self, server: Server, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        self._headers = {"authorization": f"Bearer {token}"}

    def get(self, path: str) -> tuple[float, Any, str | None]:
        """Milliseconds, the response, and the path of the next part of the list. Raises AssertionError."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        milliseconds = (time.perf_counter() - began) * 1000
        assert response.status == 200, f"GET {path}: {response.status} {body[:300]!r}"
        value = json.loads(body)
        cursor = value.get("nextCursor") if isinstance(value, dict) else None
        link = response.headers.get("link", "")
        if cursor:
            path = path.partition("&cursor=")[0]
            following = f"{path}{'&' if '?' in path else '?'}cursor={quote(cursor)}"
        else:
            following = link.partition("<")[2].partition(">")[0] if 'rel="next"' in link else ""
            following = "/" + following.split("/", 3)[3] if following.startswith("http") else following
        return milliseconds, value, following or None


def show_requests(server: Server, account: Account) -> None:
    """Measure every list operation, and print the slowest first."""
    client = Client(server, account["developerToken"])
    only = os.environ.get("POSTERN_BENCH_ONLY", "")
    floor: list[float] = []
    results: list[tuple[float, float, str]] = []
    for screen, path in requests_of(client, f"/projects/{account['projectId']}"):
        label = f"{screen:<12} {path.replace('/projects/' + account['projectId'], '')}"
        if only not in label:
            continue
        times = [client.get(path)[0]]
        while len(times) < (REQUESTS if times[0] < SLOW_MS else REQUESTS_OF_SLOW):
            times.append(client.get(path)[0])
            floor.append(client.get("/readyz?")[0])
        results.append((percentile(times, 0.95), percentile(times, 0.5), label))
        print(f"    {results[-1][1]:8.1f} {results[-1][0]:8.1f}  {label}", file=sys.stderr, flush=True)
    print(f"GET /readyz: p50 {percentile(floor, 0.5):.1f} ms, p95 {percentile(floor, 0.95):.1f} ms")
    print(f"{len(results)} requests, {REQUESTS} times each:\n     p50      p95 ms")
    for p95, p50, label in sorted(results, reverse=True):
        print(f"{p50:8.1f} {p95:8.1f} {'!' if p95 > LIMIT_MS else ' '} {label}")
    slow = sum(p95 > LIMIT_MS for p95, _, _ in results)
    print(f"p95 over {LIMIT_MS} ms: {slow} of {len(results)}", flush=True)


def query(**parameters: str | int) -> str:
    """A query string; `from_` is `from`."""
    return urlencode({name.rstrip("_"): value for name, value in parameters.items()}, safe=",")


def campaigns_by_size(client: Client, base: str) -> tuple[str, str]:
    """The ids of the sent campaigns with the fewest and the most sends."""
    sizes: dict[str, int] = {}
    path: str | None = f"{base}/campaigns?{query(status='SENT', include='counts', limit=100)}"
    while path:
        _, campaigns, path = client.get(path)
        sizes |= {campaign["id"]: campaign["stats"]["total"] for campaign in campaigns}
    return min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)


def requests_of(client: Client, base: str) -> Iterator[tuple[str, str]]:
    """The screen and the path of every request for a list: with each filter and order that the screen offers, with
    searches for a rare, a frequent and a missing word, and for the next pages."""
    now = datetime.now(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)

    def days(number: int) -> str:
        return (midnight - timedelta(days=number)).isoformat().replace("+00:00", "Z")

    def several(screen: str, path: str, *filters: dict[str, Any], **usual: Any) -> Iterator[tuple[str, str]]:
        for filtered in filters:
            counted = (
                {"countLimit": 10_000} if path.endswith(("/logs", "/contacts")) and COUNTED & filtered.keys() else {}
            )
            yield screen, f"{path}?{query(**filtered, **counted, **usual)}"
        following: str | None = f"{path}?{query(**usual)}"
        for _ in range(NEXT_PAGES):
            _, _, following = client.get(following)
            if not following:
                return
            yield screen, following

    small, large = campaigns_by_size(client, base)
    domains = [row["id"] for row in client.get(f"{base}/domains")[1]]
    audiences = client.get(f"{base}/audiences?{query(sort='name', limit=1000)}")[1]
    by_name = {row["name"]: row["id"] for row in audiences}
    webhooks = client.get(f"{base}/webhooks?limit=1000")[1]
    customer = client.get(f"{base}/customers?{query(q='user.77@', limit=1)}")[1]["data"][0]["id"]
    contact = client.get(f"{base}/contacts?{query(q='user.77@', limit=1)}")[1]["data"][0]["id"]
    searches = ({"q": "user.777@"}, {"q": "example.com"}, {"q": "nowhere-at-all"})
    yield from several(
        "emails",
        f"{base}/emails/logs",
        {},
        *searches,
        {"q": "receipt"},
        {"q": "mail7"},
        *(
            {"status": status}
            for status in ("QUEUED", "SCHEDULED", "SENT,DELIVERED", "DELAYED", "BOUNCED", "COMPLAINED")
        ),
        *({"status": status} for status in ("FAILED,EXPIRED", "SUPPRESSED", "CANCELLED")),
        *({"from_": days(number)} for number in (0, 6, 29)),
        {"from_": days(20), "to": days(10)},
        {"tag": "receipt"},
        {"tag": "rare"},
        {"tag": "nowhere"},
        *({"campaignId": campaign} for campaign in (large, small)),
        {"campaignId": large, "status": "BOUNCED"},
        *({"domainId": domain} for domain in domains),
        {"recipient": "user.777@mail177.example.com"},
        {"recipient": "nobody@nowhere.example"},
        {"status": "BOUNCED", "from_": days(6)},
        {"status": "BOUNCED", "domainId": domains[0]},
        {"q": "example.com", "status": "BOUNCED"},
        {"tag": "receipt", "from_": days(29)},
        limit=ROWS,
    )
    yield "emails", f"{base}/emails/logs?{query(status='SCHEDULED', limit=1)}"
    yield "overview", f"{base}/emails/logs?{query(limit=25)}"
    yield "overview", f"{base}/emails/logs?{query(status='DELAYED', limit=25)}"
    yield "every page", f"{base}/emails/logs?{query(status='QUEUED', to=days(0), limit=1)}"
    yield "overview", f"{base}/emails/logs?{query(status='FAILED,EXPIRED', from_=days(0), limit=25)}"
    day = {"timezone": "Europe/Berlin", "to": now.date().isoformat()}
    for number in (7, 30, 90):
        start = (now - timedelta(days=2 * number - 1)).date().isoformat()
        yield "overview", f"{base}/analytics/time-series?{query(**day, from_=start)}"
        start = (now - timedelta(days=number - 1)).date().isoformat()
        yield "overview", f"{base}/analytics/by-domain?{query(**day, from_=start)}"
        yield "overview", f"{base}/analytics?{query(days=number)}"
    yield "overview", f"{base}/analytics"
    yield "overview", f"{base}/customers/stats"
    yield from several(
        "suppressions",
        f"{base}/suppressions",
        {},
        *searches,
        *({"reason": reason} for reason in ("BOUNCE", "COMPLAINT", "UNSUBSCRIBE", "MANUAL")),
        limit=ROWS,
    )
    yield "emails", f"{base}/suppressions?limit=1"
    yield from several("inbox", f"{base}/inbox", {}, *searches, limit=ROWS)
    yield from several(
        "contacts",
        f"{base}/contacts",
        {},
        *searches,
        {"q": "mail7"},
        {"unsubscribed": "true"},
        {"unsubscribed": "false"},
        *({**search, "unsubscribed": "true"} for search in searches),
        limit=ROWS,
    )
    yield "contact", f"{base}/contacts/{contact}/audiences"
    yield "contact", f"{base}/emails/logs?{query(recipient='user.77@mail77.example.com', limit=ROWS)}"
    for name in sorted({"Customers 1", "Trial 2", "Seven seats 0"} & by_name.keys()):
        yield from several("contacts", f"{base}/audiences/{by_name[name]}/contacts", {}, limit=ROWS)
    yield from several(
        "audiences",
        f"{base}/audiences",
        {},
        {"q": "Newsletter 12"},
        {"q": "e"},
        {"q": "nowhere-at-all"},
        {"type": "DYNAMIC"},
        {"type": "STATIC"},
        include="counts,total",
        limit=ROWS,
    )
    yield "audiences", f"{base}/audiences?{query(sort='name', limit=1000)}"
    yield from several(
        "campaigns",
        f"{base}/campaigns",
        {},
        {"q": "Newsletter 12"},
        {"q": "news"},
        {"q": "nowhere-at-all"},
        *(
            {"status": status}
            for status in ("DRAFT", "SCHEDULED", "TESTING,SENDING,PAUSED", "SENT", "CANCELLED,FAILED")
        ),
        {"sort": "name"},
        {"sort": "-updatedAt"},
        {"sort": "name", "status": "SENT", "q": "news"},
        include="counts,total",
        limit=ROWS,
    )
    for campaign in (large, small):
        yield "campaign", f"{base}/campaigns/{campaign}"
        yield from several(
            "campaign",
            f"{base}/campaigns/{campaign}/sends",
            {},
            *({"status": status} for status in ("SENT,DELIVERED", "BOUNCED", "SUPPRESSED", "FAILED,EXPIRED")),
            limit=ROWS,
        )
    for sort in ("-updatedAt", "-createdAt", "name"):
        yield from several(
            "templates",
            f"{base}/templates",
            {},
            {"q": "Welcome 12"},
            {"q": "news"},
            {"q": "nowhere-at-all"},
            sort=sort,
            view="summary",
            include="total",
            limit=ROWS,
        )
    yield "templates", f"{base}/templates?{query(view='summary', sort='name', limit=1000)}"
    yield "templates", f"{base}/campaigns?{query(sort='-updatedAt', limit=ROWS)}"
    yield from several(
        "customers",
        f"{base}/customers",
        {},
        *searches,
        {"q": "lovelace"},
        *({"status": status} for status in ("active", "banned", "locked", "unverified", "mfa")),
        *({"provider": provider} for provider in ("password", "google", "github")),
        {"q": "example.com", "status": "mfa", "provider": "google"},
        limit=ROWS,
    )
    yield from several("customer", f"{base}/customers/{customer}/timeline", {}, limit=50)
    yield "customer", f"{base}/customers/{customer}/audit-log?limit=50"
    yield "customer", f"{base}/customers/{customer}/organizations?limit=100"
    yield from several(
        "organizations",
        f"{base}/b2b/organizations",
        {},
        {"q": "company-777"},
        {"q": "company"},
        {"q": "nowhere-at-all"},
        {"status": "SUSPENDED"},
        {"sort": "name"},
        {"sort": "-updatedAt"},
        include="total",
        limit=ROWS,
    )
    yield from several(
        "events",
        f"{base}/events",
        {},
        {"type": "email.sent"},
        {"type": "domain.degraded"},
        {"type": "nowhere.at_all"},
        {"subjectId": customer},
        {"subjectId": customer, "type": "domain.degraded"},
        limit=ROWS,
    )
    yield "webhooks", f"{base}/webhooks?limit=1000"
    for webhook in (webhooks[-1]["id"], webhooks[0]["id"]):
        yield "webhooks", f"{base}/webhooks/{webhook}/deliveries?limit=1"
        yield from several(
            "webhooks",
            f"{base}/webhooks/{webhook}/deliveries",
            {},
            *({"status": status} for status in ("PENDING", "SUCCEEDED", "FAILED")),
            {"event": "email.sent"},
            {"event": "customer.signed_in"},
            {"event": "nowhere.at_all"},
            {"event": "customer.signed_in", "status": "FAILED"},
            limit=ROWS,
        )
    project = base.rpartition("/")[2]
    developer = client.get(f"/account/audit-log?{query(projectId=project, limit=2)}")[1]["data"][0]["actorId"]
    yield from several(
        "audit log",
        "/account/audit-log",
        {},
        {"actorId": developer},
        {"action": "webhook.*"},
        {"action": "template.*"},
        {"action": "nowhere.*"},
        *({"from_": days(number)} for number in (1, 7, 30, 90)),
        projectId=project,
        limit=ROWS,
    )
    yield "audit log", f"/account/audit-log?{query(limit=ROWS)}"
    yield "domains", f"{base}/domains"
    yield "keys", f"{base}/api-keys?limit=100"
    yield "team", "/account/members?limit=100"


def sign_in(browser: Browser, server: Server, account: Account) -> None:
    """Sign in to the dashboard as the developer who owns the project."""
    browser.show_as(width=1440, height=900)
    browser.open(f"{server.base}/dashboard/")
    credentials = {"email": account["developerEmail"], "password": account["developerPassword"]}
    status = browser.evaluate(
        "fetch('/dashboard/api/auth/sign-in', {method: 'POST', headers: {'content-type': 'application/json', "
        f"'x-postern-dashboard': '1'}}, body: JSON.stringify({json.dumps(credentials)})}}).then(r => r.status)"
    )
    assert status == 200, status


def pages_of(account: Account, client: Client) -> Iterator[tuple[str, str]]:
    """The path of every page with a list, and a CSS selector that matches once the rows are shown."""
    base = f"/projects/{account['projectId']}"
    row = "tr[data-row]"
    _, large = campaigns_by_size(client, base)
    webhook = client.get(f"{base}/webhooks?limit=1000")[1][-1]["id"]
    customer = client.get(f"{base}/customers?{query(q='user.77@', limit=1)}")[1]["data"][0]["id"]
    audience = client.get(f"{base}/audiences?{query(q='Customers 1', limit=1)}")[1][0]["id"]
    yield "/", ".chart .cols"
    for path in ("/emails", "/emails?q=receipt", "/emails?status=BOUNCED", "/emails?sent=30d", "/emails?tag=receipt"):
        yield path, row
    for path in ("/emails/scheduled", "/emails/inbox", "/emails/suppressions"):
        yield path, row
    yield "/contacts", row
    yield "/contacts?q=user.777", row
    yield f"/contacts?audience={audience}", row
    for path in ("/contacts/audiences", "/campaigns", "/campaigns?status=sent", "/templates", "/customers"):
        yield path, row
    yield "/customers?q=lovelace", row
    yield f"/campaigns/{large}?tab=recipients", row
    yield f"/customers/{customer}", ".feed li"
    for path in ("/developers/events", f"/developers/webhooks/{webhook}", "/settings/audit-log"):
        yield path, row
    for path in ("/organizations", "/domains", "/developers/webhooks"):
        yield path, "main tbody tr:not([aria-hidden]) :is(th, td)"


WATCH = """
(() => {
  const seen = () => {
    const found = [...document.querySelectorAll(SELECTOR)].some((each) => each.getClientRects().length > 0);
    // The frame in which the rows are is drawn before the next one begins.
    if (found) requestAnimationFrame(() => setTimeout(() => { window.rowsAt = performance.now(); }));
    else requestAnimationFrame(seen);
  };
  seen();
})()
"""
SERVER_TIME = """
performance.getEntriesByType('resource').filter((each) => each.name.includes('/dashboard/api/')
  && !each.name.includes('/stream') && each.responseEnd > 0 && each.startTime < window.rowsAt)
  .map((each) => [each.name, each.responseEnd - each.requestStart])
"""


def show_pages(browser: Browser, server: Server, account: Account) -> None:
    """Measure every page, and print the slowest first."""
    only = os.environ.get("POSTERN_BENCH_ONLY", "")
    results: list[tuple[float, float, float, str]] = []
    for path, selector in pages_of(account, Client(server, account["developerToken"])):
        if only not in path:
            continue
        script = browser.command(
            "Page.addScriptToEvaluateOnNewDocument", source=WATCH.replace("SELECTOR", json.dumps(selector))
        )["identifier"]
        times: list[float] = []
        slowest: list[float] = []
        for _ in range(OPENINGS + 1):
            browser.command("Page.navigate", url=f"{server.base}/dashboard/projects/{account['projectId']}{path}")
            times.append(browser.wait("window.rowsAt"))
            slowest.append(max((time for _, time in browser.evaluate(SERVER_TIME)), default=0))
        browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
        p95 = percentile(times[1:], 0.95)
        results.append((p95, percentile(times[1:], 0.5), percentile(slowest[1:], 0.95), path))
        print(f"    {p95:8.0f}  {path}", file=sys.stderr, flush=True)
    print(f"{len(results)} pages, {OPENINGS} times each, until the rows are visible; slowest request until then:")
    print("     p50      p95   API p95 ms")
    for p95, p50, api, path in sorted(results, reverse=True):
        print(f"{p50:8.0f} {p95:8.0f} {api:9.0f} {'!' if p95 - api > PAGE_LIMIT_MS else ' '} {path}")
    print(
        f"p95 without the API over {PAGE_LIMIT_MS} ms: {sum(p95 - api > PAGE_LIMIT_MS for p95, _, api, _ in results)}"
    )


SCROLL = """
(async () => {
  const intervals = [], long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "long-animation-frame" });
  const numbers = () => [...document.querySelectorAll("tr[data-row]")].map((each) => each.ariaRowIndex - 1);
  const rows = () => Math.max(0, ...numbers());
  const began = performance.now();
  let last = began, waited = 0;
  while (rows() < ROWS && performance.now() - began < 300000) {
    const now = await new Promise(requestAnimationFrame);
    intervals.push(now - last);
    last = now;
    const before = window.scrollY;
    window.scrollBy({ top: STEP, behavior: "instant" });
    if (window.scrollY === before) waited++;
  }
  await new Promise((done) => setTimeout(done, 200));
  return { intervals: intervals.slice(1), long, waited, rows: rows(), seconds: (performance.now() - began) / 1000 };
})()
"""
SCROLL_STEP = 100
"""Pixels per frame: as a fast scroll with a touchpad, 6,000 pixels per second."""


def show_scrolling(browser: Browser, server: Server, account: Account) -> None:
    """Scroll through the log of e-mails, and print the intervals between frames."""
    idle = (
        "(async () => { const at = []; for (let n = 0; n < 300; n++) at.push(await new Promise(requestAnimationFrame));"
    )
    idle += " return at.slice(1).map((each, n) => each - at[n]); })()"
    browser.open(f"{server.base}/dashboard/projects/{account['projectId']}/emails")
    browser.wait("document.querySelector('tr[data-row]')")
    time.sleep(2)
    still = browser.evaluate(idle)
    result = browser.evaluate(SCROLL.replace("ROWS", str(SCROLL_ROWS)).replace("STEP", str(SCROLL_STEP)))
    frame = percentile(still, 0.5)
    print(f"scrolled through {result['rows']:,} rows in {result['seconds']:.0f} s")
    print(f"frames at the end of what was loaded: {result['waited']}")
    for label, intervals in (("still page", still), ("scrolling", result["intervals"])):
        dropped = sum(max(0, round(interval / frame) - 1) for interval in intervals)
        print(
            f"{label}: {len(intervals):,} frames, interval p50 {percentile(intervals, 0.5):.1f} ms, "
            f"p95 {percentile(intervals, 0.95):.1f} ms, p99 {percentile(intervals, 0.99):.1f} ms, longest "
            f"{max(intervals):.0f} ms; dropped frames {dropped} ({dropped / (len(intervals) + dropped):.1%})"
        )
    print(f"long animation frames (over 50 ms): {len(result['long'])}, longest {max(result['long'], default=0):.0f} ms")


if __name__ == "__main__":
    main()
