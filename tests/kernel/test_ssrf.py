"""SSRF protection: reserved addresses, address notations, and host names."""

import asyncio
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.outbound.ssrf import (
    AddressRefused,
    CachedLookup,
    check_target,
    is_special,
    permitted,
    read_networks,
    read_target,
)


def split(text):
    return text.split()


SPECIAL = split("""
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 100.100.100.200 127.0.0.1
    127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
    192.0.0.9 192.0.0.170 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
    192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
    239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::2 ::7f00:1 ::10.0.0.1 ::ffff:127.0.0.1
    ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:7f00:1 ::ffff:0:0:1 64:ff9b::7f00:1
    64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 64:ff9b:1:2::8.8.8.8 100::1 100:0:0:1::1
    2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1
    2001:30::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:808:808::1
    2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254 fdff::1
    fe80::1 febf::1 fec0::1 feff::1 ff02::1 ff0e::1
""")
PUBLIC = split("""
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    168.63.129.15 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.1
    192.0.3.1 192.88.98.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.1
    223.255.255.255 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2001:200::1 2001:4860:4860::8888 2001:db7::1
    2001:db9::1 2003::1 2600::1 2606:4700:4700::1111 2a00:1450::1 3ffe::1
""")


@pytest.mark.parametrize("text", SPECIAL)
def test_reserved_addresses_are_rejected(text):
    assert is_special(ip_address(text))
    with pytest.raises(AddressRefused):
        permitted([text], [])
    with pytest.raises(AddressRefused):
        permitted(["8.8.8.8", text, "2606:4700:4700::1111"], [])


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_allowed(text):
    assert not is_special(ip_address(text))
    assert len(permitted([text], [])) == 1


def test_an_ipv4_mapped_address_is_treated_as_ipv4():
    assert permitted(["::ffff:8.8.8.8"], []) == [ip_address("8.8.8.8")]


def test_networks_can_be_allowed_individually():
    allowed = read_networks("127.0.0.0/8, fd00::/8")
    assert permitted(["127.0.0.1", "::ffff:127.0.0.2", "fd00::1"], allowed)
    for text in ("10.0.0.1", "::1", "64:ff9b::7f00:1"):
        with pytest.raises(AddressRefused):
            permitted([text], allowed)
    with pytest.raises(ValueError):
        read_networks("127.0.0.1/8")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.1/", "four decimal"),
        ("http://2130706433/", "four decimal"),
        ("http://0x7f000001/", "four decimal"),
        ("http://0x7f.0.0.1/", "four decimal"),
        ("http://0177.0.0.1/", "four decimal"),
        ("http://127.0.0.01/", "four decimal"),
        ("http://127.0.0.1.1/", "four decimal"),
        ("http://127.0.0.0x1/", "four decimal"),
        ("http://256.0.0.1/", "four decimal"),
        ("http://0/", "four decimal"),
        ("http://example.0x/", "four decimal"),
        ("http://１２７.１/", "four decimal"),
        ("http://[::1%25lo]/", "IPv6"),
        ("http://[::g]/", "IPv6"),
        ("http://[]/", "IPv6"),
        ("http://[127.0.0.1]/", "IPv6"),
        ("http://::1/", "host"),
        ("http://user@example.com/", "user name"),
        ("http://user:pass@example.com/", "user name"),
        ("http://example.com@127.0.0.1/", "user name"),
        ("http://127.0.0.1#@example.com/", "fragment"),
        ("http://example.com/#x", "fragment"),
        ("http://example.com\\@127.0.0.1/", "backslashes"),
        ("http://exa mple.com/", "spaces"),
        ("http://example.com/\r\nHost: x", "spaces"),
        ("http://example.com/\x00", "spaces"),
        ("http://example.com:0/", "1 to 65535"),
        ("http://example.com:65536/", "1 to 65535"),
        ("http://example.com:８０/", "number"),
        ("http://example.com:+80/", "number"),
        ("http:///x", "no host"),
        ("http://?x", "no host"),
        ("http://.example.com/", "domain name"),
        ("http://a..b/", "domain name"),
        ("http://-a.example/", "domain name"),
        ("http://ex%61mple.com/", "domain name"),
        ("http://" + "a" * 64 + ".com/", "domain name"),
        ("http://" + "a." * 127 + "com/", "domain name"),
        ("http://xn--ls8h\u200f.la/", "domain name"),
        ("https:/example.com", "begin with"),
        ("//example.com", "begin with"),
        ("ftp://example.com/", "begin with"),
        ("file:///etc/passwd", "begin with"),
        ("gopher://example.com/", "begin with"),
        ("javascript://example.com/", "begin with"),
        ("", "begin with"),
        ("http://example.com/" + "x" * 2_048, "characters"),
    ],
)
def test_unusual_address_notations_are_rejected(url, reason):
    with pytest.raises(AddressRefused, match=reason):
        read_target(url)


