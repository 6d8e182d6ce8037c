"""How large an installation on Citus can become: shards, servers, connections, and where its coordinator ends.

Run: python -m bench.simulate_growth [--projects N] [--daily N] [--servers N] [--cores N] [--rounds N] [--seed N]

Nothing is run: projects of random size are put on shards as Citus does, by a hash, and the shards on servers. What an
e-mail, a group of e-mails and a contact cost is in COSTS; it was measured by `bench.growth` (see bench/README.md).
Without arguments, four installations of growing size are simulated. Each figure is the median of the rounds; where two
are printed, the second is the worst of twenty rounds.
"""

import argparse
import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

SECONDS_OF_DAY: Final = 86_400
MICRO: Final = 1e-6
GB: Final = 1e9


@dataclass(frozen=True)
class Costs:
    """What was measured. Times are microseconds of processor time, sizes octets with indexes."""

    database_of_email: float = 700
    """PostgreSQL: acceptance in groups, transmission, result, one open (`bench.emails`, `bench.growth`)."""
    coordinator_of_acceptance: float = 2_600
    """A group of requests of one project that are accepted together: its statements are planned, routed, and divided
    into steps whose rows pass through the coordinator (`bench.growth citus`)."""
    coordinator_of_transmission: float = 7_100
    """A group of e-mails of one project that are claimed, checked and settled together."""
    coordinator_of_email: float = 345
    """Each e-mail of these groups."""
    server_of_acceptance: float = 3_400
    server_of_transmission: float = 11_100
    server_of_email: float = 440
    """The same on the servers behind the coordinator."""
    acceptance_window: float = 0.010
    """Seconds in which the requests of a project share their statements."""
    transmission_window: float = 0.100
    """Seconds from one batch of a project to the next in a worker."""
    search: float = 300_000
    """All searches for due work of a worker at 100,000 projects, on all servers; proportional to the projects."""
    search_interval: float = 15
    """Seconds between them: 50 times as long (docs/decisions/0138)."""
    api_of_email: float = 1_000
    worker_of_email: float = 900
    octets_of_email: float = 8_400
    """With its body, attempts, search terms and events, as long as these are kept."""
    octets_of_email_record: float = 1_900
    """Without its body, attempts and search terms."""
    octets_of_contact: float = 1_300


COSTS: Final = Costs()


@dataclass(frozen=True)
class Installation:
    """What an installation shall carry, and its servers."""

    projects: int
    daily: float
    """E-mails a day, of all projects."""
    servers: int
    cores: int = 16
    """Of each database server, the coordinator included."""
    shards: int = 64
    skew: float = 1.16
    """Exponent of the Pareto distribution of sizes: with 1.16, a fifth of the projects sends four fifths."""
    peak: float = 4
    """The busiest minutes, as a multiple of the mean rate."""
    usable: float = 0.6
    """Share of the cores that may be used in the busiest minutes, so that response times stay short."""
    contacts_of_daily: float = 3
    """Contacts for each daily e-mail."""
    days_of_content: int = 30
    days_of_records: int = 365
    pool: int = 16
    """Connections of a process."""


@dataclass
class Outcome:
    """One round of a simulation."""

    busiest: float
    """Load of the busiest server as a multiple of the mean."""
    largest_project: float
    """Share of all e-mails."""
    busiest_balanced: float
    """Load of the busiest server after shards were moved and large projects isolated."""
    isolated: int
    """Projects that got a shard of their own."""
    server_cores: float
    """Cores used on the busiest server in the busiest minutes, after balancing."""
    coordinator_cores: float
    largest_shard: float
    """Octets."""
    groups: float
    """Groups of e-mails accepted or transmitted a second, in the busiest minutes."""
    sizes: list[float] = field(repr=False)


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--projects", type=int)
    parser.add_argument("--daily", type=float, help="e-mails a day")
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.projects:
        daily = options.daily or options.projects * 1_000
        installations = [Installation(options.projects, daily, options.servers, options.cores)]
    else:
        installations = [
            Installation(1_000, 1e6, 2),
            Installation(10_000, 1e7, 2),
            Installation(100_000, 2e7, 4),
            Installation(100_000, 1e8, 8),
        ]
    for installation in installations:
        show(installation, options.rounds, random.Random(options.seed))
    show_limits(options.cores)


