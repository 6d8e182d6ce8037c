"""The one definition of the rates that statistics, campaigns and A/B tests show.

`sent` are the messages that a server took, `bounced` those that were refused for good at hand-over; no message is both.
What was taken has reached its recipient, as far as anybody knows: most servers never report a delivery, so `delivered`
is no measure. Opens, clicks and complaints are shares of the messages that reached somebody; bounces are shares of
those and the bounced ones together, which is all that was tried.
"""

from collections.abc import Mapping


def reached(counts: Mapping[str, int]) -> int:
    """All messages that were tried, without those that are known not to have arrived."""
    return counts.get("sent", 0)


def rate(counts: Mapping[str, int], measure: str) -> float:
    """The share, from 0 to 1, of `measure` ("opened", "clicked", "complained", "bounced"); 0 of nothing."""
    whole = reached(counts)
    if measure == "bounced":
        whole += counts.get("bounced", 0)
    return share(counts.get(measure, 0), whole)


def share(part: int, whole: int) -> float:
    """A share from 0 to 1, with six decimals; 0 of nothing."""
    return round(min(part / whole, 1.0), 6) if whole > 0 else 0.0
