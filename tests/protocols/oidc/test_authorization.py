"""Authorization URLs, and PKCE with the example of RFC 7636."""

from postern.protocols.oidc.authorization import authorization_url, code_challenge, matches_challenge

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
"""The example of RFC 7636, appendix B."""


def test_the_challenge_of_the_example_in_the_rfc():
    assert code_challenge(VERIFIER) == CHALLENGE
    assert matches_challenge(VERIFIER, CHALLENGE)
    assert not matches_challenge(VERIFIER + "x", CHALLENGE)


def test_parameters_are_added_to_the_query_of_the_endpoint():
    assert authorization_url("https://a.example/x", state="a b&c") == "https://a.example/x?state=a+b%26c"
    assert authorization_url("https://a.example/x?tenant=1", state="s") == "https://a.example/x?tenant=1&state=s"
