"""Small messages that are expensive to process. All are rejected, within limits of memory and processor time."""

import json
import subprocess
import sys

import pytest

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason
from tests.peers.identity_provider import DS, SAML, SAMLP, IdentityProvider, encrypted_xml, keys
from tests.protocols.saml.conftest import NOW, REQUEST, connection_with, valid_response
from tests.protocols.saml.test_wrapping import EXCLUSIVE, XSLT

KB = 1024
HEAD = f'<samlp:Response xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" xmlns:ds="{DS}" ID="_r" Version="2.0">'
STATUS = '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
TAIL = "</samlp:Response>"
NESTED_ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def response_with(filling: str) -> bytes:
    """An unsigned Response with this content."""
    return (HEAD + filling + TAIL).encode()


def padded_response(filling: bytes) -> bytes:
    """A validly signed response to which `filling` was added after signing."""
    return valid_response(IdentityProvider(now=NOW)).replace(
        b"<saml:AttributeStatement>", b"<saml:AttributeStatement>" + filling
    )


def bombs() -> dict[str, tuple[bytes | str, SamlRejectionReason]]:
    prefixes = " ".join(f"p{n}" for n in range(20_000))
    prefix_list = (
        f'<ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="{prefixes}"/>'
    )
    return {
        "xslt (python3-saml#447)": (
            valid_response(IdentityProvider(now=NOW)).replace(EXCLUSIVE, XSLT + EXCLUSIVE),
            SamlRejectionReason.SIGNATURE_FORM,
        ),
        "billion laughs": (
            f'<!DOCTYPE a [<!ENTITY l0 "ha">{NESTED_ENTITIES}]>{HEAD}&l9;{TAIL}'.encode(),
            SamlRejectionReason.DOCTYPE,
        ),
        "quadratic entity": (
            f'<!DOCTYPE a [<!ENTITY a "{"a" * 100 * KB}">]>{HEAD}{"&a;" * 10_000}{TAIL}'.encode(),
            SamlRejectionReason.DOCTYPE,
        ),
        "external entity": (
            f'<!doctype a [<!ENTITY a SYSTEM "file:///dev/zero">]>{HEAD}&a;{TAIL}'.encode(),
            SamlRejectionReason.DOCTYPE,
        ),
        "entities in utf-16": (
            f'<!DOCTYPE a [<!ENTITY l0 "ha">{NESTED_ENTITIES}]><a>&l9;</a>'.encode("utf-16"),
            SamlRejectionReason.NOT_UTF8,
        ),
        "another encoding": (
            b'<?xml version="1.0" encoding="utf-7"?>' + response_with(""),
            SamlRejectionReason.NOT_UTF8,
        ),
        "ten megabytes": (response_with(" " * 10 * KB * KB), SamlRejectionReason.TOO_LARGE),
        "ten megabytes of base64": ("A" * 10 * KB * KB, SamlRejectionReason.TOO_LARGE),
        "one byte too many": (
            response_with(" " * (256 * KB - len(HEAD) - len(TAIL) + 1)),
            SamlRejectionReason.TOO_LARGE,
        ),
        "depth": (response_with("<a>" * 30_000 + "</a>" * 30_000), SamlRejectionReason.TOO_COMPLEX),
        "depth without an end": (response_with("<a>" * 80_000), SamlRejectionReason.TOO_COMPLEX),
        "elements": (response_with("<a/>" * 60_000), SamlRejectionReason.TOO_COMPLEX),
        "attributes": (
            response_with("<a" + "".join(f" a{n}=''" for n in range(20_000)) + "/>"),
            SamlRejectionReason.TOO_COMPLEX,
        ),
        "namespaces": (
            response_with("<a" + "".join(f" xmlns:a{n}='urn:a'" for n in range(10_000)) + "/>"),
            SamlRejectionReason.TOO_COMPLEX,
        ),
        "prefixes": (
            valid_response(IdentityProvider(now=NOW)).replace(
                EXCLUSIVE, EXCLUSIVE[:-2] + b">" + prefix_list.encode() + b"</ds:Transform>"
            ),
            SamlRejectionReason.SIGNATURE_FORM,
        ),
        "equal identifiers": (response_with('<a ID="x"/>' * 9_000), SamlRejectionReason.DUPLICATE_ID),
        "a long signature": (
            valid_response(IdentityProvider(now=NOW)).replace(
                b"<ds:SignatureValue>", b"<ds:SignatureValue>" + b"AAAA" * 40_000
            ),
            SamlRejectionReason.SIGNATURE_FORM,
        ),
        "the maximum number of elements": (
            padded_response(b"<saml:Attribute/>" * 9_900),
            SamlRejectionReason.CONTENT_CHANGED,
        ),
        "the maximum of text": (padded_response(b"x" * 240 * KB), SamlRejectionReason.CONTENT_CHANGED),
        "too many elements, encrypted": (
            response_with(STATUS + encrypted_xml(b"<a>" * 50_000, keys("sp").certificate).decode()),
            SamlRejectionReason.TOO_COMPLEX,
        ),
    }


