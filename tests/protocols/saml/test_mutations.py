"""Whatever is done to an honest response: it is refused, or it still says exactly what was signed."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from postern.protocols.saml.document import parse_datetime
from postern.protocols.saml.logout import Binding, read_logout_request
from postern.protocols.saml.metadata import SamlMetadataRefused, read_metadata
from postern.protocols.saml.response import SamlLogin, read_response
from postern.protocols.saml.trace import SamlRejected
from tests.peers.identity_provider import SAML, IdentityProvider, keys
from tests.protocols.saml.conftest import NOW, REQUEST, agreed_with, honest

WAYS = {
    "assertion": {},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_response": True},
    "encrypted": {"encrypt_for": keys("sp").certificate},
}
HONEST = {way: honest(IdentityProvider(now=NOW, **settings)) for way, settings in WAYS.items()}
AGREED = agreed_with(IdentityProvider())
PIECES = [
    b"",
    b" ",
    b"<",
    b">",
    b'"',
    b"&amp;",
    b"&#13;",
    b"&#x41;",
    b"<!-- -->",
    b"<![CDATA[x]]>",
    b"<?x?>",
    b"\x00",
    b"\xff",
    b"\xe2\x80\xae",
    b"<saml:Assertion>",
    b"</saml:Assertion>",
    b"root@acme.example",
    b' xmlns:saml="urn:evil"',
    b' ID="_x"',
    b"xs:string",
]


def said(raw: bytes | str) -> SamlLogin | None:
    """What a response says, without the trace; nothing if it is refused."""
    try:
        found = read_response(raw, connection=AGREED, expected_request_ids={REQUEST}, now=NOW)
    except SamlRejected as refused:
        return None if refused.trace and refused.detail else pytest.fail("refused without a reason")
    return msgspec.structs.replace(found, trace=[])


SAID = {way: said(raw) for way, raw in HONEST.items()}


def test_the_originals_are_accepted():
    assert all(SAID.values())


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_mutated_bytes_are_refused_or_equal_the_signed_content(way, data):
    raw = HONEST[way]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 40))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=4))
        raw = raw[:start] + piece + raw[start + length :]
    assert said(raw) in (None, SAID[way])


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=250, deadline=None)
@given(chance=st.randoms(use_true_random=False), steps=st.integers(1, 4))
def test_mutated_trees_are_refused_or_equal_the_signed_content(way, chance, steps):
    root = etree.fromstring(HONEST[way])
    for _ in range(steps):
        change_tree(root, chance)
    assert said(etree.tostring(root)) in (None, SAID[way])


def change_tree(root: etree._Element, chance: random.Random) -> None:
    """Move, copy, drop, rename or rewrite something somewhere."""
    elements = list(root.iter())
    one, other = chance.choice(elements), chance.choice(elements)
    copy = etree.fromstring(etree.tostring(one, with_tail=False))
    match chance.randrange(7):
        case 0 if one is not root:
            one.getparent().remove(one)
        case 1:
            other.insert(chance.randrange(len(other) + 1), copy)
        case 2 if one is not root and one not in other.iterancestors() and one is not other:
            other.append(one)
        case 3:
            one.text = chance.choice(["root@acme.example", "", "_x", (other.text or "") + "x"])
        case 4:
            names = [*one.attrib, "ID", "NotOnOrAfter", "Algorithm"]
            one.set(chance.choice(names), chance.choice([*other.attrib.values(), "x", ""]))
        case 5 if one.attrib:
            del one.attrib[chance.choice(list(one.attrib))]
        case _:
            one.tag = f"{{{SAML}}}" + chance.choice(["Assertion", "NameID", "Advice", "Extensions"])


@settings(max_examples=300, deadline=None)
@given(raw=st.binary(max_size=200) | st.text(max_size=200))
def test_any_input_is_refused_with_a_reason(raw):
    assert said(raw) is None


@settings(max_examples=200, deadline=None)
@given(query=st.text(max_size=100), name=st.sampled_from(["SAMLRequest", "SigAlg", "Signature", "RelayState"]))
def test_any_logout_query_is_refused_with_a_reason(query, name):
    full = f"SAMLRequest=a&SigAlg=http://www.w3.org/2001/04/xmldsig-more%23rsa-sha256&Signature=AAAA&{name}={query}"
    for raw in (query, full):
        with pytest.raises(SamlRejected):
            read_logout_request(raw, binding=Binding.REDIRECT, connection=AGREED, now=NOW)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_metadata_is_parsed_or_refused(data):
    raw = IdentityProvider().metadata()
    start, length = data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, 60))
    raw = raw[:start] + data.draw(st.sampled_from(PIECES) | st.binary(max_size=4)) + raw[start + length :]
    try:
        found = read_metadata(raw, now=NOW)
    except SamlMetadataRefused:
        return
    assert found.certificates
    assert found.sso_redirect_url.startswith("https://")


@given(seconds=st.floats(0, 221_845_348_800))
def test_a_timestamp_is_parsed_exactly(seconds):
    when = datetime.fromtimestamp(seconds, UTC)
    assert parse_datetime(when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")) == when
    assert parse_datetime(when.isoformat()) == when


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-02-31T12:00:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00+99:99",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
        "2026-01-31 12:00:00Z",
        "٢٠٢٦-01-31T12:00:00Z",
    ],
)
def test_an_invalid_timestamp_is_none(text):
    assert parse_datetime(text) is None


def test_fractions_below_microseconds_are_truncated():
    assert parse_datetime("2026-01-31T12:00:00.1234567Z") == datetime(2026, 1, 31, 12, 0, 0, 123456, UTC)
    assert parse_datetime("2026-01-31T13:00:00+01:00") == datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_text_is_preserved_by_encoding_and_parsing():
    names = ["a&b<c>", "tab\there", "Łódź", "\u202eright to left", "'quoted' \"twice\"", "line\nbreak"]
    idp = IdentityProvider(now=NOW)
    idp.person = replace(idp.person, attributes={"names": names})
    found = read_response(honest(idp), connection=agreed_with(idp), expected_request_ids={REQUEST}, now=NOW)
    assert found.attributes == {"names": names}
