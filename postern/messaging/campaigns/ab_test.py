"""Statistics of A/B tests: sample sizes, and the choice of the winner. Pure functions without I/O.

Each variant's open or click rate has a Beta posterior over a uniform prior. The variant with the highest observed rate
wins. The result is decisive if that variant is the best with a probability of at least 95 %. After a tie or with too
little data a variant still wins, but the stored decision says that the result is not decisive.
"""

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

DECISIVE_PROBABILITY = 0.95
"""Minimum probability that the winner is the best variant for its win to count as decisive."""
MIN_SENT_PER_VARIANT = 30
"""For a decisive result, mail servers must have accepted at least this many messages of each variant."""
DRAWS = 4_000
"""Monte Carlo draws from the posteriors."""
SEED = 20_260_131
"""The random seed is fixed, so that the same counts always give the same decision."""


def sample_size(eligible: int, percent: int, variants: int) -> int:
    """The number of contacts in the test: `percent` of `eligible`, rounded, and at least one for each variant.

    Returns 0 if there are fewer eligible contacts than variants.
    """
    if eligible < variants:
        return 0
    rounded_half_up = (eligible * percent * 2 + 100) // 200
    return min(eligible, max(variants, rounded_half_up))


def allocate(number: int, weights: Sequence[int]) -> list[int]:
    """Split `number` in proportion to the weights by the largest-remainder method; ties go to the earlier weight.

    Every share is at least 1 if `number` suffices for that.
    """
    total_weight = sum(weights)
    shares = [number * weight // total_weight for weight in weights]
    remainders = [number * weight % total_weight for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda index: (-remainders[index], index))
    for index in by_remainder[: number - sum(shares)]:
        shares[index] += 1
    while number >= len(shares) and 0 in shares:
        shares[shares.index(max(shares))] -= 1
        shares[shares.index(0)] += 1
    return shares


class VariantCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one variant. Opens and clicks by machines are not counted."""

    variant_id: UUID
    sent: int
    """Messages that a mail server accepted, a relay or the recipient's (the counter `sent`)."""
    opened: int
    clicked: int

    def successes(self, metric: str) -> int:
        """The number of messages opened (metric OPEN_RATE) or clicked (CLICK_RATE), but at most `sent`."""
        return min(self.opened if metric == "OPEN_RATE" else self.clicked, self.sent)


def choose_winner(variants: Sequence[VariantCounts], metric: str) -> dict[str, Any]:
    """Choose the winner; returns the decision, which is stored as JSON in `campaigns.evidence`.

    The decision has the winner's id, each variant's counts, rate and probability of being the best, and whether the
    result is decisive. `metric` is OPEN_RATE or CLICK_RATE. In an exact tie the earlier variant wins. Raises ValueError
    if `variants` is empty.
    """
    if not variants:
        raise ValueError("An A/B test needs at least one variant to choose a winner from.")
    best_probabilities = probabilities([(variant.successes(metric), variant.sent) for variant in variants])
    rates = [variant.successes(metric) / variant.sent if variant.sent else 0.0 for variant in variants]
    winner_index = max(range(len(variants)), key=lambda index: (rates[index], -index))
    tied = sum(1 for rate in rates if rate == rates[winner_index]) > 1
    too_little_data = any(variant.sent < MIN_SENT_PER_VARIANT for variant in variants)
    decisive = not too_little_data and not tied and best_probabilities[winner_index] >= DECISIVE_PROBABILITY
    reason = (
        f"This variant is the best with a probability of at least {DECISIVE_PROBABILITY:.0%}."
        if decisive
        else "There was too little data; the variant with the highest rate wins."
        if too_little_data
        else "Several variants have the same rate; the first of them wins."
        if tied
        else "No variant was clearly the best; the variant with the highest rate wins."
    )
    return {
        "metric": metric,
        "winnerId": str(variants[winner_index].variant_id),
        # Other values: `hand` (a person chose), `cancelled`, and `too_small` (there was no test).
        "decidedBy": "rule",
        "decisive": decisive,
        "reason": reason,
        "variants": [
            {
                "variantId": str(variant.variant_id),
                "delivered": variant.sent,  # The name in the API: accepted by a server, not confirmed by a report.
                "opened": variant.opened,
                "clicked": variant.clicked,
                "rate": round(rates[index], 6),
                "probabilityOfBeingBest": round(best_probabilities[index], 4),
            }
            for index, variant in enumerate(variants)
        ],
    }


def probabilities(results: Sequence[tuple[int, int]]) -> list[float]:
    """For each pair (successes, messages), the probability that its true rate is the highest of all.

    Estimated by Monte Carlo sampling with a fixed seed, so that the same input always gives the same output.
    """
    generator = random.Random(SEED)  # noqa: S311 - statistics, not a secret
    wins = [0] * len(results)
    for _ in range(DRAWS):
        draws = [generator.betavariate(successes + 1, messages - successes + 1) for successes, messages in results]
        wins[draws.index(max(draws))] += 1
    return [count / DRAWS for count in wins]
