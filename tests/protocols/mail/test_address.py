"""Parsing of addresses, and their form in header fields."""

from email.header import decode_header, make_header
from email.headerregistry import Address as StandardAddress
from email.utils import parseaddr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.address import (
    Address,
    AddressInvalid,
    _parse_spec,
    _validate_spec,
    address_key,
    parse_address,
)


@pytest.mark.parametrize(
    ("text", "name", "spec"),
    [
        ("ada@example.com", "", "ada@example.com"),
        ("  ada@Example.COM ", "", "ada@example.com"),
        ("Ada Lovelace <ada@example.com>", "Ada Lovelace", "ada@example.com"),
        ("<ada@example.com>", "", "ada@example.com"),
        ('"Lovelace, Ada" <ada@example.com>', "Lovelace, Ada", "ada@example.com"),
        (r'"Ada \"the\" first" <ada@example.com>', 'Ada "the" first', "ada@example.com"),
        ("delivered@postern.test", "", "delivered@postern.test"),
        ("a+tag@sub.example", "", "a+tag@sub.example"),
        ("info@bücher.example", "", "info@xn--bcher-kva.example"),
        ("info@例え.テスト", "", "info@xn--r8jz45g.xn--zckzah"),
        ("שלום 👋 <a@b.test>", "שלום 👋", "a@b.test"),
    ],
)
def test_valid_addresses_are_parsed(text, name, spec):
    address = parse_address(text)
    assert (address.name, address.spec, address.needs_smtputf8) == (name, spec, False)
    assert address.domain.isascii()


def test_a_non_ascii_local_part_needs_smtputf8_and_stays_unchanged():
    address = parse_address("jörg@bücher.example")
    assert address.needs_smtputf8
    assert address.spec == "jörg@xn--bcher-kva.example"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ada",
        "ada@",
        "@example.com",
        "a@b@c.example",
        "a b@example.com",
        "<a@b.test",
        "a@b.test>",
        "A <a@b.test> <c@d.test>",
        "a@b.test, c@d.test",
        "a@-x-.test",
        "a@[127.0.0.1]",
        '"a b"@example.com',
        ".a@example.com",
        "a..b@example.com",
        "a@exa mple.com",
        "x" * 65 + "@example.com",
        "ä" * 33 + "@b.test",
        "a@" + "x" * 64 + ".test",
        "a@" + ".".join(["x" * 60] * 5) + ".test",
        "N" * 321 + " <a@b.test>",
        "a@example..com",
        "a(comment)@example.com",
        "a@b.test\x00",
    ],
)
def test_invalid_addresses_are_refused_with_a_message(text):
    with pytest.raises(AddressInvalid) as raised:
        parse_address(text)
    assert len(str(raised.value)) > 10
    assert raised.value.status == 400


@pytest.mark.parametrize("character", ["\r", "\n", "\x00", "\t", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\ud800"])
@pytest.mark.parametrize("shape", ["a{}@b.test", "a@b{}.test", "N{}ame <a@b.test>", "Name <a@b.test>{}", "{}a@b.test"])
def test_control_characters_are_refused(character, shape):
    with pytest.raises(AddressInvalid):
        parse_address(shape.format(character))


def test_lookups_ignore_case_and_domain_encoding():
    assert address_key("Ada@EXAMPLE.com") == address_key("ada@example.com") == "ada@example.com"
    assert address_key("a@BÜCHER.example") == address_key("a@xn--bcher-kva.example")


NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")) | st.just(" "), max_size=60)


@given(NAMES)
def test_every_display_name_arrives_unchanged(name):
    name = name.strip()
    header = Address(name=name, local="a", domain="b.test", spec="a@b.test").header()
    assert "\n" not in header
    assert header.isascii()
    phrase, spec = parseaddr(header)
    assert spec == "a@b.test"
    assert str(make_header(decode_header(phrase))) == name


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_refused(text):
    try:
        address = parse_address(text)
    except AddressInvalid:
        return
    assert StandardAddress(addr_spec=address.spec) if address.spec.isascii() else address.needs_smtputf8


LOCALS = st.text(alphabet=st.sampled_from("abcXYZ019._+-!'\"@ é"), min_size=0, max_size=70)
DOMAINS = st.sampled_from(
    ["example.com", "EXAMPLE.Com", "b.test", "a..b", "localhost", "bücher.example", "x", "-a.com", ""]
)


@given(LOCALS, DOMAINS)
def test_plain_local_parts_have_the_same_result_as_in_the_library(local, domain):
    spec = f"{local}@{domain}"

    def result_of(parse):
        try:
            return parse(spec)
        except AddressInvalid as error:
            return str(error)

    assert result_of(_parse_spec) == result_of(_validate_spec)