def sizes(installation: Installation, source: random.Random) -> list[float]:
    """The e-mails a day of each project, in falling order. None sends more than a tenth of all."""
    raw = [source.paretovariate(installation.skew) for _ in range(installation.projects)]
    for _ in range(20):
        limit = sum(raw) / 10
        if max(raw) <= limit * 1.01:
            break
        raw = [min(size, limit) for size in raw]
    scale = installation.daily / sum(raw)
    return sorted((size * scale for size in raw), reverse=True)


def simulate(installation: Installation, source: random.Random) -> Outcome:
    """Put the projects on shards by a hash, and the shards on the servers in turn."""
    daily = sizes(installation, source)
    shards = [0.0] * installation.shards
    of_shard: list[list[float]] = [[] for _ in shards]
    for size in daily:
        shard = source.randrange(len(shards))
        shards[shard] += size
        of_shard[shard].append(size)
    mean = installation.daily / installation.servers
    in_turn = [sum(shards[server :: installation.servers]) for server in range(installation.servers)]
    balanced, isolated, parts = balance(of_shard, installation)
    peak = installation.peak / SECONDS_OF_DAY
    accepted = sum(min(size * peak, 1 / COSTS.acceptance_window) for size in daily)
    transmitted = sum(min(size * peak, 1 / COSTS.transmission_window) for size in daily)
    searches = workers(installation) / COSTS.search_interval * COSTS.search * installation.projects / 100_000
    share = max(balanced) / installation.daily
    on_servers = (
        installation.daily * peak * COSTS.server_of_email
        + accepted * COSTS.server_of_acceptance
        + transmitted * COSTS.server_of_transmission
    )
    on_coordinator = (
        installation.daily * peak * COSTS.coordinator_of_email
        + accepted * COSTS.coordinator_of_acceptance
        + transmitted * COSTS.coordinator_of_transmission
    )
    return Outcome(
        busiest=max(in_turn) / mean,
        largest_project=daily[0] / installation.daily,
        busiest_balanced=max(balanced) / mean,
        isolated=isolated,
        server_cores=(share * on_servers + searches / installation.servers) * MICRO,
        coordinator_cores=(on_coordinator + searches / 10) * MICRO,
        largest_shard=max(parts) * octets_of_daily(installation),
        groups=accepted + transmitted,
        sizes=daily,
    )


def balance(of_shard: list[list[float]], installation: Installation) -> tuple[list[float], int, list[float]]:
    """The load of each server if projects larger than a quarter of a server have a shard of their own, and the largest
    shards are placed first, on the server with the least load; the number of these projects; the size of each shard."""
    large = installation.daily / installation.servers / 4
    alone = [size for sizes_ in of_shard for size in sizes_ if size > large]
    parts = alone + [sum(size for size in sizes_ if size <= large) for sizes_ in of_shard]
    servers = [0.0] * installation.servers
    for part in sorted(parts, reverse=True):
        servers[servers.index(min(servers))] += part
    return servers, len(alone), parts


def octets_of_daily(installation: Installation) -> float:
    """What a daily e-mail occupies: all that is kept of those of the past, and contacts."""
    content = installation.days_of_content * COSTS.octets_of_email
    older = max(installation.days_of_records - installation.days_of_content, 0) * COSTS.octets_of_email_record
    return content + older + installation.contacts_of_daily * COSTS.octets_of_contact


def apis(installation: Installation) -> int:
    """API processes for the busiest minutes; each uses one core."""
    return max(2, math.ceil(installation.daily * installation.peak / SECONDS_OF_DAY * COSTS.api_of_email * MICRO / 0.6))


def workers(installation: Installation) -> int:
    """Workers for the busiest minutes; each uses up to two cores."""
    rate = installation.daily * installation.peak / SECONDS_OF_DAY
    return max(2, math.ceil(rate * COSTS.worker_of_email * MICRO / 1.2))