@pytest.mark.parametrize(
    ("url", "secure", "host", "port", "path", "authority"),
    [
        ("http://example.com", False, "example.com", 80, "/", "example.com"),
        ("HTTPS://Example.COM/a?b=c", True, "example.com", 443, "/a?b=c", "example.com"),
        ("https://example.com:443/", True, "example.com", 443, "/", "example.com"),
        ("https://example.com:8443?x=1", True, "example.com", 8443, "/?x=1", "example.com:8443"),
        ("http://example.com./a", False, "example.com", 80, "/a", "example.com"),
        ("http://bücher.example/ü?q=é", False, "xn--bcher-kva.example", 80, "/%C3%BC?q=%C3%A9", None),
        ("http://my_app:3000/hook", False, "my_app", 3000, "/hook", "my_app:3000"),
        ("http://192.0.2.1:8080/", False, "192.0.2.1", 8080, "/", "192.0.2.1:8080"),
        ("http://１９２.0.2.1/", False, "192.0.2.1", 80, "/", "192.0.2.1"),
        ("http://[2001:DB8::1]:8080/%20", False, "2001:db8::1", 8080, "/%20", "[2001:db8::1]:8080"),
        ("http://[::ffff:127.0.0.1]/", False, "127.0.0.1", 80, "/", "127.0.0.1"),
        ("http://example.com/a@b:c", False, "example.com", 80, "/a@b:c", "example.com"),
    ],
)
def test_urls_are_parsed_and_normalized(url, secure, host, port, path, authority):
    target = read_target(url)
    assert (target.secure, target.host, target.port, target.path) == (secure, host, port, path)
    assert authority is None or target.authority == authority


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://a.example", "http://127."]))
def test_any_text_is_parsed_or_rejected(text, start):
    try:
        target = read_target(start + text)
    except AddressRefused:
        return
    assert target.host.isascii()
    assert target.path.isascii()
    assert not set(target.host + target.path) & set(" \r\n\t\x00@#") - set("@")
    assert target.literal is None or target.host == str(target.literal)


async def test_concurrent_lookups_of_a_name_share_one_query():
    queries = []

    async def lookup(name):
        queries.append(name)
        await asyncio.sleep(0)
        if name == "gone":
            raise OSError("no such name")
        return ["8.8.8.8"]

    cached_lookup = CachedLookup(lookup)
    assert await asyncio.gather(*[cached_lookup("a") for _ in range(5)]) == [["8.8.8.8"]] * 5
    assert queries == ["a"]
    for _ in range(2):
        with pytest.raises(OSError, match="no such name"):
            await cached_lookup("gone")
    assert queries == ["a", "gone", "gone"], "a failure was cached"
    uncached_lookup = CachedLookup(lookup, seconds=0)
    await uncached_lookup("a")
    await uncached_lookup("a")
    assert queries[3:] == ["a", "a"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "[::1]", "10.0.0.1"])
def test_a_url_with_a_private_address_cannot_be_configured(host):
    with pytest.raises(AddressRefused):
        check_target(f"http://{host}/", ())
    check_target("https://example.com/", ())
    check_target("http://localhost:3000/", read_networks("127.0.0.0/8 ::1/128"))
