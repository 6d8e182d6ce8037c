"""Compares the speed of two checkouts.

Run: python -m bench.versus OTHER [accept] [wire] [customers] [access] [webhooks] [--rounds 14] (not run by
`script/bench`)

OTHER is a checkout of another commit with dependencies: `git worktree add ../other COMMIT && ../other/script/setup`.

accept     `POST /emails` without and with waiting for the delivery, over 1, 8 and 32 connections; both servers run, and
           in each round each server gets requests for 0.7 s, in random order
customers  token refreshes, and reads with an access token, over 32 connections, measured in the same way
access     access checks with a secret key over 8 connections, measured in the same way
wire       a campaign of 20,000 messages with one worker, in turns
webhooks   20,000 webhook deliveries to 8 endpoints with one worker, in turns

The speed of a shared machine changes from minute to minute. So the result is the ratio within each round, this checkout
to the other: the median, and the quartiles as a measure of the noise.
"""

import argparse
import inspect
import json
import random
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent.parent
SECONDS: Final = 0.7
PLACEHOLDERS: Final = {"subject": "Code {{n}}", "text": "12"}
LOGIC: Final = {"subject": "Code {{n | upper}}", "text": "{% if n %}12{% endif %}"}
PARTS: Final = ("accept", "customers", "access", "wire", "webhooks")


def serve() -> None:
    """Run by each checkout: run a server with a sink as its relay until a line is read from standard input."""
    with _server() as (server, url, _):
        project, key, token = server.project()
        _verified_domain(url, server, project, token)
        print(json.dumps({"port": server.port, "project": project, "key": key}), flush=True)
        sys.stdin.readline()


def drain(count: int) -> None:
    """Run by each checkout: send a campaign and print the messages per second."""
    from bench import campaigns

    with _server() as (server, url, to):
        arguments: list[Any] = [server, url, to, 1]
        if "count" in inspect.signature(campaigns.wire).parameters:
            arguments.append(count)
        else:
            campaigns.WIRE = count  # pyright: ignore[reportConstantRedefinition]
        ((_, figure),) = campaigns.wire(*arguments)
        print(figure.split()[0].replace(",", ""), flush=True)


def dispatch() -> None:
    """Run by each checkout: deliver webhooks with one worker, and print the deliveries per second."""
    from bench import webhooks

    async def nothing(*_: Any) -> None:
        pass

    def show(label: str, rate: float) -> None:
        if label.startswith("dispatch"):
            print(rate, flush=True)

    webhooks.limits = webhooks.lag = nothing
    webhooks.show = show
    webhooks.main()


@contextmanager
def _server() -> Iterator[tuple[Any, str, str]]:
    from bench.campaigns import running
    from bench.emails import quick_sink, relay_environment

    with quick_sink() as (port, to), running(**relay_environment(port)) as (server, url):
        yield server, url, to


def _verified_domain(url: str, server: Any, project: str, token: str) -> None:
    from bench.emails import verified_domain

    verified_domain(url, server, project, token)


