"""How fast a sign-on response is read, and what a hostile one costs at most.

    python -m bench.saml [--responses 300]

`bare` is what nobody can do without: one parse, one digest, one RSA verification. Ratios are to `bare`.
Each bomb is read in a fresh process that has everything imported; its memory is what that process
grew by. The limits are 50 ms and 64 MB.
"""

import argparse
import hashlib
import multiprocessing
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from lxml import etree

from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected
from tests.peers.identity_provider import IdentityProvider, keys
from tests.protocols.saml.conftest import NOW, REQUEST, agreed_with, honest
from tests.protocols.saml.test_bombs import BOMBS

LIMIT_MS = 50
LIMIT_MB = 64
WAYS = {
    "signed assertion": {},
    "signed response": {"sign_assertion": False, "sign_response": True},
    "both signed": {"sign_response": True},
    "both signed, encrypted": {"sign_response": True, "encrypt_for": keys("sp").certificate},
}


def timed(count: int, work: Callable[[], object]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    spent: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        spent.append((time.perf_counter() - start) * 1000)
    return statistics.median(spent), statistics.quantiles(spent, n=20)[-1]


def bare(raw: bytes) -> Callable[[], object]:
    """One parse, one canonical form, one digest and one verification: the floor under every reader."""
    private = keys().private
    public = private.public_key()
    signature = private.sign(raw, padding.PKCS1v15(), hashes.SHA256())

    def work() -> None:
        root = etree.fromstring(raw)
        hashlib.sha256(etree.tostring(root, method="c14n", exclusive=True)).digest()
        public.verify(signature, raw, padding.PKCS1v15(), hashes.SHA256())

    return work


def reading(raw: bytes | str, *, certificates: int = 1) -> Callable[[], object]:
    idp = IdentityProvider()
    pinned = [keys(f"other {n}").pem for n in range(certificates - 1)]
    connection = agreed_with(idp, idp_certificates=(*pinned, idp.certificate))

    def work() -> None:
        read_response(raw, connection=connection, expected_request_ids={REQUEST}, now=NOW)

    return work


def cost(name: str, answer: "multiprocessing.Queue[tuple[float, float]]") -> None:
    """The time of one reading and the most memory by which this process grew meanwhile."""
    work = reading(BOMBS[name][0], certificates=10)
    reading(honest(IdentityProvider(now=NOW)))()
    Path("/proc/self/clear_refs").write_text("5")  # Forget the highest use so far (proc(5)).
    before, start = memory("VmRSS"), time.perf_counter()
    try:
        work()
    except SamlRejected:
        spent = (time.perf_counter() - start) * 1000
        answer.put((spent, memory("VmHWM") - before))


def memory(what: str) -> float:
    """One figure of this process's memory, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{what}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=300)
    count = parser.parse_args().responses
    print(f"{'':36}{'median ms':>10}{'p95 ms':>10}{'ratio':>8}")
    for name, way in WAYS.items():
        raw = honest(IdentityProvider(now=NOW, **way))
        floor, floor_p95 = timed(count, bare(raw))
        median, p95 = timed(count, reading(raw))
        print(f"{name + ', bare':36}{floor:10.2f}{floor_p95:10.2f}{1:8.1f}")
        print(f"{name:36}{median:10.2f}{p95:10.2f}{median / floor:8.1f}")
    print(f"\n{'bomb, ten certificates pinned':36}{'ms':>10}{'MB':>10}")
    fresh = multiprocessing.get_context("spawn")
    worst_ms = worst_mb = 0.0
    for name in BOMBS:
        answer = fresh.Queue()
        process = fresh.Process(target=cost, args=(name, answer))
        process.start()
        spent, grown = answer.get(timeout=60)
        process.join()
        worst_ms, worst_mb = max(worst_ms, spent), max(worst_mb, grown)
        print(f"{name:36}{spent:10.2f}{grown:10.1f}")
    print(f"{'worst':36}{worst_ms:10.2f}{worst_mb:10.1f}   limits: {LIMIT_MS} ms, {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
