"""Compares the speed of two checkouts.

Run: python -m bench.versus OTHER [accept] [wire] [--rounds 14] (not run by `script/bench`)

OTHER is a checkout of another commit with dependencies: `git worktree add ../other COMMIT && ../other/script/setup`.

accept  `POST /emails` without and with waiting for the delivery, over 1, 8 and 32 connections; both servers run, and
        in each round each server gets requests for 0.7 s, in random order
wire    a campaign of 20,000 messages with one worker, in turns

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent.parent
SECONDS: Final = 0.7
PLACEHOLDERS: Final = {"subject": "Code {{n}}", "text": "12"}
LOGIC: Final = {"subject": "Code {{n | upper}}", "text": "{% if n %}12{% endif %}"}
PARTS: Final = ("accept", "wire")


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
    started = {checkout: child(checkout, "serve") for checkout in (HERE, other)}
    try:
        servers = {checkout: json.loads(_line(process)) for checkout, process in started.items()}
        for name, content, header, connections in cases:
            p50: dict[Path, list[float]] = {HERE: [], other: []}
            for number in range(rounds + 1):
                for checkout in random.sample([HERE, other], 2):
                    server = servers[checkout]
                    body = {"to": ["ada@example.com"], "from": "a@acme.example", "variables": {"n": "x"}, **content}
                    request = post(f"/projects/{server['project']}/emails", server["key"], body, header)
                    measurement = load(server["port"], request, connections=connections, seconds=SECONDS)
                    _, times, statuses = uvloop.run(measurement)
                    assert set(statuses) == {b"201"}, statuses
                    if number:  # The first round is a warm-up.
                        p50[checkout].append(percentile(times, 0.5))
            _print(f"POST /emails p50, {name}", p50[HERE], p50[other], "ms")
    finally:
        for process in started.values():
            process.communicate("\n")


def wire(other: Path, rounds: int, count: int) -> None:
    """Compare the rate of a campaign."""
    rates: dict[Path, list[float]] = {HERE: [], other: []}
    for _ in range(rounds):
        for checkout in random.sample([HERE, other], 2):
            process = child(checkout, "drain", str(count))
            rates[checkout].append(float(_line(process)))
            process.communicate()
    _print(f"campaign of {count:,}, one worker", rates[HERE], rates[other], "/s")


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
        if part == "accept":
            accept(other, options.rounds)
        else:
            wire(other, options.rounds, options.wire)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        sys.path.insert(0, str(Path.cwd()))
        serve()
    elif sys.argv[1:2] == ["drain"]:
        sys.path.insert(0, str(Path.cwd()))
        drain(int(sys.argv[2]))
    else:
        compare()