def child(checkout: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start this program with the code of a checkout."""
    python = checkout / ".venv/bin/python"
    return subprocess.Popen(
        [str(python), str(HERE / "bench/versus.py"), *arguments],
        cwd=checkout,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def accept(other: Path, rounds: int) -> None:
    """Compare the p50 of `POST /emails`."""
    import uvloop

    from bench.emails import HTML, load, percentile, post

    html = {"subject": "Code", "html": HTML}
    cases = [
        ("response at once, 1 connection, names only", PLACEHOLDERS, "Prefer: wait=0", 1),
        ("response at once, 1 connection, with an `if`", LOGIC, "Prefer: wait=0", 1),
        ("response at once, 8 connections, html", html, "Prefer: wait=0", 8),
        ("response after delivery, 1 connection, names only", PLACEHOLDERS, "X: y", 1),
        ("response after delivery, 1 connection, html", html, "X: y", 1),
        ("response after delivery, 32 connections, names only", PLACEHOLDERS, "X: y", 32),
    ]
    with _servers(other) as servers:
        for name, content, header, connections in cases:

            def p50(
                server: dict[str, Any],
                content: dict[str, str] = content,
                header: str = header,
                connections: int = connections,
            ) -> float:
                body = {"to": ["ada@example.com"], "from": "a@acme.example", "variables": {"n": "x"}, **content}
                request = post(f"/projects/{server['project']}/emails", server["key"], body, header)
                measurement = load(server["port"], request, connections=connections, seconds=SECONDS)
                _, times, statuses = uvloop.run(measurement)
                assert set(statuses) == {b"201"}, statuses
                return percentile(times, 0.5)

            _compare(f"POST /emails p50, {name}", servers, rounds, p50, "ms")


def customers(other: Path, rounds: int) -> None:
    """Compare the p50 of token refreshes, and of reads with an access token."""
    import uvloop

    from bench.customers import CONNECTIONS, CUSTOMERS, create_sessions, reading, refreshing, repeat
    from bench.emails import percentile

    with _servers(other) as servers:
        sessions = {
            server["port"]: uvloop.run(
                create_sessions(server["port"], server["project"], _customers(server, CUSTOMERS))
            )
            for server in servers.values()
        }
        for name, action_of in (("token refresh", refreshing), ("GET /auth/me with an access token", reading)):
            actions = {
                server["port"]: action_of(server["project"], sessions[server["port"]]) for server in servers.values()
            }

            def p50(server: dict[str, Any], actions: dict[int, Any] = actions) -> float:
                port = server["port"]
                _, times = uvloop.run(repeat(port, CONNECTIONS, SECONDS, actions[port]))
                return percentile(times, 0.5)

            _compare(f"{name} p50, {CONNECTIONS} connections", servers, rounds, p50, "ms")


def access(other: Path, rounds: int) -> None:
    """Compare the p50 of access checks."""
    import uvloop

    from bench.emails import load, percentile, post

    with _servers(other) as servers:
        ids = {server["port"]: _customer_id(server, _customers(server, 1)[0]) for server in servers.values()}

        def p50(server: dict[str, Any]) -> float:
            body = {"permission": "reports:read", "customerId": ids[server["port"]]}
            request = post(f"/projects/{server['project']}/access/check", server["key"], body)
            _, times, statuses = uvloop.run(load(server["port"], request, connections=8, seconds=SECONDS))
            assert set(statuses) == {b"200"}, statuses
            return percentile(times, 0.5)

        _compare("POST /access/check p50, 8 connections", servers, rounds, p50, "ms")


def in_turns(label: str, other: Path, rounds: int, *command: str) -> None:
    """Compare the rates that this command of this program prints in each checkout."""
    rates: dict[Path, list[float]] = {HERE: [], other: []}
    for _ in range(rounds):
        for checkout in random.sample([HERE, other], 2):
            process = child(checkout, *command)
            rates[checkout].append(float(_line(process)))
            process.communicate()
    _print(label, rates[HERE], rates[other], "/s")


@contextmanager
def _servers(other: Path) -> Iterator[dict[Path, dict[str, Any]]]:
    """A server of each checkout; yields what `serve` prints, by checkout."""
    started = {checkout: child(checkout, "serve") for checkout in (HERE, other)}
    try:
        yield {checkout: json.loads(_line(process)) for checkout, process in started.items()}
    finally:
        for process in started.values():
            process.communicate("\n")


def _compare(
    label: str,
    servers: dict[Path, dict[str, Any]],
    rounds: int,
    measure: Callable[[dict[str, Any]], float],
    unit: str,
) -> None:
    """Measure both servers in each round, in random order, and print the comparison."""
    results: dict[Path, list[float]] = {checkout: [] for checkout in servers}
    for number in range(rounds + 1):
        for checkout in random.sample(list(servers), 2):
            result = measure(servers[checkout])
            if number:  # The first round is a warm-up.
                results[checkout].append(result)
    here, theirs = results.values()
    _print(label, here, theirs, unit)


def _customers(server: dict[str, Any], count: int) -> list[str]:
    """Import this number of customers with a password; returns their addresses."""
    from bench.customers import HASHER, PASSWORD

    password_hash, addresses = HASHER.hash(PASSWORD), [f"ada{number}@example.com" for number in range(count)]
    rows = [{"email": address, "emailVerified": True, "passwordHash": password_hash} for address in addresses]
    assert _call(server, "/customers/import", {"customers": rows})["created"] == count
    return addresses


def _customer_id(server: dict[str, Any], address: str) -> str:
    """The id of the customer with this address."""
    return _call(server, f"/customers?q={address}")["data"][0]["id"]


def _call(server: dict[str, Any], path: str, body: object = None) -> Any:
    """Send a request about the project of a server; a POST if there is a body. Returns the body of the response."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{server['port']}/projects/{server['project']}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {server['key']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def _line(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert process.stdout
    return process.stdout.readline()


def _print(label: str, here: list[float], other: list[float], unit: str) -> None:
    """Print the medians of both checkouts, and median and quartiles of the ratios."""
    ratios = [first / second for first, second in zip(here, other, strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4)
    here_median, other_median = statistics.median(here), statistics.median(other)
    print(
        f"{label:<66} {here_median:,.1f} {unit}, {other_median:,.1f} {unit}: {median:.3f} ({low:.2f}-{high:.2f})",
        flush=True,
    )


def compare() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("other", type=Path)
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    parser.add_argument("--rounds", type=int, default=14)
    parser.add_argument("--wire", type=int, default=20_000)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    other = options.other.resolve()
    if not (other / ".venv/bin/python").exists():
        parser.error(f"{options.other} has no .venv: run script/setup there first")
    print(f"{'this checkout, the other, ratio of rounds: median (quartiles)':>100}")
    for part in options.parts or PARTS:
        match part:
            case "accept":
                accept(other, options.rounds)
            case "customers":
                customers(other, options.rounds)
            case "access":
                access(other, options.rounds)
            case "webhooks":
                in_turns("webhook deliveries, one worker", other, options.rounds, "dispatch")
            case _:
                label = f"campaign of {options.wire:,}, one worker"
                in_turns(label, other, options.rounds, "drain", str(options.wire))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        sys.path.insert(0, str(Path.cwd()))
        serve()
    elif sys.argv[1:2] == ["drain"]:
        sys.path.insert(0, str(Path.cwd()))
        drain(int(sys.argv[2]))
    elif sys.argv[1:2] == ["dispatch"]:
        sys.path.insert(0, str(Path.cwd()))
        dispatch()
    else:
        compare()
