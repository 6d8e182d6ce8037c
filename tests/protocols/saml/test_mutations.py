"""A randomly changed response is rejected, or its content is exactly what was signed."""

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
from tests.protocols.saml.conftest import NOW, REQUEST, connection_with, valid_response

SIGNING_OPTIONS = {
    "assertion": {},
    "response": {"sign_assertion": False, "sign_response": True},
    "both": {"sign_response": True},
    "encrypted": {"encrypt_for": keys("sp").certificate},
}
VALID_RESPONSES = {
    signing: valid_response(IdentityProvider(now=NOW, **settings)) for signing, settings in SIGNING_OPTIONS.items()
}
CONNECTION = connection_with(IdentityProvider())
FRAGMENTS = [
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


def read(raw: bytes | str) -> SamlLogin | None:
    """The content of a response, without the trace; None if it is rejected."""
    try:
        result = read_response(raw, connection=CONNECTION, expected_request_ids={REQUEST}, now=NOW)
    except SamlRejected as refused:
        return None if refused.trace and refused.detail else pytest.fail("refused without a reason")
    return msgspec.structs.replace(result, trace=[])


SIGNED_CONTENT = {signing: read(raw) for signing, raw in VALID_RESPONSES.items()}


def test_the_originals_are_accepted():
    assert all(SIGNED_CONTENT.values())


@pytest.mark.parametrize("signing", SIGNING_OPTIONS)
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_mutated_bytes_are_refused_or_equal_the_signed_content(signing, data):
    raw = VALID_RESPONSES[signing]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 40))
        fragment = data.draw(st.sampled_from(FRAGMENTS) | st.binary(max_size=4))
        raw = raw[:start] + fragment + raw[start + length :]
    assert read(raw) in (None, SIGNED_CONTENT[signing])


@pytest.mark.parametrize("signing", SIGNING_OPTIONS)
@settings(max_examples=250, deadline=None)
@given(random_numbers=st.randoms(use_true_random=False), steps=st.integers(1, 4))
def test_mutated_trees_are_refused_or_equal_the_signed_content(signing, random_numbers, steps):
    root = etree.fromstring(VALID_RESPONSES[signing])
    for _ in range(steps):
        change_tree(root, random_numbers)
    assert read(etree.tostring(root)) in (None, SIGNED_CONTENT[signing])


def change_tree(root: etree._Element, random_numbers: random.Random) -> None:
    """Move, copy, remove, rename or rewrite a random element."""
    elements = list(root.iter())
    element, other = random_numbers.choice(elements), random_numbers.choice(elements)
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    match random_numbers.randrange(7):
        case 0 if element is not root:
            element.getparent().remove(element)
        case 1:
            other.insert(random_numbers.randrange(len(other) + 1), copy)
        case 2 if element is not root and element not in other.iterancestors() and element is not other:
            other.append(element)
        case 3:
            element.text = random_numbers.choice(["root@acme.example", "", "_x", (other.text or "") + "x"])
        case 4:
            names = [*element.attrib, "ID", "NotOnOrAfter", "Algorithm"]
            element.set(random_numbers.choice(names), random_numbers.choice([*other.attrib.values(), "x", ""]))
        case 5 if element.attrib:
            del element.attrib[random_numbers.choice(list(element.attrib))]
        case _:
            element.tag = f"{{{SAML}}}" + random_numbers.choice(["Assertion", "NameID", "Advice", "Extensions"])


@settings(max_examples=300, deadline=None)
@given(raw=st.binary(max_size=200) | st.text(max_size=200))
def test_any_input_is_refused_with_a_reason(raw):
    assert read(raw) is None


@settings(max_examples=200, deadline=None)
@given(query=st.text(max_size=100), name=st.sampled_from(["SAMLRequest", "SigAlg", "Signature", "RelayState"]))
def test_any_logout_query_is_refused_with_a_reason(query, name):
    complete_query = (
        f"SAMLRequest=a&SigAlg=http://www.w3.org/2001/04/xmldsig-more%23rsa-sha256&Signature=AAAA&{name}={query}"
    )
    for raw in (query, complete_query):
        with pytest.raises(SamlRejected):
            read_logout_request(raw, binding=Binding.REDIRECT, connection=CONNECTION, now=NOW)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_metadata_is_parsed_or_refused(data):
    raw = IdentityProvider().metadata()
    start, length = data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, 60))
    raw = raw[:start] + data.draw(st.sampled_from(FRAGMENTS) | st.binary(max_size=4)) + raw[start + length :]
    try:
        result = read_metadata(raw, now=NOW)
    except SamlMetadataRefused:
        return
    assert result.certificates
    assert result.sso_redirect_url.startswith("https://")


@given(seconds=st.floats(0, 221_845_348_800))
def test_a_timestamp_is_parsed_exactly(seconds):
    time = datetime.fromtimestamp(seconds, UTC)
    assert parse_datetime(time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")) == time
    assert parse_datetime(time.isoformat()) == time


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
    result = read_response(
        valid_response(idp), connection=connection_with(idp), expected_request_ids={REQUEST}, now=NOW
    )
    assert result.attributes == {"names": names}
