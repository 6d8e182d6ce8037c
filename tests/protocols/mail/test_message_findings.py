"""What receivers object to in messages, as tables of content and codes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import postern
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.client_features import CLIENTS, FEATURES
from postern.protocols.mail.link_findings import link_error, shown_host, shows_other_domain
from postern.protocols.mail.message_findings import (
    CLIPPED_OCTETS,
    LINKS_RETURNED,
    MESSAGE_RULES,
    InspectedContent,
    inspect_addresses,
    inspect_attachments,
    inspect_content,
    inspect_unsubscribing,
)
from postern.protocols.mail.mime import Attachment
from postern.protocols.mail.templates.builder import render_builder

CANIEMAIL = Path(postern.__file__).parent.parent / "web/node_modules/caniemail/data/caniemail.json"
PREHEADER = '<div style="display:none">Short summary</div>'
TEXT = "<p>Enough text to read without any images.</p>"

URLS = [
    ("https://acme.com/a?b=c#d", None),
    ("https://bücher.de/", None),
    ("https://xn--bcher-kva.de/", None),
    ("HTTPS://ACME.COM", None),
    ("#top", None),
    ("tel:+491234", None),
    ("mailto:ada@example.com?subject=Hi", None),
    ("mailto:ada@example.com,bob@example.com", None),
    ("", "link_empty"),
    ("#", "link_empty"),
    ("/path", "link_relative"),
    ("www.acme.com", "link_relative"),
    ("//acme.com/x", "link_relative"),
    ("https://", "link_invalid"),
    ("https:acme.com", "link_invalid"),
    ("https://[::1", "link_invalid"),
    ("https://acme.com:99999/", "link_invalid"),
    ("javascript:alert(1)", "link_scheme"),
    ("data:text/html,x", "link_scheme"),
    ("file:///etc/passwd", "link_scheme"),
    ("https://localhost/", "link_host"),
    ("https://intranet/", "link_host"),
    ("https://printer.local/", "link_host"),
    ("https://a_b-.com/", "link_host"),
    ("https://acme..com/", "link_host"),
    ("https://acme .com/", "link_host"),
    ("https://192.0.2.1/", "link_ip_address"),
    ("https://[2001:db8::1]/", "link_ip_address"),
    ("https://3232235777/", "link_ip_address"),
    ("https://0x7f.1/", "link_ip_address"),
    ("https://paypal.com@evil.com/", "link_user_info"),
    ("https://раураӏ.com/", "link_look_alike"),
    ("https://pаypal.com/", "link_look_alike"),
    ("https://xn--pypal-4ve.com/", "link_look_alike"),
    ("https://пример.рф/", None),
    ("http://acme.com/", "link_not_https"),
    ("https://bit.ly/x", "link_shortener"),
    ("https://www.tinyurl.com/x", "link_shortener"),
    ("mailto:", "link_mailto"),
    ("mailto:ada@", "link_mailto"),
]


@pytest.mark.parametrize(("url", "code"), URLS)
def test_urls_of_links(url, code):
    assert link_error(url) == code


@given(st.text())
def test_any_url_has_a_fault_or_none(url):
    assert link_error(url) in {None, *MESSAGE_RULES}
    assert link_error(f"https://{url}") in {None, *MESSAGE_RULES}
    assert link_error(f"mailto:{url}") in {None, *MESSAGE_RULES}
    shown_host(url)


SHOWN = [
    ("https://acme.com/offer", "https://acme.com/", False),
    ("www.acme.com", "https://shop.acme.com/x", False),
    ("acme.com", "https://evil.com/", True),
    ("https://paypal.com", "https://paypal.com.evil.net/", True),
    ("acme.co.uk", "https://other.co.uk/", True),
    ("bücher.de", "https://xn--bcher-kva.de/", False),
    ("report.pdf", "https://acme.com/report.pdf", False),
    ("Node.js", "https://nodejs.org/", False),
    ("Read more", "https://acme.com/", False),
    ("see acme.com for more", "https://evil.com/", False),
]


@pytest.mark.parametrize(("text", "url", "differs"), SHOWN)
def test_the_domain_that_the_text_of_a_link_shows(text, url, differs):
    shown = shown_host(text)
    assert bool(shown and shows_other_domain(shown, url)) is differs


def report(html=None, subject="Your order", text="Text", html_octets=0, **fields):
    return inspect_content(InspectedContent(subject=subject, html=html, text=text, html_octets=html_octets, **fields))


def codes(html=None, **fields):
    return [finding.code for finding in report(html, **fields).findings]


IMG = '<img src="https://acme.com/a.png" alt="Logo" width="100">'
HTML = [
    (TEXT, []),
    (IMG + TEXT, []),
    (IMG, ["images_only"]),
    (TEXT + '<img src="https://acme.com/a.png" width="9">', ["image_without_alt"]),
    (TEXT + '<img src="https://acme.com/a.png" alt="" style="width:9px">', []),
    (TEXT + '<img src="https://acme.com/a.png" alt="">', ["image_without_size"]),
    (TEXT + '<img src="http://acme.com/a.png" alt="" width=9>', ["image_not_https"]),
    (TEXT + '<img src="a.png" alt="" width=9>', ["image_broken"]),
    (TEXT + '<img alt="" width=9>', ["image_broken"]),
    (TEXT + '<img src="https://localhost/a.png" alt="" width=9>', ["image_broken"]),
    (TEXT + '<img src="cid:logo" alt="" width=9>', []),
    (TEXT + '<img src="cid:other" alt="" width=9>', ["image_attachment_missing"]),
    (TEXT + '<img src="data:image/png;base64,AA" alt="" width=9>', ["client_support"]),
    (TEXT + "<script>alert(1)</script>", ["active_content"]),
    (TEXT + '<p onclick="x()">x</p>', ["active_content"]),
    (TEXT + '<iframe src="https://acme.com"></iframe>', ["active_content"]),
    (TEXT + '<div style="display: flex">x</div>', ["client_support"]),
    (TEXT + "<style>/* position: x */ p { color: var(--c) }</style>", ["client_support"]),
    (TEXT + "<p>display: grid</p>", []),
    (TEXT + '<a href="https://192.0.2.1/">x</a>', ["link_ip_address"]),
    (TEXT + "<a>x</a>", []),
    (TEXT + "<p>Dear {{ name }}</p>", ["placeholder_left"]),
    (TEXT + "<p>Dear *|FNAME|*</p>", ["placeholder_left"]),
    (TEXT + "<style>p{{x}}</style>", []),
]


@pytest.mark.parametrize(("html", "expected"), HTML)
def test_html(html, expected):
    assert codes(PREHEADER + html, content_ids=["<logo>"]) == expected


SUBJECTS = [
    ("Your order", []),
    ("", ["subject_empty"]),
    ("  ", ["subject_empty"]),
    ("A" * 71, ["subject_long"]),
    ("BUY THIS NOW", ["subject_capitals"]),
    ("RE: ISO 9001", []),
    ("中文 主题 一二三四五六七八九十", []),
    ("Dear {{name}}", ["placeholder_left"]),
]


@pytest.mark.parametrize(("subject", "expected"), SUBJECTS)
def test_subjects(subject, expected):
    assert codes(subject=subject) == expected


def test_size_text_and_preheader():
    assert codes(PREHEADER + TEXT, html_octets=CLIPPED_OCTETS) == []
    assert codes(PREHEADER + TEXT, html_octets=CLIPPED_OCTETS + 1) == ["html_clipped"]
    assert codes(PREHEADER + TEXT, text=" ") == ["text_missing"]
    assert codes(TEXT) == ["preheader_missing"]
    assert codes(TEXT * 60 + PREHEADER) == ["preheader_missing"], "it is too far from the beginning"
    assert codes(None, text="Only text") == []


def test_findings_count_all_places_and_show_few():
    (finding,) = report(PREHEADER + TEXT + '<a href="http://acme.com/">x</a>' * 30).findings
    assert (finding.code, finding.count, len(finding.snippets)) == ("link_not_https", 30, 5)
    links = report('<a href="https://acme.com/">x</a>' * (LINKS_RETURNED + 5)).links
    assert len(links) == LINKS_RETURNED


def test_links_have_the_host_that_they_show_and_whether_they_are_tracked():
    html = (
        '<a href="https://evil.com/">www.<b>acme.com</b></a><a href="https://acme.com/"> acme.com </a>'
        '<a href="https://acme.com/" data-track="false">acme.com</a><a href="https://acme.com/">Shop</a>'
    )
    links = [(link.url, link.shown, link.is_tracked) for link in report(html).links]
    assert links[1:] == [
        ("https://acme.com/", "acme.com", True),
        ("https://acme.com/", "acme.com", False),
        ("https://acme.com/", None, True),
    ]
    assert links[0] == ("https://evil.com/", "www.acme.com", True)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="https://mail.test/t/u/1?s=2">Bye</a>', True),
        ('<a href="https://acme.com/unsubscribe">Bye</a>', True),
        ('<a href="https://acme.com/x">Unsubscribe</a>', True),
        ('<a data-postern-unsubscribe href="#">Bye</a>', True),
        ('<a href="https://acme.com/x">Shop</a>', False),
    ],
)
def test_whether_there_is_an_unsubscribe_link(html, expected):
    inspected = report(html, unsubscribe_url="https://mail.test/t/u/1?s=2")
    assert inspected.has_unsubscribe_link is expected
    assert [link for link in inspected.links if link.may_be_opened and expected] == [], "it must never be opened"


FROM = [
    ("Acme <hello@acme.com>", []),
    ("hello@acme.com", ["from_name_missing"]),
    ('"ceo@acme.com" <hello@acme.com>', []),
    ('"service@paypal.com" <hello@acme.com>', ["from_name_address"]),
    ('"PayPal (service@paypal.com)" <hello@acme.com>', ["from_name_address"]),
    ('"www.paypal.com" <hello@acme.com>', ["from_name_address"]),
    ("Acme <hello@pаypal.com>", ["from_look_alike"]),
]


@pytest.mark.parametrize(("sender", "expected"), FROM)
def test_senders(sender, expected):
    assert [finding.code for finding in inspect_addresses(parse_address(sender))] == expected


ATTACHMENTS = [
    ("invoice.pdf", b"%PDF", None),
    ("setup.exe", b"MZ", "attachment_blocked"),
    ("invoice.pdf.JS", b"x", "attachment_blocked"),
    ("invoice.pdf.exe ", b"x", "attachment_blocked"),
    ("photo.jpg", b"MZ\x90\x00\x03", "attachment_blocked"),
    ("photo.jpg", b"\x7fELF", "attachment_blocked"),
    ("sheet.xlsm", b"PK", "attachment_macros"),
    ("README", b"x", None),
]


@pytest.mark.parametrize(("name", "content", "code"), ATTACHMENTS)
def test_attachments(name, content, code):
    codes = [finding.code for finding in inspect_attachments([Attachment(filename=name, content=content)])]
    assert codes == ([code] if code else [])


POST = {"list-unsubscribe-post": "List-Unsubscribe=One-Click"}
UNSUBSCRIBING = [
    ({}, True, True, ["unsubscribe_missing"]),
    ({}, None, True, ["unsubscribe_advised"]),
    ({}, False, False, []),
    ({"list-unsubscribe": "<https://a.com/1>", **POST}, True, True, []),
    ({"list-unsubscribe": "<https://a.com/1>", **POST}, True, False, ["unsubscribe_link_missing"]),
    ({"list-unsubscribe": "<https://a.com/1>"}, True, True, ["unsubscribe_not_one_click"]),
    ({"list-unsubscribe": "<mailto:u@a.com>", **POST}, None, True, ["unsubscribe_not_one_click"]),
]


@pytest.mark.parametrize(("headers", "is_marketing", "has_link", "expected"), UNSUBSCRIBING)
def test_unsubscribing(headers, is_marketing, has_link, expected):
    findings = inspect_unsubscribing(headers, is_marketing=is_marketing, has_link=has_link)
    assert [finding.code for finding in findings] == expected


def test_blocks_use_only_what_clients_support():
    document = {
        "preview": "Short summary",
        "blocks": [
            {"type": "heading", "text": "Hello"},
            {"type": "text", "text": "Enough text to read without any images."},
            {"type": "button", "text": "Start", "url": "https://acme.com/start"},
            {"type": "image", "url": "https://acme.com/a.png", "alt": "A"},
        ],
    }
    assert codes(render_builder(document)) == []


@given(st.text(alphabet="<>/=\"' aimgscrhefltyp:{}%*|-&;\n"))
def test_any_html_can_be_inspected(html):
    report(html, text=html, subject=html.replace("\n", " "))


@pytest.mark.parametrize(
    "piece", ["<a href=x>", "<img>", "{{", "<p style='position:", "*|", "<a", "<div style=display:none>", "%%a", "/* "]
)
def test_the_time_is_linear_in_the_length(piece):
    """A render process has two seconds; a quadratic rule would take minutes for so many characters."""
    many = piece * (400_000 // len(piece))
    report(many, text=piece * 50_000)
    report(f"<style>{many}</style>")


def test_every_rule_about_content_has_a_test():
    tested = {code for _, code in URLS} | {code for _, _, code in ATTACHMENTS}
    for _, expected in [*HTML, *SUBJECTS, *FROM, *((None, row[3]) for row in UNSUBSCRIBING)]:
        tested |= set(expected)
    tested |= {"html_clipped", "text_missing", "preheader_missing"}
    # tests/messaging/emails/test_preflight.py has the rules that need the project, the DNS or the network.
    others = {"message_large", "reply_to_other_domain", "domain_not_verified", "dkim_not_aligned", "spf_not_aligned"}
    others |= {"dmarc_fails", "link_text_differs", "link_text_tracked", "link_broken", "link_refused", "link_unchecked"}
    others |= {"unsubscribe_not_https"}
    # And tests/messaging/reputation those that need the rates or the plan of the domain.
    others |= {"reputation_held", "reputation_warning", "warm_up_active"}
    assert set(MESSAGE_RULES) - tested == others


@pytest.mark.skipif(not CANIEMAIL.exists(), reason="The data of caniemail.com is missing: npm install --prefix web")
def test_the_table_of_features_matches_the_data_of_caniemail():
    features = {feature["slug"]: feature["stats"] for feature in json.loads(CANIEMAIL.read_text())["data"]}
    for feature in FEATURES:
        unsupported = []
        for client in CLIENTS:
            family, _, platform = client.partition(".")
            versions = features[feature.slug].get(family, {}).get(platform, {})
            if versions and list(versions.values())[-1].startswith("n"):
                unsupported.append(client)
        assert sorted(feature.clients) == sorted(unsupported), feature.slug
