"""DKIM verification on the messages, keys and signatures of dkimpy's own tests, which its source package contains.

Its tests run as they are; for every signature that they verify, the result is compared with that of dkimpy.
"""

import asyncio
import importlib.util
import re
import tarfile
import time
import unittest
from pathlib import Path

import dkim as dkimpy
import pytest

from postern.protocols.mail.dkim_verification import DkimVerdict, verify
from postern.protocols.mail.dns import NoSuchRecord

FOLDER = Path(__file__).parents[2] / "peers/dkim_vectors"
PACKAGES = sorted((FOLDER / "packages").glob("dkimpy-*.tar.gz"))
INSTALL = (
    "The tests of dkimpy are missing: python3 -m pip download --no-deps --no-binary :all: --require-hashes"
    " --dest tests/peers/dkim_vectors/packages -r tests/peers/dkim_vectors/requirements.txt"
)
pytestmark = pytest.mark.skipif(not PACKAGES, reason=INSTALL)
MODULES = {"test_dkim": 72, "test_dkim_ed25519": 35, "test_dkim_rsavariants": 20, "test_dkim_tlsrpt": 28}
"""The modules of dkimpy's tests, and how many signatures they verify."""
TLSRPT = "The key is for reports about TLS (`s=tlsrpt`, RFC 8460 §3), and dkimpy is told that the message is one."
DIFFERENT = {
    "test_dkim": {
        "test_dkim_signature_canonicalization": "The RSA key has 512 bits; RFC 8301 §3.2 asks for 1,024.",
    },
    "test_dkim_tlsrpt": {
        "test_tlsrpt_with_tlsrptsvc": TLSRPT,
        "test_tlsrpt_with_strict_tlsrptsvc": TLSRPT,
        "test_tlsrpt_with_strict_no_tlsrptsvc": TLSRPT,
        "test_tlsrpt_ignore_l_verify": "dkimpy ignores `l=` in reports about TLS (RFC 8460 §3).",
    },
}
"""The tests of dkimpy in which our result is another one, with the reason."""


class Answers:
    """The DNS of one test of dkimpy, as far as it has a method that the verification uses."""

    def __init__(self, dnsfunc) -> None:
        self._dnsfunc = dnsfunc

    async def txt(self, name: str) -> list[str]:
        answer = self._dnsfunc(f"{name}.".encode())
        if not answer:
            raise NoSuchRecord(name, "TXT", nxdomain=True)
        return [answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer]


def message_of(parsed: dkimpy.DKIM) -> bytes:
    """The message that dkimpy has parsed, with CRLF line ends."""
    head = b"".join(name + b":" + value for name, value in parsed.headers)
    return re.sub(rb"\r?\n", b"\r\n", head + b"\r\n" + parsed.body)


def load(name: str, folder: Path):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unpack(folder: Path) -> Path:
    """Unpack the tests of dkimpy; returns their folder."""
    with tarfile.open(PACKAGES[-1]) as archive:
        for member in archive.getmembers():
            _, is_test, path = member.name.partition("/dkim/tests/")
            if is_test and member.isfile():
                file = archive.extractfile(member)
                assert file
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(file.read())
    return folder


@pytest.mark.parametrize("name", MODULES)
def test_the_results_are_those_of_dkimpy(name, tmp_path, monkeypatch):
    different: dict[str, str] = {}
    compared, test_name = 0, ""
    verify_by_dkimpy = dkimpy.DKIM.verify

    def compare(self, idx=0, dnsfunc=None):
        nonlocal compared
        ours = asyncio.run(verify(Answers(dnsfunc), message_of(self), now=int(time.time())))
        passed = idx < len(ours) and ours[idx].verdict is DkimVerdict.PASS
        expected = False
        try:
            expected = verify_by_dkimpy(self, idx=idx, dnsfunc=dnsfunc)
        finally:
            compared += 1
            if passed != expected:
                different[test_name] = str(ours)
        return expected

    class Result(unittest.TestResult):
        def startTest(self, test) -> None:
            nonlocal test_name
            test_name = test.id().rpartition(".")[2]
            super().startTest(test)

    monkeypatch.setattr(dkimpy.DKIM, "verify", compare)
    unittest.defaultTestLoader.loadTestsFromModule(load(name, unpack(tmp_path))).run(Result())
    assert different.keys() == DIFFERENT.get(name, {}).keys(), different
    assert compared == MODULES[name]