BOMBS = bombs()


@pytest.mark.parametrize("bomb", BOMBS)
def test_each_bomb_is_refused_with_its_reason(bomb):
    raw, reason = BOMBS[bomb]
    with pytest.raises(SamlRejected) as caught:
        read_response(raw, connection=connection_with(IdentityProvider()), expected_request_ids={REQUEST}, now=NOW)
    assert caught.value.reason is reason


MEMORY_PROGRAM = """
import resource
from tests.protocols.saml.test_bombs import BOMBS, IdentityProvider, NOW, REQUEST
from tests.protocols.saml.test_bombs import SamlRejected, connection_with, read_response

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 64 * 1024 * 1024,) * 2)
spent = resource.getrusage(resource.RUSAGE_SELF)
resource.setrlimit(resource.RLIMIT_CPU, (int(spent.ru_utime + spent.ru_stime) + 10,) * 2)
connection = connection_with(IdentityProvider())
for raw, reason in BOMBS.values():
    try:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)
    except SamlRejected as refused:
        assert refused.reason is reason, reason
    else:
        raise SystemExit("accepted")
print("all refused")
"""


TIMING_PROGRAM = """
import gc, json, time
gc.disable()
from tests.protocols.saml.test_bombs import BOMBS, NOW, REQUEST, SamlRejected, IdentityProvider
from tests.protocols.saml.test_bombs import connection_with, valid_response, read_response

def processor_time(raw, times):
    connection, least = connection_with(IdentityProvider()), None
    gc.collect()
    for _ in range(times):
        start = time.process_time()
        try:
            read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)
        except SamlRejected:
            pass
        spent = time.process_time() - start
        least = spent if least is None else min(least, spent)
    return least

ordinary = processor_time(valid_response(IdentityProvider(now=NOW)), 60)
print(json.dumps({name: processor_time(raw, 6) / ordinary for name, (raw, _) in BOMBS.items()}))
"""
ORDINARY_RESPONSES = 60
"""The limit of processor time for a message, as a multiple of the time for an ordinary response: 50 ms where that takes
0.84 ms. So the limit does not depend on the machine."""


def test_every_bomb_takes_bounded_processor_time():
    """Measured as processor time, relative to that of an ordinary response, so that a busy machine has no effect."""
    completed = subprocess.run(
        [sys.executable, "-c", TIMING_PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )
    ratios = json.loads(completed.stdout or "{}")
    assert set(ratios) == set(BOMBS), completed.stderr[-2000:]
    assert {name: round(ratio) for name, ratio in ratios.items() if ratio > ORDINARY_RESPONSES} == {}


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
def test_all_bombs_together_stay_within_64_mb():
    """The operating system limits the memory of the process to 64 MB more than it uses at the beginning."""
    completed = subprocess.run(
        [sys.executable, "-c", MEMORY_PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert completed.stdout.strip() == "all refused", completed.stderr[-2000:]
