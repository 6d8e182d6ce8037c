"""MTA-STS records and policies (RFC 8461), valid, invalid and hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.mta_sts import MAX_PATTERNS, POLICY_OCTETS, StsPolicyInvalid, parse_policy, policy_id

EXAMPLE = b"version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n"
"""The example of RFC 8461 §3.2, shortened."""


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (["v=STSv1; id=20160831085700Z;"], "20160831085700Z"),
        (["v=STSv1;id=1"], "1"),
        (["v=STSv1 ; x=y ; id = 7 ;"], "7"),
        (["v=spf1 -all", "v=STSv1; id=1;"], "1"),
        ([], None),
        (["v=STSv1; id=1;", "v=STSv1; id=2;"], None),
        (["v=STSv1;"], None),
        (["v=STSv1; id=;"], None),
        (["v=STSv1; id=a-b;"], None),
        (["v=STSv1; id=" + "1" * 33], None),
        (["v=STSv11; id=1;"], None),
        (["id=1; v=STSv1;"], None),
        (["v=STSv1; id=1; id=2;"], "1"),
        (["v=STSv1; id=a-b; id=2;"], None),
        (["v=STSv1; x_1=y:/z; id=1"], "1"),
        (["v=STSv1; id=1; what"], None),
        (["v=STSv1; id=1;;"], None),
        (["v=STSv1; id=1; x=caf\xe9"], None),
        (["v=STSv1; id=1; x=" + "y" * 5_000], None),
    ],
)
def test_the_id_of_a_policy(records, expected):
    assert policy_id(records) == expected


def test_the_example_of_the_rfc():
    policy = parse_policy(EXAMPLE)
    assert (policy.mode, policy.max_age) == ("enforce", 604_800)
    assert policy.lists("Mail.Example.COM.")
    assert policy.lists("a.example.net")
    assert not policy.lists("example.net")
    assert not policy.lists("a.b.example.net"), "A wildcard matches one label only."
    assert not policy.lists("mail.example.org")
    assert not policy.lists("")


@pytest.mark.parametrize(
    "body",
    [
        EXAMPLE.replace(b"\r\n", b"\n"),
        EXAMPLE + b"unknown: field\r\n\r\n",
        EXAMPLE + b"mode: none\r\n",
        b"version: STSv1\nmode: none\nmax_age: 0\n",
    ],
)
def test_valid_policies(body):
    assert parse_policy(body).max_age in {604_800, 0}


def test_a_lifetime_is_at_most_a_year():
    assert parse_policy(EXAMPLE.replace(b"604800", b"9999999999")).max_age == 31_557_600


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        EXAMPLE.replace(b"STSv1", b"STSv2"),
        EXAMPLE.replace(b"enforce", b"maybe"),
        EXAMPLE.replace(b"604800", b"-1"),
        EXAMPLE.replace(b"604800", b"1e3"),
        EXAMPLE.replace(b"604800", "٣".encode()),
        EXAMPLE.replace(b"*.example.net", b"*"),
        EXAMPLE.replace(b"*.example.net", b"a.*.example.net"),
        EXAMPLE.replace(b"*.example.net", b"*.*.net"),
        EXAMPLE.replace(b"*.example.net", b"a b"),
        EXAMPLE.replace(b"*.example.net", b"a." * 200),
        b"version: STSv1\nmode: enforce\nmax_age: 1\n",
        EXAMPLE + b"mx: a.test\n" * MAX_PATTERNS,
        EXAMPLE + b"mx: *.%s.test\n" % b".".join([b"a" * 60] * 4) * 33,
        EXAMPLE + b"x" * POLICY_OCTETS,
    ],
)
def test_invalid_policies(body):
    with pytest.raises(StsPolicyInvalid):
        parse_policy(body)


@given(st.binary(max_size=300) | st.lists(st.sampled_from(EXAMPLE.splitlines(keepends=True))).map(b"".join))
def test_any_octets_are_a_policy_or_invalid(body):
    try:
        policy = parse_policy(body)
    except StsPolicyInvalid:
        return
    assert policy.mx or policy.mode == "none"


def test_a_policy_may_have_many_servers_but_not_any_number():
    """A process keeps the policies of 10,000 domains, and one zone has any number of domains."""
    fields = [f"mx: a{number}.{'x' * 60}.test\n".encode() for number in range(1_000)]
    assert len(parse_policy(EXAMPLE + b"".join(fields[:98])).mx) == 100
    with pytest.raises(StsPolicyInvalid, match="more than 100 mx fields"):
        parse_policy(EXAMPLE + b"".join(fields[:800]))
