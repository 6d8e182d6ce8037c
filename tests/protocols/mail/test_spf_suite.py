"""SPF on the test suite of RFC 7208, which the source package of pyspf contains."""

import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from postern.protocols.mail.spf import check_host
from tests.peers.dns_zone import dns_zone, patient

FOLDER = Path(__file__).parents[2] / "peers/spf_suite"
PACKAGES = sorted((FOLDER / "packages").glob("pyspf-*.tar.gz"))
INSTALL = (
    "The test suite of RFC 7208 is missing: python3 -m pip download --no-deps --no-binary :all: --require-hashes"
    " --dest tests/peers/spf_suite/packages -r tests/peers/spf_suite/requirements.txt"
)
pytestmark = pytest.mark.skipif(not PACKAGES, reason=INSTALL)


@cache
def suite() -> list[dict[str, Any]]:
    """The scenarios of the suite: zone data and tests."""
    with tarfile.open(PACKAGES[-1]) as archive:
        member = next(name for name in archive.getnames() if name.endswith("test/rfc7208-tests.yml"))
        file = archive.extractfile(member)
        assert file
        return [scenario for scenario in yaml.safe_load_all(file.read()) if scenario]


def add_records(zone, name: str, entries: list[Any]) -> None:
    """Add the records of one name of the suite. SPF records are published as TXT, unless the name has TXT records."""
    listed = [item for entry in entries if isinstance(entry, dict) for item in entry.items()]
    kinds = {kind for kind, _ in listed}
    name = name.replace(" ", "\\032")
    for entry in entries:
        if entry == "TIMEOUT":
            # The types without records time out. SPF records that are not published as TXT do not count.
            for kind in {"A", "AAAA", "MX", "TXT", "PTR"} - {kind for kind, value in listed if value != "NONE"}:
                zone.servfail(name, kind)
            continue
        for kind, value in entry.items():
            kind = "TXT" if kind == "SPF" and "TXT" not in kinds else kind
            if value == "TIMEOUT":
                zone.servfail(name, kind)
            elif kind == "MX":
                zone.add(name, "MX", f"{value[0]} {value[1] or '.'}")
            elif kind == "TXT" and value != "NONE":
                strings = [value] if isinstance(value, str) else value
                zone.add(name, "TXT", " ".join(quoted(text) for text in strings))
            elif kind in ("A", "AAAA", "PTR", "CNAME"):
                zone.add(name, kind, value)


def quoted(text: str) -> str:
    """A character string of a zone file (RFC 1035 §5.1)."""
    octets = text.encode()
    escaped = "".join(chr(octet) if 32 <= octet < 127 and octet not in b'"\\' else f"\\{octet:03d}" for octet in octets)
    return f'"{escaped}"'


async def test_all_tests_of_the_suite():
    results: dict[str, tuple[str, list[str]]] = {}
    for scenario in suite():
        async with dns_zone() as zone:
            for name, entries in scenario["zonedata"].items():
                add_records(zone, name, entries)
            for test, data in scenario["tests"].items():
                expected = data["result"] if isinstance(data["result"], list) else [data["result"]]
                sender = data["mailfrom"] or f"postmaster@{data['helo']}"
                domain = sender.rpartition("@")[2]
                result = await check_host(patient(zone), data["host"], domain, sender=sender, helo=data["helo"])
                results[f"{scenario['description']}: {test}"] = result.verdict.value, expected
    different = {test: result for test, result in results.items() if result[0] not in result[1]}
    print(f"{len(results) - len(different)} of {len(results)} tests of the suite")
    assert different == {}
    assert len(results) > 200
