"""Statistics of A/B tests: the winner and the evidence."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.messaging.campaigns.ab_test import VariantCounts, choose_winner, probabilities


def variant(number, sent, opened=0, clicked=0):
    """The results of the variant whose id is `number`."""
    return VariantCounts(variant_id=UUID(int=number), sent=sent, opened=opened, clicked=clicked)


@pytest.mark.parametrize(
    ("counts", "metric", "winner", "decisive", "reason"),
    [
        ([(1000, 200, 10), (1000, 300, 5)], "OPEN_RATE", 1, True, "a probability of at least"),
        ([(1000, 200, 10), (1000, 300, 5)], "CLICK_RATE", 0, False, "clearly"),
        ([(10, 2, 0), (10, 9, 0)], "OPEN_RATE", 1, False, "too little"),
        ([(0, 0, 0), (0, 0, 0)], "OPEN_RATE", 0, False, "too little"),
        ([(100, 50, 0), (100, 50, 0)], "OPEN_RATE", 0, False, "same rate"),
        ([(1000, 100, 0), (1000, 104, 0)], "OPEN_RATE", 1, False, "clearly"),
        ([(100, 120, 0), (100, 10, 0)], "OPEN_RATE", 0, True, "a probability of at least"),
    ],
)
def test_the_winner_is_chosen_with_its_evidence(counts, metric, winner, decisive, reason):
    evidence = choose_winner([variant(number, *numbers) for number, numbers in enumerate(counts)], metric)
    assert evidence["winnerId"] == str(UUID(int=winner))
    assert evidence["decisive"] is decisive
    assert reason in evidence["reason"]
    assert len(evidence["variants"]) == len(counts)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=2, max_size=8))
def test_probabilities_sum_to_one_and_the_winner_has_the_highest_rate(counts):
    results = [(min(opened, sent), sent) for opened, sent in counts]
    assert abs(sum(probabilities(results)) - 1) < 1e-9
    evidence = choose_winner(
        [variant(number, sent, opened) for number, (opened, sent) in enumerate(results)], "OPEN_RATE"
    )
    rates = {variant_evidence["variantId"]: variant_evidence["rate"] for variant_evidence in evidence["variants"]}
    assert rates[evidence["winnerId"]] == max(rates.values())
    assert (
        choose_winner([variant(number, sent, opened) for number, (opened, sent) in enumerate(results)], "OPEN_RATE")
        == evidence
    )
