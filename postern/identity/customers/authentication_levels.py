"""How strong an authentication is: the values of the claim `acr` (OpenID Connect Core §2), from the methods in `amr`.

The levels are ordered, and a session meets the levels below its own, too. No level is derived from what an identity
provider says about itself, except that its multi-factor authentication counts as such (`sso.rules`).
"""

from collections.abc import Collection, Sequence

from postern.identity.customers.requirements import VERIFIED_PASSKEY, is_multi_factor

SINGLE_FACTOR, MULTI_FACTOR = "urn:postern:single-factor", "urn:postern:multi-factor"
PHISHING_RESISTANT = "phr"
"""That of OpenID Connect Extended Authentication Profile ACR Values 1.0 §2. Here it stands for a passkey that verified
its user, so that it includes multi-factor. `phrh` (protected by hardware) is never claimed: where a passkey is stored
is not checked."""
LEVELS = (SINGLE_FACTOR, MULTI_FACTOR, PHISHING_RESISTANT)
"""All values, the weakest first."""


def level_of(methods: Collection[str]) -> str:
    """The highest level that authentication methods (RFC 8176) meet."""
    if VERIFIED_PASSKEY.issubset(methods):
        return PHISHING_RESISTANT
    return MULTI_FACTOR if is_multi_factor(methods) else SINGLE_FACTOR


def meets_level(methods: Collection[str], acr: str) -> bool:
    """Whether authentication methods meet a level. False for a value that is none of LEVELS."""
    return acr in LEVELS and LEVELS.index(level_of(methods)) >= LEVELS.index(acr)


def acr_of(methods: Collection[str], requested: Sequence[str] = ()) -> str:
    """The claim `acr`: the first of the requested values that the methods meet, so that a client finds what it has
    asked for (OpenID Connect Core §5.5.1.1); the highest level if there is none."""
    return next((acr for acr in requested if meets_level(methods, acr)), level_of(methods))