def show(installation: Installation, rounds: int, source: random.Random) -> None:
    """Simulate some rounds, and print what they have in common."""
    outcomes = [simulate(installation, source) for _ in range(max(1, min(rounds, 20_000_000 // installation.projects)))]

    def both(values: list[float], unit: str = "") -> str:
        ordered = sorted(values)
        return f"{statistics.median(ordered):,.2f}{unit} ({ordered[int(len(ordered) * 0.95)]:,.2f}{unit})"

    processes = apis(installation) + workers(installation)
    stored = installation.daily * octets_of_daily(installation) / GB
    cores = installation.cores * installation.usable
    print(
        f"\n{installation.projects:,} projects, {installation.daily:,.0f} e-mails a day "
        f"({installation.daily * installation.peak / SECONDS_OF_DAY:,.0f}/s at peak), {installation.shards} shards on "
        f"{installation.servers} servers with {installation.cores} cores, and a coordinator; {len(outcomes)} rounds"
    )
    rows = {
        "largest project, share of all": both([100 * outcome.largest_project for outcome in outcomes], " %"),
        "busiest server × mean, shards in turn": both([outcome.busiest for outcome in outcomes]),
        "the same with large projects isolated": both([outcome.busiest_balanced for outcome in outcomes]),
        "projects isolated": both([float(outcome.isolated) for outcome in outcomes]),
        f"cores of the busiest server, of {cores:.0f} usable": both([outcome.server_cores for outcome in outcomes]),
        "groups of e-mails a second": both([outcome.groups for outcome in outcomes]),
        f"cores of the coordinator, of {cores:.0f} usable": both([outcome.coordinator_cores for outcome in outcomes]),
        "largest shard": both([outcome.largest_shard / GB for outcome in outcomes], " GB"),
        "stored, one copy": f"{stored:,.0f} GB, {stored / installation.servers:,.0f} GB a server",
        "API processes, workers": f"{apis(installation)}, {workers(installation)}",
        "connections to the coordinator": f"{processes * installation.pool + workers(installation):,} without a pooler",
        "fits": "yes" if fits(outcomes, cores) else "NO",
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"  {name:<{width}}  {value}")


def fits(outcomes: list[Outcome], cores: float) -> bool:
    """Whether nothing needs more cores than are usable, in 19 of 20 rounds."""
    needed = sorted(max(outcome.server_cores, outcome.coordinator_cores) for outcome in outcomes)
    return needed[int(len(needed) * 0.95)] <= cores


def show_limits(cores: int) -> None:
    """Print at how many e-mails a day a coordinator, and a single PostgreSQL with as many cores, are fully used."""
    print(f"\nE-mails a day at which {cores} cores are used to 60 %, with 1,000 projects and with 100,000:")
    for name, load in (("one PostgreSQL", single_cores), ("a coordinator of Citus", coordinator_cores)):
        limits = [
            limit(lambda daily, n=projects, load=load: load(n, daily), cores * 0.6) for projects in (1_000, 100_000)
        ]
        print(f"  {name:<24}{limits[0]:>16,.0f}{limits[1]:>16,.0f}")


def single_cores(projects: int, daily: float) -> float:
    """Cores that one PostgreSQL uses at peak."""
    del projects  # Requests of several projects share their statements there.
    return daily * Installation(1, 1, 1).peak / SECONDS_OF_DAY * COSTS.database_of_email * MICRO


def coordinator_cores(projects: int, daily: float) -> float:
    """Cores that a coordinator uses at peak."""
    return simulate(Installation(projects, daily, 8), random.Random(1)).coordinator_cores


def limit(load: Callable[[float], float], cores: float) -> float:
    """The e-mails a day at which `load` reaches `cores`, to two digits."""
    low, high = 1e5, 1e11
    for _ in range(24):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if load(middle) < cores else (low, middle)
    return float(f"{low:.1e}")


if __name__ == "__main__":
    main()
