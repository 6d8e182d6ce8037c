"""Postern and other programs that do the same work, in turns on the same machine.

Run: python -m bench.peers [PART …] [--rounds 2] [--messages 20000]

listmonk  a campaign with bench/newsletter.html: Postern signed with RSA and Ed25519, with RSA, and unsigned; listmonk,
          which does not sign
relay     the same newsletter: a campaign of Postern; messages submitted by SMTP to Postern, to Postfix with OpenDKIM
          and to Haraka, all signed with RSA-2048
access    access checks: OpenFGA with its records in memory and in PostgreSQL
identity  sign-ins and tokens: Keycloak with PostgreSQL

In each round every side is started anew, measured and stopped. Processor time is that of both cores, with the database
and without the sink and the load. A ratio is the median of the ratios of the rounds. A program that is missing is named
with what to install, and left out; the exit status is 1 if nothing could be compared.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bench.peers import access, identity, listmonk, postern, relay
from bench.peers.running import Failed, Measurement, PeerMissing, stop_on_sigterm

Measure = Callable[[], Mapping[str, Measurement]]
"""Measures one side; returns a measurement for each kind of work."""
NEWSLETTER: Final = Path(__file__).parents[1] / "newsletter.html"


class Comparison(NamedTuple):
    """What is measured in turns: the sides of Postern and those of other programs, by name."""

    ours: Mapping[str, Measure]
    theirs: Mapping[str, Measure]


def of_kind(kind: str, measure: Callable[..., Measurement], *arguments: object) -> Measure:
    """A side that does one kind of work."""
    return lambda: {kind: measure(*arguments)}


def campaigns(messages: int) -> Comparison:
    message = partial(of_kind, "messages")
    ours = {f"Postern, {name}": message(postern.campaign, messages, name) for name in postern.SIGNATURES}
    theirs = {"listmonk, unsigned": message(listmonk.campaign, messages, NEWSLETTER.read_text())}
    return Comparison(ours, theirs)


def relays(messages: int) -> Comparison:
    message = partial(of_kind, "messages")
    ours = {
        "Postern, campaign, RSA": message(postern.campaign, messages, "RSA"),
        "Postern, submitted by SMTP, RSA": message(relay.submission, messages, "RSA"),
    }
    theirs = {
        "Postfix and OpenDKIM, RSA": message(relay.postfix_with_opendkim, messages),
        "Haraka, RSA": message(relay.haraka, messages),
    }
    return Comparison(ours, theirs)


def access_checks(_: int) -> Comparison:
    check = partial(of_kind, "access checks")
    theirs = {f"OpenFGA, {engine}": check(access.openfga, engine) for engine in ("memory", "postgres")}
    return Comparison({"Postern": check(access.postern)}, theirs)


def identities(_: int) -> Comparison:
    return Comparison({"Postern": identity.postern}, {"Keycloak": identity.keycloak})


PARTS: Final[Mapping[str, Callable[[int], Comparison]]] = {
    "listmonk": campaigns,
    "relay": relays,
    "access": access_checks,
    "identity": identities,
}
Results = Mapping[tuple[str, str], list[Measurement]]
"""The measurements of all rounds, by side and kind of work."""


def in_turns(comparison: Comparison, rounds: int) -> Results:
    """Measure all sides in each round, Postern first. A side that fails is left out of the following rounds."""
    sides = {**comparison.ours, **comparison.theirs}
    results: dict[tuple[str, str], list[Measurement]] = {}
    for number in range(1, rounds + 1):
        for name in list(sides):
            try:
                measured = sides[name]()
            except (PeerMissing, Failed, AssertionError, OSError, subprocess.CalledProcessError) as reason:
                print(f"{name} is left out: {reason}", flush=True)
                del sides[name]
                continue
            for kind, measurement in measured.items():
                results.setdefault((name, kind), []).append(measurement)
                print(f"  round {number}: {described(name, kind, [measurement])}", flush=True)
    return results


def described(name: str, kind: str, measurements: Sequence[Measurement]) -> str:
    """One line: the medians of the rate and of the processor time by part."""
    parts = dict.fromkeys(part for measured in measurements for part in measured.microseconds)
    used = [(part, statistics.median(m.microseconds.get(part, 0.0) for m in measurements)) for part in parts]
    by_part = ", ".join(f"{part} {microseconds:,.0f}" for part, microseconds in used)
    remarks = "; ".join(dict.fromkeys(measured.remark for measured in measurements))
    return f"{name}, {kind}: {figures(measurements)} ({by_part}); {remarks}"


def figures(measurements: Sequence[Measurement]) -> str:
    """The medians of the rate and of the processor time."""
    rate = statistics.median(measured.rate for measured in measurements)
    total = statistics.median(measured.total for measured in measurements)
    return f"{rate:,.0f}/s, {total:,.0f} µs"


def ratios(ours: Sequence[Measurement], theirs: Sequence[Measurement]) -> tuple[float, float]:
    """Ours to theirs, of the rate and of the processor time: the medians of the ratios of each round."""
    rounds = list(zip(ours, theirs, strict=False))
    rate = statistics.median(mine.rate / other.rate for mine, other in rounds)
    return rate, statistics.median(mine.total / other.total for mine, other in rounds)


def compare(comparison: Comparison, rounds: int) -> bool:
    """Measure and print one comparison; returns whether there is a ratio."""
    results = in_turns(comparison, rounds)
    print("\nMedians:\n")
    for (name, kind), measurements in results.items():
        print(f"- {described(name, kind, measurements)}")
    print("\n| work | Postern | other program | ratio | CPU ratio |\n|---|---|---|---|---|")
    pairs = [
        (mine, other, kind)
        for mine, kind in results
        for other in comparison.theirs
        if mine in comparison.ours and (other, kind) in results
    ]
    for mine, other, kind in pairs:
        ours, theirs = results[mine, kind], results[other, kind]
        rate, used = ratios(ours, theirs)
        print(f"| {kind} | {mine}: {figures(ours)} | {other}: {figures(theirs)} | {rate:.2f} | {used:.2f} |")
    print(flush=True)
    return bool(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--messages", type=int, default=20_000)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    stop_on_sigterm()
    compared = [compare(PARTS[part](options.messages), options.rounds) for part in options.parts or PARTS]
    return 0 if any(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
