"""Postern and other programs that do the same work, in turns on the same machine.

Run: python -m bench.peers [PART …] [--rounds 2] [--messages 20000]

listmonk  a campaign with bench/newsletter.html: Postern signed with RSA and Ed25519, with RSA, and unsigned; listmonk,
          which does not sign
relay     the same newsletter: a campaign of Postern; messages submitted by SMTP to Postern, to Postfix with OpenDKIM
          and to Haraka, all signed with RSA-2048

In each round every side is started anew, measured and stopped. Processor time is that of both cores, with the database
and without the sink and the load. A ratio is the median of the rounds. A program that is missing is named with what to
install, and left out; the exit status is 1 if nothing could be compared.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bench.peers import listmonk, postern, relay
from bench.peers.running import Failed, Measurement, PeerMissing, stop_on_sigterm

Measure = Callable[[], Measurement]
HTML: Final = Path(__file__).parents[1].joinpath("newsletter.html")


class Comparison(NamedTuple):
    """What is measured in turns: the sides of Postern and those of other programs, by name."""

    unit: str
    ours: Mapping[str, Measure]
    theirs: Mapping[str, Measure]


def campaigns(messages: int) -> Iterator[Comparison]:
    ours = {f"Postern, {name}": partial(postern.campaign, messages, name) for name in postern.SIGNATURES}
    theirs = {"listmonk, unsigned": partial(listmonk.campaign, messages, HTML.read_text())}
    yield Comparison("messages", ours, theirs)


def relays(messages: int) -> Iterator[Comparison]:
    ours = {
        "Postern, campaign, RSA": partial(postern.campaign, messages, "RSA"),
        "Postern, submitted by SMTP, RSA": partial(relay.submission, messages),
    }
    theirs = {
        "Postfix and OpenDKIM": partial(relay.postfix_with_opendkim, messages),
        "Haraka": partial(relay.haraka, messages),
    }
    yield Comparison("messages", ours, theirs)


PARTS: Final[Mapping[str, Callable[[int], Iterator[Comparison]]]] = {"listmonk": campaigns, "relay": relays}


def in_turns(comparison: Comparison, rounds: int) -> Mapping[str, list[Measurement]]:
    """Measure all sides in each round, Postern first; a side that fails is left out of the following rounds."""
    sides = {**comparison.ours, **comparison.theirs}
    results: dict[str, list[Measurement]] = {name: [] for name in sides}
    for number in range(1, rounds + 1):
        for name in list(sides):
            try:
                measured = sides[name]()
            except (PeerMissing, Failed) as reason:
                print(f"{name} is left out: {reason}", flush=True)
                del sides[name]
                continue
            results[name].append(measured)
            print(f"  round {number}: {described(name, comparison.unit, [measured])}", flush=True)
    return {name: measurements for name, measurements in results.items() if measurements}


def described(name: str, unit: str, measurements: Sequence[Measurement]) -> str:
    """One line: the medians of the rate and of the processor time by part."""
    rate = statistics.median(measured.rate for measured in measurements)
    parts = list(dict.fromkeys(part for measured in measurements for part in measured.microseconds))
    used = {
        part: statistics.median(measured.microseconds.get(part, 0.0) for measured in measurements) for part in parts
    }
    total = statistics.median(measured.total for measured in measurements)
    by_part = ", ".join(f"{part} {microseconds:,.0f}" for part, microseconds in used.items())
    remarks = ", ".join(dict.fromkeys(measured.remark for measured in measurements if measured.remark))
    line = f"{name:<34} {rate:>8,.0f} {unit}/s  {total:>7,.0f} µs each ({by_part})"
    return f"{line}  {remarks}" if remarks else line


def ratios(ours: Sequence[Measurement], theirs: Sequence[Measurement]) -> str:
    """Ours to theirs: the medians of the ratios of each round."""
    rounds = list(zip(ours, theirs, strict=False))
    rate = statistics.median(mine.rate / other.rate for mine, other in rounds)
    used = statistics.median(mine.total / other.total for mine, other in rounds)
    return f"rate {rate:.2f}, processor time {used:.2f}"


def compare(comparison: Comparison, rounds: int) -> bool:
    """Measure and print one comparison; returns whether there is a ratio."""
    results = in_turns(comparison, rounds)
    print("\nmedians")
    for name, measurements in results.items():
        print(f"  {described(name, comparison.unit, measurements)}")
    pairs = [(mine, other) for mine in comparison.ours for other in comparison.theirs if {mine, other} <= {*results}]
    for mine, other in pairs:
        print(f"  {mine} / {other}: {ratios(results[mine], results[other])}")
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
    compared = [
        compare(comparison, options.rounds)
        for part in options.parts or PARTS
        for comparison in PARTS[part](options.messages)
    ]
    return 0 if any(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
