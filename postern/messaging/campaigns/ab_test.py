"""Choosing the winner of an A/B test: pure, and with its reasons.

Each variant's rate is a Beta posterior over a flat prior. The leader wins decisively when it is probably the best;
a tie or too little data leaves the leader the winner all the same, and the evidence says so.
"""

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

DECISIVE = 0.95
"""How probably the best a variant must be to win decisively."""
ENOUGH_EACH = 30
"""Messages that each variant needs before anything can be decisive."""
DRAWS = 4_000
SEED = 20_260_131
"""Fixed, so that the same counts always give the same evidence."""


def sample_size(eligible: int, percent: int, variants: int) -> int:
    """Contacts in the sample: the percentage, rounded, but one for each variant at least; 0 if there are too few."""
    if eligible < variants:
        return 0
    return min(eligible, max(variants, (eligible * percent * 2 + 100) // 200))


def allocate(number: int, weights: Sequence[int]) -> list[int]:
    """Split `number` by weights exactly (largest remainder; ties go to the first), with one for each if it suffices."""
    whole = sum(weights)
    parts = [number * weight // whole for weight in weights]
    remainders = [number * weight % whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda place: (-remainders[place], place))
    for place in order[: number - sum(parts)]:
        parts[place] += 1
    while number >= len(parts) and 0 in parts:
        parts[parts.index(max(parts))] -= 1
        parts[parts.index(0)] += 1
    return parts


class VariantCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one variant; opens and clicks are people's."""

    variant_id: UUID
    delivered: int
    """Messages that reached somebody, as `emails/rates.py` defines it."""
    opened: int
    clicked: int

    def hits(self, metric: str) -> int:
        """Opens or clicks, never more than messages."""
        return min(self.opened if metric == "OPEN_RATE" else self.clicked, self.delivered)


def choose_winner(variants: Sequence[VariantCounts], metric: str) -> dict[str, Any]:
    """The winner with its evidence: counts, rates, probability of being best, and whether it is decisive.

    `metric` is OPEN_RATE or CLICK_RATE. The order of `variants` breaks exact ties: the first wins.
    """
    if not variants:
        raise ValueError("There is nothing to choose from.")
    best = probabilities([(each.hits(metric), each.delivered) for each in variants])
    rates = [each.hits(metric) / each.delivered if each.delivered else 0.0 for each in variants]
    leader = max(range(len(variants)), key=lambda number: (rates[number], -number))
    tied = sum(1 for rate in rates if rate == rates[leader]) > 1
    scarce = any(each.delivered < ENOUGH_EACH for each in variants)
    decisive = not scarce and not tied and best[leader] >= DECISIVE
    reason = (
        "It is probably the best."
        if decisive
        else "There was too little data; the leader goes on."
        if scarce
        else "It was a tie; the first of the best goes on."
        if tied
        else "No variant was clearly the best; the leader goes on."
    )
    return {
        "metric": metric,
        "winnerId": str(variants[leader].variant_id),
        "decidedBy": "rule",
        "decisive": decisive,
        "reason": reason,
        "variants": [
            {
                "variantId": str(each.variant_id),
                "delivered": each.delivered,
                "opened": each.opened,
                "clicked": each.clicked,
                "rate": round(rates[number], 6),
                "probabilityOfBeingBest": round(best[number], 4),
            }
            for number, each in enumerate(variants)
        ],
    }


def probabilities(results: Sequence[tuple[int, int]]) -> list[float]:
    """For each (hits, messages), the probability that its true rate is the highest, by drawing from the posteriors."""
    chance = random.Random(SEED)  # noqa: S311 - statistics, not a secret
    wins = [0] * len(results)
    for _ in range(DRAWS):
        draws = [chance.betavariate(hits + 1, messages - hits + 1) for hits, messages in results]
        wins[draws.index(max(draws))] += 1
    return [won / DRAWS for won in wins]
