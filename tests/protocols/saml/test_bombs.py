"""Messages made to cost more than they weigh. Each is refused, all of them within bounds held by the system."""

import json
import subprocess
import sys

import pytest

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected
from tests.peers.identity_provider import DS, SAML, SAMLP, IdentityProvider, encrypted_xml, keys
from tests.protocols.saml.conftest import NOW, REQUEST, agreed_with, honest
from tests.protocols.saml.test_wrapping import EXCLUSIVE, XSLT

KB = 1024
HEAD = f'<samlp:Response xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" xmlns:ds="{DS}" ID="_r" Version="2.0">'
STATUS = '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
TAIL = "</samlp:Response>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def around(filling: str) -> bytes:
    return (HEAD + filling + TAIL).encode()


def padded_honest(filling: bytes) -> bytes:
    """An honest response that a stranger filled up: well formed, well signed once, and changed since."""
    return honest(IdentityProvider(now=NOW)).replace(
        b"<saml:AttributeStatement>", b"<saml:AttributeStatement>" + filling
    )


def bombs() -> dict[str, tuple[bytes | str, SamlRefusalReason]]:
    prefixes = " ".join(f"p{n}" for n in range(20_000))
    listed = f'<ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="{prefixes}"/>'
    return {
        "xslt (python3-saml#447)": (
            honest(IdentityProvider(now=NOW)).replace(EXCLUSIVE, XSLT + EXCLUSIVE),
            SamlRefusalReason.SIGNATURE_FORM,
        ),
        "billion laughs": (
            f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]>{HEAD}&l9;{TAIL}'.encode(),
            SamlRefusalReason.DOCTYPE,
        ),
        "quadratic entity": (
            f'<!DOCTYPE a [<!ENTITY a "{"a" * 100 * KB}">]>{HEAD}{"&a;" * 10_000}{TAIL}'.encode(),
            SamlRefusalReason.DOCTYPE,
        ),
        "external entity": (
            f'<!doctype a [<!ENTITY a SYSTEM "file:///dev/zero">]>{HEAD}&a;{TAIL}'.encode(),
            SamlRefusalReason.DOCTYPE,
        ),
        "entities in utf-16": (
            f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>'.encode("utf-16"),
            SamlRefusalReason.NOT_UTF8,
        ),
        "another encoding": (b'<?xml version="1.0" encoding="utf-7"?>' + around(""), SamlRefusalReason.NOT_UTF8),
        "ten megabytes": (around(" " * 10 * KB * KB), SamlRefusalReason.TOO_LARGE),
        "ten megabytes of base64": ("A" * 10 * KB * KB, SamlRefusalReason.TOO_LARGE),
        "one byte too many": (around(" " * (256 * KB - len(HEAD) - len(TAIL) + 1)), SamlRefusalReason.TOO_LARGE),
        "depth": (around("<a>" * 30_000 + "</a>" * 30_000), SamlRefusalReason.TOO_COMPLEX),
        "depth without an end": (around("<a>" * 80_000), SamlRefusalReason.TOO_COMPLEX),
        "elements": (around("<a/>" * 60_000), SamlRefusalReason.TOO_COMPLEX),
        "attributes": (
            around("<a" + "".join(f" a{n}=''" for n in range(20_000)) + "/>"),
            SamlRefusalReason.TOO_COMPLEX,
        ),
        "namespaces": (
            around("<a" + "".join(f" xmlns:a{n}='urn:a'" for n in range(10_000)) + "/>"),
            SamlRefusalReason.TOO_COMPLEX,
        ),
        "prefixes": (
            honest(IdentityProvider(now=NOW)).replace(
                EXCLUSIVE, EXCLUSIVE[:-2] + b">" + listed.encode() + b"</ds:Transform>"
            ),
            SamlRefusalReason.SIGNATURE_FORM,
        ),
        "equal identifiers": (around('<a ID="x"/>' * 9_000), SamlRefusalReason.DUPLICATE_ID),
        "a long signature": (
            honest(IdentityProvider(now=NOW)).replace(
                b"<ds:SignatureValue>", b"<ds:SignatureValue>" + b"AAAA" * 40_000
            ),
            SamlRefusalReason.SIGNATURE_FORM,
        ),
        "as much as fits": (padded_honest(b"<saml:Attribute/>" * 9_900), SamlRefusalReason.CONTENT_CHANGED),
        "as much text as fits": (padded_honest(b"x" * 240 * KB), SamlRefusalReason.CONTENT_CHANGED),
        "as much as fits, encrypted": (
            around(STATUS + encrypted_xml(b"<a>" * 50_000, keys("sp").certificate).decode()),
            SamlRefusalReason.TOO_COMPLEX,
        ),
    }


BOMBS = bombs()


@pytest.mark.parametrize("bomb", BOMBS)
def test_each_bomb_is_refused_with_its_reason(bomb):
    raw, reason = BOMBS[bomb]
    with pytest.raises(SamlRejected) as caught:
        read_response(raw, connection=agreed_with(IdentityProvider()), expected_request_ids={REQUEST}, now=NOW)
    assert caught.value.reason is reason


UNDER_LIMITS = """
import resource
from tests.protocols.saml.test_bombs import BOMBS, IdentityProvider, NOW, REQUEST
from tests.protocols.saml.test_bombs import SamlRejected, agreed_with, read_response

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 64 * 1024 * 1024,) * 2)
spent = resource.getrusage(resource.RUSAGE_SELF)
resource.setrlimit(resource.RLIMIT_CPU, (int(spent.ru_utime + spent.ru_stime) + 10,) * 2)
connection = agreed_with(IdentityProvider())
for raw, reason in BOMBS.values():
    try:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)
    except SamlRejected as refused:
        assert refused.reason is reason, reason
    else:
        raise SystemExit("accepted")
print("all refused")
"""


TAKEN = """
import gc, json, time
gc.disable()
from tests.protocols.saml.test_bombs import BOMBS, NOW, REQUEST, SamlRejected, IdentityProvider
from tests.protocols.saml.test_bombs import agreed_with, honest, read_response

def taken(raw, times):
    connection, least = agreed_with(IdentityProvider()), None
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

ordinary = taken(honest(IdentityProvider(now=NOW)), 60)
print(json.dumps({name: taken(raw, 6) / ordinary for name, (raw, _) in BOMBS.items()}))
"""
ORDINARY_RESPONSES = 60
"""50 ms, where an ordinary response takes 0.84 ms: the limit in the work of an honest message, on any machine."""


def test_every_bomb_takes_bounded_processor_time():
    """Held in the processor time of this program and beside an honest response: a busy machine changes neither."""
    done = subprocess.run([sys.executable, "-c", TAKEN], capture_output=True, text=True, timeout=300, check=False)
    taken = json.loads(done.stdout or "{}")
    assert set(taken) == set(BOMBS), done.stderr[-2000:]
    assert {name: round(ratio) for name, ratio in taken.items() if ratio > ORDINARY_RESPONSES} == {}


@pytest.mark.skipif(sys.platform != "linux", reason="the system's limits are Linux's")
def test_all_bombs_together_stay_within_64_mb():
    """The limit is the system's: with 64 MB more than the program had, nothing runs out of memory."""
    done = subprocess.run(
        [sys.executable, "-c", UNDER_LIMITS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.strip() == "all refused", done.stderr[-2000:]
