"""Two checkouts beside each other: what one commit costs that another did not.

Run: python -m bench.versus OTHER [accept] [wire] [--rounds 14] (`script/bench` leaves it out: it needs OTHER)

OTHER is a checkout of another commit, made ready: `git worktree add ../other COMMIT && ../other/script/setup`.

accept  `POST /emails`, answered at once and with the hand-over waited for, over 1, 8 and 32 connections; both servers
        run, and each round asks one and then the other, in random order, for 0.7 s
wire    a campaign of 20,000 messages with one worker, in turns

A shared machine may be twice as slow from one minute to the next. So what counts is the ratio within each round, this
checkout to the other: its median, and the quartiles as a measure of the noise.
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
PLAIN: Final = {"subject": "Code {{n}}", "text": "12"}
LOGIC: Final = {"subject": "Code {{n | upper}}", "text": "{% if n %}12{% endif %}"}
PARTS: Final = ("accept", "wire")


def serve() -> None:
    """In either checkout: a server with a relay that takes everything, until the input ends."""
    with _server() as (server, url, _):
        project, key, token = server.project()
        _verified_domain(url, server, project, token)
        print(json.dumps({"port": server.port, "project": project, "key": key}), flush=True)
        sys.stdin.readline()


def drain(count: int) -> None:
    """In either checkout: send a campaign and print the messages a second."""
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
    """This program with the code of a checkout."""
    python = checkout / ".venv/bin/python"
    return subprocess.Popen(
        [str(python), str(HERE / "bench/versus.py"), *arguments],
        cwd=checkout,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def accept(other: Path, rounds: int) -> None:
    """p50 of `POST /emails`, one after the other, on servers that both run."""
    import uvloop

    from bench.emails import HTML, load, percentile, post

    html = {"subject": "Code", "html": HTML}
    cases = [
        ("answered at once, 1 connection, names only", PLAIN, "Prefer: wait=0", 1),
        ("answered at once, 1 connection, with an `if`", LOGIC, "Prefer: wait=0", 1),
        ("answered at once, 8 connections, html", html, "Prefer: wait=0", 8),
        ("handed over, 1 connection, names only", PLAIN, "X: y", 1),
        ("handed over, 1 connection, html", html, "X: y", 1),
        ("handed over, 32 connections, names only", PLAIN, "X: y", 32),
    ]
    started = {checkout: child(checkout, "serve") for checkout in (HERE, other)}
    try:
        places = {checkout: json.loads(_line(process)) for checkout, process in started.items()}
        for name, words, header, connections in cases:
            p50: dict[Path, list[float]] = {HERE: [], other: []}
            for number in range(rounds + 1):
                for checkout in random.sample([HERE, other], 2):
                    place = places[checkout]
                    body = {"to": ["ada@example.com"], "from": "a@acme.example", "variables": {"n": "x"}, **words}
                    request = post(f"/projects/{place['project']}/emails", place["key"], body, header)
                    asked = load(place["port"], request, connections=connections, seconds=SECONDS)
                    _, times, statuses = uvloop.run(asked)
                    assert set(statuses) == {b"201"}, statuses
                    if number:  # The first round warms both up.
                        p50[checkout].append(percentile(times, 0.5))
            _print(f"POST /emails p50, {name}", p50[HERE], p50[other], "ms")
    finally:
        for process in started.values():
            process.communicate("\n")


def wire(other: Path, rounds: int, count: int) -> None:
    """The rate of a campaign, in turns."""
    rates: dict[Path, list[float]] = {HERE: [], other: []}
    for _ in range(rounds):
        for checkout in random.sample([HERE, other], 2):
            process = child(checkout, "drain", str(count))
            rates[checkout].append(float(_line(process)))
            process.communicate()
    _print(f"campaign of {count:,} on the wire, one worker", rates[HERE], rates[other], "/s")


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def _print(what: str, here: list[float], other: list[float], unit: str) -> None:
    ratios = [mine / its for mine, its in zip(here, other, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    mine, its = statistics.median(here), statistics.median(other)
    print(f"{what:<66} {mine:,.1f} {unit}, {its:,.1f} {unit}: {middle:.3f} ({low:.2f}-{high:.2f})", flush=True)


def compare() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("other", type=Path)
    reader.add_argument("parts", nargs="*", default=[], metavar="PART")
    reader.add_argument("--rounds", type=int, default=14)
    reader.add_argument("--wire", type=int, default=20_000)
    given = reader.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        reader.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    other = given.other.resolve()
    if not (other / ".venv/bin/python").exists():
        reader.error(f"{given.other} has no .venv: run its script/setup first")
    print(f"{'this checkout, the other, ratio of rounds: median (quartiles)':>100}")
    for part in given.parts or PARTS:
        if part == "accept":
            accept(other, given.rounds)
        else:
            wire(other, given.rounds, given.wire)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        sys.path.insert(0, str(Path.cwd()))
        serve()
    elif sys.argv[1:2] == ["drain"]:
        sys.path.insert(0, str(Path.cwd()))
        drain(int(sys.argv[2]))
    else:
        compare()
